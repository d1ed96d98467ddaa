package plan

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestStrategies: what becomes of an object under each strategy, whatever is there.
func TestStrategies(t *testing.T) {
	for at, want := range map[situation]struct {
		reason    Reason
		otherwise Action
		recreated Action
	}{
		absent:      {ReasonNew, ActionCreate, ActionCreate},
		vanished:    {ReasonVanished, ActionCreate, ActionCreate},
		ours:        {ReasonUpToDate, ActionKeep, ActionKeep},
		formChanged: {ReasonChanged, ActionUpdate, ActionRecreate},
		drift:       {ReasonDrifted, ActionUpdate, ActionRecreate},
		unconfirmed: {ReasonUnconfirmed, ActionUpdate, ActionRecreate},
		policyMoved: {ReasonUntracked, ActionUpdate, ActionUpdate},
		recreated:   {ReasonReplaced, ActionUpdate, ActionUpdate},
		unrecordedT: {ReasonUnconfirmed, ActionUpdate, ActionUpdate},
		overwritten: {ReasonUntracked, ActionUpdate, ActionUpdate},
		nobodys:     {ReasonUnowned, ActionAdopt, ActionAdopt},
		orphaned:    {ReasonOrphan, ActionAdopt, ActionAdopt},
		otherNodes:  {ReasonForeign, ActionBlock, ActionBlock},
		otherTools:  {ReasonForeign, ActionBlock, ActionBlock},
		controllers: {ReasonForeign, ActionBlock, ActionBlock},
		goingAway:   {ReasonDeleting, ActionCreate, ActionCreate},
		handsOff:    {ReasonUnmanaged, ActionTrack, ActionTrack},
		ownRecord:   {ReasonForeign, ActionBlock, ActionBlock},
	} {
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
			// Whether tracking is all that is missing, the server tells.
			if may := strategy == lynq.PatchRecreate && (want.recreated == ActionRecreate || at == policyMoved); s.Recreates() != may {
				t.Errorf("%s, %s: may be recreated: %t (%s)", at, strategy, s.Recreates(), s.InPlace)
			}
		}
	}
}

// TestInPlace: what a recreation would lose keeps it from being one, and why is told.
func TestInPlace(t *testing.T) {
	claim := func(in *Input) {
		o, old := &in.Nodes[0].Objects[0], in.Nodes[0].Objects[0].Ref
		o.Ref = lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "ns", Name: "acme"}
		l := in.Live[old]
		l.Ref, in.Inventories[0].Entries[0].Ref = o.Ref, o.Ref
		in.Live = map[lynq.Ref]*Live{o.Ref: l}
	}
	for name, tt := range map[string]struct {
		change func(*Input)
		why    string
	}{
		"nothing":                     {func(*Input) {}, ""},
		"adopted":                     {func(in *Input) { in.Inventories[0].Entries[0].Adopted = true }, "it existed before"},
		"retained, as recorded":       {func(in *Input) { in.Inventories[0].Entries[0].Deletion = lynq.DeleteRetain }, "deletionPolicy Retain counts"},
		"retained, as the object has": {func(in *Input) { in.Live[in.Nodes[0].Objects[0].Ref].DeletionPolicy = lynq.DeleteRetainOnApply }, "deletionPolicy RetainOnApply counts"},
		"a claim":                     {claim, "it holds data (apply --include-data recreates it too)"},
		"a claim that is meant":       {func(in *Input) { claim(in); in.IncludeData = true }, ""},
	} {
		p := lynq.DefaultPolicy()
		p.Patch = lynq.PatchRecreate
		in := scene(formChanged, p)
		tt.change(in)
		s := Decide(in, Limits{}).Nodes[0].Steps[0]
		want := ActionUpdate
		if tt.why == "" {
			want = ActionRecreate
		}
		if s.Action != want || s.Recreates() != (tt.why == "") || !strings.HasPrefix(s.InPlace, tt.why) || s.Reason != ReasonChanged {
			t.Errorf("%s: %s (%s) %q", name, s.Action, s.Reason, s.InPlace)
		}
	}
}

// TestRecheckRecreation: a recreation that waits until the old object is gone goes on
// when it is, and one that the server found needless stays an update. What may not be
// recreated any more, or is another client's meanwhile, is not.
func TestRecheckRecreation(t *testing.T) {
	p := lynq.DefaultPolicy()
	p.Patch = lynq.PatchRecreate
	in := scene(formChanged, p)
	planned := Decide(in, Limits{})
	n, ref := &planned.Nodes[0], in.Nodes[0].Objects[0].Ref
	recreate := n.Steps[0]
	needless := recreate
	needless.Action = ActionUpdate
	same := *in.Live[ref]
	same.ResourceVersion = "8"
	going, retained := same, same
	going.Deleting = true
	retained.DeletionPolicy = lynq.DeleteRetain
	other := Live{Ref: ref, UID: "u9"}
	for name, tt := range map[string]struct {
		step Step
		now  *Live
		want verdict
		holds,
		recreates bool
	}{
		"as it was":          {recreate, &same, verdict{ActionRecreate, ReasonChanged}, true, true},
		"gone":               {recreate, nil, verdict{ActionRecreate, ReasonChanged}, false, false},
		"going":              {recreate, &going, verdict{ActionCreate, ReasonDeleting}, false, false},
		"another's":          {recreate, &other, verdict{ActionAdopt, ReasonUnowned}, false, false},
		"retained by now":    {recreate, &retained, verdict{ActionUpdate, ReasonChanged}, false, false},
		"needless":           {needless, &same, verdict{ActionUpdate, ReasonChanged}, true, true},
		"needless, and gone": {needless, nil, verdict{ActionCreate, ReasonVanished}, false, false},
	} {
		again, became := planned.Recheck(n, in.Inventories[0], &tt.step, tt.now)
		if got := (verdict{again.Action, again.Reason}); got != tt.want || (became == VerdictHolds) != tt.holds || again.Recreates() != tt.recreates {
			t.Errorf("%s: %v, verdict %d, recreates %t; want %v", name, got, became, again.Recreates(), tt.want)
		}
	}
}
