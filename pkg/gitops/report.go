package gitops

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Change is the change of a node or an object.
type Change string

// These are the changes.
const (
	Added   Change = "added"
	Changed Change = "changed"
	Removed Change = "removed"
)

// Report lists the changes of a run to a tree. It names fields and columns, but never
// their values.
type Report struct {
	Changed bool `json:"changed"` // set if any file changes, even only the index
	// Digests are those of the tree after the run, as in its index.
	index.Digests
	Nodes   NodeCounts   `json:"nodes"`
	Objects Counts       `json:"objects"`
	Files   FileCounts   `json:"files"`
	Changes []NodeChange `json:"changes,omitempty"` // sorted by node name
	// Forms are the edits of forms that are causes.
	Forms   []*changeset.Edit `json:"forms,omitempty"`
	Leaving []Leaving         `json:"leaving,omitempty"` // nodes whose files remain for their grace period
	// Suspended are the suspended nodes, whose files remain as they are.
	Suspended []SuspendedNode `json:"suspended,omitempty"`
	Conflicts []Conflict      `json:"conflicts,omitempty"` // files that lynqctl kept because others changed them
	// Refusals are the guards' objections. With any, the run changes nothing.
	Refusals []plan.Refusal `json:"-"`

	groups *Groups // nil before Explain
}

// Counts has the numbers of changes.
type Counts struct {
	Added     int `json:"added"`
	Changed   int `json:"changed"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"`
}

