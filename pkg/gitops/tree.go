package gitops

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func compareNodes(a, b lynq.NodeKey) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
}

// Node is the rendered node of one active row and one form.
type Node struct {
	// NodeID has the form as in the form's file.
	lynq.NodeID
	Failed bool // it failed to render, so its files remain
	Waits  bool // its stage comes later, so its files remain
	// Suspended is set if a person suspended the node, or the one that it continues, so its
	// files remain. See Input.Suspend.
	Suspended bool
	Objects   []Object
	// Claims are the objects of a node whose files remain. Other nodes don't lose them.
	Claims plan.Claims
	// Row is the record of the row, see render.Program.Changed.
	Row string
	// LeavingSince is when the row was gone. It is zero if the row exists.
	LeavingSince time.Time
	// NotIncluded are the ids of resources that the row doesn't get. HoldsData are those
	// of resources with holdsData: true.
	NotIncluded, HoldsData []string
}

// stays reports whether the run keeps the node's files.
func (n *Node) stays() bool { return n.Failed || n.Waits || n.Suspended }

// Claim turns the objects of a node into claims, because its files remain.
func (n *Node) Claim() {
	for i := range n.Objects {
		n.Claims.Refs = append(n.Claims.Refs, n.Objects[i].Ref)
	}
	n.Objects = nil
}

// Object is one object of a node.
type Object struct {
	index.ObjectKey
	Bytes   []byte // a YAML document, without a line "---"
	LeftOut bool   // the selector skips it, so its file remains
	// Excluded is set if a rule excludes it. The tree's version remains, and the target
	// doesn't prune it.
	Excluded bool
	// Edited is set if no node renders the object, and others changed its file. The file
	// remains, and is listed.
	Edited bool
}

// HookID is the resource id of hooks for tombstones, which have no resource in the form.
const HookID = "tombstones"

// Arrangement says how to lay nodes out as files.
type Arrangement struct {
	// PerNode writes one file with several documents per node, instead of a folder with
	// one file per object.
	PerNode bool
	// Spread distributes nodes over 256 folders by a hash of their names.
	Spread bool
}

// File is a file of the new tree.
type File struct {
	Path         string // below the tree, with slashes
	Bytes        []byte
	LeavingSince time.Time // of the node
	Edited       bool      // it has an object with Edited
	index.Owned
}

// SharedFile returns a file that belongs to no node.
func SharedFile(path string, content []byte) File {
	return File{Path: path, Bytes: content, Owned: index.Owned{Owner: new(index.Owner)}}
}

// Input is the input of Lay.
type Input struct {
	Arrangement
	index.Scope
	Nodes  []*Node      // in any order
	Index  *index.Index // index of the current tree
	Target policy.Target
	// Apps returns the objects that deploy the tree, or is nil. Without it, those of
	// earlier runs remain.
	Apps Apps
	// Told are the losses that lynqctl has reported.
	Told []string
	// Forms are the run's forms with their digests.
	Forms []index.Origin
	// Templates are those of Forms, and Version is the version of this lynqctl.
	Templates []index.Template
	Version   string
	// DropApps removes these objects. It keeps those for the whole tree if the run doesn't
	// cover the whole tree.
	DropApps bool

	// Rows has what decisions depend on beside the nodes, by hub.
	Rows map[lynq.HubKey]Rows
	// Limits are the limits of the guards, and Now is the time of the run.
	Limits decide.Limits
	Now    time.Time
	// Elsewhere returns the objects of the rows that the run leaves out. It is nil if the
	// run has all of them.
	Elsewhere func() *decide.Survey

	// Force is set if the run takes over the files of other hubs and forms.
	Force bool

	decided   *decisions // see Dir.Decide
	suspended map[lynq.NodeKey]*inventory.Suspension
}

// Layout has the files of a tree after the run.
type Layout struct {
	Files []File         // desired files, sorted by path
	Kept  []*index.Entry // files that remain unchanged
	Gone  []*index.Entry // files that no node needs any more
	// Clashes are errors for objects of the target with the same name.
	Clashes []error
}

// Lay gives each file of a tree its path. It is a pure function. The result doesn't depend
// on the order of the nodes.
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
	laid := map[lynq.NodeKey]bool{}
	for _, n := range in.Nodes {
		if !n.stays() {
			l.node(n)
			laid[n.Key()] = true
		}
	}
	l.tellKeptApart(laid)
	l.shared()
	if l.Apps != nil {
		l.nameApplications()
		l.files = append(l.files, l.Apps.Tree(l.Spread)...)
	}
	slices.SortFunc(l.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return &Layout{Files: l.files, Kept: l.kept, Gone: l.gone(), Clashes: l.clashes}
}

// Kept returns the entries that a run doesn't change. They are outside its scope, or their
// nodes failed to render, wait for their stage, are suspended or are in their grace period.
// Or the selector skips their objects. A rendered node has its folder for itself. Files of other
// hubs or forms don't remain there, because nothing would list them.
func Kept(in *Input) []*index.Entry {
	nodes := nodesOfRun(in)
	stays := func(e *index.Entry) bool {
		n := nodes[e.Node]
		switch {
		case isApp(e.Path) && in.Apps == nil && !in.DropApps:
			return true
		case e.Shared():
			return false
		}
		return n == nil && !in.leaves(e) || n != nil && n.stays() || in.Selected && !rewritten(e, n) || isApp(e.Path) && n != nil && in.leaves(e) && !in.deploys(n)
	}
	kept := entriesThat(in.Index, stays)
	if in.DropApps && len(kept) > 0 {
		// Deleting an ApplicationSet would delete the Applications of all nodes.
		kept = entriesThat(in.Index, func(e *index.Entry) bool { return stays(e) || isApp(e.Path) && e.Shared() })
	}
	return kept
}

