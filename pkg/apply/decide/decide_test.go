package decide

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// situation is the state of an object when a node needs it, or no longer needs it.
type situation string

const (
	absent      situation = "absent"
	vanished    situation = "vanished" // recorded, but it doesn't exist
	ours        situation = "ours"
	drift       situation = "ours but drifted"
	formChanged situation = "ours, and the form changed"
	policyMoved situation = "ours, tracked the other way"
	recreated   situation = "ours, deleted and made again by others"
	unconfirmed situation = "ours, from a run that was killed"
	orphaned    situation = "orphaned"
	nobodys     situation = "unmanaged"
	otherNodes  situation = "another node's"
	otherSets   situation = "another ApplySet's"
	otherTools  situation = "another inventory's"
	controllers situation = "another controller's"
	goingAway   situation = "being deleted"
	handsOff    situation = "marked lynq.sh/mode: unmanaged"
	ownRecord   situation = "a record of lynqctl"
	bare        situation = "ours, without its annotations"
	overwritten situation = "ours, without tracking and annotations" // by kubectl replace
	unfinished  situation = "ours, recorded, its content not written yet"
	unrecordedT situation = "with our tracking, and unrecorded"
	forgedOnce  situation = "unmanaged, with our annotations"
)

func situations() []situation {
	return []situation{absent, vanished, ours, drift, formChanged, policyMoved, recreated, unconfirmed, orphaned,
		nobodys, otherNodes, otherSets, otherTools, controllers, goingAway, handsOff, ownRecord,
		bare, overwritten, unfinished, unrecordedT, forgedOnce}
}

// scene returns an input with one node, acme-web in namespace ns, and its Deployment in one
// of the situations.
func scene(at situation, p lynq.Policy) *Input {
	ref := lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: "acme"}
	key := lynq.NodeKey{Namespace: "ns", Name: "acme-web"}
	o := plan.Object{Ref: ref, APIVersion: "apps/v1", ID: "app", Policy: &p, Owned: p.Deletion != lynq.DeleteRetain && p.Deletion != lynq.DeleteRetainOnDelete, Digest: "d1"}
	partOf := inventory.ID("ns", inventory.Name("acme-web"))
	live := &tracking.Live{
		Ref: ref, UID: "u1", ResourceVersion: "7", Generation: 1, Hub: "crm", PartOf: partOf,
		DeletionPolicy: p.Deletion, ResourceID: "app", Fields: "f1", CreatedOnce: p.Creation == lynq.CreateOnce,
	}
	if o.Owned {
		live.Owners = []types.UID{"inv"}
	} else {
		live.Node, live.NodeNamespace = "acme-web", "ns"
	}
	entry := inventory.Entry{
		Ref: ref, ID: "app", APIVersion: "apps/v1", UID: "u1", Digest: "d1", Generation: 1, ResourceVersion: "7", Fields: "f1",
		Lifecycle: p.Lifecycle,
	}
	entries := []inventory.Entry{entry}
	untracked := tracking.Live{Ref: ref, UID: "u9", ResourceVersion: "3", Fields: "f9"}
	switch at {
	case absent:
		live, entries = nil, nil
	case vanished:
		live = nil
	case drift:
		live.Fields, live.ResourceVersion = "f2", "8"
	case formChanged:
		o.Digest = "d2"
	case policyMoved:
		live.Owners, live.Node, live.NodeNamespace = []types.UID{"inv"}, "", ""
		if o.Owned {
			live.Owners, live.Node, live.NodeNamespace = nil, "acme-web", "ns"
		}
	case recreated:
		live.UID = "u2"
	case unconfirmed:
		entries[0].UID, entries[0].Digest = "", ""
	case orphaned:
		created := live.CreatedOnce
		untracked.Orphaned, untracked.CreatedOnce, untracked.UID, untracked.Few = true, created, "u1", &tracking.Rare{OrphanedFrom: "crm/ns/acme-web/app"}
		live, entries = &untracked, nil
	case nobodys:
		live, entries = &untracked, nil
	case otherNodes:
		untracked.Hub, untracked.Node, untracked.NodeNamespace = "crm", "other-web", "ns"
		live, entries = &untracked, nil
	case otherSets:
		untracked.PartOf = "applyset-other-v1"
		live, entries = &untracked, nil
	case otherTools:
		untracked.Few = &tracking.Rare{Foreign: "Kustomization flux-system/apps"}
		live, entries = &untracked, nil
	case controllers:
		untracked.Few = &tracking.Rare{Controller: "Widget/w", ControllerUID: "w1"}
		live, entries = &untracked, nil
	case goingAway:
		live.Deleting = true
	case handsOff:
		live.Unmanaged = true
	case ownRecord:
		live.Record = true
	case bare:
		live.CreatedOnce, live.ResourceID, live.DeletionPolicy = false, "", ""
		live.Fields, live.ResourceVersion = "f2", "8"
	case overwritten:
		untracked.UID = "u1"
		live = &untracked
	case unfinished:
		entries[0].Digest = ""
		live.CreatedOnce = false
	case unrecordedT:
		entries = nil
	case forgedOnce:
		untracked.CreatedOnce, untracked.ResourceID, untracked.DeletionPolicy, untracked.Adopted = live.CreatedOnce, "app", p.Deletion, true
		live, entries = &untracked, nil
	}
	in := &Input{
		Hub:      lynq.HubKey{Name: "crm"},
		Desired:  Desired{Forms: []lynq.FormKey{{Name: "web"}}, Active: 1, Nodes: []*plan.Node{{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: key.Namespace, Name: key.Name}, Objects: []plan.Object{o}}}},
		Observed: plan.Observed{Live: map[lynq.Ref]*tracking.Live{}},
		Recorded: Recorded{Inventories: []*inventory.Inventory{{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: "ns", Name: "acme-web"}, UID: "inv", Entries: entries}}},
	}
	if live != nil {
		in.Observed.Live[ref] = live
	}
	return in
}

