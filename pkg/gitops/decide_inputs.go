package gitops

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// ErrNotRendered says why a node has no objects.
var ErrNotRendered = errors.New("it failed to render")

// uidOf returns the uid of an object in a tree for package decide. Files have none, and the
// name identifies an object there.
func uidOf(ref lynq.Ref) types.UID { return types.UID(ref.Full()) }

// readLost reads the objects that nodes may lose. The texts show what the target does with
// them.
func (d *Dir) readLost(ctx context.Context, j *decider) error {
	var files []*index.Entry
	for _, r := range j.recorded {
		for _, e := range r.files {
			if slices.ContainsFunc(e.Objects, func(k index.ObjectKey) bool { return j.lost[lostKey{e.Node, k.Ref}] != nil }) {
				files = append(files, e)
			}
		}
	}
	var reading sync.Mutex
	j.decided.read = make(map[string]State, len(files))
	return d.inFolders(ctx, len(files), func(i int) string { return files[i].Path }, func(f *folder, i int, name string) error {
		var s State
		if err := f.state(name, nil, &s); err != nil {
			return d.told(files[i].Path, err)
		}
		j.readFile(files[i], documents(s.Content), !j.Force && !slices.Contains(files[i].Digests, s.Digest))
		reading.Lock()
		defer reading.Unlock()
		j.decided.read[files[i].Path] = s
		return nil
	})
}

// readFile notes the texts of a file's lost objects, which no other file has. edited is set
// if others changed the file.
func (j *decider) readFile(e *index.Entry, docs [][]byte, edited bool) {
	for _, text := range docs {
		doc, err := yaml.Parse(string(text))
		if err != nil {
			continue
		}
		o := j.lost[lostKey{e.Node, refOf(doc)}]
		if o == nil || o.path != e.Path {
			continue
		}
		o.edited = edited
		o.text, o.deletion = text, policy.DeletionOf(doc, j.Target, j.Apps != nil)
		if o.GroupKind() == lynq.StatefulSet {
			fields, err := doc.Map()
			o.data = err != nil || lynq.TakesClaims(o.Ref, fields)
		}
	}
}

// refOf returns the reference of a document's object.
func refOf(doc *yaml.RNode) lynq.Ref {
	group, _ := lynq.SplitAPIVersion(doc.GetApiVersion())
	return lynq.Ref{Group: group, Kind: doc.GetKind(), Namespace: doc.GetNamespace(), Name: doc.GetName()}
}

// inputs returns the input of package decide for each hub, and the hubs. Files that
// somebody removed, of hubs and forms outside the run, have an input of their own.
func (j *decider) inputs() (inputs []*decide.Input, hubs []lynq.HubKey) {
	for _, o := range j.lost {
		o.data = o.data || o.Data
	}
	for i := range j.Hubs {
		inputs, hubs = append(inputs, j.inputOf(&j.Hubs[i])), append(hubs, j.Hubs[i].HubKey)
	}
	others := map[lynq.HubKey]*decide.Input{}
	for _, r := range j.recorded {
		if j.TakesPart(r.files[0]) {
			continue
		}
		in := others[r.Hub]
		if in == nil {
			in = &decide.Input{Hub: hubOf(r.Hub), Desired: decide.Desired{Active: 1}, Recorded: decide.Recorded{Tree: true}, Scope: decide.Scope{Only: map[string]bool{}, Delete: map[lynq.NodeKey]bool{}}, Now: j.Now}
			others[r.Hub] = in
		}
		in.Recorded.Inventories = append(in.Recorded.Inventories, j.inventoryOf(r, r.Name))
		if form := formOf(r.Hub, r.Form); !slices.Contains(in.Desired.Forms, form) {
			in.Desired.Forms = append(in.Desired.Forms, form)
		}
		if r.missing {
			in.Scope.Delete[r.Key()] = true
		}
	}
	for _, hub := range slices.SortedFunc(maps.Keys(others), func(a, b lynq.HubKey) int { return strings.Compare(a.String(), b.String()) }) {
		if in := others[hub]; len(in.Scope.Delete) > 0 {
			inputs, hubs = append(inputs, in), append(hubs, hub)
		}
	}
	return inputs, hubs
}

// inputOf returns the input for a hub of the run.
func (j *decider) inputOf(h *index.HubScope) *decide.Input {
	rows := j.Rows[h.HubKey]
	in := &decide.Input{
		Hub:      hubOf(h.HubKey),
		Desired:  decide.Desired{Active: rows.Active, Exclude: map[lynq.FormKey]lynq.Exclusions{}, Grace: map[lynq.FormKey]time.Duration{}},
		Now:      j.Now,
		Scope:    decide.Scope{Narrowed: j.Selected, Only: j.Only, Delete: map[lynq.NodeKey]bool{}},
		Recorded: decide.Recorded{Tree: true},
		Observed: plan.Observed{Live: map[lynq.Ref]*tracking.Live{}},
	}
	for _, f := range h.Forms {
		form := formOf(h.HubKey, f)
		in.Desired.Forms = append(in.Desired.Forms, form)
		in.Desired.Exclude[form], in.Desired.Grace[form] = rows.Exclude[f], h.Grace[f]
	}
	renames := j.renamesOf(h.HubKey)
	if !j.separate() {
		in.Rename(renames)
	}
	waits := j.addNodes(in, h)
	j.addInventories(in, h, renames)
	if waits {
		j.concern(in)
	}
	return in
}

