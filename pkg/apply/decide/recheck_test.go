package decide

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestRecheckDecides checks every observation at planning time and in the step's turn. The
// step must become the one that a new plan would have.
func TestRecheckDecides(t *testing.T) {
	eachPolicy(func(p lynq.Policy) {
		for _, then := range situations() {
			for _, now := range situations() {
				in := scene(then, p)
				decided := Decide(in, Limits{})
				step := decided.Nodes[0].Steps[0]
				live := scene(now, p).Observed.Live[step.Object.Ref]
				in.Observed.Live = map[lynq.Ref]*tracking.Live{}
				if live != nil {
					in.Observed.Live[step.Object.Ref] = live
				}
				want := Decide(in, Limits{}).Nodes[0].Steps[0]
				took := step.Reason == plan.ReasonTakeover && live != nil && live.UID == step.Live.UID && want.Writes()
				if took {
					want.Action, want.Reason = plan.ActionAdopt, plan.ReasonTakeover // this step itself may have removed its marks
				}
				if step.Reason == plan.ReasonDeleting && live == nil {
					want.Reason = plan.ReasonDeleting
				}
				got, became := Recheck(decided, &decided.Nodes[0], in.Recorded.Inventories[0], &step, live)
				if (verdict{got.Action, got.Reason}) != (verdict{want.Action, want.Reason}) || got.Live != live {
					t.Errorf("%+v: planned %s, found %s: %s (%s), want %s (%s)", p, then, now, got.Action, got.Reason, want.Action, want.Reason)
				}
				holds := step.Action == got.Action && (step.Live == nil) == (live == nil) && (got.Reason == plan.ReasonTakeover) == (step.Reason == plan.ReasonTakeover) && (got.Reason == plan.ReasonUnmanaged) == (step.Reason == plan.ReasonUnmanaged)
				if (became == VerdictHolds) != holds {
					t.Errorf("%+v: planned %s, found %s: verdict %d", p, then, now, became)
				}
			}
		}
	})
}

// TestRecheckUnmanaged checks that a mark as unmanaged that comes after the plan counts,
// whatever was planned. Examples are a takeover that has begun, and a repair of tracking.
func TestRecheckUnmanaged(t *testing.T) {
	for name, test := range map[string]struct {
		policy func(*lynq.Policy)
		then   func(*tracking.Live)
		want   verdict // the planned step
	}{
		"takeover": {func(p *lynq.Policy) { p.Conflict = lynq.ConflictForce }, func(l *tracking.Live) { l.Few = &tracking.Rare{Foreign: "Kustomization a/b"} }, verdict{plan.ActionAdopt, plan.ReasonTakeover}},
		"tracking": {func(p *lynq.Policy) { p.Creation = lynq.CreateOnce }, func(l *tracking.Live) { l.Node = "other" }, verdict{plan.ActionTrack, plan.ReasonUntracked}},
		"update":   {func(*lynq.Policy) {}, func(l *tracking.Live) { l.Fields = "f2" }, verdict{plan.ActionUpdate, plan.ReasonDrifted}},
	} {
		t.Run(name, func(t *testing.T) {
			p := lynq.DefaultPolicy()
			test.policy(&p)
			in := scene(ours, p)
			ref := in.Desired.Nodes[0].Objects[0].Ref
			test.then(in.Observed.Live[ref])
			decided := Decide(in, Limits{})
			step := decided.Nodes[0].Steps[0]
			if (verdict{step.Action, step.Reason}) != test.want {
				t.Errorf("%s: planned %s (%s), want %v", name, step.Action, step.Reason, test.want)
			}
			now := *in.Observed.Live[ref]
			now.Unmanaged = true
			got, became := Recheck(decided, &decided.Nodes[0], in.Recorded.Inventories[0], &step, &now)
			if got.Reason != plan.ReasonUnmanaged || became != VerdictChanged || got.Writes() {
				t.Errorf("%s: %s (%s), verdict %d, want it left alone", name, got.Action, got.Reason, became)
			}
		})
	}
}

// eachPolicy calls a function with each combination of the policies that decide.
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

