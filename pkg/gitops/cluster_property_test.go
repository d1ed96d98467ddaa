package gitops

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// A history changes rows and makes runs, some of them narrowed. Each run changes a tree, and
// a cluster in memory. Both must delete the same objects.

// account is a row of a history.
type account struct {
	hub, uid, former string
	slug             string // names the row's volume
	version          int    // of the content
	inDB             bool   // form db renders the volume instead of form web
	retained         bool   // the volume has deletionPolicy Retain
	onApply          bool   // or RetainOnApply, in histories with Applications
	otherID          bool   // the form has another id for the volume, in those with ordered Kustomizations
	failed, waits    string // the form whose node fails or waits for its stage, or ""
}

// history has the state of both sides.
type history struct {
	*rand.Rand
	rows        []*account
	hubs        map[string]lynq.HubKey
	next        int
	target      policy.Target
	inventories map[lynq.NodeKey]*inventory.Inventory
	live        map[lynq.Ref]*tracking.Live
	leaving     map[lynq.HubKey][]inventory.Leaving
	now         time.Time
	grace       map[lynq.FormKey]time.Duration
	excluded    string                        // the volume that the rules of all forms exclude, or ""
	forms       map[string][]lynq.FormKey     // the forms of each hub, with their present names
	former      map[lynq.FormKey]lynq.FormKey // the former name of a renamed form
	// begun are nodes whose grace period began on the cluster while some nodes waited for
	// their stage. In a tree, the period of a renamed node begins in the stage of the new one.
	begun map[string]bool
	// apps returns the objects that deploy the tree for some forms, or is nil. It is in
	// another package.
	apps AppsOf
	kind policy.Apps
	owed map[string]bool // objects that the cluster deleted, and that the tree may still have
	// suspends is set if somebody suspends and resumes nodes.
	suspends bool
}

// firstSuspended is the first seed of a history with suspended nodes. Those before draw what
// they drew without them.
const firstSuspended = 2000

// AppsOf returns the objects that deploy a tree with the forms of some hubs.
type AppsOf func(hubs []index.HubScope) (Apps, error)

// newHistory begins a history. Forms of different hubs have different names, so that a
// row's nodes do.
func newHistory(seed uint64, target policy.Target) *history {
	return &history{
		Rand: rand.New(rand.NewPCG(seed, 45)), suspends: seed >= firstSuspended, target: target, now: time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC),
		inventories: map[lynq.NodeKey]*inventory.Inventory{}, live: map[lynq.Ref]*tracking.Live{}, leaving: map[lynq.HubKey][]inventory.Leaving{},
		hubs:  map[string]lynq.HubKey{"crm": {Namespace: "default", Name: "crm"}, "erp": {Namespace: "default", Name: "erp"}},
		grace: map[lynq.FormKey]time.Duration{}, former: map[lynq.FormKey]lynq.FormKey{}, begun: map[string]bool{},
		forms: map[string][]lynq.FormKey{
			"crm": {{Namespace: "default", Name: "db"}, {Namespace: "default", Name: "web"}},
			"erp": {{Namespace: "default", Name: "edb"}, {Namespace: "default", Name: "eweb"}},
		},
	}
}

// roleOf returns the kind of objects that a form renders. A rename keeps it.
func roleOf(form lynq.FormKey) string {
	return strings.TrimRight(strings.TrimPrefix(form.Name, "e"), "0123456789")
}

func (h *history) fresh(prefix string) string {
	h.next++
	return fmt.Sprintf("%s%d", prefix, h.next)
}

// change changes some rows.
func (h *history) change() {
	if len(h.rows) < 7 {
		h.rows = append(h.rows, &account{hub: []string{"crm", "erp"}[h.IntN(2)], uid: h.fresh("t"), slug: h.fresh("s")})
	}
	for _, r := range slices.Clone(h.rows) {
		r.failed, r.waits = "", ""
		switch h.IntN(24) {
		case 0:
			h.rows = slices.DeleteFunc(h.rows, func(o *account) bool { return o == r })
		case 1:
			r.former, r.uid = r.uid, h.fresh("t")
		case 2:
			r.slug = h.fresh("s")
		case 3:
			other := h.rows[h.IntN(len(h.rows))]
			r.slug, other.slug = other.slug, r.slug
		case 4:
			r.inDB = !r.inDB
		case 5:
			r.retained = !r.retained
		case 6:
			r.hub, r.former = map[string]string{"crm": "erp", "erp": "crm"}[r.hub], ""
		case 7:
			r.failed = []string{"web", "db"}[h.IntN(2)]
		case 8:
			r.waits = []string{"web", "db"}[h.IntN(2)]
		case 9, 10, 11:
			r.version = h.next
		case 12:
			r.onApply = h.apps != nil && h.target == policy.Argo && !r.onApply
		case 13:
			r.otherID = h.kind == policy.AppsOrdered && !r.otherID
		}
	}
}

