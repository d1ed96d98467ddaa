package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func step(action plan.Action, outcome report.Outcome, change func(*report.StepResult)) report.StepResult {
	s := report.StepResult{Outcome: outcome, Step: &plan.Step{
		Action: action, Reason: plan.ReasonChanged, Entry: &inventory.Entry{Ref: lynq.Ref{Kind: "Secret", Namespace: "shop", Name: "acme"}, ID: "token"},
		Live: &tracking.Live{},
	}}
	s.Says = "hunter2" // as a server quotes a value
	if change != nil {
		change(&s)
	}
	return s
}

// TestChanged wants an entry for each run that changed something. It wants none for a run
// that only failed, looked, or found an earlier state.
func TestChanged(t *testing.T) {
	t.Parallel()
	going := func(s *report.StepResult) { s.Live.Deleting = true }
	interrupted := func(s *report.StepResult) { s.Interrupted = true }
	for name, test := range map[string]struct {
		node report.NodeResult
		want bool
	}{
		"nothing":           {report.NodeResult{Outcome: report.OutcomeUnchanged, Steps: []report.StepResult{step(plan.ActionKeep, report.OutcomeUnchanged, nil)}}, false},
		"an update":         {report.NodeResult{Steps: []report.StepResult{step(plan.ActionUpdate, report.OutcomeDone, nil)}}, true},
		"not ready":         {report.NodeResult{Steps: []report.StepResult{step(plan.ActionCreate, report.OutcomeNotReady, nil)}}, true},
		"still deleting":    {report.NodeResult{Steps: []report.StepResult{step(plan.ActionDelete, report.OutcomeNotReady, going)}}, false},
		"cut short":         {report.NodeResult{Steps: []report.StepResult{step(plan.ActionDelete, "", interrupted)}}, true},
		"failed":            {report.NodeResult{Steps: []report.StepResult{step(plan.ActionUpdate, report.OutcomeFailed, nil)}}, false},
		"a conflict":        {report.NodeResult{Steps: []report.StepResult{step(plan.ActionBlock, report.OutcomeConflicted, nil)}}, false},
		"left out":          {report.NodeResult{Steps: []report.StepResult{step(plan.ActionSkip, report.OutcomeSkipped, nil)}}, false},
		"an empty node":     {report.NodeResult{Leaves: true, Outcome: report.OutcomeDone}, true},
		"one that can't go": {report.NodeResult{Leaves: true, Outcome: report.OutcomeFailed}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := changed(&test.node); got != test.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestTell wants an entry with actions and reasons, but without messages of a server.
func TestTell(t *testing.T) {
	t.Parallel()
	var e entry
	e.tell([]*report.NodeResult{{
		NodeID:  lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: "shop", Name: "acme-web"},
		Outcome: report.OutcomeFailed, Problems: report.ProblemsIn("hunter2"),
		Steps: []report.StepResult{
			step(plan.ActionKeep, report.OutcomeUnchanged, nil), step(plan.ActionSkip, report.OutcomeSkipped, nil),
			step(plan.ActionDelete, report.OutcomeDone, nil), step(plan.ActionUpdate, report.OutcomeFailed, nil),
		},
	}, {Outcome: report.OutcomeUnchanged}}, true)
	object := func(action, outcome string) history.Object {
		return history.Object{RefFields: lynq.RefFields{Kind: "Secret", Namespace: "shop", Name: "acme"}, ID: "token", Action: action, Reason: "Changed", Outcome: outcome}
	}
	want := history.Entry{
		Outcome: history.OutcomeFailed,
		Counts: history.Counts{
			Nodes: map[string]int{"failed": 1, "unchanged": 1}, Objects: map[string]int{"unchanged": 1, "skipped": 1, "done": 1, "failed": 1}, Actions: map[string]int{"delete": 1},
		},
		Nodes: []history.Node{{
			Namespace: "shop", Name: "acme-web", FormNamespace: "shop", Form: "web", Row: "acme", Outcome: "failed",
			Objects: []history.Object{object("delete", "done"), object("update", "failed")},
		}},
	}
	if diff := cmp.Diff(want, e.Entry); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestJobURL wants the page of a job from the environment, without a password.
func TestJobURL(t *testing.T) {
	t.Parallel()
	for want, env := range map[string]map[string]string{
		"":                                {"GITHUB_RUN_ID": "42"},
		"https://ci.example.com/job/7":    {"CI_JOB_URL": "https://me:hunter2@ci.example.com/job/7"},
		"https://ci.example.com/b/1#0199": {"BUILDKITE_BUILD_URL": "https://ci.example.com/b/1", "BUILDKITE_JOB_ID": "0199"},
		"https://github.com/acme/shop/actions/runs/42": {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/shop", "GITHUB_RUN_ID": "42", "BUILD_URL": "x"},
		"http://jenkins.example.com/job/a/3/":          {"BUILD_URL": "http://jenkins.example.com/job/a/3/"},
		"https://dev.azure.com/acme/shop/_build/results?buildId=9": {
			"SYSTEM_COLLECTIONURI": "https://dev.azure.com/acme/", "SYSTEM_TEAMPROJECT": "shop", "BUILD_BUILDID": "9"},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()

			if got := jobURL(func(name string) string { return env[name] }); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if got := jobURL(func(string) string { return "javascript:alert(1)" }); got != "" {
		t.Errorf("got %q", got)
	}
}