// TestRecheckRemade checks that lynqctl keeps an object that somebody recreated since the
// plan. It does so even if the entry has no uid, so that lynqctl's fields alone would prove
// that the node owns it.
func TestRecheckRemade(t *testing.T) {
	entry := &inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}, Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete}}
	then := tracking.Live{Ref: entry.Ref, UID: "u1", ResourceVersion: "7", Hub: "crm", PartOf: inventory.ID("ns", inventory.Name("acme-web")), Owners: []types.UID{"inv"}, Fields: "f"}
	now := then
	now.UID = "u2"
	decided, node := Decide(&Input{Hub: lynq.HubKey{Name: "crm"}}, Limits{}), &plan.NodePlan{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "ns", Name: "acme-web"}}
	for _, action := range []plan.Action{plan.ActionDelete, plan.ActionOrphan} {
		t.Run(string(action), func(t *testing.T) {
			s := plan.Step{Action: action, Reason: plan.ReasonNodeGone, Entry: entry, Live: &then}
			same := then
			if got, _ := Recheck(decided, node, &inventory.Inventory{UID: "inv"}, &s, &same); got.Action != action {
				t.Errorf("%s: the same object: %s (%s)", action, got.Action, got.Reason)
			}
			got, became := Recheck(decided, node, &inventory.Inventory{UID: "inv"}, &s, &now)
			if got.Action != plan.ActionRelease || got.Reason != plan.ReasonTakenOver || got.Message == "" || became != VerdictChanged {
				t.Errorf("%s: %s (%s) %q, verdict %d, want it released", action, got.Action, got.Reason, got.Message, became)
			}
		})
	}
}