// verdict is a plan's decision about one object.
type verdict struct {
	Action plan.Action
	Reason plan.Reason
}

// wanted is the table of decisions about a desired object. If the object provably belongs
// to the node, and its policies say so, an update recreates it.
func wanted(at situation, p lynq.Policy) verdict {
	v := wantedOfAll(at, p)
	switch at {
	case formChanged, unconfirmed, unfinished: // never for drift
		if p.Patch == lynq.PatchRecreate && v.Action == plan.ActionUpdate && p.Deletion == lynq.DeleteDelete {
			v.Action = plan.ActionRecreate
		}
	}
	return v
}

// wantedOfAll is wanted for all patch strategies except recreate.
func wantedOfAll(at situation, p lynq.Policy) verdict {
	once := p.Creation == lynq.CreateOnce
	switch at {
	case absent:
		return verdict{plan.ActionCreate, plan.ReasonNew}
	case vanished:
		return verdict{plan.ActionCreate, plan.ReasonVanished}
	case goingAway:
		return verdict{plan.ActionCreate, plan.ReasonDeleting}
	case handsOff:
		if p.Deletion != lynq.DeleteRetain && p.Deletion != lynq.DeleteRetainOnDelete {
			return verdict{plan.ActionTrack, plan.ReasonUnmanaged} // it has an owner reference
		}
		return verdict{plan.ActionSkip, plan.ReasonUnmanaged}
	case ownRecord:
		return verdict{plan.ActionBlock, plan.ReasonForeign}
	case otherNodes, otherSets, otherTools, controllers:
		if p.Adopts() == lynq.AdoptAlways {
			return verdict{plan.ActionAdopt, plan.ReasonTakeover}
		}
		return verdict{plan.ActionBlock, plan.ReasonForeign}
	case nobodys, forgedOnce, recreated, orphaned, overwritten, unrecordedT:
		if p.Adopts() == lynq.AdoptNever {
			return verdict{plan.ActionBlock, plan.ReasonUnowned}
		}
	}
	switch at {
	case nobodys, forgedOnce:
		return verdict{plan.ActionAdopt, plan.ReasonUnowned}
	case unfinished:
		return verdict{plan.ActionUpdate, plan.ReasonUnconfirmed}
	}
	if once {
		switch at {
		case ours, drift, formChanged:
			return verdict{plan.ActionKeep, plan.ReasonCreatedOnce}
		case policyMoved, bare, overwritten:
			return verdict{plan.ActionTrack, plan.ReasonUntracked}
		case orphaned:
			return verdict{plan.ActionTrack, plan.ReasonOrphan}
		case recreated, unconfirmed, unrecordedT:
			return verdict{plan.ActionTrack, plan.ReasonUnconfirmed}
		}
	}
	switch at {
	case drift, bare:
		return verdict{plan.ActionUpdate, plan.ReasonDrifted}
	case formChanged:
		return verdict{plan.ActionUpdate, plan.ReasonChanged}
	case policyMoved, overwritten:
		return verdict{plan.ActionUpdate, plan.ReasonUntracked}
	case recreated:
		return verdict{plan.ActionUpdate, plan.ReasonReplaced}
	case unconfirmed, unrecordedT:
		return verdict{plan.ActionUpdate, plan.ReasonUnconfirmed}
	case orphaned:
		return verdict{plan.ActionAdopt, plan.ReasonOrphan}
	}
	return verdict{plan.ActionKeep, plan.ReasonUpToDate}
}