// renamesOf returns the earlier names of a hub's forms and rows as package decide gets them,
// or nil.
func (in *Input) renamesOf(hub lynq.HubKey) *lynq.Renames {
	r := in.Rows[hub].Renames
	if r == nil {
		return nil
	}
	renames := &lynq.Renames{Forms: map[lynq.FormKey]lynq.FormKey{}, UIDs: r.UIDs, Active: r.Active}
	for before, now := range r.Forms {
		renames.Forms[formOf(hub, before)] = formOf(hub, now)
	}
	return renames
}

// addNodes adds the run's nodes of a hub. It reports whether one of them waits for its stage,
// or is suspended.
func (j *decider) addNodes(in *decide.Input, h *index.HubScope) (waits bool) {
	later := continuingOf(j.Rows[h.HubKey].Renames)
	for _, n := range j.Nodes {
		if n.Hub != h.HubKey {
			continue
		}
		made := &plan.Node{NodeID: Identify(n.NodeID), NotIncluded: j.notIncluded(n), DependForms: j.Rows[h.HubKey].DependForms[n.Form]}
		switch {
		case n.Failed:
			made.Failed, made.Claims = ErrNotRendered, n.Claims
		case n.stays():
			waits = true
			for _, ref := range n.Claims.Refs {
				if j.refs[ref] {
					made.Objects = append(made.Objects, plan.Object{Ref: ref, Policy: &lynq.Policy{}})
				}
			}
		default:
			made.Objects = j.objectsOf(n, later)
		}
		in.Desired.Nodes = append(in.Desired.Nodes, made)
	}
	return waits
}

// notIncluded returns what a node's row doesn't get. The tree doesn't record which template made
// an object. So a row lacks objects of a chart only if the form and its charts are those of the
// tree.
func (j *decider) notIncluded(n *Node) []string {
	o := index.OriginOf(n.Hub, n.Form)
	same := slices.ContainsFunc(j.Templates, func(t index.Template) bool {
		return t.Bare() == o && index.TemplateOf(j.Index.Templates, t.Origin) != nil
	})
	return lynq.DropsSince(n.NotIncluded, same)
}

// These are the policies of desired objects, as far as decisions about a tree depend on
// them.
func policies() (plain, data *lynq.Policy) {
	return &lynq.Policy{}, &lynq.Policy{Lifecycle: lynq.Lifecycle{Data: true}}
}

// continuing are the forms and uids that had other names before. Their nodes may continue
// others, so that the guards compare the objects of both.
type continuing struct {
	forms map[lynq.FormKey]bool
	uids  map[string]bool
}

func continuingOf(r *lynq.Renames) *continuing {
	c := &continuing{forms: map[lynq.FormKey]bool{}, uids: map[string]bool{}}
	if r == nil {
		return c
	}
	for _, form := range r.Forms {
		c.forms[form] = true
	}
	for _, uid := range r.UIDs {
		c.uids[uid] = true
	}
	return c
}

// objectsOf returns the objects of a node for package decide. Nodes without a change need
// only those that others may lose, unless they may continue other nodes. If each node has an Application of its own, the node
// doesn't count as the owner of an object that it takes from another one.
func (j *decider) objectsOf(n *Node, later *continuing) []plan.Object {
	r := j.byKey[n.Key()]
	whole := r == nil || later.forms[n.Form] || later.uids[n.UID] || slices.ContainsFunc(r.files, func(e *index.Entry) bool { return j.drops(n, e) })
	plain, data := policies()
	var objects []plan.Object
	for i := range n.Objects {
		o := &n.Objects[i]
		if o.ID == HookID || !whole && !j.refs[o.Ref] {
			continue
		}
		if j.separate() && !o.LeftOut && j.refs[o.Ref] {
			continue
		}
		made := plan.Object{Ref: o.Ref, ID: o.ID, Policy: plain, LeftOut: o.LeftOut}
		if o.Excluded {
			made.Exclusion = j.Rows[n.Hub].Exclude[n.Form].Find(o.Ref)
		}
		if o.Data {
			made.Policy = data
		}
		objects = append(objects, made)
	}
	return objects
}

