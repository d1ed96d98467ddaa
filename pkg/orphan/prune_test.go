package orphan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// left returns an orphan of the node HUB/NAMESPACE/NODE/ID, or of an unknown node.
func left(ref, from string, changes ...func(*orphan.Orphan)) orphan.Orphan {
	r, err := lynq.ParseRef(ref)
	if err != nil {
		return orphan.Orphan{} // no test expects this
	}
	o := orphan.Orphan{
		Ref: r, UID: types.UID("uid of " + ref), Resource: lynq.APIResource{Group: r.Group, Version: "v1", Kind: r.Kind},
		Reason: wellknown.ReasonNodeDeleted, Deletion: lynq.DeleteRetain,
		Live: &tracking.Live{Ref: r, UID: types.UID("uid of " + ref), ResourceVersion: "7", Orphaned: true},
	}
	if p := strings.Split(from, "/"); len(p) == 4 {
		o.From = orphan.Origin{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: p[0]}, Namespace: p[1], Name: p[2]}, ID: p[3]}
	}
	for _, change := range changes {
		change(&o)
	}
	return o
}

// planned returns plans as lines with hub, node, and the actions on objects.
func planned(plans []plan.Plan) []string {
	lines := []string{}
	for _, p := range plans {
		steps := 0
		for _, n := range p.Nodes {
			for _, s := range n.Steps {
				lines = append(lines, strings.Join([]string{p.Hub.Name, n.String(), string(s.Action), string(s.Reason), s.Entry.Full()}, " "))
				steps++
			}
		}
		if p.Counts[plan.ActionDelete] != steps || len(p.Counts) != 1 {
			lines = append(lines, "the counts are wrong")
		}
	}
	return lines
}

func sparedTexts(spared []orphan.Spared) []string {
	lines := []string{}
	for _, s := range spared {
		lines = append(lines, s.Orphan.Full()+": "+s.Why)
	}
	return lines
}

func TestPruneGroups(t *testing.T) {
	plans, spared := orphan.Prune([]orphan.Orphan{
		left("Secret/shop/b", "erp/shop/acme-app/b"),
		left("ConfigMap/shop/a", "crm/shop/bolt-web/a"),
		left("Deployment.apps/far/c", "crm/hubs/acme-web/c"),
		left("ConfigMap/shop/d", "crm/shop/bolt-web/d"),
		left("ConfigMap/shop/operator", ""),
		left("ClusterRole.rbac.authorization.k8s.io/operator", ""),
	}, orphan.PruneOptions{})
	if diff := cmp.Diff([]string{
		" /unknown delete Pruned ClusterRole.rbac.authorization.k8s.io/operator",
		" shop/unknown delete Pruned ConfigMap/shop/operator",
		"crm hubs/acme-web delete Pruned Deployment.apps/far/c",
		"crm shop/bolt-web delete Pruned ConfigMap/shop/a",
		"crm shop/bolt-web delete Pruned ConfigMap/shop/d",
		"erp shop/acme-app delete Pruned Secret/shop/b",
	}, planned(plans)); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
	if len(spared) > 0 {
		t.Errorf("spared are %q", sparedTexts(spared))
	}
	step := plans[1].Nodes[0].Steps[0]
	if step.Entry.APIVersion != "apps/v1" || step.Entry.UID != "uid of Deployment.apps/far/c" || step.Entry.ID != "c" ||
		step.Live.ResourceVersion != "7" || step.UID() != "uid of Deployment.apps/far/c" || step.Exact {
		t.Errorf("the step does not hold to what was seen: %+v, %+v", step, step.Entry)
	}
	plans, _ = orphan.Prune([]orphan.Orphan{left("Secret/shop/b", "erp/shop/acme-app/b")}, orphan.PruneOptions{Exact: true})
	if !plans[0].Nodes[0].Steps[0].Exact {
		t.Error("the step is not exact")
	}
	if plans, spared := orphan.Prune(nil, orphan.PruneOptions{}); plans != nil || spared != nil {
		t.Errorf("of nothing comes %v, %v", plans, spared)
	}
}

