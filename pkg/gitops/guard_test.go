package gitops

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/toll"
)

func TestRefuse(t *testing.T) {
	quarter := Limits{MayGo: func(n int) int { return max(1, n/4) }, MaxDelete: "25%"}
	for _, test := range []struct {
		name   string
		had    int // number of nodes in the index
		has    int // number of nodes that rows render
		failed int // number of these that fail
		active int
		change func(*Input, *Limits)
		want   string // the guard that refuses
	}{
		{name: "a first run", has: 3, active: 3},
		{name: "a first run of nothing"},
		{name: "no active row", had: 2, want: GuardEmpty},
		{name: "no active row, allowed", had: 2, change: func(_ *Input, l *Limits) { l.AllowEmpty = true }},
		{name: "one of two goes", had: 2, has: 1, active: 1},
		{name: "two of eight go", had: 8, has: 6, active: 6},
		{name: "three of eight go", had: 8, has: 5, active: 5, want: GuardMaxDelete},
		{name: "three of eight failed", had: 8, has: 8, failed: 3, active: 8},
		{name: "three may go", had: 8, has: 5, active: 5, change: func(_ *Input, l *Limits) { l.MayGo = func(int) int { return 3 } }},
		{name: "none may go", had: 8, has: 7, active: 7, change: func(_ *Input, l *Limits) { l.MayGo = func(int) int { return 0 } }, want: GuardMaxDelete},
		{name: "they are of another form", had: 8, active: 1, change: func(in *Input, _ *Limits) { in.Hubs[0].Forms = []lynq.FormKey{{Name: "api"}} }},
		{name: "they are of another hub", had: 8, active: 1, change: func(in *Input, _ *Limits) { in.Hubs[0].Name = "shop" }},
		{name: "one node was asked for", had: 8, has: 1, active: 1, change: func(in *Input, _ *Limits) { in.Only = map[string]bool{"t0-web": true} }},
		{name: "one node was asked for, and is gone", had: 8, active: 7, change: func(in *Input, _ *Limits) { in.Only = map[string]bool{"t0-web": true} }},
		{name: "one node was asked for, and all rows are gone", had: 8, change: func(in *Input, _ *Limits) { in.Only = map[string]bool{"t0-web": true} }, want: GuardEmpty},
		{name: "a selector leaves objects out", had: 8, has: 1, active: 1, change: func(in *Input, _ *Limits) { in.Selected = true }},
		{name: "another namespace", had: 8, has: 8, active: 8, change: eachNode(moved), want: GuardMaxDelete},
		{name: "another namespace of three failed", had: 8, has: 8, failed: 3, active: 8, change: eachNode(moved), want: GuardMaxDelete},
		{name: "another namespace of one node", had: 8, has: 8, active: 8, change: func(in *Input, _ *Limits) { in.Nodes[0].Namespace = "eu" }},
		{name: "a selector, and another namespace", had: 8, has: 8, active: 8, change: func(in *Input, l *Limits) {
			in.Selected = true
			eachNode(moved)(in, l)
		}},
		{name: "they get nothing any more", had: 8, has: 8, active: 8, change: eachNode(func(n *Node) { n.Objects = nil }), want: GuardMaxDelete},
		{name: "an object without data has another name", had: 8, has: 8, active: 8, change: eachNode(func(n *Node) { n.Objects[0].Name += "-new" })},
		{name: "includeWhen takes an object without data", had: 8, has: 8, active: 8, change: eachNode(func(n *Node) {
			n.Objects = []Object{objectOf(lynq.Ref{Kind: "Service", Namespace: "default", Name: n.Name}, "1")}
			n.NotIncluded = []string{n.Objects[0].ID}
		}), want: GuardMaxDelete},
	} {
		s := newSite(t)
		nodes := make([]*Node, max(test.had, test.has))
		for i := range nodes {
			nodes[i] = rowNode("crm", fmt.Sprintf("t%d", i), "1")
		}
		s.run(inputOf(nodes[:test.had], "crm"))
		for i := range test.failed {
			nodes[i].Failed = true
		}
		in, limits := inputOf(nodes[:test.has], "crm"), quarter
		if test.change != nil {
			test.change(in, &limits)
		}
		_, p := s.plan(in)
		refusals := Refuse(in, p, map[lynq.HubKey]int{{Name: "crm"}: test.active, {Name: "shop"}: test.active}, limits)
		got := ""
		if len(refusals) > 0 {
			got = refusals[0].Guard
		}
		if got != test.want || len(refusals) > 1 {
			t.Errorf("%s: %v", test.name, refusals)
		}
	}
}

