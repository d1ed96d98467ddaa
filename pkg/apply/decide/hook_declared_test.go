package decide

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// declaredScene is hookScene with a hook in a namespace, whose form declares it there.
func declaredScene(namespace string, said lynq.Text) *Input {
	in := hookScene("", "", nil)
	in.Inventories[0].Hooks[0].Namespace = namespace
	in.Hooks = []FormHooks{{Form: lynq.FormKey{Name: "web"}, Hooks: []lynq.Hook{{ID: "backup", Group: "batch", Kind: "Job", Namespace: said}}}}
	return in
}

// owning has the node of a scene own an object.
func owning(in *Input, ref lynq.Ref, recorded string, change func(*tracking.Live)) *Input {
	inv := in.Inventories[0]
	inv.Entries = append(inv.Entries, inventory.Entry{Ref: ref, ID: "far", APIVersion: "v1", UID: recorded})
	l := &tracking.Live{Ref: ref, UID: "u2", Hub: "crm", Node: "acme-web", NodeNamespace: "ns", PartOf: inventory.ID("ns", inventory.Name("acme-web")), ResourceID: "far"}
	change(l)
	in.Live[ref] = l
	return in
}

// A record alone runs only a Job or a Pod in the node's own namespace, and where the form
// is known, it runs only what the form declares. Without its hook, nothing of a node goes.
func TestUndeclaredHook(t *testing.T) {
	entry := func(in *Input, change func(*inventory.Entry)) *Input {
		change(&in.Inventories[0].Hooks[0])
		return in
	}
	recordOnly := func(in *Input) *Input { in.Hooks = nil; return in }
	form := func(in *Input, change func(*lynq.Hook)) *Input {
		change(&in.Hooks[0].Hooks[0])
		return in
	}
	ops, tenant := lynq.Text{{Fixed: "ops"}}, lynq.Text{{Fixed: "t-"}, {UID: true}}
	jobs := lynq.Text{{Any: true}, {Fixed: "-jobs"}}
	home, inHome := lynq.Ref{Kind: "Namespace", Name: "t-acme"}, lynq.Ref{Kind: "Secret", Namespace: "t-acme", Name: "x"}
	same := func(*tracking.Live) {}
	for name, tt := range map[string]struct {
		in  *Input
		why string // "" where it runs
	}{
		"declared, in the node's namespace": {declaredScene("ns", nil), ""},
		"recorded, in the node's namespace": {recordOnly(declaredScene("ns", nil)), ""},
		"recorded, elsewhere":               {recordOnly(declaredScene("ops", nil)), "pass -f"},
		"another form's":                    {func() *Input { in := declaredScene("ops", ops); in.Hooks[0].Form.Name = "db"; return in }(), "pass -f"},
		"no hook in the form":               {func() *Input { in := declaredScene("ns", nil); in.Hooks[0].Hooks = nil; return in }(), `has no Job "backup" with runOn: Delete`},
		"another id":                        {form(declaredScene("ns", nil), func(h *lynq.Hook) { h.ID = "other" }), "restore the resource"},
		"another kind":                      {form(declaredScene("ns", nil), func(h *lynq.Hook) { h.Kind, h.Group = "Pod", "" }), "restore the resource"},
		"another group":                     {form(declaredScene("ns", nil), func(h *lynq.Hook) { h.Group = "example.com" }), "restore the resource"},
		"recorded elsewhere, declared here": {declaredScene("ops", nil), "in the node's namespace, ns"},
		"declared elsewhere":                {declaredScene("ops", ops), ""},
		"recorded here, declared elsewhere": {declaredScene("ns", ops), "another namespace"},
		"recorded in a third":               {declaredScene("kube-system", ops), "another namespace"},
		"of the row, nothing there":         {declaredScene("t-acme", tenant), "owns nothing in namespace t-acme"},
		"of the row, its Namespace there":   {owning(declaredScene("t-acme", tenant), home, "u2", same), ""},
		"of the row, an object there":       {owning(declaredScene("t-acme", tenant), inHome, "u2", same), ""},
		"of the row, another uid there":     {owning(declaredScene("t-acme", tenant), inHome, "u9", same), "owns nothing"},
		"of the row, an intent there":       {owning(declaredScene("t-acme", tenant), inHome, "", same), "owns nothing"},
		"of the row, untracked there":       {owning(declaredScene("t-acme", tenant), inHome, "u2", func(l *tracking.Live) { l.Node, l.PartOf = "", "" }), "owns nothing"},
		"of the row, another tool's there":  {owning(declaredScene("t-acme", tenant), inHome, "u2", func(l *tracking.Live) { l.Foreign = "Helm release x" }), "owns nothing"},
		"of another row, an object there":   {owning(declaredScene("t-bolt", tenant), lynq.Ref{Kind: "Secret", Namespace: "t-bolt", Name: "x"}, "u2", same), "another namespace"},
		"of a column, an object there":      {owning(declaredScene("gold-jobs", jobs), lynq.Ref{Kind: "Secret", Namespace: "gold-jobs", Name: "x"}, "u2", same), ""},
		"of a column, nothing there":        {declaredScene("gold-jobs", jobs), "owns nothing"},
		"of a column, which is here":        {declaredScene("ns", lynq.Text{{Any: true}}), ""},
		"a ClusterRoleBinding": {recordOnly(entry(declaredScene("", nil), func(r *inventory.Entry) {
			r.Group, r.Kind, r.APIVersion = "rbac.authorization.k8s.io", "ClusterRoleBinding", "rbac.authorization.k8s.io/v1"
		})), "only Jobs and Pods"},
		"a ConfigMap in the node's namespace": {recordOnly(entry(declaredScene("ns", nil), func(r *inventory.Entry) { r.Group, r.Kind, r.APIVersion = "", "ConfigMap", "v1" })), "only Jobs and Pods"},
		"a Job of another group":              {recordOnly(entry(declaredScene("ns", nil), func(r *inventory.Entry) { r.Group, r.APIVersion = "example.com", "example.com/v1" })), "only Jobs and Pods"},
		"a Job of another version":            {recordOnly(entry(declaredScene("ns", nil), func(r *inventory.Entry) { r.APIVersion = "batch/v2" })), "only Jobs and Pods"},
		"a Pod":                               {recordOnly(entry(declaredScene("ns", nil), func(r *inventory.Entry) { r.Group, r.Kind, r.APIVersion = "", "Pod", "v1" })), ""},
	} {
		p := Decide(tt.in, Limits{AllowEmpty: true})
		s := &p.Nodes[0].Steps[0]
		again, verdict := Recheck(p, &p.Nodes[0], p.Nodes[0].Inventory, s, nil)
		if verdict != VerdictHolds || again.Message != s.Message {
			t.Errorf("%s: decided again it is %s %q", name, again.Action, again.Message)
		}
		switch {
		case tt.why == "" && s.Action != plan.ActionCreate:
			t.Errorf("%s: %s %s %q", name, s.Action, s.Reason, s.Message)
		case tt.why != "" && (s.Action != plan.ActionBlock || s.Reason != reason.Undeclared || !strings.Contains(s.Message, tt.why) || !strings.Contains(s.Message, "lynqctl finalize")):
			t.Errorf("%s: %s %s %q, want %q", name, s.Action, s.Reason, s.Message, tt.why)
		}
	}
}