// unwanted is the table for an object that its node no longer needs.
func unwanted(at situation, p lynq.Policy) (verdict, bool) {
	switch at {
	case absent, orphaned, nobodys, otherNodes, otherSets, otherTools, controllers, unrecordedT, forgedOnce:
		return verdict{}, false // not recorded
	case overwritten:
		return verdict{plan.ActionRelease, plan.ReasonTakenOver}, true
	case vanished:
		return verdict{plan.ActionRelease, plan.ReasonAlreadyGone}, true
	case handsOff:
		return wanted(at, p), true
	case recreated:
		return verdict{plan.ActionRelease, plan.ReasonTakenOver}, true // its uid isn't the recorded one
	case ownRecord:
		return verdict{plan.ActionRelease, plan.ReasonTakenOver}, true
	}
	if p.Deletion == lynq.DeleteRetain || p.Deletion == lynq.DeleteRetainOnApply {
		return verdict{plan.ActionOrphan, plan.ReasonRemoved}, true
	}
	return verdict{plan.ActionDelete, plan.ReasonRemoved}, true
}

// adoptions returns all values of adoptionPolicy, and none.
func adoptions() []lynq.AdoptionPolicy {
	return []lynq.AdoptionPolicy{"", lynq.AdoptNever, lynq.AdoptIfUnowned, lynq.AdoptAlways}
}

// TestPolicies decides every combination of the five policies in every situation, for a
// desired object and for one that is no longer desired.
func TestPolicies(t *testing.T) {
	for _, creation := range []lynq.CreationPolicy{lynq.CreateWhenNeeded, lynq.CreateOnce} {
		for _, deletion := range lynq.DeletionPolicies() {
			for _, conflict := range []lynq.ConflictPolicy{lynq.ConflictStuck, lynq.ConflictForce} {
				for _, patch := range lynq.PatchStrategies() {
					for _, adoption := range adoptions() {
						for _, at := range situations() {
							p := lynq.DefaultPolicy()
							p.Creation, p.Deletion, p.Conflict, p.Patch, p.Adoption = creation, deletion, conflict, patch, adoption
							t.Run(fmt.Sprintf("%s/%s/%s/%s/%s/%s", creation, deletion, conflict, patch, adoption, at), func(t *testing.T) {
								decideBoth(t, at, p)
							})
						}
					}
				}
			}
		}
	}
}

func decideBoth(t *testing.T, at situation, p lynq.Policy) {
	decided := Decide(scene(at, p), Limits{MaxDelete: limits.DefaultMaxDelete()})
	steps := decided.Nodes[0].Steps
	if len(steps) != 1 {
		t.Fatalf("%d steps, want one", len(steps))
	}
	if got, want := (verdict{steps[0].Action, steps[0].Reason}), wanted(at, p); got != want {
		t.Errorf("wanted: got %v (%s), want %v", got, steps[0].Message, want)
	}
	if decided.Counts[steps[0].Action] != 1 {
		t.Errorf("counts %v", decided.Counts)
	}
	in := scene(at, p)
	in.Desired.Nodes[0].Objects = nil
	steps = Decide(in, Limits{MaxDelete: limits.DefaultMaxDelete()}).Nodes[0].Steps
	want, recorded := unwanted(at, p)
	switch {
	case !recorded && len(steps) > 0:
		t.Errorf("unwanted and unrecorded: %+v", steps)
	case recorded && len(steps) != 1:
		t.Errorf("unwanted: %d steps", len(steps))
	case recorded:
		if got := (verdict{steps[0].Action, steps[0].Reason}); got != want {
			t.Errorf("unwanted: got %v (%s), want %v", got, steps[0].Message, want)
		}
	}
}