func TestPruneSpares(t *testing.T) {
	live := func(change func(*tracking.Live)) func(*orphan.Orphan) {
		return func(o *orphan.Orphan) { change(o.Live) }
	}
	for name, test := range map[string]struct {
		ref    string
		change func(*orphan.Orphan)
		want   string // why it is spared; "" if it is deleted
		data   string // the same with Data
	}{
		"an orphan":            {ref: "ConfigMap/shop/a"},
		"of old, with our hub": {ref: "ConfigMap/shop/a", change: live(func(l *tracking.Live) { l.Hub = "crm" })},
		"left by the operator": {ref: "ConfigMap/shop/a", change: live(func(l *tracking.Live) { l.Node, l.NodeNamespace = "acme-web", "shop" })},
		"owned by others, too": {ref: "ConfigMap/shop/a", change: live(func(l *tracking.Live) { l.Owners = []types.UID{"theirs"} })},
		"only recorded":        {ref: "ConfigMap/shop/a", change: func(o *orphan.Orphan) { o.Live, o.Reason = nil, orphan.ReasonGone }, want: "only its entry does", data: "only its entry does"},
		"stranded":             {ref: "ConfigMap/shop/a", change: live(func(l *tracking.Live) { l.Orphaned = false }), want: "no longer marked as an orphan", data: "no longer marked as an orphan"},
		"being deleted": {ref: "ConfigMap/shop/a", change: live(func(l *tracking.Live) {
			l.Deleting, l.Few = true, &tracking.Rare{Ending: "is being deleted since noon"}
		}), want: "it is being deleted since noon", data: "it is being deleted since noon"},
		"unmanaged":             {ref: "ConfigMap/shop/a", change: live(func(l *tracking.Live) { l.Unmanaged = true }), want: "lynq.sh/mode: unmanaged", data: "lynq.sh/mode: unmanaged"},
		"of a controller":       {ref: "ConfigMap/shop/a", change: live(func(l *tracking.Live) { l.Few = &tracking.Rare{Controller: "Widget/w"} }), want: "now of controller Widget/w", data: "now of controller Widget/w"},
		"of another tool":       {ref: "ConfigMap/shop/a", change: live(func(l *tracking.Live) { l.Few = &tracking.Rare{Foreign: "Kustomization a/b"} }), want: "now of Kustomization a/b", data: "now of Kustomization a/b"},
		"part of an ApplySet":   {ref: "ConfigMap/shop/a", change: live(func(l *tracking.Live) { l.PartOf = "x" }), want: "labels of a node too", data: "labels of a node too"},
		"with a node's labels":  {ref: "ConfigMap/shop/a", change: live(func(l *tracking.Live) { l.Hub, l.Node = "crm", "acme-web" }), want: "labels of a node too", data: "labels of a node too"},
		"a claim":               {ref: "PersistentVolumeClaim/shop/a", want: "it holds data (--include-data"},
		"a volume":              {ref: "PersistentVolume/a", want: "it holds data (--include-data"},
		"a namespace":           {ref: "Namespace/a", want: "it holds data (--include-data"},
		"a kind":                {ref: "CustomResourceDefinition.apiextensions.k8s.io/a.b.c", want: "it holds data (--include-data"},
		"a kind of the name":    {ref: "Namespace.example.com/shop/a"},
		"a claim of a template": {ref: "PersistentVolumeClaim/shop/a", change: live(func(l *tracking.Live) { l.Few = &tracking.Rare{Controller: "StatefulSet/w"} }), want: "now of controller", data: "now of controller"},
	} {
		t.Run(name, func(t *testing.T) {
			o := left(test.ref, "crm/shop/acme-web/a")
			if test.change != nil {
				test.change(&o)
			}
			for _, data := range []bool{false, true} {
				want := test.want
				if data {
					want = test.data
				}
				plans, spared := orphan.Prune([]orphan.Orphan{o}, orphan.PruneOptions{Data: data})
				prunable, same := orphan.Prunable([]orphan.Orphan{o}, orphan.PruneOptions{Data: data})
				goes := len(plans) == 1 && len(spared) == 0 && len(prunable) == 1 && len(same) == 0
				stays := len(plans) == 0 && len(spared) == 1 && len(prunable) == 0 && len(same) == 1
				switch {
				case want == "" && !goes:
					t.Errorf("%s (data %v): spared, for %q", name, data, sparedTexts(spared))
				case want != "" && (!stays || !strings.Contains(spared[0].Why, want)):
					t.Errorf("%s (data %v): pruned %q, spared %q, want %q", name, data, planned(plans), sparedTexts(spared), want)
				}
			}
		})
	}
}

// TestPruneSparesSome checks that spared orphans don't prevent other deletions, and appear
// in order.
func TestPruneSparesSome(t *testing.T) {
	orphans := []orphan.Orphan{
		left("Namespace/acme", "crm/shop/acme-web/ns"), left("ConfigMap/shop/a", "crm/shop/acme-web/a"),
		left("PersistentVolumeClaim/shop/a", "crm/shop/acme-web/data"), left("Secret/shop/a", "crm/shop/acme-web/secret"),
	}
	plans, spared := orphan.Prune(orphans, orphan.PruneOptions{})
	want := []string{"crm shop/acme-web delete Pruned ConfigMap/shop/a", "crm shop/acme-web delete Pruned Secret/shop/a"}
	if got := planned(plans); !slices.Equal(got, want) {
		t.Errorf("plans are %q, want %q", got, want)
	}
	if len(spared) != 2 || spared[0].Orphan.Full() != "Namespace/acme" || spared[1].Orphan.Full() != "PersistentVolumeClaim/shop/a" {
		t.Errorf("spared are %q", sparedTexts(spared))
	}
	prunable, _ := orphan.Prunable(orphans, orphan.PruneOptions{})
	if len(prunable) != 2 || prunable[0].Kind != "ConfigMap" || prunable[1].Kind != "Secret" {
		t.Errorf("prunable are %+v", prunable)
	}
}