// What a hook clears before it runs again is its own object: a record that names another
// Job of the node doesn't make lynqctl delete that one.
func TestHookOfAnotherResource(t *testing.T) {
	job := hookJob("j1")
	job.ResourceID = "migrate"
	if runs, _ := planned(Decide(hookScene("", "", job), Limits{AllowEmpty: true})); runs != "block Foreign" {
		t.Errorf("it is %s", runs)
	}
}

// recordedScene is a plan with a declared hook in namespace ops, its owner and its entry.
func recordedScene() (*plan.Plan, plan.Owner, *inventory.Entry) {
	in := declaredScene("ops", lynq.Text{{Fixed: "ops"}})
	in.Hooks[0].Hooks[0].Manifest = map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{
			"name": lynq.Text{{UID: true}, {Fixed: "-backup"}}, "namespace": lynq.Text{{Fixed: "ops"}},
			"labels": map[string]any{"tier": "gold"}, "annotations": map[string]any{},
		},
		"spec": map[string]any{"backoffLimit": int64(2), "parallelism": lynq.Scalar{}, "args": []any{"dump", lynq.Text{{Fixed: "db-"}, {Any: true}}}},
	}
	p := Decide(in, Limits{AllowEmpty: true})
	return p, plan.NewOwner(p.Nodes[0].Key(), lynq.HubKey{Name: "crm"}, in.Inventories[0]), &in.Inventories[0].Hooks[0]
}