// TestTakenOver checks that lynqctl releases an object that another client took over since
// its entry, whatever the policy.
func TestTakenOver(t *testing.T) {
	for _, deletion := range lynq.DeletionPolicies() {
		p := lynq.DefaultPolicy()
		p.Deletion = deletion
		in := scene(ours, p)
		ref := in.Desired.Nodes[0].Objects[0].Ref
		in.Desired.Nodes[0].Objects = nil
		in.Observed.Live[ref] = &tracking.Live{Ref: ref, UID: "u1", Hub: "crm", Node: "other-web", NodeNamespace: "ns"}
		s := Decide(in, Limits{}).Nodes[0].Steps[0]
		if s.Action != plan.ActionRelease || s.Reason != plan.ReasonTakenOver || s.Message != "it is now of node ns/other-web" {
			t.Errorf("%s: %s %s %q", deletion, s.Action, s.Reason, s.Message)
		}
	}
}

// TestRecordsStay checks that a node with a record of lynqctl in its inventory releases it.
// It never deletes, marks, takes back or collects it, whatever marks the record has.
func TestRecordsStay(t *testing.T) {
	change := map[string]func(*Input, *tracking.Live){
		"as it is":     func(*Input, *tracking.Live) {},
		"given up":     func(in *Input, l *tracking.Live) { in.Options.GiveUp = map[lynq.Ref]error{l.Ref: nil} },
		"orphaned":     func(in *Input, _ *tracking.Live) { in.Options.Cascade = plan.CascadeOrphan },
		"collected":    func(in *Input, _ *tracking.Live) { in.Options.Cascade = plan.CascadeBackground },
		"deleting":     func(_ *Input, l *tracking.Live) { l.Deleting = true },
		"unmanaged":    func(_ *Input, l *tracking.Live) { l.Unmanaged = true },
		"marked":       func(_ *Input, l *tracking.Live) { l.Orphaned = true },
		"without mark": func(_ *Input, l *tracking.Live) { l.PartOf, l.Owners = "", nil },
	}
	for name, c := range change {
		p := lynq.DefaultPolicy()
		p.Conflict = lynq.ConflictForce
		in := scene(ownRecord, p)
		key, live := in.Desired.Nodes[0].Key(), in.Observed.Live[in.Desired.Nodes[0].Objects[0].Ref]
		c(in, live)
		if s := Decide(in, Limits{}).Nodes[0].Steps[0]; s.Action != plan.ActionBlock {
			t.Errorf("%s, wanted: %s %s", name, s.Action, s.Reason)
		}
		in.Options.KeepContent = true
		if s := Decide(in, Limits{}).Nodes[0].Steps[0]; s.Action != plan.ActionBlock {
			t.Errorf("%s, to be taken back: %s %s", name, s.Action, s.Reason)
		}
		in.Desired.Nodes, in.Scope.Delete = nil, map[lynq.NodeKey]bool{key: true}
		if s := Decide(in, Limits{}).Nodes[0].Steps[0]; s.Action != plan.ActionRelease || s.Reason != plan.ReasonTakenOver {
			t.Errorf("%s, of a node that goes: %s %s", name, s.Action, s.Reason)
		}
		live.Orphaned = true
		if live.NoOrphan() == "" {
			t.Errorf("%s: it counts as an orphan", name)
		}
	}
}

// TestNeverManaged checks that the label identifies objects that a node never owns, and so
// do kind and name alone.
func TestNeverManaged(t *testing.T) {
	for _, c := range []struct {
		ref    lynq.Ref
		labels map[string]string
		want   bool
	}{
		{lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "lynqnode-bolt-web"}, nil, true},
		{lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "lynqhub-crm"}, nil, true},
		{lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "lynqctl-crm"}, nil, false},
		{lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}, map[string]string{wellknown.LabelRecord: ""}, true},
		{lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}, map[string]string{wellknown.LabelHub: "crm"}, false},
		{lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "lynqnode-bolt-web"}, nil, false},
		{lynq.Ref{Group: "coordination.k8s.io", Kind: "Lease", Namespace: "ns", Name: "lynqctl-crm"}, nil, true},
		{lynq.Ref{Group: "coordination.k8s.io", Kind: "Lease", Namespace: "ns", Name: "crm"}, nil, false},
		{lynq.Ref{Group: "example.com", Kind: "ConfigMap", Namespace: "ns", Name: "lynqnode-bolt-web"}, nil, false},
		{lynq.Ref{Group: wellknown.Group, Kind: wellknown.KindNode, Namespace: "ns", Name: "bolt-web"}, nil, true},
	} {
		m := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: c.labels}}
		if got := tracking.LiveOf(c.ref, &m).Record; got != c.want {
			t.Errorf("%s %v: %t", c.ref.Full(), c.labels, got)
		}
	}
}

