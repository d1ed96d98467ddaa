package plan_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// unchanged returns a step of an object that lynqctl wrote with a strategy, and that nobody
// changed since.
func unchanged(patch lynq.PatchStrategy) plan.Step {
	s := stepOf(plan.ActionUpdate, config())
	s.Object.Policy.Patch, s.Object.Digest = patch, "new"
	s.Live.Fields, s.Live.ResourceVersion, s.Live.Generation = "fields", "7", 1
	*s.Entry = inventory.Entry{Ref: config(), UID: "u1", Digest: "old", Fields: "fields", ResourceVersion: "7", Generation: 1}
	if !s.Object.Applied(false) {
		s.Entry.Fields = s.Live.Own("")
	}
	return s
}

// TestDrift checks when an object has drifted, may have drifted, or hasn't.
func TestDrift(t *testing.T) {
	t.Parallel()
	rewritten := func(s *plan.Step) { s.Live.ResourceVersion = "8" }
	const no, possible, certain = "no", "possible", "certain"
	for name, tt := range map[string]struct {
		patch  lynq.PatchStrategy
		change func(*plan.Step)
		want   string
	}{
		"applied":                            {lynq.PatchApply, func(*plan.Step) {}, no},
		"applied, others wrote other fields": {lynq.PatchApply, rewritten, no},
		"applied, others took fields":        {lynq.PatchApply, func(s *plan.Step) { s.Live.Fields = "fewer" }, certain},
		"applied, no fields are left":        {lynq.PatchApply, func(s *plan.Step) { s.Live.Fields, s.Entry.Fields = "", "" }, certain},
		"applied, an update in our name":     {lynq.PatchApply, func(s *plan.Step) { s.Live.Updated = true }, certain},
		"applied, by us without an entry":    {lynq.PatchApply, func(s *plan.Step) { rewritten(s); s.Live.Last = true }, possible},
		"applied, a content without entry":   {lynq.PatchApply, func(s *plan.Step) { s.Live.LastButStatus, s.Live.Generation = true, 2 }, possible},
		"applied, by us and recorded":        {lynq.PatchApply, func(s *plan.Step) { s.Live.Last, s.Live.LastButStatus = true, true }, no},
		"applied, others wrote last":         {lynq.PatchApply, func(s *plan.Step) { rewritten(s); s.Live.Generation = 2 }, no},
		"confirmed by the server":            {lynq.PatchApply, func(s *plan.Step) { s.Live.Updated, s.Live.Intact = true, true }, no},
		"applied, in a retired version":      {lynq.PatchApply, func(s *plan.Step) { s.Live.Retired = true }, possible},
		"applied, retired, fields are taken": {lynq.PatchApply, func(s *plan.Step) { s.Live.Retired, s.Live.Fields = true, "fewer" }, certain},
		"merged, in a retired version":       {lynq.PatchMerge, func(s *plan.Step) { s.Live.Retired = true }, possible},
		"override, kubectl has fields":       {lynq.PatchOverride, func(s *plan.Step) { s.Live.ClientSide = true }, certain},
		"override, kubectl has none":         {lynq.PatchOverride, func(*plan.Step) {}, no},
		"apply, kubectl has fields":          {lynq.PatchApply, func(s *plan.Step) { s.Live.ClientSide = true }, no},
		"merged":                             {lynq.PatchMerge, func(*plan.Step) {}, no},
		"merged, a field is taken":           {lynq.PatchMerge, func(s *plan.Step) { rewritten(s); s.Live.Fields = "fewer" }, certain},
		"merged, all our fields are left":    {lynq.PatchMerge, rewritten, possible},
		"merged, no fields recorded":         {lynq.PatchMerge, func(s *plan.Step) { rewritten(s); s.Entry.Fields = "" }, possible},
		"merged, an update in our name":      {lynq.PatchMerge, func(s *plan.Step) { s.Live.Updated = true }, no},
		"replaced":                           {lynq.PatchReplace, func(*plan.Step) {}, no},
		"replaced, all our fields are left":  {lynq.PatchReplace, rewritten, possible},
		"adopted, others wrote other fields": {lynq.PatchReplace, func(s *plan.Step) { rewritten(s); s.Entry.Adopted, s.Entry.Fields = true, "fields" }, no},
		"adopted, others took fields":        {lynq.PatchReplace, func(s *plan.Step) { s.Entry.Adopted, s.Entry.Fields = true, "more" }, certain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := unchanged(tt.patch)
			tt.change(&s)
			got := no
			switch {
			case s.Drifted():
				got = certain
			case plan.MayHaveDrifted(s.Object, s.Entry, s.Live):
				got = possible
			}
			if got != tt.want || s.Drifted() && !plan.MayHaveDrifted(s.Object, s.Entry, s.Live) {
				t.Errorf("%s: drift is %s, want %s", name, got, tt.want)
			}
		})
	}
}