// addInventories adds the tree's nodes of a hub, and their objects.
func (j *decider) addInventories(in *decide.Input, h *index.HubScope, renames *lynq.Renames) {
	uids := newUIDs(in.Desired.Nodes, in.Desired.Forms, renames)
	left := map[time.Time][]string{}
	for _, r := range j.recorded {
		if r.Hub != h.HubKey || r.now == nil && !j.TakesPart(r.files[0]) {
			continue
		}
		inv := j.inventoryOf(r, uids.of(r))
		if j.awaits(r, inv.Node.UID, uids, renames) {
			j.decided.restarts[r.Key()] = !j.Selected // another node continues its row
			continue
		}
		in.Recorded.Inventories = append(in.Recorded.Inventories, inv)
		if since, whole := leavingSince(r.files); whole && r.now == nil {
			left[since] = append(left[since], inventory.NodeDigest(r.Namespace, r.Name))
		}
		takes := false
		for i := range inv.Entries {
			ref := inv.Entries[i].Ref
			takes = takes || j.moved(ref)
			in.Observed.Live[ref] = &tracking.Live{Ref: ref, UID: uidOf(ref), Hub: in.Hub.Name, HubNamespace: in.Hub.Namespace, Node: r.Name, NodeNamespace: r.Namespace}
		}
		switch {
		case r.missing:
			in.Scope.Delete[r.Key()] = true
		case r.now == nil && takes && j.separate():
			j.taken = append(j.taken, r.Key())
			in.Scope.Delete[r.Key()] = true
		}
	}
	for _, since := range slices.SortedFunc(maps.Keys(left), time.Time.Compare) {
		in.Recorded.Leaving = append(in.Recorded.Leaving, inventory.Leaving{Since: since, Nodes: left[since]})
	}
}

// awaits reports whether the files of a node stay until those of its new name are written.
// Without Applications and Kustomizations, package decide knows this.
func (j *decider) awaits(r *recordedNode, uid string, u *uids, renames *lynq.Renames) bool {
	if !j.separate() || r.now != nil || renames == nil {
		return false
	}
	now, renamed := r.continuedAs(uid, renames)
	if !renamed {
		return false
	}
	if key, present := u.present[now]; present {
		return j.nodes[key].stays()
	}
	return renames.Active[now.uid] // the run leaves it out
}

// continuedAs returns the form and the row that continue a recorded node under another name.
func (r *recordedNode) continuedAs(uid string, renames *lynq.Renames) (now rowOf, renamed bool) {
	before := rowOf{formOf(r.Hub, r.Form), uid}
	now = before
	if form, other := renames.Forms[now.form]; other {
		now.form = form
	}
	if next, other := renames.UIDs[uid]; other {
		now.uid = next
	}
	return now, now != before
}

// concern leaves out the nodes that wait for their stage, or are suspended. They keep their files, and the
// objects that they render.
func (j *decider) concern(in *decide.Input) {
	in.Scope.Concerned = make(map[lynq.NodeKey]bool, len(in.Desired.Nodes)+len(in.Recorded.Inventories))
	for _, inv := range in.Recorded.Inventories {
		in.Scope.Concerned[inv.Node.Key()] = true
	}
	for _, n := range in.Desired.Nodes {
		in.Scope.Concerned[n.Key()] = !j.nodes[n.Key()].Waits && !j.nodes[n.Key()].Suspended
	}
}

// uids finds the uids of recorded nodes. The index has only their names.
type uids struct {
	named   map[string]string // from the names of the run's nodes, and of renamed ones
	present map[rowOf]lynq.NodeKey
}

type rowOf struct {
	form lynq.FormKey
	uid  string
}

func newUIDs(nodes []*plan.Node, forms []lynq.FormKey, renames *lynq.Renames) *uids {
	u := &uids{named: map[string]string{}, present: make(map[rowOf]lynq.NodeKey, len(nodes))}
	add := func(uid, form string) {
		for _, name := range []string{naming.NodeName(uid, form), naming.PlainNodeName(uid, form)} {
			if _, known := u.named[name]; !known {
				u.named[name] = uid
			}
		}
	}
	for _, n := range nodes {
		u.named[n.Name] = n.UID
		u.present[rowOf{n.Form, n.UID}] = n.Key()
	}
	if renames == nil {
		return u
	}
	// Two uids can make one name. The first one in order gets it, so that each run decides
	// the same.
	active := slices.Sorted(maps.Keys(renames.Active))
	for _, before := range slices.SortedFunc(maps.Keys(renames.Forms), func(a, b lynq.FormKey) int { return strings.Compare(a.String(), b.String()) }) {
		for _, uid := range active {
			add(uid, before.Name)
		}
	}
	for _, before := range slices.Sorted(maps.Keys(renames.UIDs)) {
		for _, f := range forms {
			add(before, f.Name)
		}
	}
	return u
}

// of returns the uid of a recorded node. Without a better source, it is the name without
// that of the form, unless an active row has that uid under another name.
func (u *uids) of(r *recordedNode) string {
	if r.now != nil {
		return r.now.UID
	}
	if uid, known := u.named[r.Name]; known {
		return uid
	}
	uid := strings.TrimSuffix(r.Name, "-"+r.Form.Name)
	if _, present := u.present[rowOf{formOf(r.Hub, r.Form), uid}]; present {
		return r.Name
	}
	return uid
}
