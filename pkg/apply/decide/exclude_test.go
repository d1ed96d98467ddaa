package decide

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestExcluded checks that lynqctl leaves an excluded object alone in every situation. Its
// node may want it, its form may have dropped it, or its node may be deleted.
func TestExcluded(t *testing.T) {
	rule := lynq.Exclusion{Kind: "Deployment", Name: "ac*", Pos: lynq.Pos{File: "form.yaml", Line: 7}}
	for _, at := range situations() {
		for _, deletion := range lynq.DeletionPolicies() {
			p := lynq.DefaultPolicy()
			p.Deletion = deletion
			for name, change := range map[string]func(*Input){
				"wanted":    func(in *Input) { in.Desired.Nodes[0].Objects[0].Exclusion = &rule },
				"dropped":   func(in *Input) { in.Desired.Nodes[0].Objects = nil },
				"node gone": func(in *Input) { in.Desired.Nodes = nil },
			} {
				in := scene(at, p)
				in.Desired.Exclude = map[lynq.FormKey]lynq.Exclusions{{Name: "web"}: {rule}}
				change(in)
				for _, n := range Decide(in, Limits{AllowEmpty: true}).Nodes {
					for i := range n.Steps {
						s := &n.Steps[i]
						left := s.Action == plan.ActionSkip && s.Reason == plan.ReasonExcluded && strings.Contains(s.Message, "form.yaml:7")
						gone := s.Object == nil && s.Live == nil && s.Action == plan.ActionRelease
						if !left && !gone {
							t.Errorf("%v, %s, %s: %s (%s), want it left alone", at, deletion, name, s.Action, s.Reason)
						}
					}
				}
			}
		}
	}
}

// TestExcludedRecorded checks that a deletion without files uses the exclusions of the last
// apply. With files, a removed rule no longer counts.
func TestExcludedRecorded(t *testing.T) {
	for _, tt := range []struct {
		rules map[lynq.FormKey]lynq.Exclusions
		want  plan.Action
	}{
		{nil, plan.ActionSkip},
		{map[lynq.FormKey]lynq.Exclusions{{Name: "web"}: nil}, plan.ActionDelete},
		{map[lynq.FormKey]lynq.Exclusions{{Name: "web"}: {{Kind: "Deployment", Name: "*"}}}, plan.ActionSkip},
		{map[lynq.FormKey]lynq.Exclusions{{Name: "api"}: {{Kind: "Deployment", Name: "*"}}}, plan.ActionDelete},
	} {
		in := scene(ours, lynq.DefaultPolicy())
		in.Desired.Nodes, in.Desired.Exclude = nil, tt.rules
		in.Recorded.Inventories[0].Entries[0].Excluded = true
		in.Scope.Delete = map[lynq.NodeKey]bool{{Namespace: "ns", Name: "acme-web"}: true}
		if got := Decide(in, Limits{AllowEmpty: true}).Nodes[0].Steps[0].Action; got != tt.want {
			t.Errorf("with rules %v: %s, want %s", tt.rules, got, tt.want)
		}
	}
}

// TestExcludedDependency checks that the message names the objects that no longer wait for
// an excluded object.
func TestExcludedDependency(t *testing.T) {
	in := scene(ours, lynq.DefaultPolicy())
	n := in.Desired.Nodes[0]
	n.Objects[0].Exclusion = &lynq.Exclusion{Kind: "Deployment", Name: "*"}
	after := n.Objects[0]
	after.ID, after.Exclusion, after.DependIDs = "after", nil, []string{"app"}
	after.Name = "after"
	n.Objects = append(n.Objects, after)
	steps := Decide(in, Limits{}).Nodes[0].Steps
	if got := steps[0].Message; !strings.HasSuffix(got, "; objects that depend on it don't wait: after") {
		t.Errorf("the excluded object says %q", got)
	}
	if steps[1].Action != plan.ActionCreate {
		t.Errorf("what depends on it: %s", steps[1].Action)
	}
}

// TestExcludedHook checks that lynqctl doesn't run an excluded hook, and deletes the node
// without it.
func TestExcludedHook(t *testing.T) {
	in := hookScene("", "", nil)
	in.Desired.Exclude = map[lynq.FormKey]lynq.Exclusions{{Name: "web"}: {{Kind: "Job", Name: "*-backup"}}}
	steps := Decide(in, Limits{AllowEmpty: true}).Nodes[0].Steps
	var got []string
	for i := range steps {
		got = append(got, string(steps[i].Action)+" "+string(steps[i].Reason))
	}
	if want := "delete NodeGone, release Excluded"; strings.Join(got, ", ") != want {
		t.Errorf("the steps are %q, want %s", got, want)
	}
}
