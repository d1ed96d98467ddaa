package gitops

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func compareNodes(a, b lynq.NodeKey) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
}

// Node is one active row and one form, rendered.
type Node struct {
	// NodeID has the form as its file has it.
	lynq.NodeID
	Failed  bool // it could not be rendered: what there is of it stays
	Waits   bool // its stage comes later: what there is of it stays
	Objects []Object
	// NotIncluded are the ids of resources of the form that the row does not get, and
	// HoldsData those of resources with holdsData: true.
	NotIncluded, HoldsData []string
}

// stays tells whether the run leaves what there is of the node.
func (n *Node) stays() bool { return n.Failed || n.Waits }

// Object is one object of a node.
type Object struct {
	index.ObjectKey
	Bytes   []byte // a YAML document, without a line "---"
	LeftOut bool   // a selector leaves it out: what there is of it stays
	// Excluded: a rule excludes it. What the tree has of it stays, and is not pruned.
	Excluded bool
}

// HookID stands for the resource of a form that the hooks for tombstones have not.
const HookID = "tombstones"

// Arrangement says how nodes become files.
type Arrangement struct {
	// PerNode has one file of several documents per node, instead of a folder
	// with one file per object.
	PerNode bool
	// Spread puts nodes into 256 folders, by a hash of their names.
	Spread bool
}

// File is a file that the tree is to have.
type File struct {
	Path  string // with slashes, below the tree
	Bytes []byte
	index.Owned
}

// Input holds everything that Lay needs to lay a tree out.
type Input struct {
	Arrangement
	index.Scope
	Nodes  []*Node      // in any order
	Index  *index.Index // of the tree as it is
	Target policy.Target
	// Apps, where it is not nil, makes the objects that point a target at the
	// tree. Without it those of earlier runs stay as they are.
	Apps Apps
	// Told are the losses that people have been told of by now.
	Told []string
	// DropApps: they go, but for those that speak for the whole tree, where the
	// run leaves a part of it as it is.
	DropApps bool

	leaving map[lynq.NodeKey]*Leaving // see Leave
}

// Layout holds the files that a tree has after the run.
type Layout struct {
	Files []File         // to be there with these bytes, sorted by path
	Kept  []*index.Entry // that stay as they are, whatever they are
	Gone  []*index.Entry // that are wanted no more
	// Clashes are why objects of a target cannot be told apart.
	Clashes []error
}

