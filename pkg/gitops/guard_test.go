package gitops

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

func TestRefuse(t *testing.T) {
	quarter := decide.Limits{MaxDelete: limits.DefaultMaxDelete()}
	for _, test := range []struct {
		name   string
		had    int // number of nodes in the index
		has    int // number of nodes that rows render
		failed int // number of these that fail
		active int
		change func(*Input, *decide.Limits)
		want   plan.Guard // the guard that refuses
	}{
		{name: "a first run", has: 3, active: 3},
		{name: "a first run of nothing"},
		{name: "no active row", had: 2, want: plan.GuardEmpty},
		{name: "no active row, allowed", had: 2, change: func(_ *Input, l *decide.Limits) { l.AllowEmpty = true }},
		{name: "one of two goes", had: 2, has: 1, active: 1},
		{name: "two of eight go", had: 8, has: 6, active: 6},
		{name: "three of eight go", had: 8, has: 5, active: 5, want: plan.GuardMaxDelete},
		{name: "three of eight failed", had: 8, has: 8, failed: 3, active: 8},
		{name: "three may go", had: 8, has: 5, active: 5, change: func(_ *Input, l *decide.Limits) { l.MaxDelete = limits.MaxDelete{Nodes: 3} }},
		{name: "none may go", had: 8, has: 7, active: 7, change: func(_ *Input, l *decide.Limits) { l.MaxDelete = limits.MaxDelete{} }, want: plan.GuardMaxDelete},
		{name: "they are of another form", had: 8, active: 1, change: func(in *Input, _ *decide.Limits) { in.Hubs[0].Forms = []lynq.FormKey{{Name: "api"}} }},
		{name: "they are of another hub", had: 8, active: 1, change: func(in *Input, _ *decide.Limits) { in.Hubs[0].Name = "shop" }},
		{name: "one node was asked for", had: 8, has: 1, active: 1, change: func(in *Input, _ *decide.Limits) { in.Only = map[string]bool{"t0-web": true} }},
		{name: "one node was asked for, and is gone", had: 8, active: 7, change: func(in *Input, _ *decide.Limits) { in.Only = map[string]bool{"t0-web": true} }},
		{name: "one node was asked for, and all rows are gone", had: 8, change: func(in *Input, _ *decide.Limits) { in.Only = map[string]bool{"t0-web": true} }, want: plan.GuardEmpty},
		{name: "a selector leaves objects out", had: 8, has: 1, active: 1, change: func(in *Input, _ *decide.Limits) { in.Selected = true }},
		{name: "another namespace", had: 8, has: 8, active: 8, change: eachNode(moved), want: plan.GuardMaxDelete},
		{name: "another namespace of three failed", had: 8, has: 8, failed: 3, active: 8, change: eachNode(moved), want: plan.GuardMaxDelete},
		{name: "another namespace of one node", had: 8, has: 8, active: 8, change: func(in *Input, _ *decide.Limits) { in.Nodes[0].Namespace = "eu" }},
		{name: "a selector, and another namespace", had: 8, has: 8, active: 8, change: func(in *Input, l *decide.Limits) {
			in.Selected = true
			eachNode(moved)(in, l)
		}},
		{name: "they get nothing any more", had: 8, has: 8, active: 8, change: eachNode(func(n *Node) { n.Objects = nil }), want: plan.GuardMaxDelete},
		{name: "an object without data has another name", had: 8, has: 8, active: 8, change: eachNode(func(n *Node) { n.Objects[0].Name += "-new" })},
		{name: "includeWhen takes an object without data", had: 8, has: 8, active: 8, change: eachNode(func(n *Node) {
			n.NotIncluded = []string{n.Objects[0].ID}
			n.Objects = []Object{objectOf(lynq.Ref{Kind: "Service", Namespace: "default", Name: n.Name}, "1")}
			n.Objects[0].ID = "service"
		}), want: plan.GuardMaxDelete},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t)
			nodes := make([]*Node, max(test.had, test.has))
			for i := range nodes {
				nodes[i] = rowNode("crm", fmt.Sprintf("t%d", i), "1")
			}
			s.run(inputOf(nodes[:test.had], "crm"))
			for i := range test.failed {
				nodes[i].Failed = true
			}
			in, allowed := inputOf(nodes[:test.has], "crm"), quarter
			if test.change != nil {
				test.change(in, &allowed)
			}
			in.Limits, in.Rows = allowed, map[lynq.HubKey]Rows{{Name: "crm"}: {Active: test.active}, {Name: "shop"}: {Active: test.active}}
			_, p := s.plan(in)
			refusals := Refuse(in, p)
			got := plan.Guard("")
			if len(refusals) > 0 {
				got = refusals[0].Guard
			}
			if got != test.want || len(refusals) > 1 {
				t.Errorf("%v", refusals)
			}
		})
	}
}

// eachNode changes each node of a run. It changes copies, because an earlier run has the
// originals.
func eachNode(change func(*Node)) func(*Input, *decide.Limits) {
	return func(in *Input, _ *decide.Limits) {
		for i, old := range in.Nodes {
			n := *old
			n.Objects = slices.Clone(old.Objects)
			change(&n)
			in.Nodes[i] = &n
		}
	}
}

// moved moves a node to another namespace.
func moved(n *Node) { n.Namespace, n.Objects[0].Namespace = "eu", "eu" }

// TestRefuseForeign checks that the refusal names the taken paths, and the fix.
func TestRefuseForeign(t *testing.T) {
	s := newSite(t)
	s.write("kustomization.yaml", "resources: [mine]\n")
	s.write("beta-web", "a file\n")
	in := inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")})
	_, p := s.plan(in)
	var got []string
	for _, r := range Refuse(in, p) {
		got = append(got, RefusalText(&r))
	}
	want := []string{
		"beta-web/configmap-beta.yaml: beta-web is a file, and the tree needs a folder there (move it away)",
		"beta-web/kustomization.yaml: beta-web is a file, and the tree needs a folder there (move it away)",
		"kustomization.yaml: lynqctl did not write it (move it away; or overwrite it with --force)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
