package gitops

import "strings"

// Apps returns the objects that deploy a tree with a target.
type Apps interface {
	// Node returns the file for a node in a folder of the tree. The file is "" if there is
	// none.
	Node(n *Node, folder string) (file string, content []byte)
	// Resources returns the ids of the node's resources that have their own objects.
	// ResourceName returns the name of such an object, or "" if resources have none.
	Resources(n *Node) []string
	ResourceName(folder, id string) string
	// Reserved returns the name of an object for the node in a folder if an object that
	// deploys a tree has that name, or "".
	Reserved(n *Node, folder string) string
	// Generated returns the name of the object that the target itself creates for a
	// folder, or "".
	Generated(folder string) string
	// Tree returns the files for the whole tree.
	Tree(spread bool) []File
}

// AppsFolder is the tree's folder for the objects that deploy it. No node has this name.
const AppsFolder = "apps"

// BootstrapFile is the tree's file for the object that deploys the objects in AppsFolder.
// No kustomization.yaml lists it. Its name has no dash, so no node can have it.
const BootstrapFile = "lynqctl_bootstrap.yaml"

// isApp reports whether a file has objects that deploy the tree, instead of a node's
// objects.
func isApp(file string) bool {
	return file == BootstrapFile || strings.HasPrefix(file, AppsFolder+"/")
}