// String returns "2 added, 1 removed", or "none".
func (c Counts) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Added, string(Added)}, {c.Changed, string(Changed)}, {c.Removed, string(Removed)}, {c.Unchanged, "unchanged"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

func (c *Counts) count(what Change) {
	switch what {
	case Added:
		c.Added++
	case Changed:
		c.Changed++
	case Removed:
		c.Removed++
	default:
		c.Unchanged++
	}
}

// NodeCounts has the numbers of nodes. Nodes that failed to render keep their files, and
// so do nodes that wait for their stage, and those in Report.Suspended.
type NodeCounts struct {
	Counts
	Failed  int `json:"failed"`
	Waiting int `json:"waiting,omitempty"`
}

// FileCounts has the numbers of files.
type FileCounts struct {
	Written   int `json:"written"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"`
}

// NodeChange is a changed node.
type NodeChange struct {
	// NodeID has hub and form as in the files. It has no row, because the tree doesn't
	// store it.
	lynq.NodeID
	Change  Change
	Objects []ObjectChange

	hub     string // name for messages
	origins *origins
}

// nodeChangeFields is the JSON form of a NodeChange.
type nodeChangeFields struct {
	Change Change `json:"change"`
	nodeFields
	Objects []ObjectChange `json:"objects"`
}

// nodeFields is the JSON form of a node.
type nodeFields struct {
	Hub  string `json:"hub"`
	Form string `json:"form"`
	// HubNamespace and FormNamespace distinguish hubs and forms with the same name.
	HubNamespace  string `json:"hubNamespace,omitempty"`
	FormNamespace string `json:"formNamespace,omitempty"`
	Namespace     string `json:"namespace"`
	Node          string `json:"node"`
}

func nodeFieldsOf(id lynq.NodeID) nodeFields {
	return nodeFields{id.Hub.Name, id.Form.Name, id.Hub.Namespace, id.Form.Namespace, id.Namespace, id.Name}
}

// MarshalJSON implements json.Marshaler.
func (n NodeChange) MarshalJSON() ([]byte, error) {
	text, err := phrase.JSON(nodeChangeFields{n.Change, nodeFieldsOf(n.NodeID), n.Objects})
	return []byte(text), err
}

// Counts counts the node's objects.
func (n *NodeChange) Counts() Counts {
	var c Counts
	for i := range n.Objects {
		c.count(n.Objects[i].Change)
	}
	return c
}

// ObjectChange is a changed object.
type ObjectChange struct {
	Change Change `json:"change"`
	Object string `json:"object"`
	ID     string `json:"id"`
	// Contents says what else is deleted with a removed object, such as a Namespace.
	Contents string `json:"contents,omitempty"`
	// Fields are the changed fields. It is empty for a Secret, and if the old content is
	// unknown or wasn't compared. Then Why is the cause of the whole object.
	Fields []FieldChange `json:"fields,omitempty"`
	Why

	key      index.ObjectKey
	old, new []byte
	stays    bool // the tree or the delivering tool keeps an object that its node loses
	effects  changeset.Effects
	// group is the number of the object's group of many nodes, which reports show instead of
	// the object, or 0. See Report.Groups.
	group int
}

// FieldChange is a changed field.
type FieldChange struct {
	Field string `json:"field"`
	Why
}

// Conflict is a file that others changed.
type Conflict struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// NewReport returns the report of a plan. changed comes from Dir.Changes.
func NewReport(in *Input, p *Plan, changed bool) *Report {
	r := &Report{Changed: changed, Digests: p.sealed().Digests, Files: FileCounts{
		Written: p.Count(ActionCreate, ActionUpdate, ActionRestore), Removed: p.Count(ActionRemove), Unchanged: p.Count(ActionKeep),
	}}
	r.Leaving, r.Suspended = in.leavingNodes(), in.suspendedNodes()
	for _, s := range p.Of(ActionConflict) {
		if s.listedBy == "" { // the conflict of that list says so
			r.Conflicts = append(r.Conflicts, Conflict{s.Path, s.Why})
		}
	}
	for _, n := range in.Nodes {
		switch {
		case n.Failed:
			r.Nodes.Failed++
		case n.Waits && !n.Suspended:
			r.Nodes.Waiting++
		}
	}
	r.addChanges(in, p)
	return r
}

// addChanges adds the changes of all nodes.
func (r *Report) addChanges(in *Input, p *Plan) {
	nodes := nodesOf(p)
	moved := p.moved(nodes)
	var changed []lynq.NodeKey
	for k, n := range nodes {
		n.compare(in, moved, &r.Objects)
		r.Nodes.count(n.change.Change)
		if n.change.Change != "" {
			changed = append(changed, k)
		}
	}
	for _, n := range in.Nodes {
		if nodes[n.Key()] != nil {
			nodes[n.Key()].row = n.Row
		}
	}
	slices.SortFunc(changed, compareNodes)
	r.Changes = make([]NodeChange, len(changed))
	for i, k := range changed {
		n := nodes[k]
		n.change.origins = p.originsOf(&n.before, n.row)
		n.change.hub, _ = in.Called(&index.Owner{Hub: n.change.Hub})
		r.Changes[i] = n.change
	}
}

// nodeChange has a node's objects before and after.
type nodeChange struct {
	change   NodeChange
	same     int // number of objects in unchanged files
	old, new []content
	before   recorded
	row      string // the run's record of the row
}

// content is an object in a file. Its bytes are nil if unknown.
type content struct {
	key   *index.ObjectKey
	bytes []byte
	step  *Step
}

// maxAlong limits the objects that a summary names because they take others along.
const maxAlong = 3

// Summary counts the nodes, objects and files, and names removed objects that take others
// along. planned is set if the run writes nothing.
func (r *Report) Summary(planned bool) []string {
	written, removed := "written", "removed"
	if planned {
		written, removed = "to write", "to remove"
	}
	nodes := "nodes: " + r.Nodes.String()
	if r.Nodes.Failed > 0 {
		nodes += fmt.Sprintf(", %d failed", r.Nodes.Failed)
	}
	if r.Nodes.Waiting > 0 {
		nodes += fmt.Sprintf(", %d waiting for their stage", r.Nodes.Waiting)
	}
	parts := []string{nodes, "objects: " + r.Objects.String(), fmt.Sprintf("files: %d %s, %d %s", r.Files.Written, written, r.Files.Removed, removed)}
	if r.OnlyIndex() {
		parts = append(parts, "only the index changes")
	}
	var along []string
	for i := range r.Changes {
		for _, o := range r.Changes[i].Objects {
			if o.Contents != "" {
				along = append(along, o.Object+" is removed: "+o.Contents)
			}
		}
	}
	parts = append(parts, along[:min(len(along), maxAlong)]...)
	if more := len(along) - maxAlong; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more objects are removed with what they contain", more))
	}
	return parts
}