// TestRetainWins checks that if the object and the entry have different deletion policies,
// the one that keeps the object counts.
func TestRetainWins(t *testing.T) {
	for _, tt := range []struct {
		object, entry    lynq.DeletionPolicy
		dropped, deleted plan.Action // dropped by the form, and deleted with the node
	}{
		{lynq.DeleteDelete, lynq.DeleteDelete, plan.ActionDelete, plan.ActionDelete},
		{lynq.DeleteRetain, lynq.DeleteDelete, plan.ActionOrphan, plan.ActionOrphan},
		{lynq.DeleteDelete, lynq.DeleteRetain, plan.ActionOrphan, plan.ActionOrphan},
		{lynq.DeleteDelete, lynq.DeleteRetainOnApply, plan.ActionOrphan, plan.ActionDelete},
		{lynq.DeleteRetainOnDelete, lynq.DeleteDelete, plan.ActionDelete, plan.ActionOrphan},
		{lynq.DeleteRetainOnDelete, lynq.DeleteRetainOnApply, plan.ActionOrphan, plan.ActionOrphan},
		{"", lynq.DeleteRetainOnDelete, plan.ActionDelete, plan.ActionOrphan},
		{lynq.DeleteRetainOnApply, "", plan.ActionOrphan, plan.ActionDelete},
		{"Strange", lynq.DeleteDelete, plan.ActionDelete, plan.ActionDelete},
	} {
		t.Run(string(tt.object), func(t *testing.T) {
			for _, dropped := range []bool{true, false} {
				in := scene(ours, lynq.DefaultPolicy())
				ref := in.Desired.Nodes[0].Objects[0].Ref
				in.Observed.Live[ref].DeletionPolicy, in.Recorded.Inventories[0].Entries[0].Deletion = tt.object, tt.entry
				want := tt.dropped
				if in.Desired.Nodes[0].Objects = nil; !dropped {
					in.Desired.Nodes, want = nil, tt.deleted
				}
				if s := Decide(in, Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: 1}}).Nodes[0].Steps[0]; s.Action != want {
					t.Errorf("object %q, entry %q, dropped %t: %s, want %s", tt.object, tt.entry, dropped, s.Action, want)
				}
			}
		})
	}
}

// TestMoves checks that an object that moves from one node of the run to another is handed
// over, and no node deletes it.
func TestMoves(t *testing.T) {
	for _, p := range []lynq.Policy{lynq.DefaultPolicy(), {Lifecycle: lynq.Lifecycle{Creation: lynq.CreateWhenNeeded, Deletion: lynq.DeleteRetain, Conflict: lynq.ConflictStuck, Patch: lynq.PatchApply}}} {
		t.Run(string(p.Adoption), func(t *testing.T) {
			in := scene(ours, p)
			moved := *in.Desired.Nodes[0]
			moved.Namespace, moved.Name = "ns", "acme-shop"
			moved.Form.Name = "shop"
			in.Desired.Forms = []lynq.FormKey{{Name: "shop"}, {Name: "web"}}
			in.Desired.Nodes = []*plan.Node{&moved}
			decided := Decide(in, Limits{MaxDelete: limits.MaxDelete{Nodes: 1}})
			if len(decided.Nodes) != 2 || len(decided.Refusals) > 0 {
				t.Fatalf("plan %+v", decided)
			}
			if s := decided.Nodes[0].Steps[0]; s.Action != plan.ActionUpdate || s.Reason != plan.ReasonMoved || s.Message != "moves from node ns/acme-web" {
				t.Errorf("the new node has %s %s %s", s.Action, s.Reason, s.Message)
			}
			if s := decided.Nodes[1].Steps[0]; s.Action != plan.ActionRelease || s.Reason != plan.ReasonTakenOver {
				t.Errorf("the old node has %s %s", s.Action, s.Reason)
			}
		})
	}
}

