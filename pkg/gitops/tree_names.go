package gitops

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// maxFileName is how long the name of an object's file may be before ".yaml":
// names of objects may have 253 characters, and Windows takes no more than 260
// for a whole path.
const maxFileName = 120

// nodeBase is the name of a node's folder: the node's own, which is a lower case
// DNS name of at most 63 characters. An underscore, which no such name has, sets
// apart what would be taken for something else.
func nodeBase(n lynq.NodeKey, ambiguous bool) string {
	base := n.Name
	if reserved(base) {
		base = "_" + base
	}
	if ambiguous {
		base += "_" + n.Namespace
	}
	return base
}

// folderNames give each node of a tree the name of its folder, or of its file before
// ".yaml". What points a target at a node is called so too: under another name, the
// target would delete the node's objects and create them again. So a node keeps the name
// that the index recorded, whatever other nodes come and go. A new node has its own name
// or, if a node of another namespace has that name too, one with its namespace.
type folderNames struct {
	plain     map[string]lynq.NodeKey // the node that the index has by its own name
	qualified map[lynq.NodeKey]bool   // nodes that the index has by a name with the namespace
	namespace map[string]string       // of the first node of each name
	several   map[string]bool         // names of nodes in several namespaces
}

// newFolderNames reads the names of those nodes that stay, and takes note of all.
func newFolderNames(in *Input, kept []*index.Entry) *folderNames {
	f := &folderNames{
		plain: map[string]lynq.NodeKey{}, qualified: map[lynq.NodeKey]bool{},
		namespace: make(map[string]string, len(in.Nodes)), several: map[string]bool{},
	}
	stays := make(map[lynq.NodeKey]bool, len(in.Nodes))
	for _, n := range in.Nodes {
		stays[n.Key()] = true
		if !n.stays() {
			f.see(n.Key())
		}
	}
	for _, e := range kept {
		f.see(e.Node)
		f.record(e)
	}
	for i := range in.Index.Entries {
		if e := &in.Index.Entries[i]; stays[e.Node] {
			f.record(e)
		}
	}
	return f
}

func (f *folderNames) see(n lynq.NodeKey) {
	if namespace, seen := f.namespace[n.Name]; !seen {
		f.namespace[n.Name] = n.Namespace
	} else if namespace != n.Namespace {
		f.several[n.Name] = true
	}
}

// record takes note of the name by which the index has a node. The first node keeps one
// that several have.
func (f *folderNames) record(e *index.Entry) {
	switch recordedBase(e) {
	case nodeBase(e.Node, false):
		if _, taken := f.plain[e.Node.Name]; !taken {
			f.plain[e.Node.Name] = e.Node
		}
	case nodeBase(e.Node, true):
		f.qualified[e.Node] = true
	}
}

// of is the name of a node's folder.
func (f *folderNames) of(n lynq.NodeKey) string {
	if holder, held := f.plain[n.Name]; held && holder == n {
		return nodeBase(n, false)
	}
	return nodeBase(n, f.qualified[n] || f.several[n.Name])
}

// recordedBase is the name of the folder that a file of a node is in, or of the file
// where the node has one for itself. A folder that nodes spread into is neither.
func recordedBase(e *index.Entry) string {
	if e.Shared() || isApp(e.Path) {
		return ""
	}
	folder := path.Base(path.Dir(e.Path))
	if folder == nodeBase(e.Node, false) || folder == nodeBase(e.Node, true) {
		return folder
	}
	return strings.TrimSuffix(path.Base(e.Path), ".yaml")
}

// reserved tells whether a file cannot have a name: Windows keeps it for a
// device, whatever follows its first dot, or lynqctl for itself.
func reserved(name string) bool {
	first, _, _ := strings.Cut(name, ".")
	switch first {
	case "con", "prn", "aux", "nul":
		return true
	}
	if len(first) == 4 && (first[:3] == "com" || first[:3] == "lpt") {
		return true
	}
	return name == index.FileName || name+".yaml" == kustomizationFile
}

// spreadInto is the folder that a node goes into, "" where there are none.
func (l *layouter) spreadInto(node string) string {
	if !l.Spread {
		return ""
	}
	sum := sha256.Sum256([]byte(node))
	return hex.EncodeToString(sum[:1])
}

// fileNames gives each object of a node a file of its own: kind and name, and
// only where that is not enough also the namespace, then the group, then a long
// hash of all of it. All are in lower case, so that they differ on every file
// system.
func fileNames(objects []Object) []string {
	names := make([]string, len(objects))
	for i := range objects {
		names[i] = fileName(&objects[i], 0)
	}
	for detail := 1; detail <= mostDetail; detail++ {
		for _, i := range repeated(names) {
			names[i] = fileName(&objects[i], detail)
		}
	}
	return names
}

// repeated are the places of names that are there more than once. A node has few
// objects: looking at each pair is quicker than any table.
func repeated(names []string) []int {
	var places []int
	for i, n := range names {
		for j, other := range names {
			if i != j && n == other {
				places = append(places, i)
				break
			}
		}
	}
	return places
}

// mostDetail is the detail that no two objects share.
const mostDetail = 3

// fileName is a name of an object's file: kind and name in lower case letters,
// digits, dots and dashes. What is added to them follows underscores, which
// neither has, so that no object can be given the name of another's file.
func fileName(o *Object, detail int) string {
	kind, kindAltered := sanitized(strings.ToLower(o.Kind))
	name, nameAltered := sanitized(o.Name)
	if kindAltered = kindAltered || strings.ContainsAny(kind, "-."); kindAltered {
		kind = "object" // no API has such a kind
	}
	text := kind + "-" + name
	if detail > 0 && o.Namespace != "" {
		text += "_" + o.Namespace
	}
	if detail > 1 && o.Group != "" {
		text += "_" + o.Group
	}
	if kindAltered || nameAltered || detail == mostDetail || len(text) > maxFileName {
		sum := sha256.Sum256([]byte(o.Full()))
		text = text[:min(len(text), maxFileName)] + "_" + hex.EncodeToString(sum[:4*max(1, detail)])
	}
	return text + ".yaml"
}

// sanitized is a text in characters that every file system takes, and whether
// that is another text.
func sanitized(text string) (string, bool) {
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, text)
	return out, out != text
}