func nodesOfRun(in *Input) map[lynq.NodeKey]*Node {
	nodes := make(map[lynq.NodeKey]*Node, len(in.Nodes))
	for _, n := range in.Nodes {
		nodes[n.Key()] = n
	}
	return nodes
}

// leaves reports whether the files of a node without a row leave the tree.
func (in *Input) leaves(e *index.Entry) bool { return in.decided != nil && in.decided.goes[e.Node] }

// deploys reports whether the run writes the objects that deploy a node. It has none for a
// form outside the run.
func (in *Input) deploys(n *Node) bool {
	if in.Apps == nil {
		return false
	}
	file, _ := in.Apps.Node(n, nodeBase(n.Key(), false))
	return file != ""
}

// entriesThat returns the entries of an index for which asked is true, in order.
func entriesThat(x *index.Index, asked func(*index.Entry) bool) []*index.Entry {
	var found []*index.Entry
	for i := range x.Entries {
		if e := &x.Entries[i]; asked(e) {
			found = append(found, e)
		}
	}
	return found
}

// rewritten reports whether a run with a selector may change a file. The file has only
// selected objects, or is the kustomization.yaml of such a node.
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

// layouter is an unfinished layout.
type layouter struct {
	*Input
	kept   []*index.Entry
	keptOf map[lynq.NodeKey][]*index.Entry // entries to keep because of a selector
	files  []File
	owner  *index.Owner // of the node's files

	names   *folderNames
	called  map[string]string // the owner of each Kustomization name
	clashes []error
}

// node lays out one node.
func (l *layouter) node(n *Node) {
	l.owner = index.OwnerOf(n.NodeID)
	if !slices.ContainsFunc(n.Objects, func(o Object) bool { return o.LeftOut || o.Excluded || o.Edited }) {
		l.owner.Row = n.Row
	}
	base := path.Join(l.spreadInto(n.Name), l.names.of(n.Key()))
	if l.PerNode {
		l.add(n, base+".yaml", stream(n.Objects), n.Objects)
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
		l.add(n, file, o.Bytes, n.Objects[i:i+1])
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
		if name := l.Apps.Reserved(n, base); name != "" {
			l.clashes = append(l.clashes, fmt.Errorf("node %s would have the Application or Kustomization %s, which deploys the tree or is Flux's own (give the row another uid, or its form another name)", n.Name, name))
		}
	}
}

// tellApart reports Kustomizations of resources with the same name. NODE-ID doesn't show
// where the node's name ends. Flux would apply one of them and delete the objects of the
// other.
func (l *layouter) tellApart(n *Node, base string) {
	for _, id := range l.Apps.Resources(n) {
		l.call(l.Apps.ResourceName(base, id), fmt.Sprintf("resource %q of node %s", id, n.Name))
	}
}

// tellKeptApart does the same for nodes whose files remain, such as those of a hub that is
// not part of the run. laid are the nodes of the run.
func (l *layouter) tellKeptApart(laid map[lynq.NodeKey]bool) {
	if l.Apps == nil {
		return
	}
	for _, e := range l.kept {
		if e.Shared() || laid[e.Node] {
			continue
		}
		for _, k := range e.Objects {
			if name := l.Apps.ResourceName(path.Dir(e.Path), k.ID); name != "" && k.ID != HookID {
				l.call(name, fmt.Sprintf("resource %q of node %s", k.ID, e.Node.Name))
			}
		}
	}
}

func (l *layouter) call(name, what string) {
	first, taken := l.called[name]
	if taken && first != what {
		l.clashes = append(l.clashes, fmt.Errorf("%s and %s have one Kustomization, %s (give one of the resources another id)", first, what, name))
	}
	l.called[name] = what
}

// nameApplications reports folders for which Argo CD would create the same Application.
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

// others adds the other files in a node's folder if the selector skips some of its
// objects. The run can't know which of them the node still needs.
func (l *layouter) others(n *Node, base string, resources []string) []string {
	for _, e := range l.keptOf[n.Key()] {
		if name := path.Base(e.Path); path.Dir(e.Path) == base && !slices.Contains(resources, name) {
			resources = append(resources, name)
		}
	}
	return resources
}

func (l *layouter) add(n *Node, file string, content []byte, objects []Object) {
	l.files = append(l.files, File{
		Path: file, Bytes: content, LeavingSince: n.LeavingSince, Edited: slices.ContainsFunc(objects, func(o Object) bool { return o.Edited }),
		Owned: index.Owned{Owner: l.owner, Objects: keysOf(objects)},
	})
}

// shared adds the kustomization.yaml of each folder above nodes, up to the top. Each lists
// the entries of its folder.
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
	folders := map[string]bool{} // folders with a node's kustomization.yaml
	for i := range l.files {
		switch f := &l.files[i]; {
		case isApp(f.Path):
		case l.PerNode:
			add(f.Path)
		case path.Base(f.Path) == kustomizationFile:
			folders[path.Dir(f.Path)] = true
		}
	}
	listed, _ := l.listable(l.kept)
	for _, root := range rootsOf(listed, folders) {
		add(root)
	}
	for folder, names := range below {
		file := path.Join(folder, kustomizationFile)
		l.files = append(l.files, SharedFile(file, kustomization(sortedKeys(names))))
	}
}

// rootsOf returns the paths that a kustomization.yaml must list. These are folders with
// their own kustomization.yaml, and single files otherwise.
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

// gone returns the entries that the layout neither needs nor keeps.
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
	if len(objects) == 0 {
		return nil
	}
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