// TestWhatGoes checks that a run deletes only nodes of its forms and names. It keeps a node
// if its row failed to render or its inventory is broken.
func TestWhatGoes(t *testing.T) {
	inv := func(node, form string) *inventory.Inventory {
		return &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: form}, Namespace: "ns", Name: node}}
	}
	in := &Input{
		Hub: lynq.HubKey{Name: "crm"},
		Desired: Desired{Forms: []lynq.FormKey{{Name: "web"}}, Active: 3, Nodes: []*plan.Node{
			{NodeID: lynq.NodeID{Form: lynq.FormKey{Name: "web"}, Namespace: "ns", Name: "a-web"}},
			{NodeID: lynq.NodeID{Form: lynq.FormKey{Name: "web"}, Namespace: "ns", Name: "b-web"}, Failed: fmt.Errorf("no")},
			{NodeID: lynq.NodeID{Form: lynq.FormKey{Name: "web"}, Namespace: "ns", Name: "c-web"}},
		}},
		Recorded: Recorded{Inventories: []*inventory.Inventory{inv("a-web", "web"), inv("b-web", "web"), inv("x-web", "web"), inv("y-web", "web"), inv("z-db", "db")}, Broken: map[lynq.NodeKey]error{{Namespace: "ns", Name: "c-web"}: fmt.Errorf("broken")}},
	}
	going := func(only map[string]bool) []string {
		in.Scope.Only = only
		var names []string
		for _, n := range Decide(in, Limits{MaxDelete: limits.MaxDelete{Nodes: 9}}).Nodes {
			if n.Desired == nil {
				names = append(names, n.Name)
			}
		}
		return names
	}
	if got := fmt.Sprint(going(nil)); got != "[x-web y-web]" {
		t.Errorf("goes: %s", got)
	}
	if got := fmt.Sprint(going(map[string]bool{"y-web": true, "a-web": true})); got != "[y-web]" {
		t.Errorf("of the named goes: %s", got)
	}
	if n := Decide(in, Limits{}).Nodes[2]; n.Desired.Failed == nil || len(n.Steps) > 0 {
		t.Errorf("the node with a broken record: %+v", n)
	}
}