// Lay gives all files of a tree their paths. It is a pure function of its
// input, and the files do not hang on the order of the nodes.
func Lay(in *Input) *Layout {
	l := layouter{Input: in, kept: Kept(in), called: map[string]string{}}
	l.names = newFolderNames(in, l.kept)
	if in.Selected {
		l.keptOf = map[lynq.NodeKey][]*index.Entry{}
		for _, e := range l.kept {
			l.keptOf[e.Node] = append(l.keptOf[e.Node], e)
		}
	}
	l.files = make([]File, 0, len(in.Index.Entries)+len(in.Nodes))
	for _, n := range in.Nodes {
		if !n.stays() {
			l.node(n)
		}
	}
	l.shared()
	if l.Apps != nil {
		l.nameApplications()
		l.files = append(l.files, l.Apps.Tree(l.Spread)...)
	}
	slices.SortFunc(l.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return &Layout{Files: l.files, Kept: l.kept, Gone: l.gone(), Clashes: l.clashes}
}

// Kept are the entries of the index that a run leaves as they are: those
// outside its scope, those of nodes that could not be rendered, wait for their stage or are kept for their grace
// period, and those of objects that a selector leaves out. A node that the run renders has its folder for
// itself: nothing stays there of another hub or form, which would be listed nowhere.
func Kept(in *Input) []*index.Entry {
	nodes := make(map[lynq.NodeKey]*Node, len(in.Nodes))
	for _, n := range in.Nodes {
		nodes[n.Key()] = n
	}
	stays := func(e *index.Entry) bool {
		n := nodes[e.Node]
		switch {
		case isApp(e.Path) && in.Apps == nil && !in.DropApps:
			return true
		case e.Shared():
			return false
		}
		return n == nil && (!in.Covers(e) || in.keepsLeaving(e)) || n != nil && n.stays() || in.Selected && !rewritten(e, n)
	}
	kept := entriesThat(in.Index, stays)
	if in.DropApps && len(kept) > 0 {
		// An ApplicationSet that goes takes with it what it made of all nodes.
		kept = entriesThat(in.Index, func(e *index.Entry) bool { return stays(e) || isApp(e.Path) && e.Shared() })
	}
	return kept
}

// entriesThat are those of an index that are asked for, in their order.
func entriesThat(x *index.Index, asked func(*index.Entry) bool) []*index.Entry {
	var found []*index.Entry
	for i := range x.Entries {
		if e := &x.Entries[i]; asked(e) {
			found = append(found, e)
		}
	}
	return found
}

// rewritten tells whether a run with a selector has a say on a file: it holds nothing
// but objects that were selected, or it is the kustomization.yaml of such a node.
func rewritten(e *index.Entry, n *Node) bool {
	if n == nil {
		return false
	}
	selected := func(k index.ObjectKey) bool {
		return slices.ContainsFunc(n.Objects, func(o Object) bool { return !o.LeftOut && o.Ref == k.Ref })
	}
	if len(e.Objects) == 0 {
		return slices.ContainsFunc(n.Objects, func(o Object) bool { return !o.LeftOut })
	}
	return !slices.ContainsFunc(e.Objects, func(k index.ObjectKey) bool { return !selected(k) })
}

// layouter is a layout in the making.
type layouter struct {
	*Input
	kept   []*index.Entry
	keptOf map[lynq.NodeKey][]*index.Entry // where a selector leaves objects out
	files  []File

	names   *folderNames
	called  map[string]string // what each Kustomization of a resource is for
	clashes []error
}

// node lays one node out.
func (l *layouter) node(n *Node) {
	base := path.Join(l.spreadInto(n.Name), l.names.of(n.Key()))
	if l.PerNode {
		l.add(n, base+".yaml", stream(n.Objects), keysOf(n.Objects))
		return
	}
	if !slices.ContainsFunc(n.Objects, func(o Object) bool { return !o.LeftOut }) {
		return
	}
	names := fileNames(n.Objects)
	resources := make([]string, 0, len(names))
	for i := range n.Objects {
		o := &n.Objects[i]
		file := base + "/" + names[i]
		if o.LeftOut {
			if e := l.Index.Find(file); e != nil && e.Node == n.Key() {
				resources = append(resources, names[i])
			}
			continue
		}
		resources = append(resources, names[i])
		l.add(n, file, o.Bytes, []index.ObjectKey{o.ObjectKey})
	}
	if l.Selected {
		resources = l.others(n, base, resources)
	}
	l.add(n, base+"/"+kustomizationFile, kustomization(resources), nil)
	if l.Apps != nil {
		if file, content := l.Apps.Node(n, base); file != "" {
			l.add(n, file, content, nil)
		}
		l.tellApart(n, base)
	}
}

// tellApart notes Kustomizations of resources that have one name: NODE-ID does not
// say where the node's name ends. One of the two would be applied, and the object of
// the other deleted.
func (l *layouter) tellApart(n *Node, base string) {
	for _, id := range l.Apps.Resources(n) {
		name, what := l.Apps.ResourceName(base, id), fmt.Sprintf("resource %q of node %s", id, n.Name)
		if first, taken := l.called[name]; taken {
			l.clashes = append(l.clashes, fmt.Errorf("%s and %s have one Kustomization, %s (give one of the resources another id)", first, what, name))
		}
		l.called[name] = what
	}
}

// nameApplications notes folders of nodes that Argo CD would give one Application.
func (l *layouter) nameApplications() {
	folders := map[string]bool{}
	for i := range l.files {
		if f := &l.files[i]; !f.Shared() && path.Base(f.Path) == kustomizationFile {
			folders[path.Dir(f.Path)] = true
		}
	}
	for _, e := range l.kept {
		if !e.Shared() && path.Base(e.Path) == kustomizationFile {
			folders[path.Dir(e.Path)] = true
		}
	}
	for _, folder := range sortedKeys(folders) {
		name := l.Apps.Generated(folder)
		if first, taken := l.called[name]; taken && name != "" {
			l.clashes = append(l.clashes, fmt.Errorf("folders %s and %s have one Application, %s (give one of the rows another uid, or use --emit-apps=%s)", first, folder, name, policy.AppsApplications))
		}
		l.called[name] = folder
	}
}

// others adds what else there is in the folder of a node of which a selector
// leaves out a part: which of it is still wanted is unknown.
func (l *layouter) others(n *Node, base string, resources []string) []string {
	for _, e := range l.keptOf[n.Key()] {
		if name := path.Base(e.Path); path.Dir(e.Path) == base && !slices.Contains(resources, name) {
			resources = append(resources, name)
		}
	}
	return resources
}

func (l *layouter) add(n *Node, file string, content []byte, objects []index.ObjectKey) {
	l.files = append(l.files, File{Path: file, Bytes: content, Owned: index.Owned{Hub: n.Hub, Form: n.Form, Node: n.Key(), Objects: objects}})
}

// shared adds the kustomization.yaml of each folder that nodes are in, up to
// the top. Each lists what is right below it.
func (l *layouter) shared() {
	below := map[string]map[string]bool{".": {}}
	add := func(root string) {
		for root != "." {
			folder, name := path.Dir(root), path.Base(root)
			if below[folder] == nil {
				below[folder] = map[string]bool{}
			}
			below[folder][name] = true
			root = folder
		}
	}
	folders := map[string]bool{} // that have a kustomization.yaml of a node
	for i := range l.files {
		switch f := &l.files[i]; {
		case isApp(f.Path):
		case l.PerNode:
			add(f.Path)
		case path.Base(f.Path) == kustomizationFile:
			folders[path.Dir(f.Path)] = true
		}
	}
	for _, root := range rootsOf(l.kept, folders) {
		add(root)
	}
	for folder, names := range below {
		file := path.Join(folder, kustomizationFile)
		l.files = append(l.files, File{Path: file, Bytes: kustomization(sortedKeys(names))})
	}
}

// rootsOf are the paths by which nodes are reached: their folders, and those of
// entries that have a kustomization.yaml; else the files of entries.
func rootsOf(entries []*index.Entry, folders map[string]bool) []string {
	for _, e := range entries {
		if path.Base(e.Path) == kustomizationFile && !isApp(e.Path) {
			folders[path.Dir(e.Path)] = true
		}
	}
	roots := sortedKeys(folders)
	for _, e := range entries {
		if !folders[path.Dir(e.Path)] && !isApp(e.Path) {
			roots = append(roots, e.Path)
		}
	}
	return roots
}

// gone are the entries that are neither wanted nor kept.
func (l *layouter) gone() []*index.Entry {
	var gone []*index.Entry
	file, kept := 0, 0
	for i := range l.Index.Entries {
		e := &l.Index.Entries[i]
		for file < len(l.files) && l.files[file].Path < e.Path {
			file++
		}
		wanted := file < len(l.files) && l.files[file].Path == e.Path
		if kept < len(l.kept) && l.kept[kept] == e {
			kept++
		} else if !wanted {
			gone = append(gone, e)
		}
	}
	return gone
}

func keysOf(objects []Object) []index.ObjectKey {
	keys := make([]index.ObjectKey, len(objects))
	for i := range objects {
		keys[i] = objects[i].ObjectKey
	}
	return keys
}

func sortedKeys(m map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