// TestRepairs checks when a write may take fields back from others.
func TestRepairs(t *testing.T) {
	t.Parallel()
	same := func(s *plan.Step) { s.Entry.Digest = s.Object.Digest }
	drifts := func(s *plan.Step) { s.Live.Fields = "fewer" }
	as := func(a plan.Action) func(*plan.Step) { return func(s *plan.Step) { same(s); s.Action = a } }
	for name, tt := range map[string]struct {
		change func(*plan.Step)
		want   bool
	}{
		"new content":                      {func(*plan.Step) {}, false},
		"new content, of a changed object": {drifts, true},
		"the same content":                 {same, true},
		"a recreation":                     {as(plan.ActionRecreate), true},
		"an adoption":                      {as(plan.ActionAdopt), false},
		"an object that is kept":           {as(plan.ActionKeep), false},
		"an object without an entry":       {func(s *plan.Step) { same(s); s.Entry = nil }, false},
		"an object that is gone":           {func(s *plan.Step) { same(s); s.Live = nil }, false},
		"an object with the name of ours":  {func(s *plan.Step) { same(s); s.Live.UID = "u2" }, false},
		"an object that we never wrote":    {func(s *plan.Step) { drifts(s); s.Entry.Digest = "" }, false},
		"an object without any digest":     {func(s *plan.Step) { s.Entry.Digest, s.Object.Digest = "", "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := unchanged(lynq.PatchApply)
			tt.change(&s)
			if s.Repairs() != tt.want {
				t.Errorf("%s: it repairs: %t", name, s.Repairs())
			}
		})
	}
}

// TestDoubtful checks which drift lynqctl asks the server about before it repairs it.
func TestDoubtful(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		patch  lynq.PatchStrategy
		change func(*plan.Step)
		want   bool
	}{
		"a merge":                       {lynq.PatchMerge, func(*plan.Step) {}, true},
		"a merge of new content":        {lynq.PatchMerge, func(s *plan.Step) { s.Reason = plan.ReasonChanged }, false},
		"a replacement":                 {lynq.PatchReplace, func(*plan.Step) {}, true},
		"a replacement, of adopted":     {lynq.PatchReplace, func(s *plan.Step) { s.Entry.Adopted = true }, false},
		"an apply":                      {lynq.PatchApply, func(*plan.Step) {}, false},
		"an apply, we wrote last":       {lynq.PatchApply, func(s *plan.Step) { s.Live.LastButStatus = true }, true},
		"an object that no form has":    {lynq.PatchMerge, func(s *plan.Step) { s.Object = nil }, false},
		"an object that isn't recorded": {lynq.PatchMerge, func(s *plan.Step) { s.Entry = nil }, false},
		"an object that is gone":        {lynq.PatchApply, func(s *plan.Step) { s.Live = nil }, false},
		"a merge, the object is gone":   {lynq.PatchMerge, func(s *plan.Step) { s.Live = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := unchanged(tt.patch)
			s.Reason = plan.ReasonDrifted
			tt.change(&s)
			if s.Doubtful() != tt.want {
				t.Errorf("%s: it is doubtful: %t", name, s.Doubtful())
			}
		})
	}
}
