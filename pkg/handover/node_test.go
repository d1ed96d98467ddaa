package handover

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

const acmeWeb = `
apiVersion: operator.lynq.sh/v1
kind: LynqNode
metadata:
  name: acme-web
  namespace: shop
  uid: node-uid
  resourceVersion: "7"
  finalizers: [lynqnode.operator.lynq.sh/finalizer, example.com/other]
  labels: {lynq.sh/hub: crm, lynq.sh/uid: acme}
  annotations: {lynq.sh/template-generation: "3", lynq.sh/rollout-update-start: "2026-03-04T05:06:07+02:00"}
spec:
  uid: acme
  templateRef: web
  deployments:
    - id: app
      nameTemplate: " acme "
      dependIds: [settings, nobody]
      spec: {apiVersion: apps/v1, kind: Deployment}
      patchStrategy: merge
      conflictPolicy: Force
  configMaps:
    - {id: settings, nameTemplate: acme, deletionPolicy: Retain, creationPolicy: Once, spec: {apiVersion: v1, kind: ConfigMap}}
  manifests:
    - {id: far, targetNamespace: "{{ .uid }}-far", dependIds: [app], spec: {apiVersion: v1, kind: Service, metadata: {name: "{{ .uid }}"}}}
status:
  desiredResources: 3
  readyResources: 2
  failedResources: 1
  skippedResources: 4
  appliedResources: [ConfigMap/shop/acme@settings, Deployment/shop/acme@app, Secret/shop/old@old, Secret/shop/old@old, "Service/{{ .uid }}-far/@far"]
  conditions:
    - {type: Ready, status: "False", reason: NotAllResourcesReady, message: why, lastTransitionTime: "2026-01-02T03:04:05Z"}
    - {type: Degraded, status: "True", reason: Failed, message: why, lastTransitionTime: "2026-01-02T03:04:05Z"}
    - {type: Conflicted, status: "False", reason: NoConflict, message: none, lastTransitionTime: "2026-01-02T03:04:05Z"}
`

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	body, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = utiljson.Unmarshal(body, &o.Object) // whole numbers are int64, as from a server
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func mustNode(t *testing.T, text string) *Node {
	t.Helper()
	n, err := NodeOf(parsed(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNodeOf(t *testing.T) {
	n := mustNode(t, acmeWeb)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := &Node{
		Namespace: "shop", Name: "acme-web", UID: "node-uid", ResourceVersion: "7", Held: true,
		finalizers: []string{wellknown.FinalizerNode, "example.com/other"},
		Hub:        "crm", Form: "web", Row: "acme", TemplateGeneration: 3, RolloutStart: time.Date(2026, 3, 4, 3, 6, 7, 0, time.UTC),
		Status: inventory.Status{Desired: 3, Ready: 2, Failed: 1, Skipped: 4, Conditions: []inventory.Condition{
			{Type: "Degraded", Status: "True", Reason: "Failed", Message: "why", LastTransitionTime: at},
			{Type: "Ready", Status: "False", Reason: "NotAllResourcesReady", Message: "why", LastTransitionTime: at},
		}},
		Resources: []Resource{
			{ID: "app", APIVersion: "apps/v1", Kind: "Deployment", Name: "acme", DependIDs: []string{"settings", "nobody"}, order: 1,
				Lifecycle: lynq.Lifecycle{Creation: lynq.CreateWhenNeeded, Deletion: lynq.DeleteDelete, Conflict: lynq.ConflictForce, Patch: lynq.PatchMerge}},
			{ID: "settings", APIVersion: "v1", Kind: "ConfigMap", Name: "acme",
				Lifecycle: lynq.Lifecycle{Creation: lynq.CreateOnce, Deletion: lynq.DeleteRetain, Conflict: lynq.ConflictStuck, Patch: lynq.PatchApply}},
			{ID: "far", APIVersion: "v1", Kind: "Service", Namespace: "{{ .uid }}-far", Name: "{{ .uid }}", DependIDs: []string{"app"}, order: 2,
				Lifecycle:       lynq.Lifecycle{Creation: lynq.CreateWhenNeeded, Deletion: lynq.DeleteDelete, Conflict: lynq.ConflictStuck, Patch: lynq.PatchApply},
				namespaceIsOpen: true, nameIsOpen: true},
		},
		Applied: []string{"ConfigMap/shop/acme@settings", "Deployment/shop/acme@app", "Secret/shop/old@old", "Secret/shop/old@old", "Service/{{ .uid }}-far/@far"},
	}
	if diff := cmp.Diff(want, n, cmp.AllowUnexported(Node{}, Resource{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Secret/shop/old@old"}, n.droppedKeys()); diff != "" {
		t.Errorf("dropped keys (-want +got)\n%s", diff)
	}
	if got := n.Key(); got != (lynq.NodeKey{Namespace: "shop", Name: "acme-web"}) {
		t.Errorf("it becomes %s", got)
	}
}

// TestNodeOfLongName: a name that no label can hold is made one, as rows and forms
// have it made.
func TestNodeOfLongName(t *testing.T) {
	uid := strings.Repeat("a", 70)
	n := mustNode(t, strings.NewReplacer("name: acme-web", "name: "+uid+"-web", "\n  uid: acme\n", "\n  uid: "+uid+"\n").Replace(acmeWeb))
	if got, want := n.Key().Name, naming.NodeName(uid, "web"); got != want || len(got) > 63 {
		t.Errorf("it becomes %q, want %q", got, want)
	}
}

func TestNodeOfBroken(t *testing.T) {
	for name, tt := range map[string]struct{ from, to, want string }{
		"no hub":      {"lynq.sh/hub: crm, ", "", "label lynq.sh/hub is missing"},
		"strange hub": {"lynq.sh/hub: crm", `lynq.sh/hub: "a b"`, "a label can't hold"},
		"no form":     {"templateRef: web", "templateRef: ''", "is no form"},
		"no row":      {"\n  uid: acme\n", "\n  uid: ''\n", "spec.uid is missing"},
		"no kind":     {"kind: Deployment}", "kind: ''}", "spec.deployments: entry 0 has no id, apiVersion or kind"},
		"no list":     {"  configMaps:\n", "  configMaps: {}\n  secrets:\n", "spec.configMaps"},
		"no resource": {"  manifests:\n", "  secrets: [text]\n  manifests:\n", "spec.secrets: entry 0 is no resource"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(acmeWeb, tt.from, tt.to, 1)
			if text == acmeWeb {
				t.Fatalf("nothing is replaced")
			}
			if _, err := NodeOf(parsed(t, text)); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "LynqNode shop/acme-web: ") {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestParseKey(t *testing.T) {
	ref, id, err := parseKey("Service/{{ .uid }}-far/a@b@id")
	if err != nil || id != "id" || ref != (lynq.Ref{Kind: "Service", Namespace: "{{ .uid }}-far", Name: "a@b"}) {
		t.Errorf("%+v %q %v", ref, id, err)
	}
	for _, key := range []string{"", "Service/a/b", "Service/b@id", "/a/b@id", "Service/a/@id"} {
		t.Run(key, func(t *testing.T) {
			if ref, _, err := parseKey(key); err == nil {
				t.Errorf("%q is read as %v", key, ref)
			}
		})
	}
}