// eachNode changes each node of a run. It changes copies, because an earlier run has the
// originals.
func eachNode(change func(*Node)) func(*Input, *Limits) {
	return func(in *Input, _ *Limits) {
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

// TestHeldIn checks that the tree's text of an object shows what a node may lose, in the
// annotations of the target.
func TestHeldIn(t *testing.T) {
	claim := index.ObjectKey{Ref: lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "a"}, ID: "data"}
	set := index.ObjectKey{Ref: lynq.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "a"}, ID: "db"}
	marked := index.ObjectKey{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}, ID: "text", Data: true}
	text := func(apiVersion, kind, more string) string {
		return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata:\n  name: a\n  namespace: shop\n" + more
	}
	argo := "  annotations:\n    argocd.argoproj.io/sync-options: ServerSideApply=true, Prune=false\n"
	confirmed := "  annotations:\n    argocd.argoproj.io/sync-options: Prune=confirm,Delete=false\n"
	flux := "  annotations:\n    kustomize.toolkit.fluxcd.io/prune: Disabled\n"
	other := text("v1", "ConfigMap", argo) + separator
	for _, test := range []struct {
		name           string
		key            index.ObjectKey
		text           string
		target         policy.Target
		retained, data bool
	}{
		{"a claim", claim, text("v1", "PersistentVolumeClaim", ""), policy.Argo, false, true},
		{"beside another object", claim, other + text("v1", "PersistentVolumeClaim", ""), policy.Argo, false, true},
		{"of another group", claim, text("x.io/v1", "PersistentVolumeClaim", argo), policy.Argo, false, true},
		{"Argo CD retains it", claim, text("v1", "PersistentVolumeClaim", argo), policy.Argo, true, true},
		{"Argo CD asks a person", claim, text("v1", "PersistentVolumeClaim", confirmed), policy.Argo, false, true},
		{"Argo CD would retain it", claim, text("v1", "PersistentVolumeClaim", argo), policy.Flux, false, true},
		{"Flux retains it", claim, text("v1", "PersistentVolumeClaim", flux), policy.Flux, true, true},
		{"Flux would retain it", claim, text("v1", "PersistentVolumeClaim", flux), policy.Argo, false, true},
		{"somebody retains it", claim, text("v1", "PersistentVolumeClaim", flux), policy.Plain, true, true},
		{"a file that others broke", claim, "a: b: c", policy.Plain, false, true},
		{"what the form marks", marked, text("v1", "ConfigMap", ""), policy.Plain, false, true},
		{"what the form marks, and Argo CD retains", marked, text("v1", "ConfigMap", argo), policy.Argo, true, true},
		{"a StatefulSet", set, text("apps/v1", "StatefulSet", "spec:\n  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete, whenDeleted: Retain}\n"), policy.Plain, false, false},
		{"a StatefulSet without the policy", set, text("apps/v1", "StatefulSet", ""), policy.Plain, false, false},
		{"a StatefulSet that takes its claims with it", set, text("apps/v1", "StatefulSet", "spec:\n  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}\n"), policy.Plain, false, true},
	} {
		want := toll.Held{Ref: test.key.Ref, ID: test.key.ID, Retained: test.retained, Data: test.data}
		if got := heldIn([]byte(test.text), test.key, test.target); got != want {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

// TestRefuseForeign checks that the refusal names the taken paths, and the fix.
func TestRefuseForeign(t *testing.T) {
	s := newSite(t)
	s.write("kustomization.yaml", "resources: [mine]\n")
	s.write("beta-web", "a file\n")
	in := inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")})
	_, p := s.plan(in)
	var got []string
	for _, r := range Refuse(in, p, map[lynq.HubKey]int{{Name: "crm"}: 2}, Limits{MayGo: func(int) int { return 1 }}) {
		got = append(got, r.String())
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
