package handover

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

func named(name string) *Node {
	n := node()
	n.Name, n.Row = name+"-web", name
	return n
}

func refusalTexts(refusals []plan.Refusal) string {
	var b strings.Builder
	for _, r := range refusals {
		b.WriteString(string(r.Guard) + ": " + r.What + " | " + r.Fix + "\n")
	}
	return b.String()
}

func TestPlanRefusals(t *testing.T) {
	record := func(hub, form string, deleting bool) *inventory.Inventory {
		return &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: hub}, Form: lynq.FormKey{Name: form}, Namespace: "shop", Name: "acme-web"}, Deleting: deleting}
	}
	for name, tt := range map[string]struct {
		in   Input
		want string // "" for none
	}{
		"none":               {Input{Nodes: []*Node{node()}, Found: [][]Found{{found(live())}}}, ""},
		"half done before":   {Input{Nodes: []*Node{node()}, Found: [][]Found{nil}, Inventories: []*inventory.Inventory{record("crm", "web", false)}}, ""},
		"a record elsewhere": {Input{Nodes: []*Node{node()}, Found: [][]Found{nil}, Inventories: []*inventory.Inventory{{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "other"}, Namespace: "far", Name: "acme-web"}}}}, ""},
		"another hub's record": {Input{Nodes: []*Node{node()}, Found: [][]Found{nil}, Inventories: []*inventory.Inventory{record("other", "web", false)}},
			`record: node shop/acme-web has an inventory already, of hub shop/other and form "web" | lynqctl inventory show -n shop acme-web`},
		"another form's record": {Input{Nodes: []*Node{node()}, Found: [][]Found{nil}, Inventories: []*inventory.Inventory{record("crm", "db", false)}}, `form "db"`},
		"a record that goes":    {Input{Nodes: []*Node{node()}, Found: [][]Found{nil}, Inventories: []*inventory.Inventory{record("crm", "web", true)}}, "record: the inventory of node shop/acme-web was deleted | to keep the node and its objects, run lynqctl inventory restore acme-web -n shop, or apply while its row is active. To delete the node and its objects, run lynqctl finalize --node acme-web -n shop"},
		"a broken record": {Input{Nodes: []*Node{node()}, Found: [][]Found{nil}, Broken: []*inventory.UnreadableError{{Node: lynq.NodeID{Namespace: "shop", Name: "acme-web"}, Name: "lynqnode-acme-web", Where: "data"}}},
			"record: the inventory of node shop/acme-web cannot be read"},
		"deleted": {Input{Nodes: []*Node{{Namespace: "shop", Name: "acme-web", Hub: "crm", Form: "web", Row: "acme", Deleting: true, Held: true}}, Found: [][]Found{nil}},
			"deleting: a deletion was asked for: 1 LynqNode: shop/acme-web"},
		"one node twice": {Input{Nodes: []*Node{node(), {Namespace: "shop", Name: "by-hand", Hub: "crm", Form: "web", Row: "acme"}}, Found: [][]Found{nil, nil}},
			"record: LynqNode shop/acme-web and LynqNode shop/by-hand have the same row and form, so that both become node shop/acme-web"},
		"one object twice": {Input{Nodes: []*Node{named("acme"), named("bolt")}, Found: [][]Found{{found(live())}, {found(live())}}},
			"claimed: LynqNode shop/acme-web and LynqNode shop/bolt-web both name ConfigMap/shop/acme"},
	} {
		t.Run(name, func(t *testing.T) {
			got := refusalTexts(NewPlan(&tt.in).Refusals)
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestPlanRecord: a record names what is taken over, before and after it is, and
// keeps what it says already.
func TestPlanRecord(t *testing.T) {
	n := node()
	n.TemplateGeneration, n.RolloutStart, n.Status = 3, time.Unix(5, 0), inventory.Status{Desired: 4, Ready: 3}
	absent, foreign := found(nil), found(live(disowned))
	absent.Name, foreign.Name = "absent", "foreign"
	f := found(live())
	f.Order = 2
	p := NewPlan(&Input{Nodes: []*Node{n}, Found: [][]Found{{f, absent, foreign}}, Finalizer: true})
	entry := inventory.Entry{
		Ref: f.Ref, ID: "settings", APIVersion: "v1", UID: "object-uid", Order: 2,
		Lifecycle: lynq.Lifecycle{Creation: lynq.CreateWhenNeeded, Deletion: lynq.DeleteDelete, Conflict: lynq.ConflictStuck, Patch: lynq.PatchApply},
	}
	want := &inventory.Inventory{
		Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: "shop", Name: "acme-web"}, Activate: "true",
		TemplateGeneration: 3, RolloutStart: time.Unix(5, 0).UTC(), Status: n.Status, Finalizer: true, Entries: []inventory.Entry{entry},
	}
	if diff := cmp.Diff(want, p.Nodes[0].Inventory); diff != "" || !p.Nodes[0].Save {
		t.Errorf("to be saved: %v (-want +got)\n%s", p.Nodes[0].Save, diff)
	}
	if counts := p.Counts(); counts[plan.ActionTrack] != 1 || counts[plan.ActionSkip] != 2 || counts[plan.ActionBlock]+counts[plan.ActionKeep] != 0 {
		t.Errorf("%v", counts)
	}

	confirmed := entry
	confirmed.Digest = "0123"
	before := want.Clone()
	before.Entries, before.UID = []inventory.Entry{confirmed}, "record"
	p = NewPlan(&Input{Nodes: []*Node{n}, Found: [][]Found{{f, absent, foreign}}, Inventories: []*inventory.Inventory{before}})
	if diff := cmp.Diff(before, p.Nodes[0].Inventory); diff != "" || p.Nodes[0].Save {
		t.Errorf("what is recorded: to be saved: %v (-want +got)\n%s", p.Nodes[0].Save, diff)
	}
}

// TestPlans: a LynqNode goes only where nothing keeps it, and hubs of one name in two
// namespaces are two.
func TestPlans(t *testing.T) {
	far := named("far")
	far.Namespace = "far"
	twice := found(live(labelled(wellknown.LabelNode, "b", wellknown.LabelNodeNamespace, "shop")))
	twice.Name = "twice"
	p := NewPlan(&Input{Nodes: []*Node{named("bolt"), named("acme"), far}, Found: [][]Found{{twice}, {found(live()), found(nil)}, nil}})
	var got []string
	for _, planned := range p.Plans() {
		for _, n := range planned.Nodes {
			for _, s := range n.Steps {
				got = append(got, strings.Join([]string{planned.Hub.Name, n.Hub.Namespace, n.Name, string(s.Action), string(s.Reason), s.Entry.Full()}, " "))
			}
		}
	}
	want := []string{
		"crm far far-web release Handover LynqNode.operator.lynq.sh/far/far-web",
		"crm shop acme-web track Handover ConfigMap/shop/acme",
		"crm shop acme-web skip Absent ConfigMap/shop/acme",
		"crm shop acme-web release Handover LynqNode.operator.lynq.sh/shop/acme-web",
		"crm shop bolt-web block Foreign ConfigMap/shop/twice",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	result := report.Planned(p.Plans())
	ForgetLynqNodes(result)
	for _, n := range result.Nodes {
		for _, s := range n.Steps {
			if s.Action == plan.ActionRelease {
				t.Errorf("without LynqNodes: %s", s.Ref())
			}
		}
	}
}

func TestSome(t *testing.T) {
	for want, names := range map[string][]string{
		"1 LynqNode: a":                      {"a"},
		"2 LynqNodes: a, b":                  {"a", "b"},
		"6 LynqNodes, such as a, b, c, d, e": {"a", "b", "c", "d", "e", "f"},
	} {
		t.Run(want, func(t *testing.T) {
			if got := some(names, "LynqNode"); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestRunning(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	lease := func(name, holder, renewed string) *unstructured.Unstructured {
		return parsed(t, `{metadata: {namespace: lynq-system, name: `+name+`}, spec: {holderIdentity: "`+holder+`", leaseDurationSeconds: 15, renewTime: "`+renewed+`"}}`)
	}
	deployment := func(replicas, labels, image string) *unstructured.Unstructured {
		return parsed(t, `{metadata: {namespace: lynq-system, name: manager}, spec: {`+replicas+`template: {metadata: {labels: {`+labels+`}}, spec: {containers: [{image: "`+image+`"}]}}}}`)
	}
	pod := func(phase, labels, image string) *unstructured.Unstructured {
		return parsed(t, `{metadata: {namespace: lynq-system, name: pod, labels: {`+labels+`}}, spec: {containers: [{image: "`+image+`"}]}, status: {phase: `+phase+`}}`)
	}
	list := func(o ...*unstructured.Unstructured) []*unstructured.Unstructured { return o }
	for name, tt := range map[string]struct {
		running Running
		want    string // "" for no refusal
	}{
		"nothing":            {Running{}, ""},
		"a Lease":            {Running{Leases: list(lease("f2130106.lynq.sh", "m", "2026-03-04T05:06:00.000000Z"))}, "m renewed its Lease lynq-system/f2130106.lynq.sh 7s ago | when it has stopped, that ends in 8s by itself"},
		"a Lease that ended": {Running{Leases: list(lease("f2130106.lynq.sh", "m", "2026-03-04T05:05:52.000000Z"))}, ""},
		"a clock ahead":      {Running{Leases: list(lease("f2130106.lynq.sh", "m", "2026-03-04T06:06:07.000000Z"))}, "-1h0m0s ago"},
		"nobody's Lease":     {Running{Leases: list(lease("f2130106.lynq.sh", "", "2026-03-04T05:06:00.000000Z"))}, ""},
		"another Lease":      {Running{Leases: list(lease("other", "m", "2026-03-04T05:06:00.000000Z"))}, ""},
		"a Deployment":       {Running{Deployments: list(deployment("replicas: 2, ", "app.kubernetes.io/name: lynq", "controller:latest"))}, "Deployment lynq-system/manager is to have 2 replicas | stop it: kubectl scale -n lynq-system deployment/manager --replicas=0"},
		"by its image":       {Running{Deployments: list(deployment("replicas: 1, ", "", "ghcr.io/k8s-lynq/lynq:v1@sha256:0"))}, "is to have 1 replica |"},
		"scaled to zero":     {Running{Deployments: list(deployment("replicas: 0, ", "app.kubernetes.io/name: lynq", "x"))}, ""},
		"no replicas said":   {Running{Deployments: list(deployment("", "app.kubernetes.io/name: lynq", "x"))}, "is to have 1 replica |"},
		"its dashboard":      {Running{Deployments: list(deployment("replicas: 1, ", "app.kubernetes.io/name: lynq, app.kubernetes.io/component: dashboard", "x"))}, ""},
		"somebody else's":    {Running{Deployments: list(deployment("replicas: 1, ", "app.kubernetes.io/name: other", "example.com/lynq-proxy:1"))}, ""},
		"a pod":              {Running{Pods: list(pod("Running", "", "registry:5000/lynq"))}, "pod lynq-system/pod is there | scale what made it to 0"},
		"a pod that ended":   {Running{Pods: list(pod("Succeeded", "", "registry:5000/lynq"))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt.running.Now = now
			got := refusalTexts(tt.running.Refusals())
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("%s: %q, want %q", name, got, tt.want)
			}
		})
	}
}

func TestManifest(t *testing.T) {
	o := parsed(t, `
apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata:
  name: crm
  namespace: shop
  uid: u
  resourceVersion: "1"
  finalizers: [a]
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
  labels: {team: blue}
spec: {source: {type: mysql}}
status: {ready: 1}
`)
	want := parsed(t, `{apiVersion: operator.lynq.sh/v1, kind: LynqHub, metadata: {name: crm, namespace: shop, labels: {team: blue}}, spec: {source: {type: mysql}}}`)
	if diff := cmp.Diff(want.Object, Manifest(o)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestManifestHost wants the deprecated mapping of a hub under the extra ones.
func TestManifestHost(t *testing.T) {
	const hub = `{apiVersion: operator.lynq.sh/v1, kind: LynqHub, metadata: {name: crm, namespace: shop}, spec: `
	for before, after := range map[string]string{
		"{valueMappings: {uid: id, hostOrUrl: url}}":                                     "{valueMappings: {uid: id}, extraValueMappings: {hostOrUrl: url}}",
		"{valueMappings: {uid: id, hostOrUrl: url}, extraValueMappings: {plan: plan}}":   "{valueMappings: {uid: id}, extraValueMappings: {hostOrUrl: url, plan: plan}}",
		`{valueMappings: {uid: id, hostOrUrl: ""}}`:                                      `{valueMappings: {uid: id, hostOrUrl: ""}}`,
		"{valueMappings: {uid: id}, extraValueMappings: {hostOrUrl: url}}":               "{valueMappings: {uid: id}, extraValueMappings: {hostOrUrl: url}}",
		"{valueMappings: {uid: id, hostOrUrl: url}, extraValueMappings: [no, map here]}": "{valueMappings: {uid: id, hostOrUrl: url}, extraValueMappings: [no, map here]}",
	} {
		t.Run(before, func(t *testing.T) {
			o := parsed(t, hub+before+"}")
			if diff := cmp.Diff(parsed(t, hub+after+"}").Object, Manifest(o)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", before, diff)
			}
			if diff := cmp.Diff(parsed(t, hub+before+"}").Object, o.Object); diff != "" {
				t.Errorf("%s changed:\n%s", before, diff)
			}
		})
	}
}
