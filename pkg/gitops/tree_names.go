package gitops

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// maxFileName limits the name of an object's file without ".yaml". Names of objects may
// have 253 characters, but Windows allows only 260 for a whole path.
const maxFileName = 120

// nodeBase returns the name of a node's folder. It is the node's name, a lower case DNS
// name of at most 63 characters. An underscore, which no such name has, separates the
// namespace.
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

// folderNames gives each node the name of its folder, or of its file without ".yaml". The
// objects that deploy a node have this name too. If it changed, the target would delete
// the node's objects and create them again. So a node keeps the name in the index,
// whatever other nodes come and go. A new node gets its own name. If a node of another
// namespace has this name, it also gets the namespace.
type folderNames struct {
	plain     map[string]lynq.NodeKey // the node with its own name in the index
	qualified map[lynq.NodeKey]bool   // nodes with a namespace in their name in the index
	namespace map[string]string       // of the first node with each name
	several   map[string]bool         // names of nodes in several namespaces
}

// newFolderNames reads the names of remaining nodes from the index, and the names of all
// nodes.
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

// record reads a node's name from the index. If several nodes have one, the first keeps
// it.
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

// of returns the name of a node's folder.
func (f *folderNames) of(n lynq.NodeKey) string {
	if holder, held := f.plain[n.Name]; held && holder == n {
		return nodeBase(n, false)
	}
	return nodeBase(n, f.qualified[n] || f.several[n.Name])
}

// recordedBase returns the name of a node's folder or single file from the path of a file.
// It skips the folders of Spread.
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

// reserved reports whether a file can't have a name. Windows reserves names of devices up
// to the first dot, and lynqctl reserves some too.
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

// spreadInto returns the folder of Spread for a node, or "".
func (l *layouter) spreadInto(node string) string {
	if !l.Spread {
		return ""
	}
	sum := sha256.Sum256([]byte(node))
	return hex.EncodeToString(sum[:1])
}

// fileNames returns a unique file name for each object of a node. It has the kind and the
// name. If needed, it also has the namespace, then the group, then a long hash. All are in
// lower case, so that they differ on every file system.
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

// repeated returns the indexes of duplicate names. A node has few objects, so comparing
// pairs is faster than a map.
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

// mostDetail is the detail that makes every name unique.
const mostDetail = 3

// fileName returns a name for an object's file. It has the kind and name in lower case
// letters, digits, dots and dashes. Additions follow underscores, which kind and name
// never have. So no object can get the file name of another.
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

// sanitized replaces characters that some file systems refuse. It reports whether the text
// changed.
func sanitized(text string) (string, bool) {
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, text)
	return out, out != text
}
