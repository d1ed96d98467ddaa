package plan

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestRecheckDecides: whatever was found when a plan was made, and whatever is found
// when a step's turn comes, the step becomes what a plan would have that is made then.
func TestRecheckDecides(t *testing.T) {
	eachPolicy(func(p lynq.Policy) {
		for _, then := range situations() {
			for _, now := range situations() {
				in := scene(then, p)
				plan := Decide(in, Limits{})
				step := plan.Nodes[0].Steps[0]
				live := scene(now, p).Live[step.Object.Ref]
				in.Live = map[lynq.Ref]*Live{}
				if live != nil {
					in.Live[step.Object.Ref] = live
				}
				want := Decide(in, Limits{}).Nodes[0].Steps[0]
				took := step.Reason == ReasonTakeover && live != nil && live.UID == step.Live.UID && want.Writes()
				if took {
					want.Action, want.Reason = ActionAdopt, ReasonTakeover // its marks may be gone by our own doing
				}
				if step.Reason == ReasonDeleting && live == nil {
					want.Reason = ReasonDeleting
				}
				got, became := plan.Recheck(&plan.Nodes[0], in.Inventories[0], &step, live)
				if (verdict{got.Action, got.Reason}) != (verdict{want.Action, want.Reason}) || got.Live != live {
					t.Errorf("%+v: planned %s, found %s: %s (%s), want %s (%s)", p, then, now, got.Action, got.Reason, want.Action, want.Reason)
				}
				holds := step.Action == got.Action && (step.Live == nil) == (live == nil) && (got.Reason == ReasonTakeover) == (step.Reason == ReasonTakeover) && (got.Reason == ReasonUnmanaged) == (step.Reason == ReasonUnmanaged)
				if (became == VerdictHolds) != holds {
					t.Errorf("%+v: planned %s, found %s: verdict %d", p, then, now, became)
				}
			}
		}
	})
}

// TestRecheckUnmanaged: a mark as unmanaged that comes since the plan counts for
// whatever was planned: a takeover under way, tracking that was to be put right.
func TestRecheckUnmanaged(t *testing.T) {
	for name, test := range map[string]struct {
		policy func(*lynq.Policy)
		then   func(*Live)
		want   verdict // planned
	}{
		"takeover": {func(p *lynq.Policy) { p.Conflict = lynq.ConflictForce }, func(l *Live) { l.Foreign = "Kustomization a/b" }, verdict{ActionAdopt, ReasonTakeover}},
		"tracking": {func(p *lynq.Policy) { p.Creation = lynq.CreateOnce }, func(l *Live) { l.Node = "stray" }, verdict{ActionTrack, ReasonUntracked}},
		"update":   {func(*lynq.Policy) {}, func(l *Live) { l.Fields = "f2" }, verdict{ActionUpdate, ReasonDrifted}},
	} {
		p := lynq.DefaultPolicy()
		test.policy(&p)
		in := scene(ours, p)
		ref := in.Nodes[0].Objects[0].Ref
		test.then(in.Live[ref])
		plan := Decide(in, Limits{})
		step := plan.Nodes[0].Steps[0]
		if (verdict{step.Action, step.Reason}) != test.want {
			t.Errorf("%s: planned %s (%s), want %v", name, step.Action, step.Reason, test.want)
		}
		now := *in.Live[ref]
		now.Unmanaged = true
		got, became := plan.Recheck(&plan.Nodes[0], in.Inventories[0], &step, &now)
		if got.Reason != ReasonUnmanaged || became != VerdictChanged || got.Writes() {
			t.Errorf("%s: %s (%s), verdict %d, want it left alone", name, got.Action, got.Reason, became)
		}
	}
}

// eachPolicy calls a function with the policies that decide.
func eachPolicy(each func(lynq.Policy)) {
	for _, patch := range []lynq.PatchStrategy{lynq.PatchApply, lynq.PatchMerge, lynq.PatchReplace} {
		for _, creation := range []lynq.CreationPolicy{lynq.CreateWhenNeeded, lynq.CreateOnce} {
			for _, deletion := range []lynq.DeletionPolicy{lynq.DeleteDelete, lynq.DeleteRetain} {
				for _, conflict := range []lynq.ConflictPolicy{lynq.ConflictStuck, lynq.ConflictForce} {
					p := lynq.DefaultPolicy()
					p.Patch, p.Creation, p.Deletion, p.Conflict = patch, creation, deletion, conflict
					each(p)
				}
			}
		}
	}
}

