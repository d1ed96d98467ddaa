package decide

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// asked returns a question about an object that certainly belongs to this node, from an
// asker that may delete it.
func asked(who asker) (*decider, *question) {
	in := scene(ours, lynq.DefaultPolicy())
	o := in.Desired.Nodes[0].Objects[0]
	if who != askerPurge && who != askerRecreate {
		in.Desired.Nodes[0].Objects = nil
	}
	q := &question{
		asker: who, me: plan.NewOwner(lynq.NodeKey{Namespace: "ns", Name: "acme-web"}, lynq.HubKey{Name: "crm"}, in.Recorded.Inventories[0]), entry: &in.Recorded.Inventories[0].Entries[0],
		live: in.Observed.Live[o.Ref], why: plan.ReasonRemoved, keeps: lynq.DeleteDelete,
	}
	switch who {
	case askerPrune:
		q.live.Orphaned, q.live.PartOf, q.live.Hub, q.live.Owners = true, "", "", nil
	case askerTombstone:
		q.live.PartOf, q.live.Hub, q.live.Owners = "", "", nil
		q.live.Few = &tracking.Rare{Labels: map[string]string{"app": "old"}}
		q.stone = &lynq.Tombstone{Ref: o.Ref, Labels: map[string]string{"app": "old"}}
	}
	return newDecider(in), q
}

func askers() []asker {
	return []asker{askerNode, askerPurge, askerRecreate, askerHook, askerTombstone, askerPrune}
}