// changeForms changes settings of forms, and lets time pass.
func (h *history) changeForms() {
	h.now = h.now.Add(time.Hour)
	hub := []string{"crm", "erp"}[h.IntN(2)]
	i := h.IntN(2)
	form := h.forms[hub][i]
	switch h.IntN(12) {
	case 0:
		h.grace[form] = time.Duration(h.IntN(3)) * time.Hour
	case 1:
		h.excluded = ""
	case 2:
		if len(h.rows) > 0 {
			h.excluded = h.rows[h.IntN(len(h.rows))].slug
		}
	case 3:
		if _, again := h.former[form]; again {
			return // a form has one former name
		}
		next := lynq.FormKey{Namespace: form.Namespace, Name: h.fresh(form.Name)}
		h.forms[hub][i], h.former[next], h.grace[next] = next, form, h.grace[form]
	}
}

// suspend suspends or resumes a node, on the cluster and in the tree.
func (h *history) suspend(t *testing.T, s *site) {
	t.Helper()
	if !h.suspends || h.IntN(2) == 0 || s.indexNow() == nil {
		return
	}
	nodes := s.indexNow().Nodes()
	nodes = slices.DeleteFunc(nodes, func(k lynq.NodeKey) bool { return h.inventories[k] == nil })
	if len(nodes) == 0 {
		return
	}
	key, why := nodes[h.IntN(len(nodes))], h.suspension()
	inv, err := h.inventories[key].Suspend(why)
	if err != nil {
		t.Fatal(err)
	}
	h.inventories[key] = inv
	s.suspend(key.Name, why)
}

// suspension returns a suspension, or nil to resume a node.
func (h *history) suspension() *inventory.Suspension {
	hours := h.IntN(5)
	switch hours {
	case 0:
		return nil
	case 1:
		return &inventory.Suspension{By: "ann"}
	}
	return &inventory.Suspension{By: "ann", Until: h.now.Add(time.Duration(hours-1) * time.Hour)}
}

// exclusions returns the rules of all forms.
func (h *history) exclusions() lynq.Exclusions {
	if h.excluded == "" {
		return nil
	}
	return lynq.Exclusions{{Kind: "PersistentVolumeClaim", Name: h.excluded}}
}