// TestRecheckLeaving: what a node wants no more is deleted only where the plan said
// so, and it is still the node's.
func TestRecheckLeaving(t *testing.T) {
	key := NodeKey{"ns", "acme-web"}
	partOf := inventory.ID("ns", inventory.Name("acme-web"))
	entry := &inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}, UID: "u1", Deletion: lynq.DeleteDelete}
	seen := Live{Ref: entry.Ref, UID: "u1", ResourceVersion: "7", Generation: 1, Hub: "crm", PartOf: partOf, Owners: []types.UID{"inv"}, Orphaned: true}
	plan, node := Decide(&Input{Hub: "crm"}, Limits{}), &NodePlan{NodeKey: key, Hub: "crm"}
	saved := &inventory.Inventory{UID: "inv"}
	orphan := func(l *Live) { l.Hub, l.PartOf, l.Owners = "", "", nil }
	for name, test := range map[string]struct {
		planned Action
		why     Reason
		exact   bool
		change  func(*Live) // nil: it is gone
		want    verdict
		became  Verdict
	}{
		"delete: unchanged":              {ActionDelete, ReasonNodeGone, false, func(*Live) {}, verdict{ActionDelete, ReasonNodeGone}, VerdictHolds},
		"delete: edited":                 {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.ResourceVersion = "8" }, verdict{ActionDelete, ReasonNodeGone}, VerdictHolds},
		"delete: being deleted":          {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.Deleting = true }, verdict{ActionDelete, ReasonNodeGone}, VerdictHolds},
		"delete: gone":                   {ActionDelete, ReasonNodeGone, false, nil, verdict{ActionRelease, ReasonAlreadyGone}, VerdictChanged},
		"delete: unmanaged":              {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.Unmanaged = true }, verdict{ActionTrack, ReasonUnmanaged}, VerdictChanged},
		"delete: another tool's":         {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.Foreign = "Kustomization a/b" }, verdict{ActionRelease, ReasonTakenOver}, VerdictChanged},
		"delete: a controller's":         {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.Controller = "Widget/w" }, verdict{ActionRelease, ReasonTakenOver}, VerdictChanged},
		"delete: untracked":              {ActionDelete, ReasonNodeGone, false, orphan, verdict{ActionRelease, ReasonTakenOver}, VerdictChanged},
		"delete: to be retained":         {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.DeletionPolicy = lynq.DeleteRetain }, verdict{ActionOrphan, ReasonNodeGone}, VerdictChanged},
		"delete: made again":             {ActionDelete, ReasonNodeGone, false, func(l *Live) { l.UID = "u2" }, verdict{ActionRelease, ReasonTakenOver}, VerdictChanged},
		"collect: unchanged":             {ActionCollect, ReasonNodeDeleted, false, func(*Live) {}, verdict{ActionCollect, ReasonNodeDeleted}, VerdictHolds},
		"collect: with another owner":    {ActionCollect, ReasonNodeDeleted, false, func(l *Live) { l.Owners = []types.UID{"inv", "x"} }, verdict{ActionDelete, ReasonNodeDeleted}, VerdictChanged},
		"collect: another tool's":        {ActionCollect, ReasonNodeDeleted, false, func(l *Live) { l.Foreign = "Kustomization a/b" }, verdict{ActionRelease, ReasonTakenOver}, VerdictChanged},
		"orphan: retained no more":       {ActionOrphan, ReasonNodeGone, false, func(l *Live) { l.ResourceVersion = "8" }, verdict{ActionOrphan, ReasonNodeGone}, VerdictHolds},
		"orphan: untracked":              {ActionOrphan, ReasonNodeGone, false, orphan, verdict{ActionRelease, ReasonTakenOver}, VerdictChanged},
		"orphan: made again":             {ActionOrphan, ReasonNodeGone, false, func(l *Live) { l.UID = "u2" }, verdict{ActionRelease, ReasonTakenOver}, VerdictChanged},
		"release: the mark is off":       {ActionRelease, ReasonTakenOver, false, func(*Live) {}, verdict{ActionRelease, ReasonTakenOver}, VerdictHolds},
		"release: gone":                  {ActionRelease, ReasonTakenOver, false, nil, verdict{ActionRelease, ReasonAlreadyGone}, VerdictChanged},
		"prune: unchanged":               {ActionDelete, ReasonPruned, false, orphan, verdict{ActionDelete, ReasonPruned}, VerdictHolds},
		"prune: gone":                    {ActionDelete, ReasonPruned, false, nil, verdict{ActionRelease, ReasonAlreadyGone}, VerdictChanged},
		"prune: an orphan no more":       {ActionDelete, ReasonPruned, false, func(l *Live) { orphan(l); l.Orphaned = false }, verdict{ActionSkip, ReasonPruned}, VerdictChanged},
		"prune: tracked again":           {ActionDelete, ReasonPruned, false, func(*Live) {}, verdict{ActionSkip, ReasonPruned}, VerdictChanged},
		"prune: made again":              {ActionDelete, ReasonPruned, false, func(l *Live) { orphan(l); l.UID = "u2" }, verdict{ActionSkip, ReasonPruned}, VerdictChanged},
		"prune: as it was backed up":     {ActionDelete, ReasonPruned, true, orphan, verdict{ActionDelete, ReasonPruned}, VerdictHolds},
		"prune: its status changed":      {ActionDelete, ReasonPruned, true, func(l *Live) { orphan(l); l.ResourceVersion = "8" }, verdict{ActionDelete, ReasonPruned}, VerdictHolds},
		"prune: changed since":           {ActionDelete, ReasonPruned, true, func(l *Live) { orphan(l); l.ResourceVersion, l.Generation = "8", 2 }, verdict{ActionDelete, ReasonPruned}, VerdictStopped},
		"prune: maybe changed since":     {ActionDelete, ReasonPruned, true, func(l *Live) { orphan(l); l.ResourceVersion, l.Generation = "8", 0 }, verdict{ActionDelete, ReasonPruned}, VerdictStopped},
		"prune: deleted since by others": {ActionDelete, ReasonPruned, true, func(l *Live) { orphan(l); l.ResourceVersion, l.Generation, l.Deleting = "8", 2, true }, verdict{ActionDelete, ReasonPruned}, VerdictHolds},
	} {
		then := seen
		s := Step{Action: test.planned, Reason: test.why, Entry: entry, Live: &then, Exact: test.exact}
		var now *Live
		if test.change != nil {
			l := seen
			l.Owners = slices.Clone(seen.Owners)
			test.change(&l)
			now = &l
		}
		got, became := plan.Recheck(node, saved, &s, now)
		if (verdict{got.Action, got.Reason}) != test.want || became != test.became || got.Live != now {
			t.Errorf("%s: %s (%s), verdict %d, want %v, verdict %d", name, got.Action, got.Reason, became, test.want, test.became)
		}
		if (got.Action == ActionSkip || became == VerdictStopped) && got.Message == "" {
			t.Errorf("%s: it does not say why", name)
		}
	}
}