// TestGate checks that the gate permits every asker's deletion if all conditions hold, and
// refuses it if one of them doesn't.
func TestGate(t *testing.T) {
	other := lynq.NodeKey{Namespace: "ns", Name: "bolt-web"}
	node := []asker{askerNode, askerPurge, askerRecreate, askerHook}
	failed := func(q *question) []*plan.Node { // it may need the object
		return []*plan.Node{{NodeID: lynq.NodeID{UID: "bolt", Namespace: other.Namespace, Name: other.Name}, Failed: errors.New("bad"), Claims: plan.Claims{Refs: []lynq.Ref{q.ref()}}}}
	}
	for name, tt := range map[string]struct {
		change func(*decider, *question)
		who    []asker // nil means all
		says   string
	}{
		"not seen": {change: func(_ *decider, q *question) { q.live = nil }},
		"not served": {change: func(d *decider, q *question) {
			q.live = nil
			d.in.Observed.Unknown = map[lynq.Ref]error{q.ref(): errors.New("403")}
		}, says: "403"},
		"another node renders": {change: func(d *decider, q *question) { d.desired()[q.ref()] = other }, says: "node ns/bolt-web"},
		"a row that the run leaves out renders": {change: func(d *decider, q *question) {
			d.in.Desired.Elsewhere = NewSurvey([]*plan.Node{{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "ns", Name: "eu"}, Namespace: other.Namespace, Name: other.Name}, Objects: []plan.Object{{Ref: q.ref()}}}})
		}, says: "node ns/bolt-web of hub ns/eu renders it (apply both hubs in one run to move it)"},
		"a row renders it under another name": {change: func(d *decider, q *question) {
			as := viewed(q.ref().Name)
			d.names = map[types.UID][]lynq.Ref{q.live.UID: {q.ref(), as}}
			d.desired()[as] = other
		}, says: "which node ns/bolt-web renders"},
		"nobody knows what others render":             {change: func(d *decider, _ *question) { d.in.Desired.Elsewhere = FailedSurvey(errors.New("no route to host")) }, says: "no route to host"},
		"a row that failed to render may":             {change: func(d *decider, q *question) { d.in.Desired.Elsewhere = NewSurvey(failed(q)) }, says: `row "bolt"`},
		"a row of this run that failed to render may": {change: func(d *decider, q *question) { d.claims = claimsOf(failed(q)) }, says: `row "bolt"`},
		"a row of another hub that failed to render may": {change: func(d *decider, q *question) {
			d.beside = []*decider{newDecider(&Input{Hub: lynq.HubKey{Namespace: "ns", Name: "eu"}, Desired: Desired{Nodes: failed(q)}})}
		}, says: `row "bolt"`},
		"a failed row may need what lynqctl deletes with another node": {change: func(d *decider, q *question) {
			d.claims, q.why = claimsOf(failed(q)), plan.ReasonNodeGone
		}, says: `row "bolt"`},
		"a failed row may need what lynqctl deletes with a named node": {change: func(d *decider, q *question) {
			d.claims, q.why = claimsOf(failed(q)), plan.ReasonNodeDeleted
		}, says: `row "bolt"`},
		"a node that the run leaves alone has it too": {change: func(d *decider, q *question) {
			d.held = map[lynq.Ref][]lynq.NodeKey{q.ref(): {other}}
			q.live.Node, q.live.NodeNamespace = other.Name, other.Namespace
		}, who: []asker{askerNode, askerHook}, says: "node ns/bolt-web"},
		"a record":       {change: func(_ *decider, q *question) { q.live.Record = true }},
		"excluded":       {change: func(_ *decider, q *question) { q.entry.Excluded = true }, who: node, says: "excluded"},
		"untracked":      {change: func(_ *decider, q *question) { q.live.Hub, q.live.PartOf, q.live.Owners = "", "", nil }, who: node},
		"unmanaged":      {change: func(_ *decider, q *question) { q.live.Unmanaged = true }},
		"another tool's": {change: func(_ *decider, q *question) { q.live.Few = &tracking.Rare{Foreign: "Helm release x"} }},
		"made again":     {change: func(_ *decider, q *question) { q.live.UID = "other" }},
		"adopted":        {change: func(_ *decider, q *question) { q.adopted = true }, who: []asker{askerPurge, askerRecreate}, says: "it existed before"},
		"retained":       {change: func(_ *decider, q *question) { q.keeps = lynq.DeleteRetain }, who: []asker{askerNode, askerRecreate}},
		"data":           {change: func(_ *decider, q *question) { q.data = true }, who: []asker{askerRecreate, askerTombstone, askerPrune}, says: "--include-data"},
		"no orphan":      {change: func(_ *decider, q *question) { q.live.Orphaned = false }, who: []asker{askerPrune}},
		"other labels":   {change: func(_ *decider, q *question) { q.live.Few = nil }, who: []asker{askerTombstone}},
		"an inventory's": {change: func(_ *decider, q *question) { q.live.PartOf = "applyset-x" }, who: []asker{askerTombstone, askerPrune}},
	} {
		t.Run(name, func(t *testing.T) {
			who := tt.who
			if who == nil {
				who = askers()
			}
			for _, asker := range who {
				d, q := asked(asker)
				if a := d.gate(q); a.Action != plan.ActionDelete {
					t.Fatalf("%s: %s (%s) %s, want yes", asker, a.Action, a.Reason, a.Message)
				}
				tt.change(d, q)
				if a := d.gate(q); a.Action == plan.ActionDelete || !strings.Contains(a.Message, tt.says) {
					t.Errorf("%s, %s: %s (%s) %q, want no, and %q", name, asker, a.Action, a.Reason, a.Message, tt.says)
				}
			}
		})
	}
}

// TestGivenUpUnseen checks that the inventory keeps the entry of a given-up object that
// this run couldn't read. Otherwise the garbage collector may delete it with the inventory.
func TestGivenUpUnseen(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*question)
		want   plan.Action
	}{
		"in the inventory's namespace": {func(q *question) { q.live = nil }, plan.ActionSkip},
		"in another namespace":         {func(q *question) { q.live, q.me.Namespace = nil, "elsewhere" }, plan.ActionRelease},
		"read":                         {func(*question) {}, plan.ActionOrphan},
		"read, and not ours":           {func(q *question) { q.live.Hub, q.live.PartOf, q.live.Owners = "", "", nil }, plan.ActionRelease},
	} {
		t.Run(name, func(t *testing.T) {
			d, q := asked(askerNode)
			d.in.Options.GiveUp = map[lynq.Ref]error{q.ref(): errors.New("403")}
			tt.change(q)
			if q.live != nil {
				d.in.Options.GiveUp[q.ref()] = nil
			}
			if a := d.gate(q); a.Action != tt.want || q.live == nil && !strings.Contains(a.Message, "403") {
				t.Errorf("%s: %s %s, want %s", name, a.Action, a.Message, tt.want)
			}
		})
	}
}