const recordedOps = `{"metadata":{"annotations":{"lynq.sh/deletion-policy":"Delete","lynq.sh/resource-id":"backup","lynq.sh/run-on":"Delete"},` +
	`"labels":{"lynq.sh/hub":"crm","lynq.sh/node":"acme-web","lynq.sh/node-namespace":"ns","tier":"gold"},"name":"acme-backup","namespace":"ops"},` +
	`"apiVersion":"batch/v1","kind":"Job","spec":{"backoffLimit":2,"parallelism":3,"args":["dump","db-acme"]}}`

// TestForgedManifest: an inventory names the digest of any Secret that its forger writes.
// What is recorded is run only as the object of its entry, and in another namespace than
// the node's only as the form declares it.
func TestForgedManifest(t *testing.T) {
	for name, tt := range map[string]struct {
		old, forged string
		err         string // "" where it may run
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
		if !strings.Contains(recordedOps, tt.old) {
			t.Fatalf("%s: nothing to forge", name)
		}
		p, me, r := recordedScene()
		manifest := []byte(`{"id":"backup","apiVersion":"batch/v1","timeoutSeconds":60,"manifest":` + strings.Replace(recordedOps, tt.old, tt.forged, 1) + `}`)
		r.Digest = inventory.HookDigest(manifest)
		_, err := ReadHook(p, me, r, manifest)
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", name, err, tt.err)
		}
	}
}

// TestForgedHookName: the Secret's own words about the hook are those of the entry too.
func TestForgedHookName(t *testing.T) {
	p, me, r := recordedScene()
	for _, head := range []string{`"id":"other","apiVersion":"batch/v1"`, `"id":"backup","apiVersion":"v1"`} {
		manifest := []byte(`{` + head + `,"timeoutSeconds":60,"manifest":` + recordedOps + `}`)
		r.Digest = inventory.HookDigest(manifest)
		if _, err := ReadHook(p, me, r, manifest); err == nil {
			t.Errorf("%s was taken for the hook", head)
		}
	}
}

// TestHookAccount: a record alone runs with a ServiceAccount that has to exist.
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
		o := &plan.Object{Ref: tt.ref, Body: plan.Body(`{"metadata":{"name":"a"},"spec":` + tt.spec + `}`)}
		me := plan.NewOwner(lynq.NodeKey{Namespace: "ns", Name: "acme-web"}, lynq.HubKey{Name: "crm"}, nil)
		if got, err := Account((&plan.Plan{}), me, o); got != tt.want || err != nil {
			t.Errorf("%s %s: %q, %v", tt.ref.Kind, tt.spec, got, err)
		}
		p, me, _ := recordedScene()
		if got, err := Account(p, me, o); got != "" || err != nil {
			t.Errorf("%s %s, with its form: %q, %v", tt.ref.Kind, tt.spec, got, err)
		}
	}
}