func TestGuards(t *testing.T) {
	nodes := func(wanted, recorded int) *Input {
		in := &Input{Hub: lynq.HubKey{Name: "crm"}, Desired: Desired{Forms: []lynq.FormKey{{Name: "web"}}, Active: wanted}}
		for i := range wanted {
			in.Desired.Nodes = append(in.Desired.Nodes, &plan.Node{NodeID: lynq.NodeID{Form: lynq.FormKey{Name: "web"}, Namespace: "ns", Name: fmt.Sprintf("n%03d-web", i)}})
		}
		for i := range recorded {
			in.Recorded.Inventories = append(in.Recorded.Inventories, &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Namespace: "ns", Name: fmt.Sprintf("n%03d-web", i)}})
		}
		return in
	}
	for name, c := range map[string]struct {
		in     *Input
		limits Limits
		want   plan.Guard
	}{
		"nothing goes":           {nodes(4, 4), Limits{MaxDelete: limits.DefaultMaxDelete()}, ""},
		"first run":              {nodes(4, 0), Limits{MaxDelete: limits.DefaultMaxDelete()}, ""},
		"empty first run":        {nodes(0, 0), Limits{MaxDelete: limits.DefaultMaxDelete()}, ""},
		"a quarter goes":         {nodes(6, 8), Limits{MaxDelete: limits.DefaultMaxDelete()}, ""},
		"more than a quarter":    {nodes(5, 8), Limits{MaxDelete: limits.DefaultMaxDelete()}, plan.GuardMaxDelete},
		"one of two":             {nodes(1, 2), Limits{MaxDelete: limits.DefaultMaxDelete()}, ""},
		"two of three":           {nodes(1, 3), Limits{MaxDelete: limits.DefaultMaxDelete()}, plan.GuardMaxDelete},
		"none may go":            {nodes(7, 8), Limits{}, plan.GuardMaxDelete},
		"a number":               {nodes(3, 8), Limits{MaxDelete: limits.MaxDelete{Nodes: 5}}, ""},
		"one beyond the number":  {nodes(2, 8), Limits{MaxDelete: limits.MaxDelete{Nodes: 5}}, plan.GuardMaxDelete},
		"empty":                  {nodes(0, 1), Limits{MaxDelete: limits.MaxDelete{Percent: 100}}, plan.GuardEmpty},
		"empty and allowed":      {nodes(0, 8), Limits{AllowEmpty: true, MaxDelete: limits.DefaultMaxDelete()}, ""},
		"allowed, and not empty": {nodes(1, 8), Limits{AllowEmpty: true, MaxDelete: limits.DefaultMaxDelete()}, plan.GuardMaxDelete},
	} {
		t.Run(name, func(t *testing.T) {
			var got plan.Guard
			if r := Decide(c.in, c.limits).Refusals; len(r) > 0 {
				got = r[0].Guard
			}
			if got != c.want {
				t.Errorf("%s: refused by %q, want %q", name, got, c.want)
			}
		})
	}
	emptied := nodes(3, 3)
	for i, inv := range emptied.Recorded.Inventories {
		emptied.Desired.Nodes[i].Hub.Name = "crm"
		inv.Entries = []inventory.Entry{{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: inv.Node.Name}}}
		if i == 0 {
			emptied.Desired.Nodes[i].Objects = []plan.Object{{Ref: inv.Entries[0].Ref}}
		}
	}
	want := "2 of 3 nodes would be deleted or lose objects (ns/n001-web, ns/n002-web), the limit is 1 (--max-delete=25%): 2 get no object from their forms"
	if r := Decide(emptied, Limits{MaxDelete: limits.DefaultMaxDelete()}).Refusals; len(r) != 1 || r[0].What != want || r[0].Fix != "check the forms; to do this anyway, pass --max-delete=2" {
		t.Errorf("nodes without objects: %+v", r)
	}
	if r := Decide(emptied, Limits{MaxDelete: limits.MaxDelete{Nodes: 2}}).Refusals; len(r) != 0 {
		t.Errorf("nodes without objects, as they are to be: %+v", r)
	}
	excluding := nodes(3, 3)
	for i, inv := range excluding.Recorded.Inventories {
		excluding.Desired.Nodes[i].Hub.Name = "crm"
		kept := inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "kept-" + inv.Node.Name}, ID: "kept", Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteRetain}}
		gold := inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: inv.Node.Name}, ID: "gold", Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete}}
		inv.Entries = []inventory.Entry{kept, gold}
		excluding.Desired.Nodes[i].Objects, excluding.Desired.Nodes[i].NotIncluded = []plan.Object{{Ref: kept.Ref, ID: "kept"}}, []string{"gold"}
		if i == 0 { // it would be retained
			excluding.Desired.Nodes[i].Objects, excluding.Desired.Nodes[i].NotIncluded = []plan.Object{{Ref: gold.Ref, ID: "gold"}}, []string{"kept"}
		}
	}
	want = "2 of 3 nodes would be deleted or lose objects (ns/n001-web, ns/n002-web), the limit is 1 (--max-delete=25%): 2 lose objects through includeWhen or values of a chart"
	if r := Decide(excluding, Limits{MaxDelete: limits.DefaultMaxDelete()}).Refusals; len(r) != 1 || r[0].What != want || r[0].Fix != "check the rows and the forms; to do this anyway, pass --max-delete=2" {
		t.Errorf("nodes that lose objects: %+v", r)
	}
	for i, inv := range excluding.Recorded.Inventories { // another resource renders the same object
		excluding.Desired.Nodes[i].Objects = []plan.Object{{Ref: inv.Entries[1].Ref, ID: "silver"}, {Ref: inv.Entries[0].Ref, ID: "kept"}}
	}
	if r := Decide(excluding, Limits{MaxDelete: limits.DefaultMaxDelete()}).Refusals; len(r) != 0 {
		t.Errorf("nodes whose objects change their resource: %+v", r)
	}
	in := nodes(1, 1)
	in.Recorded.OperatorNodes = map[string]int{in.Hub.Namespace: 1, "other": 1}
	if r := Decide(in, Limits{}).Refusals; len(r) != 1 || r[0].Guard != plan.GuardOperator || !strings.HasSuffix(r[0].What, "it has 2 LynqNode resources") {
		t.Errorf("with the operator's nodes: %+v", r)
	}
	in.Recorded.OperatorNodes = map[string]int{"other": 1}
	if r := Decide(in, Limits{}).Refusals; len(r) != 1 || !strings.HasSuffix(r[0].What, "it has 1 LynqNode resource in namespace other") || !strings.Contains(r[0].Fix, "LynqHub other/"+in.Hub.Name) {
		t.Errorf("with nodes of the operator's hub in another namespace: %+v", r)
	}
}

