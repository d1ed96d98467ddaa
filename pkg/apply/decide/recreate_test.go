package decide

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestStrategies checks the decisions about an object under each strategy, in every
// situation.
func TestStrategies(t *testing.T) {
	for at, want := range map[situation]struct {
		reason    plan.Reason
		otherwise plan.Action
		recreated plan.Action
	}{
		absent:      {plan.ReasonNew, plan.ActionCreate, plan.ActionCreate},
		vanished:    {plan.ReasonVanished, plan.ActionCreate, plan.ActionCreate},
		ours:        {plan.ReasonUpToDate, plan.ActionKeep, plan.ActionKeep},
		formChanged: {plan.ReasonChanged, plan.ActionUpdate, plan.ActionRecreate},
		drift:       {plan.ReasonDrifted, plan.ActionUpdate, plan.ActionUpdate},
		unconfirmed: {plan.ReasonUnconfirmed, plan.ActionUpdate, plan.ActionRecreate},
		policyMoved: {plan.ReasonUntracked, plan.ActionUpdate, plan.ActionUpdate},
		recreated:   {plan.ReasonReplaced, plan.ActionUpdate, plan.ActionUpdate},
		unrecordedT: {plan.ReasonUnconfirmed, plan.ActionUpdate, plan.ActionUpdate},
		overwritten: {plan.ReasonUntracked, plan.ActionUpdate, plan.ActionUpdate},
		nobodys:     {plan.ReasonUnowned, plan.ActionAdopt, plan.ActionAdopt},
		orphaned:    {plan.ReasonOrphan, plan.ActionAdopt, plan.ActionAdopt},
		otherNodes:  {plan.ReasonForeign, plan.ActionBlock, plan.ActionBlock},
		otherTools:  {plan.ReasonForeign, plan.ActionBlock, plan.ActionBlock},
		controllers: {plan.ReasonForeign, plan.ActionBlock, plan.ActionBlock},
		goingAway:   {plan.ReasonDeleting, plan.ActionCreate, plan.ActionCreate},
		handsOff:    {plan.ReasonUnmanaged, plan.ActionTrack, plan.ActionTrack},
		ownRecord:   {plan.ReasonForeign, plan.ActionBlock, plan.ActionBlock},
	} {
		t.Run(string(at), func(t *testing.T) {
			for _, strategy := range lynq.PatchStrategies() {
				p := lynq.DefaultPolicy()
				p.Patch = strategy
				s := Decide(scene(at, p), Limits{}).Nodes[0].Steps[0]
				expected := verdict{want.otherwise, want.reason}
				if strategy == lynq.PatchRecreate {
					expected.Action = want.recreated
				}
				if got := (verdict{s.Action, s.Reason}); got != expected {
					t.Errorf("%s, %s: %v, want %v", at, strategy, got, expected)
				}
				if may := strategy == lynq.PatchRecreate && want.recreated == plan.ActionRecreate; s.Recreates() != may {
					t.Errorf("%s, %s: may be recreated: %t (%s)", at, strategy, s.Recreates(), s.InPlace)
				}
			}
		})
	}
}

// TestInPlace checks that lynqctl doesn't recreate an object if that would lose something,
// and says why.
func TestInPlace(t *testing.T) {
	claim := func(in *Input) {
		o, old := &in.Desired.Nodes[0].Objects[0], in.Desired.Nodes[0].Objects[0].Ref
		o.Ref = lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "ns", Name: "acme"}
		l := in.Observed.Live[old]
		l.Ref, in.Recorded.Inventories[0].Entries[0].Ref = o.Ref, o.Ref
		in.Observed.Live = map[lynq.Ref]*tracking.Live{o.Ref: l}
	}
	for name, tt := range map[string]struct {
		change func(*Input)
		why    string
	}{
		"nothing":               {func(*Input) {}, ""},
		"adopted":               {func(in *Input) { in.Recorded.Inventories[0].Entries[0].Adopted = true }, "it existed before"},
		"retained, as recorded": {func(in *Input) { in.Recorded.Inventories[0].Entries[0].Deletion = lynq.DeleteRetain }, "deletionPolicy Retain counts"},
		"retained, as the object has": {func(in *Input) {
			in.Observed.Live[in.Desired.Nodes[0].Objects[0].Ref].DeletionPolicy = lynq.DeleteRetainOnApply
		}, "deletionPolicy RetainOnApply counts"},
		"a claim":                {claim, "it holds data (apply --include-data recreates it)"},
		"data, as the form says": {func(in *Input) { in.Desired.Nodes[0].Objects[0].Policy.Data = true }, "it holds data"},
		"data, as recorded":      {func(in *Input) { in.Recorded.Inventories[0].Entries[0].Data = true }, "it holds data"},
		"a claim that is meant":  {func(in *Input) { claim(in); in.Options.IncludeData = true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := lynq.DefaultPolicy()
			p.Patch = lynq.PatchRecreate
			in := scene(formChanged, p)
			tt.change(in)
			s := Decide(in, Limits{}).Nodes[0].Steps[0]
			want := plan.ActionUpdate
			if tt.why == "" {
				want = plan.ActionRecreate
			}
			if s.Action != want || s.Recreates() != (tt.why == "") || !strings.HasPrefix(s.InPlace, tt.why) || s.Reason != plan.ReasonChanged {
				t.Errorf("%s: %s (%s) %q", name, s.Action, s.Reason, s.InPlace)
			}
		})
	}
}

// TestRecheckRecreation checks that a recreation that waits for the old object's deletion
// continues afterwards. One that the server found unnecessary stays an update. lynqctl
// doesn't recreate an object that it no longer may, or that another client owns meanwhile.
func TestRecheckRecreation(t *testing.T) {
	p := lynq.DefaultPolicy()
	p.Patch = lynq.PatchRecreate
	in := scene(formChanged, p)
	planned := Decide(in, Limits{})
	n, ref := &planned.Nodes[0], in.Desired.Nodes[0].Objects[0].Ref
	recreate := n.Steps[0]
	needless := recreate
	needless.Action = plan.ActionUpdate
	same := *in.Observed.Live[ref]
	same.ResourceVersion = "8"
	going, retained := same, same
	going.Deleting = true
	retained.DeletionPolicy = lynq.DeleteRetain
	other := tracking.Live{Ref: ref, UID: "u9"}
	for name, tt := range map[string]struct {
		step plan.Step
		now  *tracking.Live
		want verdict
		holds,
		recreates bool
	}{
		"as it was":          {recreate, &same, verdict{plan.ActionRecreate, plan.ReasonChanged}, true, true},
		"gone":               {recreate, nil, verdict{plan.ActionRecreate, plan.ReasonChanged}, false, false},
		"going":              {recreate, &going, verdict{plan.ActionCreate, plan.ReasonDeleting}, false, false},
		"another's":          {recreate, &other, verdict{plan.ActionAdopt, plan.ReasonUnowned}, false, false},
		"retained by now":    {recreate, &retained, verdict{plan.ActionUpdate, plan.ReasonChanged}, false, false},
		"needless":           {needless, &same, verdict{plan.ActionUpdate, plan.ReasonChanged}, true, true},
		"needless, and gone": {needless, nil, verdict{plan.ActionCreate, plan.ReasonVanished}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			again, became := Recheck(planned, n, in.Recorded.Inventories[0], &tt.step, tt.now)
			if got := (verdict{again.Action, again.Reason}); got != tt.want || (became == VerdictHolds) != tt.holds || again.Recreates() != tt.recreates {
				t.Errorf("%s: %v, verdict %d, recreates %t; want %v", name, got, became, again.Recreates(), tt.want)
			}
		})
	}
}
