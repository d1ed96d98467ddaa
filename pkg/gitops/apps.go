package gitops

import "strings"

// Apps makes the objects that point a target at a tree.
type Apps interface {
	// Node is the file for a node that is in a folder of the tree, "" where there is none.
	Node(n *Node, folder string) (file string, content []byte)
	// Resources are the ids of those resources of a node that have an object each, and
	// ResourceName is the name of such an object.
	Resources(n *Node) []string
	ResourceName(folder, id string) string
	// Generated is the name of the object that the target itself makes for a folder, ""
	// where it makes none.
	Generated(folder string) string
	// Tree are the files for the tree as a whole.
	Tree(spread bool) []File
}

// AppsFolder is the folder of the tree for the objects that point the target at
// it. No node has that name.
const AppsFolder = "apps"

// BootstrapFile is the file of the tree for the object that points the target at those
// objects. No kustomization.yaml lists it, and with no dash it is never a node's.
const BootstrapFile = "lynqctl_bootstrap.yaml"

// isApp tells whether a file of the tree is for the objects that point the target
// at it, not for those of a node.
func isApp(file string) bool {
	return file == BootstrapFile || strings.HasPrefix(file, AppsFolder+"/")
}