func TestMaxDelete(t *testing.T) {
	for s, want := range map[string]string{"25%": "25%", "5": "5", "0": "0", "0%": "0", "100%": "100%", "101%": "error", "-1": "error", "x": "error", "%": "error", "": "error"} {
		t.Run(s, func(t *testing.T) {
			got := "error"
			if m, err := limits.ParseMaxDelete(s); err == nil {
				got = m.String()
			}
			if got != want {
				t.Errorf("%q: %s, want %s", s, got, want)
			}
		})
	}
}

// TestHubsOfOneName checks that lynqctl leaves the nodes of a hub with the same name in
// another namespace alone, and takes none of them over.
func TestHubsOfOneName(t *testing.T) {
	in := scene(ours, lynq.DefaultPolicy())
	in.Hub.Namespace, in.Desired.Nodes[0].Hub.Namespace = "here", "here"
	in.Recorded.Inventories[0].Node.Hub.Namespace = "there"
	in.Recorded.Inventories = append(in.Recorded.Inventories, &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "there", Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Namespace: "ns", Name: "x-web"}})
	decided := Decide(in, Limits{})
	if len(decided.Nodes) != 1 || len(decided.Refusals) > 0 {
		t.Fatalf("plan %+v", decided)
	}
	if n := decided.Nodes[0]; n.Desired.Failed == nil || len(n.Steps) > 0 {
		t.Errorf("the node whose record is another hub's: %+v", n)
	}
	in.Recorded.Inventories[0].Node.Hub.Namespace = ""
	if n := Decide(in, Limits{}).Nodes[0]; n.Desired.Failed != nil {
		t.Errorf("the record of an unknown hub: %v", n.Desired.Failed)
	}
}

// TestForgedOnce checks that marks that others may write can prevent a write, on an object
// without an entry. With creationPolicy Once, lynqctl believes a mark on an orphan or an
// object with tracking, because a missing write can be repaired. Otherwise it writes the
// content.
func TestForgedOnce(t *testing.T) {
	orphan := func(l *tracking.Live) { l.Orphaned, l.Few = true, &tracking.Rare{OrphanedFrom: "crm/ns/acme-web/app"} }
	tracked := func(l *tracking.Live) { l.Hub, l.Node, l.NodeNamespace = "crm", "acme-web", "ns" }
	for name, tt := range map[string]struct {
		marks           []func(*tracking.Live)
		once, otherwise verdict
	}{
		"none":             {nil, verdict{plan.ActionAdopt, plan.ReasonUnowned}, verdict{plan.ActionAdopt, plan.ReasonUnowned}},
		"an orphan's":      {[]func(*tracking.Live){orphan}, verdict{plan.ActionTrack, plan.ReasonOrphan}, verdict{plan.ActionAdopt, plan.ReasonOrphan}},
		"the tracking":     {[]func(*tracking.Live){tracked}, verdict{plan.ActionTrack, plan.ReasonUntracked}, verdict{plan.ActionUpdate, plan.ReasonUnconfirmed}},
		"both":             {[]func(*tracking.Live){orphan, tracked}, verdict{plan.ActionTrack, plan.ReasonOrphan}, verdict{plan.ActionAdopt, plan.ReasonOrphan}},
		"of another hub's": {[]func(*tracking.Live){tracked, func(l *tracking.Live) { l.Hub, l.Node, l.NodeNamespace = "erp", "", "" }}, verdict{plan.ActionAdopt, plan.ReasonUnowned}, verdict{plan.ActionAdopt, plan.ReasonUnowned}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, creation := range []lynq.CreationPolicy{lynq.CreateOnce, lynq.CreateWhenNeeded} {
				for _, said := range []bool{true, false} {
					p := lynq.DefaultPolicy()
					p.Creation, p.Deletion = creation, lynq.DeleteRetain
					in := scene(nobodys, p)
					l := in.Observed.Live[in.Desired.Nodes[0].Objects[0].Ref]
					l.CreatedOnce, l.ResourceID, l.DeletionPolicy = said, "app", p.Deletion
					for _, mark := range tt.marks {
						mark(l)
					}
					want := tt.otherwise
					if said && creation == lynq.CreateOnce {
						want = tt.once
					}
					s := Decide(in, Limits{}).Nodes[0].Steps[0]
					if got := (verdict{s.Action, s.Reason}); got != want {
						t.Errorf("marks: %s, %s, created-once %t: %v (%s), want %v", name, creation, said, got, s.Message, want)
					}
				}
			}
		})
	}
}
