package decide

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// recordedScene returns a node with a declared hook in namespace ops, its owner and its
// entry.
func recordedScene() (*declaredHooks, plan.Owner, *inventory.Entry) {
	manifest := map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{
			"name": lynq.Text{{UID: true}, {Fixed: "-backup"}}, "namespace": lynq.Text{{Fixed: "ops"}},
			"labels": map[string]any{"tier": "gold"}, "annotations": map[string]any{},
		},
		"spec": map[string]any{"backoffLimit": int64(2), "parallelism": lynq.Scalar{}, "args": []any{"dump", lynq.Text{{Fixed: "db-"}, {Any: true}}}},
	}
	n := &declaredHooks{UID: "acme", Form: &FormHooks{Form: lynq.FormKey{Name: "web"}, Hooks: []lynq.Hook{
		{ID: "backup", Group: "batch", Kind: "Job", Namespace: lynq.Text{{Fixed: "ops"}}, Manifest: manifest},
	}}}
	inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: "ns", Name: "acme-web"}, UID: "inv", Finalizer: true}
	r := &inventory.Entry{
		Ref: lynq.Ref{Group: "batch", Kind: "Job", Namespace: "ops", Name: "acme-backup"}, ID: "backup", APIVersion: "batch/v1", Digest: "h1", Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete},
	}
	return n, plan.NewOwner(inv.Node.Key(), inv.Node.Hub, inv), r
}

const recordedOps = `{"metadata":{"annotations":{"lynq.sh/deletion-policy":"Delete","lynq.sh/resource-id":"backup","lynq.sh/run-on":"Delete"},` +
	`"labels":{"lynq.sh/hub":"crm","lynq.sh/node":"acme-web","lynq.sh/node-namespace":"ns","tier":"gold"},"name":"acme-backup","namespace":"ops"},` +
	`"apiVersion":"batch/v1","kind":"Job","spec":{"backoffLimit":2,"parallelism":3,"args":["dump","db-acme"]}}`

// TestForgedManifest checks forged hooks, because an inventory can name the digest of any
// forged Secret. lynqctl runs a recorded hook only as the object of its entry. In another
// namespace than the node's, it must also match the form's declaration.
func TestForgedManifest(t *testing.T) {
	for name, tt := range map[string]struct {
		old, forged string
		err         string // "" if it may run
	}{
		"as it was recorded":   {"", "", ""},
		"another column":       {"db-acme", "db-bolt", ""},
		"another number":       {`"parallelism":3`, `"parallelism":4`, ""},
		"another kind":         {`"kind":"Job"`, `"kind":"CronJob"`, "its kind"},
		"another version":      {`"apiVersion":"batch/v1","kind"`, `"apiVersion":"rbac.authorization.k8s.io/v1","kind"`, "its apiVersion"},
		"another name":         {`"name":"acme-backup"`, `"name":"bolt-backup"`, "its metadata.name"},
		"another namespace":    {`"namespace":"ops"`, `"namespace":"kube-system"`, "its metadata.namespace"},
		"a name said twice":    {`"apiVersion":"batch/v1","kind"`, `"metadata":{"name":"other"},"apiVersion":"batch/v1","kind"`, "its metadata.name"},
		"an owner":             {`"name":"acme`, `"ownerReferences":[],"name":"acme`, "metadata.ownerReferences"},
		"another node":         {`"lynq.sh/node":"acme-web"`, `"lynq.sh/node":"bolt-web"`, "its lynq.sh/node"},
		"another hub":          {`"lynq.sh/hub":"crm"`, `"lynq.sh/hub":"shop"`, "its lynq.sh/hub"},
		"a record of lynqctl":  {`"tier":"gold"`, `"lynq.sh/record":"node"`, "lynq.sh/record"},
		"another fixed number": {`"backoffLimit":2`, `"backoffLimit":9`, "spec.backoffLimit"},
		"another argument":     {`"dump"`, `"drop"`, "spec.args[0]"},
		"a column's fixed end": {"db-acme", "x; db-acme", "spec.args[1]"},
		"one argument more":    {`"dump",`, `"dump","--all",`, "spec.args"},
		"text for a number":    {`"parallelism":3`, `"parallelism":"3"`, "spec.parallelism"},
		"a map for a column":   {`"db-acme"`, `{"a":1}`, "spec.args[1]"},
		"one field more":       {`"spec":{`, `"spec":{"serviceAccountName":"root",`, "spec.serviceAccountName"},
		"one field less":       {`"backoffLimit":2,`, ``, "spec.backoffLimit"},
		"another label":        {`"tier":"gold"`, `"tier":"free"`, "metadata.labels.tier"},
		"an annotation":        {`"lynq.sh/run-on"`, `"example.com/x":"y","lynq.sh/run-on"`, "metadata.annotations.example.com/x"},
		"a finalizer":          {`"name":"acme`, `"finalizers":["a/b"],"name":"acme`, "metadata.finalizers"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(recordedOps, tt.old) {
				t.Fatalf("%s: nothing to forge", name)
			}
			n, me, r := recordedScene()
			manifest := []byte(`{"id":"backup","apiVersion":"batch/v1","timeoutSeconds":60,"manifest":` + strings.Replace(recordedOps, tt.old, tt.forged, 1) + `}`)
			r.Digest = inventory.HookDigest(manifest)
			_, err := n.Read(me, r, manifest)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("%s: %v, want %q", name, err, tt.err)
			}
		})
	}
}

// TestForgedHookName checks that the hook's data in the Secret must match the entry too.
func TestForgedHookName(t *testing.T) {
	n, me, r := recordedScene()
	for _, head := range []string{`"id":"other","apiVersion":"batch/v1"`, `"id":"backup","apiVersion":"v1"`} {
		t.Run(head, func(t *testing.T) {
			manifest := []byte(`{` + head + `,"timeoutSeconds":60,"manifest":` + recordedOps + `}`)
			r.Digest = inventory.HookDigest(manifest)
			if _, err := n.Read(me, r, manifest); err == nil {
				t.Errorf("%s was taken for the hook", head)
			}
		})
	}
}

// TestHookAccount checks that a hook which only a record names needs an existing
// ServiceAccount.
func TestHookAccount(t *testing.T) {
	job, pod := lynq.Ref{Group: "batch", Kind: "Job"}, lynq.Ref{Kind: "Pod"}
	for _, tt := range []struct {
		ref        lynq.Ref
		spec, want string
	}{
		{job, `{"template":{"spec":{"serviceAccountName":"robot"}}}`, "robot"},
		{job, `{"template":{"spec":{"serviceAccount":"robot"}}}`, "robot"},
		{job, `{"serviceAccountName":"robot"}`, "default"},
		{pod, `{"serviceAccountName":"robot"}`, "robot"},
		{pod, `{}`, "default"},
	} {
		t.Run(tt.spec, func(t *testing.T) {
			o := &plan.Object{Ref: tt.ref, Body: manifest.Body(`{"metadata":{"name":"a"},"spec":` + tt.spec + `}`)}
			if got, err := (&declaredHooks{}).Account(o); got != tt.want || err != nil {
				t.Errorf("%s %s: %q, %v", tt.ref.Kind, tt.spec, got, err)
			}
			n, _, _ := recordedScene()
			if got, err := n.Account(o); got != "" || err != nil {
				t.Errorf("%s %s, with its form: %q, %v", tt.ref.Kind, tt.spec, got, err)
			}
		})
	}
}