// OnlyIndex reports whether the run changes no file except the index. That happens if a
// form changes, and its manifests don't.
func (r *Report) OnlyIndex() bool {
	return r.Changed && r.Files.Written == 0 && r.Files.Removed == 0
}

// nodesOf groups the steps of a plan by node. It skips files that lynqctl keeps because
// others changed them. A file that didn't exist has no old objects.
func nodesOf(p *Plan) map[lynq.NodeKey]*nodeChange {
	nodes := map[lynq.NodeKey]*nodeChange{}
	of := func(o *index.Owner, now bool) *nodeChange {
		n := nodes[o.Node]
		if n == nil {
			n = &nodeChange{}
			nodes[o.Node] = n
		}
		if now || n.change.Name == "" { // the new state counts
			n.change.NodeID = lynq.NodeID{Hub: o.Hub, Form: o.Form, Namespace: o.Node.Namespace, Name: o.Node.Name}
		}
		return n
	}
	for i := range p.Steps {
		switch s := &p.Steps[i]; {
		case s.File != nil && s.File.Shared():
		case s.File != nil && (s.Action == ActionKeep && !s.unholds() || s.Action == ActionConflict):
			of(s.File.Owner, true).same += len(s.File.Objects)
		default:
			if s.File != nil {
				n := of(s.File.Owner, true)
				n.new = append(n.new, contents(s, s.File.Objects, s.File.Bytes)...)
			}
			if s.Old != nil && !s.Old.Shared() && s.Action != ActionConflict && s.State.There {
				n := of(s.Old.Owner, false)
				n.old = append(n.old, contents(s, s.Old.Objects, s.oldBytes())...)
			}
		}
	}
	for i := range p.Steps {
		if old := p.Steps[i].Old; old != nil && nodes[old.Node] != nil {
			nodes[old.Node].before.add(old.Owner)
		}
	}
	return nodes
}

// oldBytes returns lynqctl's previous version of a file, or nil if unknown.
func (s *Step) oldBytes() []byte {
	if slices.Contains(s.Old.Digests, s.State.Digest) {
		return s.State.Content
	}
	return nil
}

// contents returns the objects of a file.
func contents(s *Step, keys []index.ObjectKey, b []byte) []content {
	var docs [][]byte
	if b != nil && len(keys) > 0 {
		docs = documents(b)
	}
	all := make([]content, len(keys))
	for i := range keys {
		all[i] = content{key: &keys[i], step: s}
		if len(docs) == len(keys) {
			all[i].bytes = docs[i]
		}
	}
	return all
}

// compare finds the changes of a node's objects, and counts all objects.
func (n *nodeChange) compare(in *Input, moved map[lynq.Ref]bool, counts *Counts) {
	counts.Unchanged += n.same
	for i := range n.new {
		c := &n.new[i]
		switch before := findContent(n.old, c.key); {
		case before == nil:
			n.note(counts, ObjectChange{Change: Added, key: *c.key})
		case c.differs(before):
			effects := changeset.Effects{Unkept: c.unkept(before, in), Unheld: c.key.Unholds(before.key), Rewritten: c.rewritten(before, in)}
			n.note(counts, ObjectChange{Change: Changed, key: *c.key, old: before.bytes, new: c.bytes, effects: effects})
		case c.key.Unholds(before.key):
			n.note(counts, ObjectChange{Change: Changed, key: *c.key, effects: changeset.Effects{Unheld: true}, Why: Why{Cause: diff.CausePolicy}})
		default:
			counts.Unchanged++
		}
	}
	for i := range n.old {
		if o := &n.old[i]; findContent(n.new, o.key) == nil {
			n.note(counts, ObjectChange{Change: Removed, key: *o.key, stays: moved[o.key.Ref] || o.stays(in, n.same+len(n.new) == 0)})
		}
	}
	switch {
	case n.same+len(n.old) == 0 && len(n.new) > 0:
		n.change.Change = Added
	case n.same+len(n.new) == 0 && len(n.old) > 0:
		n.change.Change = Removed
	case len(n.change.Objects) > 0:
		n.change.Change = Changed
	}
}