// TestRecheckLeaving checks that lynqctl deletes an undesired object only if the plan said
// so and the node still owns it.
func TestRecheckLeaving(t *testing.T) {
	key := lynq.NodeKey{Namespace: "ns", Name: "acme-web"}
	partOf := inventory.ID("ns", inventory.Name("acme-web"))
	entry := &inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}, UID: "u1", Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete}}
	seen := tracking.Live{Ref: entry.Ref, UID: "u1", ResourceVersion: "7", Generation: 1, Hub: "crm", PartOf: partOf, Owners: []types.UID{"inv"}, Orphaned: true}
	decided, node := Decide(&Input{Hub: lynq.HubKey{Name: "crm"}}, Limits{}), &plan.NodePlan{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: key.Namespace, Name: key.Name}}
	saved := &inventory.Inventory{UID: "inv"}
	orphan := func(l *tracking.Live) { l.Hub, l.PartOf, l.Owners = "", "", nil }
	for name, test := range map[string]struct {
		planned plan.Action
		why     plan.Reason
		exact   bool
		change  func(*tracking.Live) // nil means that it doesn't exist
		want    verdict
		became  Verdict
	}{
		"delete: unchanged":              {plan.ActionDelete, plan.ReasonNodeGone, false, func(*tracking.Live) {}, verdict{plan.ActionDelete, plan.ReasonNodeGone}, VerdictHolds},
		"delete: edited":                 {plan.ActionDelete, plan.ReasonNodeGone, false, func(l *tracking.Live) { l.ResourceVersion = "8" }, verdict{plan.ActionDelete, plan.ReasonNodeGone}, VerdictHolds},
		"delete: being deleted":          {plan.ActionDelete, plan.ReasonNodeGone, false, func(l *tracking.Live) { l.Deleting = true }, verdict{plan.ActionDelete, plan.ReasonNodeGone}, VerdictHolds},
		"delete: gone":                   {plan.ActionDelete, plan.ReasonNodeGone, false, nil, verdict{plan.ActionRelease, plan.ReasonAlreadyGone}, VerdictChanged},
		"delete: unmanaged":              {plan.ActionDelete, plan.ReasonNodeGone, false, func(l *tracking.Live) { l.Unmanaged = true }, verdict{plan.ActionTrack, plan.ReasonUnmanaged}, VerdictChanged},
		"delete: another tool's":         {plan.ActionDelete, plan.ReasonNodeGone, false, func(l *tracking.Live) { l.Few = &tracking.Rare{Foreign: "Kustomization a/b"} }, verdict{plan.ActionRelease, plan.ReasonTakenOver}, VerdictChanged},
		"delete: a controller's":         {plan.ActionDelete, plan.ReasonNodeGone, false, func(l *tracking.Live) { l.Few = &tracking.Rare{Controller: "Widget/w"} }, verdict{plan.ActionRelease, plan.ReasonTakenOver}, VerdictChanged},
		"delete: untracked":              {plan.ActionDelete, plan.ReasonNodeGone, false, orphan, verdict{plan.ActionRelease, plan.ReasonTakenOver}, VerdictChanged},
		"delete: to be retained":         {plan.ActionDelete, plan.ReasonNodeGone, false, func(l *tracking.Live) { l.DeletionPolicy = lynq.DeleteRetain }, verdict{plan.ActionOrphan, plan.ReasonNodeGone}, VerdictChanged},
		"delete: made again":             {plan.ActionDelete, plan.ReasonNodeGone, false, func(l *tracking.Live) { l.UID = "u2" }, verdict{plan.ActionRelease, plan.ReasonTakenOver}, VerdictChanged},
		"collect: unchanged":             {plan.ActionCollect, plan.ReasonNodeDeleted, false, func(*tracking.Live) {}, verdict{plan.ActionCollect, plan.ReasonNodeDeleted}, VerdictHolds},
		"collect: with another owner":    {plan.ActionCollect, plan.ReasonNodeDeleted, false, func(l *tracking.Live) { l.Owners = []types.UID{"inv", "x"} }, verdict{plan.ActionDelete, plan.ReasonNodeDeleted}, VerdictChanged},
		"collect: another tool's":        {plan.ActionCollect, plan.ReasonNodeDeleted, false, func(l *tracking.Live) { l.Few = &tracking.Rare{Foreign: "Kustomization a/b"} }, verdict{plan.ActionRelease, plan.ReasonTakenOver}, VerdictChanged},
		"orphan: retained no more":       {plan.ActionOrphan, plan.ReasonNodeGone, false, func(l *tracking.Live) { l.ResourceVersion = "8" }, verdict{plan.ActionOrphan, plan.ReasonNodeGone}, VerdictHolds},
		"orphan: untracked":              {plan.ActionOrphan, plan.ReasonNodeGone, false, orphan, verdict{plan.ActionRelease, plan.ReasonTakenOver}, VerdictChanged},
		"orphan: made again":             {plan.ActionOrphan, plan.ReasonNodeGone, false, func(l *tracking.Live) { l.UID = "u2" }, verdict{plan.ActionRelease, plan.ReasonTakenOver}, VerdictChanged},
		"release: the mark is off":       {plan.ActionRelease, plan.ReasonTakenOver, false, func(*tracking.Live) {}, verdict{plan.ActionRelease, plan.ReasonTakenOver}, VerdictHolds},
		"release: gone":                  {plan.ActionRelease, plan.ReasonTakenOver, false, nil, verdict{plan.ActionRelease, plan.ReasonAlreadyGone}, VerdictChanged},
		"prune: unchanged":               {plan.ActionDelete, plan.ReasonPruned, false, orphan, verdict{plan.ActionDelete, plan.ReasonPruned}, VerdictHolds},
		"prune: gone":                    {plan.ActionDelete, plan.ReasonPruned, false, nil, verdict{plan.ActionRelease, plan.ReasonAlreadyGone}, VerdictChanged},
		"prune: an orphan no more":       {plan.ActionDelete, plan.ReasonPruned, false, func(l *tracking.Live) { orphan(l); l.Orphaned = false }, verdict{plan.ActionSkip, plan.ReasonPruned}, VerdictChanged},
		"prune: tracked again":           {plan.ActionDelete, plan.ReasonPruned, false, func(*tracking.Live) {}, verdict{plan.ActionSkip, plan.ReasonPruned}, VerdictChanged},
		"prune: made again":              {plan.ActionDelete, plan.ReasonPruned, false, func(l *tracking.Live) { orphan(l); l.UID = "u2" }, verdict{plan.ActionSkip, plan.ReasonPruned}, VerdictChanged},
		"prune: as it was backed up":     {plan.ActionDelete, plan.ReasonPruned, true, orphan, verdict{plan.ActionDelete, plan.ReasonPruned}, VerdictHolds},
		"prune: its status changed":      {plan.ActionDelete, plan.ReasonPruned, true, func(l *tracking.Live) { orphan(l); l.ResourceVersion = "8" }, verdict{plan.ActionDelete, plan.ReasonPruned}, VerdictHolds},
		"prune: changed since":           {plan.ActionDelete, plan.ReasonPruned, true, func(l *tracking.Live) { orphan(l); l.ResourceVersion, l.Generation = "8", 2 }, verdict{plan.ActionDelete, plan.ReasonPruned}, VerdictStopped},
		"prune: maybe changed since":     {plan.ActionDelete, plan.ReasonPruned, true, func(l *tracking.Live) { orphan(l); l.ResourceVersion, l.Generation = "8", 0 }, verdict{plan.ActionDelete, plan.ReasonPruned}, VerdictStopped},
		"prune: deleted since by others": {plan.ActionDelete, plan.ReasonPruned, true, func(l *tracking.Live) { orphan(l); l.ResourceVersion, l.Generation, l.Deleting = "8", 2, true }, verdict{plan.ActionDelete, plan.ReasonPruned}, VerdictHolds},
	} {
		t.Run(name, func(t *testing.T) {
			then := seen
			s := plan.Step{Action: test.planned, Reason: test.why, Entry: entry, Live: &then, Exact: test.exact}
			var now *tracking.Live
			if test.change != nil {
				l := seen
				l.Owners = slices.Clone(seen.Owners)
				test.change(&l)
				now = &l
			}
			got, became := Recheck(decided, node, saved, &s, now)
			if (verdict{got.Action, got.Reason}) != test.want || became != test.became || got.Live != now {
				t.Errorf("%s: %s (%s), verdict %d, want %v, verdict %d", name, got.Action, got.Reason, became, test.want, test.became)
			}
			if (got.Action == plan.ActionSkip || became == VerdictStopped) && got.Message == "" {
				t.Errorf("%s: it does not say why", name)
			}
		})
	}
}