// nodes renders all rows.
func (h *history) nodes() []*Node {
	var nodes []*Node
	for _, r := range h.rows {
		for _, form := range h.forms[r.hub] {
			n := &Node{NodeID: lynq.NodeID{Hub: h.hubs[r.hub], Form: form, UID: r.uid, Namespace: "default", Name: r.uid + "-" + form.Name}}
			kind := roleOf(form)
			n.Objects = append(n.Objects, document(n, "v1", "ConfigMap", n.Name, fmt.Sprintf("data:\n  version: \"%d\"\n", r.version)))
			if r.inDB == (kind == "db") {
				more := ""
				switch {
				case r.retained:
					more = retaining(h.target)
				case r.onApply:
					more = "  annotations:\n    argocd.argoproj.io/sync-options: Prune=false\n"
				}
				n.Objects = append(n.Objects, document(n, "v1", "PersistentVolumeClaim", r.slug, more))
				if n.Objects[1].Excluded = r.slug == h.excluded; r.otherID {
					n.Objects[1].name("volume")
				}
			}
			if n.Failed, n.Waits = r.failed == kind, r.waits == kind; n.stays() {
				n.Claim()
			}
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// name gives an object another resource id, which its label tells.
func (o *Object) name(id string) {
	o.ID = id
	o.Bytes = bytes.Replace(o.Bytes, []byte("labels:\n"), []byte("labels:\n    resource: "+id+"\n"), 1)
}

// retaining returns the annotations of a retained object. Plain manifests need those of
// both tools, because any of them may apply them.
func retaining(t policy.Target) string {
	targets := []policy.Target{t}
	if t == policy.Plain {
		targets = []policy.Target{policy.Argo, policy.Flux}
	}
	text := "  annotations:\n"
	for _, t := range targets {
		key, value := policy.Undeleted(t, nil)
		text += "    " + key + ": " + value + "\n"
	}
	return text
}

// run returns a run on everything or on a part, as a tree gets it.
func (h *history) run() *Input { return h.part(true) }

// part returns a run. If it may be narrow, it is sometimes on a part of the nodes only.
func (h *history) part(narrow bool) *Input {
	in := &Input{Target: h.target, Now: h.now, Rows: map[lynq.HubKey]Rows{}, Limits: decide.Limits{MaxDelete: limits.DefaultMaxDelete()}}
	if h.IntN(3) > 0 {
		in.Limits.MaxDelete = limits.MaxDelete{Nodes: 100}
	}
	all := h.nodes()
	one, form := narrow && h.IntN(6) == 0, narrow && h.IntN(6) == 0
	if h.kind == policy.AppsApplicationSet { // it needs all hubs and forms
		narrow, form = false, false
	}
	var deployed []index.HubScope
	for _, name := range []string{"crm", "erp"} {
		if narrow && h.IntN(5) == 0 {
			continue
		}
		hub := index.HubScope{HubKey: h.hubs[name], Forms: slices.Clone(h.forms[name]), Grace: map[lynq.FormKey]time.Duration{}}
		if form {
			hub.Forms = hub.Forms[h.IntN(2):][:1]
		}
		present := index.HubScope{HubKey: hub.HubKey, Forms: slices.Clone(hub.Forms)}
		deployed = append(deployed, present)
		rows := Rows{
			Renames: &lynq.Renames{Forms: map[lynq.FormKey]lynq.FormKey{}, UIDs: map[string]string{}, Active: map[string]bool{}},
			Exclude: map[lynq.FormKey]lynq.Exclusions{},
		}
		for _, f := range hub.Forms {
			in.Forms = append(in.Forms, formAt(hub.HubKey, f, 1))
			rows.Exclude[f] = h.exclusions()
			if hub.Grace[f] = h.grace[f]; h.grace[f] == 0 {
				delete(hub.Grace, f)
			}
		}
		for _, f := range slices.Clone(hub.Forms) {
			if former, has := h.former[f]; has { // its files belong to the run
				rows.Renames.Forms[former], rows.Exclude[former] = f, h.exclusions()
				if hub.Forms = append(hub.Forms, former); h.grace[f] > 0 {
					hub.Grace[former] = h.grace[f]
				}
			}
		}
		in.Hubs = append(in.Hubs, hub)
		for _, r := range h.rows {
			if r.hub != name {
				continue
			}
			rows.Active++
			rows.Renames.Active[r.uid] = true
			if r.former != "" {
				rows.Renames.UIDs[r.former] = r.uid
			}
		}
		in.Rows[hub.HubKey] = rows
	}
	if h.apps != nil {
		in.Apps, _ = h.apps(deployed) // its options are right
	}
	if one && len(all) > 0 {
		in.Only = map[string]bool{all[h.IntN(len(all))].Name: true}
	}
	var left []*plan.Node
	for _, n := range all {
		if in.Covers(&index.Entry{Owned: index.Owned{Owner: index.OwnerOf(n.NodeID)}}) {
			in.Nodes = append(in.Nodes, n)
		} else {
			left = append(left, desiredNode(n, nil, nil))
		}
	}
	if len(left) > 0 || len(in.Forms) < 4 || in.Only != nil {
		in.Elsewhere = func() *decide.Survey { return decide.NewSurvey(left) }
	}
	return in
}

// desiredNode returns a node as apply gets it. retained has the objects with Retain or
// RetainOnApply, and rules have the excluded ones.
func desiredNode(n *Node, retained map[lynq.Ref]lynq.DeletionPolicy, rules lynq.Exclusions) *plan.Node {
	made := &plan.Node{NodeID: n.NodeID, Claims: n.Claims}
	if n.Failed {
		made.Failed = errors.New("it failed to render")
		return made
	}
	refs := slices.Clone(n.Claims.Refs)
	for i := range n.Objects {
		refs = append(refs, n.Objects[i].Ref)
	}
	made.Claims = plan.Claims{}
	for _, ref := range refs {
		o := plan.Object{Ref: ref, ID: strings.ToLower(ref.Kind), Policy: &lynq.Policy{Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete}}}
		if o.Exclusion = rules.Find(ref); retained[ref] != "" {
			o.Policy.Deletion = retained[ref]
		}
		made.Objects = append(made.Objects, o)
	}
	return made
}

// apply plans the run on the cluster. It returns the hubs' plans.
func (h *history) apply(in *Input) []*plan.Plan {
	retained := map[lynq.Ref]lynq.DeletionPolicy{}
	for _, r := range h.rows {
		switch ref := (lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "default", Name: r.slug}); {
		case r.retained:
			retained[ref] = lynq.DeleteRetain
		case r.onApply:
			retained[ref] = lynq.DeleteRetainOnApply
		}
	}
	var inputs []*decide.Input
	for _, hub := range in.Hubs {
		rows := in.Rows[hub.HubKey]
		i := &decide.Input{
			Hub:      hub.HubKey,
			Desired:  decide.Desired{Active: rows.Active, Exclude: maps.Clone(rows.Exclude), Grace: maps.Clone(hub.Grace)},
			Recorded: decide.Recorded{Leaving: h.leaving[hub.HubKey]},
			Scope:    decide.Scope{Only: in.Only},
			Observed: plan.Observed{Live: maps.Clone(h.live)},
			Now:      in.Now,
		}
		for _, f := range hub.Forms {
			if _, former := rows.Renames.Forms[f]; !former {
				i.Desired.Forms = append(i.Desired.Forms, f)
			}
		}
		i.Rename(rows.Renames)
		for _, n := range in.Nodes {
			if n.Hub == hub.HubKey {
				i.Desired.Nodes = append(i.Desired.Nodes, desiredNode(n, retained, h.exclusions()))
			}
		}
		for _, key := range slices.SortedFunc(maps.Keys(h.inventories), compareNodes) {
			if inv := h.inventories[key]; inv.Node.Hub == hub.HubKey {
				i.Recorded.Inventories = append(i.Recorded.Inventories, inv)
			}
		}
		inputs = append(inputs, i)
	}
	if in.Elsewhere != nil || len(in.Hubs) > 1 { // then apply surveys all rows, also those of the run
		var all []*plan.Node
		for _, n := range h.nodes() {
			all = append(all, desiredNode(n, nil, nil))
		}
		for _, i := range inputs {
			i.Desired.Elsewhere = decide.NewSurvey(all)
		}
	}
	return decide.All(inputs, in.Limits)
}

// carryOut carries the plans out, except those of nodes that wait. It returns the deleted
// objects.
func (h *history) carryOut(in *Input, plans []*plan.Plan) map[lynq.Ref]bool {
	waits := map[lynq.NodeKey]bool{}
	for _, n := range in.Nodes {
		waits[n.Key()] = n.Waits
	}
	deleted := map[lynq.Ref]bool{}
	for _, p := range plans {
		h.leaving[p.Hub] = p.LeavingRecord
		for i := range p.Leaving {
			h.inventories[p.Leaving[i].Key()] = p.Leaving[i].Marked()
			if slices.ContainsFunc(in.Nodes, func(n *Node) bool { return n.Waits }) {
				h.begun[p.Leaving[i].Namespace+"."+p.Leaving[i].Name] = true
			}
		}
		for i := range p.Nodes {
			n := &p.Nodes[i]
			if waits[n.Key()] || n.Unmet != "" || n.Desired != nil && n.Desired.Failed != nil || waits[n.Next] {
				continue
			}
			next := &inventory.Inventory{Node: n.NodeID, Finalizer: true}
			next.Node.UID = n.UID
			for k := range n.Steps {
				s := &n.Steps[k]
				switch {
				case s.Object != nil && s.Action != plan.ActionSkip && s.Action != plan.ActionBlock:
					uid := s.Object.Full()
					next.Entries = append(next.Entries, inventory.Entry{Ref: s.Object.Ref, ID: s.Object.ID, UID: uid, Digest: "d", Lifecycle: s.Object.Policy.Lifecycle})
					h.live[s.Object.Ref] = &tracking.Live{Ref: s.Object.Ref, UID: types.UID(uid), Hub: p.Hub.Name, HubNamespace: p.Hub.Namespace, Node: n.Name, NodeNamespace: n.Namespace}
				case s.Entry == nil:
				case s.Action == plan.ActionSkip, s.Action == plan.ActionKeep, s.Action == plan.ActionBlock, s.To != nil && waits[*s.To]:
					next.Entries = append(next.Entries, *s.Entry)
				case s.Action == plan.ActionDelete:
					deleted[s.Entry.Ref] = true
				case s.Action == plan.ActionOrphan:
					delete(h.live, s.Entry.Ref)
				}
			}
			if h.inventories[n.Key()] = next; n.Desired == nil && len(next.Entries) == 0 {
				delete(h.inventories, n.Key())
			}
		}
	}
	for ref := range deleted {
		delete(h.live, ref)
	}
	return deleted
}

// pruned returns the objects that leave a tree and that its target deletes.
func pruned(before, after map[string]treeObject, retained func(treeObject) bool) []string {
	var gone []string
	for name, o := range before {
		if _, there := after[name]; !there && !retained(o) {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	return gone
}

// compared counts what histories compared.
type compared struct{ deleted, refused, stricter, moved int }

// blocks reports whether an object stays with another node because of its conflictPolicy. A
// tree has no such conflicts, so that its state differs from then on.
func blocks(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Nodes, func(n plan.NodePlan) bool {
		return slices.ContainsFunc(n.Steps, func(s plan.Step) bool { return s.Action == plan.ActionBlock })
	})
}

// compare makes one run on the cluster and on the tree. before has the objects of the tree,
// and the result those after the run, or nil at the end of the history.
func (h *history) compare(t *testing.T, s *site, before map[string]treeObject, at string, sum *compared) map[string]treeObject {
	t.Helper()
	h.suspend(t, s)
	in := h.run()
	plans := h.apply(in)
	if slices.ContainsFunc(plans, blocks) {
		return nil
	}
	next := *in
	d, p := s.plan(&next)
	defer func() { _ = d.Close() }()
	refusals, asked := Refuse(&next, p), false
	for _, p := range plans {
		asked = asked || len(p.Refusals) > 0
	}
	own := func(r plan.Refusal) bool { return r.Guard == GuardTwice || r.Guard == GuardForeign }
	switch {
	case slices.ContainsFunc(refusals, own): // two nodes can't have a path or an object, where a cluster waits
		sum.stricter++
		return before
	case asked && slices.ContainsFunc(in.Nodes, func(n *Node) bool { return n.Waits }):
		sum.stricter++ // apply counts the nodes of later stages now, and a tree in their stage
		return before
	case len(refusals) > 0 != asked:
		t.Errorf("%s: the tree refuses %v, the cluster %s", at, refusals, describe(plans))
		return nil
	case asked:
		sum.refused++
		return before
	}
	s.carryOut(d, p)
	after := objectsOf(t, s.files())
	gone := pruned(before, after, func(o treeObject) bool { return o.retained })
	var want []string
	for ref := range h.carryOut(in, plans) {
		// An excluded object's file says that nothing prunes it, also after its rule ends.
		if name := ref.Kind + "/" + ref.Namespace + "/" + ref.Name; !before[name].retained {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	if slices.ContainsFunc(want, func(name string) bool { return h.begun[before[name].node] && !slices.Contains(gone, name) }) {
		sum.stricter++ // the tree's period began later
		return nil
	}
	if diff := cmp.Diff(want, gone, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: cluster and tree: %s, %s", at, diff, describe(plans))
		return nil
	}
	sum.deleted += len(gone)
	return after
}

// number returns the number in an environment variable.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTreeDeletesLikeCluster makes random histories on a tree and on a cluster.
// LYNQCTL_TREE_HISTORIES says how many of them for each target, and LYNQCTL_TREE_SEED the
// first seed.
func TestTreeDeletesLikeCluster(t *testing.T) {
	t.Parallel()
	histories, first := number(t, "LYNQCTL_TREE_HISTORIES", 12), number(t, "LYNQCTL_TREE_SEED", 0)
	for _, target := range []policy.Target{policy.Plain, policy.Argo, policy.Flux} {
		t.Run(string(target), func(t *testing.T) {
			t.Parallel()
			var sum compared
			seeds := []uint64{627, 918, 1272, 1688, firstSuspended, firstSuspended + 1} // the first four once found differences
			for seed := range histories {
				seeds = append(seeds, uint64(first+seed))
			}
			for _, seed := range seeds {
				h, s := newHistory(seed, target), newSite(t)
				s.quick = true
				before := map[string]treeObject{}
				for step := 0; step < 8 && before != nil; step++ {
					h.change()
					h.changeForms()
					before = h.compare(t, s, before, fmt.Sprintf("seed %d, step %d", seed, step), &sum)
				}
			}
			t.Logf("%d histories: %+v", histories, sum)
			if histories >= 12 && (sum.deleted < 3*histories || sum.refused < histories/6 || sum.stricter > 2*histories) {
				t.Errorf("too few comparisons: %+v", sum)
			}
		})
	}
}

// describe formats plans for failures.
func describe(plans []*plan.Plan) string {
	var b strings.Builder
	for _, p := range plans {
		fmt.Fprintf(&b, "hub %s: %v\n", p.Hub, p.Refusals)
		for i := range p.Nodes {
			for _, s := range p.Nodes[i].Steps {
				name := ""
				if s.Entry != nil {
					name = s.Entry.Full()
				}
				fmt.Fprintf(&b, "  %s: %s %s (%s) %s\n", p.Nodes[i].Name, s.Action, name, s.Reason, s.Message)
			}
		}
	}
	return b.String()
}