func (n *nodeChange) note(counts *Counts, c ObjectChange) {
	c.Object, c.ID = c.key.Full(), c.key.ID
	if c.Change == Removed && !c.stays {
		c.Contents = tracking.TakesAlong(c.key.Ref)
	}
	counts.count(c.Change)
	n.change.Objects = append(n.change.Objects, c)
}

// loses reports whether the deletion of an object deletes data or other objects with it.
func loses(k *index.ObjectKey) bool {
	return k.Data || k.HoldsData() || tracking.TakesAlong(k.Ref) != ""
}

// moved finds the objects that one node loses and another one has after the run. It looks for
// those with data or contents alone, because a tree has many others.
func (p *Plan) moved(nodes map[lynq.NodeKey]*nodeChange) map[lynq.Ref]bool {
	moved := map[lynq.Ref]bool{}
	for _, n := range nodes {
		for i := range n.old {
			if key := n.old[i].key; loses(key) && findContent(n.new, key) == nil {
				moved[key.Ref] = false
			}
		}
	}
	find := func(objects []index.ObjectKey) {
		for _, k := range objects {
			if _, leaves := moved[k.Ref]; leaves {
				moved[k.Ref] = true
			}
		}
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; len(moved) > 0 && s.File != nil && s.Action != ActionConflict {
			find(s.File.Objects)
		}
	}
	for i := range p.Kept {
		find(p.Kept[i].Objects)
	}
	return moved
}

// stays reports whether the delivering tool keeps an object that leaves the tree. nodeGoes is
// set if its node leaves. What lynqctl can't read doesn't stay.
func (c *content) stays(in *Input, nodeGoes bool) bool {
	if c.bytes == nil || !loses(c.key) {
		return false
	}
	kept := c.kept(in)
	return kept.WhenNodeGoes && (nodeGoes || kept.WhenDropped)
}

// kept says when the delivering tool keeps an object, as far as lynqctl can read it.
func (c *content) kept(in *Input) lynq.Kept {
	doc, err := yaml.Parse(string(c.bytes))
	if err != nil {
		return lynq.Kept{}
	}
	return policy.DeletionOf(doc, in.Target, in.Apps != nil).Kept()
}

// rewritten reports whether the delivering tool created an object once before, and updates it now.
func (c *content) rewritten(before *content, in *Input) bool {
	return c.bytes != nil && policy.CreatesOnce(in.Target, before.bytes) && !policy.CreatesOnce(in.Target, c.bytes)
}

// unholds reports whether the form no longer marks an object of a file with holdsData.
func (s *Step) unholds() bool {
	return s.Old != nil && slices.ContainsFunc(s.Old.Objects, func(was index.ObjectKey) bool {
		return was.Data && slices.ContainsFunc(s.File.Objects, func(is index.ObjectKey) bool { return is.Ref == was.Ref && is.Unholds(&was) })
	})
}

// unkept reports whether the delivering tool would delete an object in more cases than before.
func (c *content) unkept(before *content, in *Input) bool {
	said := policy.DeletionLines(before.bytes)
	return said != "" && c.bytes != nil && policy.DeletionLines(c.bytes) != said && c.kept(in).Less(before.kept(in))
}

func findContent(in []content, key *index.ObjectKey) *content {
	i := slices.IndexFunc(in, func(c content) bool { return c.key.Ref == key.Ref })
	if i < 0 {
		return nil
	}
	return &in[i]
}

// differs reports whether an object has changed. If others changed the file meanwhile, the
// digests of the file decide.
func (c *content) differs(before *content) bool {
	if before.bytes != nil {
		return !bytes.Equal(c.bytes, before.bytes)
	}
	return !slices.Contains(before.step.Old.Digests, c.step.digest)
}