// TestEmptyNarrowed checks that -l doesn't hide that no row is active.
func TestEmptyNarrowed(t *testing.T) {
	in := scene(ours, lynq.DefaultPolicy())
	in.Desired.Nodes, in.Desired.Active, in.Scope.Narrowed = nil, 0, true
	if r := Decide(in, Limits{}).Refusals; len(r) != 1 || r[0].Guard != plan.GuardEmpty {
		t.Errorf("%+v", r)
	}
	if r := Decide(in, Limits{AllowEmpty: true}).Refusals; len(r) != 0 {
		t.Errorf("allowed: %+v", r)
	}
}

// TestAdoptedByEntry checks that an entry alone proves nothing, so lynqctl neither purges
// nor recreates its object.
func TestAdoptedByEntry(t *testing.T) {
	wave := 0
	for name, change := range map[string]func(*lynq.Policy){
		"purged":    func(p *lynq.Policy) { p.PurgeOrder = &wave },
		"recreated": func(p *lynq.Policy) { p.Patch = lynq.PatchRecreate },
	} {
		t.Run(name, func(t *testing.T) {
			p := lynq.DefaultPolicy()
			change(&p)
			s := wantedStep(scene(overwritten, p))
			if !s.Adopted || s.Purges() || s.Recreates() {
				t.Errorf("%s: %s (%s), adopted %v, purges %v, recreates %v", name, s.Action, s.Reason, s.Adopted, s.Purges(), s.Recreates())
			}
			if s := wantedStep(scene(ours, p)); s.Adopted || name == "purged" && !s.Purges() {
				t.Errorf("%s, proven: adopted %v, purges %v", name, s.Adopted, s.Purges())
			}
		})
	}
}

// TestLeavingUnlisted checks that lynqctl knows all unlisted objects that refer to a node's
// inventory. It must know them before it deletes the inventory, or before the inventory
// drops the last object of their kind.
func TestLeavingUnlisted(t *testing.T) {
	for _, leaves := range []bool{true, false} {
		testUnlisted(t, leaves)
	}
}

func testUnlisted(t *testing.T, leaves bool) {
	t.Helper()
	in := scene(ours, lynq.DefaultPolicy())
	if leaves {
		in.Desired.Nodes = nil
	}
	unlisted := &tracking.Live{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "copy"}, UID: "c", Owners: []types.UID{"inv"}}
	other := &tracking.Live{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "other"}, UID: "o", Owners: []types.UID{"x"}}
	in.Observed.Unlisted = map[lynq.Ref]*tracking.Live{unlisted.Ref: unlisted, other.Ref: other}
	for why, exclude := range map[string]lynq.Exclusions{"": nil, "it is excluded (: ConfigMap/copy)": {{Kind: "ConfigMap", Name: "copy"}}} {
		in.Desired.Exclude = map[lynq.FormKey]lynq.Exclusions{in.Desired.Forms[0]: exclude}
		p := Decide(in, Limits{AllowEmpty: true})
		if len(p.Nodes) != 1 || len(p.Nodes[0].Unlisted) != 1 || p.Nodes[0].Unlisted[0] != (plan.Unlisted{Live: unlisted, Excluded: why}) {
			t.Errorf("excluded %q: %+v", why, p.Nodes[0].Unlisted[0].Excluded)
		}
	}
}
