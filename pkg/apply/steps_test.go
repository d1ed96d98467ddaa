package apply

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// wanted returns a step that creates an object, in a wave and after others.
func wanted(id string, wave int, after ...string) plan.Step {
	p := lynq.DefaultPolicy()
	p.ApplyOrder = wave
	return plan.Step{Action: plan.ActionCreate, Object: &plan.Object{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: id}, ID: id, Policy: &p, DependIDs: after}}
}

// going returns a step that deletes an object. Objects with a higher order depended on it.
func going(id string, order int) plan.Step {
	return plan.Step{Action: plan.ActionDelete, Entry: &inventory.Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: id}, ID: id, Order: order}}
}

// TestAwaited checks that a step waits for its dependencies and for earlier waves, and
// learns which of them failed.
func TestAwaited(t *testing.T) {
	for name, tt := range map[string]struct {
		of    plan.Step
		first State
		as    report.Outcome
		want  string
	}{
		"nothing":                 {wanted("b", 0), Pending, "", ""},
		"what it depends on":      {wanted("b", 0, "a"), Pending, "", "waits"},
		"what is not ready yet":   {wanted("b", 0, "a"), Waiting, "", "waits"},
		"what is done":            {wanted("b", 0, "a"), Done, report.OutcomeDone, ""},
		"what failed":             {wanted("b", 0, "a"), Done, report.OutcomeFailed, "ConfigMap/ns/a, which it depends on, failed"},
		"what nobody knows":       {wanted("b", 0, "x"), Pending, "", ""},
		"an earlier wave":         {wanted("b", 1), Pending, "", "waits"},
		"a wave that has ended":   {wanted("b", 1), Done, report.OutcomeDone, ""},
		"a wave that failed":      {wanted("b", 1), Done, report.OutcomeFailed, "ConfigMap/ns/a, of an earlier wave, failed"},
		"a wave that was skipped": {wanted("b", 1), Done, report.OutcomeSkipped, "ConfigMap/ns/a, of an earlier wave, was skipped"},
		"a wave of another owner": {wanted("b", 1), Done, report.OutcomeConflicted, "ConfigMap/ns/a, of an earlier wave, has a conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			var all Steps
			all.Set(&plan.NodePlan{Steps: []plan.Step{wanted("a", 0), tt.of}}, false)
			all.Of[0].State, all.Of[0].Outcome = tt.first, tt.as
			waiting, failures := all.Awaited(&all.Of[1])
			got := strings.Join(failures, "; ")
			if waiting {
				got = "waits"
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestMayLeave checks that lynqctl deletes an object after its dependents, and keeps it if
// one of them is kept.
func TestMayLeave(t *testing.T) {
	for name, tt := range map[string]struct {
		state State
		as    report.Outcome
		may   bool
		stays string
	}{
		"its dependent is there":         {Pending, "", false, ""},
		"its dependent is being deleted": {Waiting, "", false, ""},
		"its dependent is gone":          {Done, report.OutcomeDone, true, ""},
		"its dependent stayed":           {Done, report.OutcomeFailed, false, "it stays until ConfigMap/ns/b is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			var all Steps
			all.Set(&plan.NodePlan{Steps: []plan.Step{going("a", 0), going("b", 1)}}, false)
			all.Of[1].State, all.Of[1].Outcome = tt.state, tt.as
			if may, stays := all.MayLeave(&all.Of[0]); may != tt.may || stays != tt.stays {
				t.Errorf("%v, %q", may, stays)
			}
			if may, _ := all.MayLeave(&all.Of[1]); !may {
				t.Errorf("what depends on it waits for it")
			}
		})
	}
}
