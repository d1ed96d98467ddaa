package rbac_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// input is a hub with one form that has these resources, whose nodes are in namespace
// nodes; the hub is in namespace hub.
func input(t *testing.T, resources string, purposes ...rbac.Purpose) *rbac.Input {
	t.Helper()
	file := filepath.Join(t.TempDir(), "in.yaml")
	text := `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: crm, namespace: hub}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
` + resources
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs, err := form.Load([]string{file}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	hub := rbac.Hub{HubKey: lynq.HubKey{Namespace: "hub", Name: "crm"}, Forms: []rbac.Form{{Form: inputs.Forms[0], Namespace: "nodes"}}}
	return &rbac.Input{Hubs: []rbac.Hub{hub}, For: purposes, Kinds: rbac.KnownKinds(inputs)}
}

// about are the rules that are not about lynqctl's own records, its plan files and the
// operator, a line each.
func about(in *rbac.Input) []string {
	own := []string{"leases", "configmaps", "lynqnodes"}
	var lines []string
	for _, r := range rbac.Of(in).Rules {
		if !slices.Contains(own, r.Resource) && (r.Resource != "namespaces" || len(r.Names) == 0) {
			lines = append(lines, r.String())
		}
	}
	return lines
}

// What tombstones name is looked at and deleted, and the hooks of nodes are kept
// in Secrets.
func TestTombstonesAndHooks(t *testing.T) {
	t.Parallel()
	const hook = `  jobs:
    - {id: backup, nameTemplate: '{{ .uid }}', runOn: Delete, spec: {apiVersion: batch/v1, kind: Job, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}}
`
	const stones = `  tombstones:
    - {apiVersion: v1, kind: Secret, nameTemplate: old, targetNamespace: far, matchLabels: {a: b}}
    - {apiVersion: apps/v1, kind: Deployment, nameTemplate: old, matchLabels: {a: b}}
    - {apiVersion: example.com/v1, kind: Widget, nameTemplate: old, matchLabels: {a: b}}
  configMaps: [{id: a, nameTemplate: '{{ .uid }}', spec: {apiVersion: v1, kind: ConfigMap}}]
`
	for _, c := range []struct {
		resources string
		purpose   rbac.Purpose
		want      []string
	}{
		{hook, rbac.Apply, []string{"get,create,update,delete secrets nodes", "get,list,watch,create,patch,delete jobs.batch nodes"}},
		{hook, rbac.Delete, []string{"get serviceaccounts nodes", "get,update,delete secrets nodes", "get,list,watch,create,patch,delete jobs.batch nodes"}},
		{hook, rbac.Status, []string{"get,list jobs.batch nodes"}},
		{stones, rbac.Apply, []string{"get,delete secrets far", "get,delete deployments.apps nodes", "get,delete namespaces"}},
		{stones, rbac.Delete, nil},
	} {
		t.Run(c.resources, func(t *testing.T) {
			t.Parallel()

			in := input(t, c.resources, c.purpose)
			if c.resources == stones {
				in.Tombstones = []lynq.Tombstone{{Ref: lynq.Ref{Kind: "Namespace", Name: "old"}, APIVersion: "v1"}}
			}
			got, want := about(in), c.want
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: (-want +got):\n%s", c.purpose, diff)
			}
		})
	}
	notes := rbac.Of(input(t, stones, rbac.Apply)).Notes
	if !slices.ContainsFunc(notes, func(n string) bool {
		return strings.Contains(n, "kind Widget has no CustomResourceDefinition in the inputs")
	}) {
		t.Errorf("notes: %q", notes)
	}
}

// Who runs shards takes their Leases, others wait for them, and who takes no Lease needs none.
func TestShards(t *testing.T) {
	t.Parallel()
	for purpose, want := range map[rbac.Purpose][]string{
		rbac.Apply: {"get", "update"}, rbac.Watch: {"get"}, rbac.Delete: {"get"}, rbac.Orphans: {"get"}, rbac.Diff: nil, rbac.Status: nil,
	} {
		t.Run(string(purpose), func(t *testing.T) {
			t.Parallel()

			in := input(t, "  configMaps: [{id: a, nameTemplate: '{{ .uid }}', spec: {apiVersion: v1, kind: ConfigMap}}]\n", purpose)
			in.Shards = 2
			var got []string
			for _, r := range rbac.Of(in).Rules {
				if slices.Equal(r.Names, []string{"lynqshard-0-of-2-crm", "lynqshard-1-of-2-crm"}) && r.Namespace == "hub" {
					got = append(got, r.Verbs...)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", purpose, diff)
			}
		})
	}
}

// Each policy adds its verbs, and no others.
func TestPolicies(t *testing.T) {
	t.Parallel()
	const secret = "  secrets:\n    - {id: key, nameTemplate: '{{ .uid }}', POLICY spec: {apiVersion: v1, kind: Secret}}\n"
	for _, c := range []struct {
		policy  string
		purpose rbac.Purpose
		want    []string
	}{
		{"", rbac.Apply, []string{"get,list,create,patch,delete secrets nodes"}},
		{"", rbac.Delete, []string{"get,list,delete secrets nodes"}},
		{"", rbac.Orphans, []string{"get,list secrets nodes"}},
		{"", rbac.Diff, []string{"get,list,create,patch,delete secrets nodes"}},
		{"", rbac.Status, []string{"get,list secrets nodes"}},
		{"patchStrategy: replace,", rbac.Apply, []string{"get,list,create,patch,update,delete secrets nodes"}},
		{"patchStrategy: replace,", rbac.Delete, []string{"get,list,delete secrets nodes"}},
		{"deletionPolicy: Retain,", rbac.Apply, []string{"get,list,create,patch secrets nodes"}},
		{"purgeOrder: 1,", rbac.Apply, []string{"get,list,create,patch,delete secrets nodes"}},
		{"patchStrategy: recreate,", rbac.Apply, []string{"get,list,create,patch,delete secrets nodes"}},
		{"deletionPolicy: Retain,", rbac.Delete, []string{"get,list,patch secrets nodes"}},
		{"deletionPolicy: Retain,", rbac.Orphans, []string{"list secrets", "get,patch,delete secrets nodes"}},
		{"deletionPolicy: RetainOnApply,", rbac.Apply, []string{"get,list,create,patch,delete secrets nodes"}},
		{"deletionPolicy: RetainOnApply,", rbac.Delete, []string{"get,list,delete secrets nodes"}},
		{"deletionPolicy: RetainOnApply,", rbac.Orphans, []string{"list secrets", "get,patch,delete secrets nodes"}},
		{"deletionPolicy: RetainOnDelete,", rbac.Apply, []string{"get,list,create,patch,delete secrets nodes"}},
		{"deletionPolicy: RetainOnDelete,", rbac.Delete, []string{"get,list,patch secrets nodes"}},
		{"targetNamespace: other,", rbac.Status, []string{"get,list secrets other"}},
		{"targetNamespace: ' {{ .namespace }}',", rbac.Status, []string{"get,list secrets nodes"}},
		{"targetNamespace: '{{ .uid }}',", rbac.Status, []string{"get,list secrets"}},
	} {
		t.Run(c.policy, func(t *testing.T) {
			t.Parallel()

			in := input(t, strings.Replace(secret, "POLICY", c.policy, 1), c.purpose)
			if diff := cmp.Diff(c.want, about(in)); diff != "" {
				t.Errorf("%s for %s (-want +got):\n%s", c.policy, c.purpose, diff)
			}
		})
	}
}

// Each kind adds what waiting for it, and deleting it, needs.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		resource string
		purpose  rbac.Purpose
		want     []string
	}{
		{"apiVersion: apps/v1, kind: Deployment", rbac.Apply, []string{"get,list,watch,create,patch,delete deployments.apps nodes"}},
		{"apiVersion: apps/v1, kind: Deployment", rbac.Delete, []string{"get,list,delete deployments.apps nodes"}},
		{"apiVersion: v1, kind: Service", rbac.Apply, []string{"get,list,create,patch,delete services nodes"}},
		{"apiVersion: v1, kind: Service, spec: {type: LoadBalancer}", rbac.Apply, []string{"get,list,watch,create,patch,delete services nodes"}},
		{"apiVersion: v1, kind: Pod", rbac.Delete, []string{"get,list,watch,delete pods nodes"}},
		{
			"apiVersion: v1, kind: PersistentVolumeClaim", rbac.Apply,
			[]string{"list,watch storageclasses.storage.k8s.io", "get,list,watch,create,patch,delete persistentvolumeclaims nodes"},
		},
		{"apiVersion: scheduling.k8s.io/v1, kind: PriorityClass", rbac.Delete, []string{"get,list,delete priorityclasses.scheduling.k8s.io"}},
		{"apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: example.com, names: {kind: Cup, plural: cups}}", rbac.Delete, []string{
			"get,list,watch,delete customresourcedefinitions.apiextensions.k8s.io", "list cups.example.com",
		}},
	} {
		t.Run(c.resource, func(t *testing.T) {
			t.Parallel()

			in := input(t, "  manifests:\n    - {id: it, nameTemplate: '{{ .uid }}', spec: {"+c.resource+"}}\n", c.purpose)
			if diff := cmp.Diff(c.want, about(in)); diff != "" {
				t.Errorf("%s for %s (-want +got):\n%s", c.resource, c.purpose, diff)
			}
		})
	}
}

// Who watches has the rights of an apply, and watches what an apply lists where it lists
// it: in one namespace where all objects of a kind are there, else everywhere.
func TestWatch(t *testing.T) {
	t.Parallel()
	const secret = "    - {id: ID, nameTemplate: '{{ .uid }}', targetNamespace: 'WHERE', deletionPolicy: Retain, spec: {apiVersion: v1, kind: Secret}}\n"
	in := func(namespaces ...string) []string {
		resources := "  secrets:\n"
		for i, ns := range namespaces {
			resources += strings.NewReplacer("ID", "s"+string(rune('a'+i)), "WHERE", ns).Replace(secret)
		}
		return about(input(t, resources, rbac.Watch))
	}
	const events = "create,patch events hub"
	for _, c := range []struct{ got, want []string }{
		{in("nodes"), []string{events, "create,patch events nodes", "get,list,watch,create,patch secrets nodes"}},
		{in("{{ .namespace }}", "nodes"), []string{events, "create,patch events nodes", "get,list,watch,create,patch secrets nodes"}},
		{in("a", "b"), []string{"list,watch secrets", "get,create,patch secrets a", "get,create,patch secrets b", events, "create,patch events nodes"}},
		{in("{{ .uid }}"), []string{"get,list,watch,create,patch secrets", events, "create,patch events nodes"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// What apply needs, watch needs too, and of what lynqctl keeps of a hub it watches the
// inventories alone.
func TestWatchIsApply(t *testing.T) {
	t.Parallel()
	const resources = `  tombstones:
    - {apiVersion: v1, kind: Service, nameTemplate: old, targetNamespace: far, matchLabels: {a: b}}
  namespaces: [{id: room, nameTemplate: '{{ .uid }}', spec: {apiVersion: v1, kind: Namespace}}]
  jobs:
    - {id: backup, nameTemplate: '{{ .uid }}', runOn: Delete, spec: {apiVersion: batch/v1, kind: Job, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}}
  persistentVolumeClaims:
    - {id: disk, nameTemplate: '{{ .uid }}', patchStrategy: replace, spec: {apiVersion: v1, kind: PersistentVolumeClaim}}
`
	given := func(p rbac.Purpose) map[string]bool {
		in := input(t, resources, p)
		in.Hubs[0].Secret = lynq.Ref{Kind: "Secret", Namespace: "hub", Name: "db"}
		verbs := map[string]bool{}
		for _, r := range rbac.Of(in).Rules {
			for _, verb := range r.Verbs {
				verbs[strings.Join([]string{verb, r.FullResource(), r.Namespace, strings.Join(r.Names, ",")}, " ")] = true
			}
		}
		return verbs
	}
	apply, watch := given(rbac.Apply), given(rbac.Watch)
	var more []string
	for right := range watch {
		if !apply[right] {
			more = append(more, right)
		}
	}
	for right := range apply {
		if strings.HasSuffix(right, " lynqplans-crm") || strings.HasPrefix(right, "get namespaces hub") {
			continue // watch has no plan files
		}
		namespaced := strings.Fields(right) // the whole cluster has the namespace, too
		if len(namespaced) > 2 {
			namespaced = namespaced[:2]
		}
		if !watch[right] && !watch[strings.Join(namespaced, " ")+"  "] {
			t.Errorf("watch may not %s", right)
		}
	}
	slices.Sort(more)
	want := []string{"create events hub ", "create events nodes ", "patch events hub ", "patch events nodes ", "watch configmaps  "}
	if diff := cmp.Diff(want, more); diff != "" {
		t.Errorf("what watch may beside apply (-want +got):\n%s", diff)
	}
}

// What a rule excludes whatever the rows say is looked at and no more, and needs no kind
// that is known.
func TestExcluded(t *testing.T) {
	t.Parallel()
	const resources = `  secrets:
    - {id: a, nameTemplate: 'NAME', targetNamespace: far, spec: {apiVersion: v1, kind: Secret}}
  namespaces: [{id: room, nameTemplate: room, spec: {apiVersion: v1, kind: Namespace}}]
  manifests:
    - {id: cup, nameTemplate: '{{ .uid }}', spec: {apiVersion: example.com/v1, kind: Cup}}
`
	room, cup := lynq.Exclusion{Kind: "Namespace", Name: "r*"}, lynq.Exclusion{Kind: "Cup", Name: "**"}
	const reads, writes = "get,list secrets far", "get,list,create,patch,delete secrets far"
	for _, c := range []struct {
		name string
		rule lynq.Exclusion
		want string
	}{
		{"{{ .uid }}", lynq.Exclusion{Kind: "Secret", Name: "*"}, reads},
		{"{{ .uid }}", lynq.Exclusion{Kind: "Secret", Name: "*", Namespace: "f*"}, reads},
		{"{{ .uid }}", lynq.Exclusion{Kind: "Secret", Name: "*", Namespace: "near"}, writes},
		{"{{ .uid }}", lynq.Exclusion{Kind: "Secret", Name: "*-key"}, writes},
		{"{{ .uid }}", lynq.Exclusion{Kind: "ConfigMap", Name: "*"}, writes},
		{" main-key", lynq.Exclusion{Kind: "Secret", Name: "*-key"}, reads},
		{"main", lynq.Exclusion{Kind: "Secret", Name: "*-key"}, writes},
	} {
		for _, purpose := range []rbac.Purpose{rbac.Apply, rbac.Watch} {
			in := input(t, strings.Replace(resources, "NAME", c.name, 1), purpose)
			in.Hubs[0].Forms[0].Exclude = lynq.Exclusions{room, cup, c.rule}
			if unknown := in.Kinds.Unknown(in.Hubs); len(unknown) > 0 || in.NeedsAll() {
				t.Errorf("unknown are %d kinds, and all count: %t", len(unknown), in.NeedsAll())
			}
			want := []string{"get,list namespaces", c.want}
			if purpose == rbac.Watch {
				want = []string{"get,list namespaces", c.want, "create,patch events hub", "create,patch events nodes"}
				if c.want == writes {
					want[1] = "get,list,watch,create,patch,delete secrets far"
				}
			}
			got := about(in)
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q, %s, for %s (-want +got):\n%s", c.name, c.rule.String(), purpose, diff)
			}
		}
	}
	in := input(t, resources, rbac.Apply)
	if unknown := in.Kinds.Unknown(in.Hubs); len(unknown) != 1 || !in.NeedsAll() {
		t.Errorf("without rules, %d kinds are unknown", len(unknown))
	}
	in = input(t, "  secrets: [{id: a, nameTemplate: a, deletionPolicy: Retain, spec: {apiVersion: v1, kind: Secret}}]\n", rbac.Orphans)
	in.Hubs[0].Forms[0].Exclude = lynq.Exclusions{{Kind: "Secret", Name: "*"}}
	if diff := cmp.Diff([]string{"list secrets", "get,patch,delete secrets nodes"}, about(in)); diff != "" {
		t.Errorf("orphans, which are found without inputs (-want +got):\n%s", diff)
	}
}

// What holds data is deleted as an orphan only where that is meant.
func TestData(t *testing.T) {
	t.Parallel()
	in := input(t, "  persistentVolumeClaims:\n    - {id: disk, nameTemplate: '{{ .uid }}', deletionPolicy: Retain, spec: {apiVersion: v1, kind: PersistentVolumeClaim}}\n", rbac.Orphans)
	if diff := cmp.Diff([]string{"list persistentvolumeclaims", "get,patch persistentvolumeclaims nodes"}, about(in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in.Data = true
	if diff := cmp.Diff([]string{"list persistentvolumeclaims", "get,watch,patch,delete persistentvolumeclaims nodes"}, about(in)); diff != "" {
		t.Errorf("with data (-want +got):\n%s", diff)
	}
}

// A kind is watched where its objects are or, where these are many namespaces, in the
// whole cluster, as an apply does it.
func TestManyNamespaces(t *testing.T) {
	t.Parallel()
	var resources strings.Builder
	resources.WriteString("  deployments:\n")
	for _, ns := range []string{"a", "b", "c", "d", "e"} {
		resources.WriteString("    - {id: " + ns + ", nameTemplate: '{{ .uid }}', targetNamespace: " + ns + ", spec: {apiVersion: apps/v1, kind: Deployment}}\n")
		got := about(input(t, resources.String(), rbac.Apply))
		if whole := slices.Contains(got, "list,watch deployments.apps"); whole != (ns == "e") {
			t.Errorf("up to namespace %s: %q", ns, got)
		}
	}
}

// What lynqctl keeps of a hub is there by name, where names can be said.
func TestRecords(t *testing.T) {
	t.Parallel()
	in := input(t, "", rbac.Apply, rbac.Delete)
	in.Hubs[0].Secret = lynq.Ref{Kind: "Secret", Namespace: "hub", Name: "db"}
	in.Hubs[0].Certificate = lynq.Ref{Kind: "Secret", Namespace: "hub", Name: "client"}
	var got []string
	for _, r := range rbac.Of(in).Rules {
		got = append(got, strings.TrimSpace(r.String()+" "+strings.Join(r.Names, " ")))
	}
	want := []string{
		"list configmaps",
		"list lynqnodes.operator.lynq.sh",
		"create configmaps hub",
		"get,update,delete configmaps hub lynqhistory-crm",
		"get,patch,update,delete configmaps hub lynqhub-crm",
		"get,update configmaps hub lynqplans-crm",
		"get namespaces hub hub",
		"get secrets hub client",
		"get secrets hub db",
		"create leases.coordination.k8s.io hub",
		"get,update,delete leases.coordination.k8s.io hub lynqctl-crm",
		"get,create,patch,update,delete configmaps nodes",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReadsOfOthers checks the rules for what lynqctl reads beside its records and the
// objects of forms, by purpose.
func TestReadsOfOthers(t *testing.T) {
	t.Parallel()
	const badge = "  manifests:\n    - {id: badge, nameTemplate: '{{ .uid }}', POLICY spec: {apiVersion: example.com/v1, kind: Badge}}\n"
	const plans, uid, operator = "get configmaps hub lynqplans-crm", "get namespaces hub hub", "list lynqnodes.operator.lynq.sh"
	const views, defined = "get,list namespaces", "get,list customresourcedefinitions.apiextensions.k8s.io"
	for _, c := range []struct {
		purpose rbac.Purpose
		policy  string
		want    []string
	}{
		{rbac.Apply, "", []string{views, operator, "get,update configmaps hub lynqplans-crm", defined}},
		{rbac.Watch, "", []string{views, operator, defined}},
		{rbac.Diff, "", []string{views, operator, plans, defined}},
		{rbac.Delete, "", []string{views, operator, defined}},
		{rbac.Status, "", nil},
		{rbac.Apply, "deletionPolicy: Retain,", []string{operator, "get,update configmaps hub lynqplans-crm", uid, defined}},
		{rbac.Orphans, "deletionPolicy: Retain,", []string{views, operator}},
		{rbac.Orphans, "targetNamespace: far, deletionPolicy: Retain,", []string{"get namespaces far far", operator}},
		{rbac.Orphans, "targetNamespace: '{{ .uid }}', deletionPolicy: Retain,", []string{"get namespaces", operator}},
	} {
		t.Run(string(c.purpose), func(t *testing.T) {
			t.Parallel()

			in := input(t, strings.Replace(badge, "POLICY", c.policy, 1), c.purpose)
			in.Optional = true
			in.Kinds.Add(lynq.APIResource{Group: "example.com", Version: "v1", Kind: "Badge", Plural: "badges", Namespaced: strings.Contains(c.policy, "targetNamespace")})
			var got []string
			for _, r := range rbac.Of(in).Rules {
				if r.Resource == "namespaces" || r.Resource == "lynqnodes" || r.Resource == "customresourcedefinitions" || slices.Contains(r.Names, "lynqplans-crm") {
					got = append(got, strings.TrimSpace(r.String()+" "+strings.Join(r.Names, " ")))
				}
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", c.purpose, c.policy, diff)
			}
		})
	}
}

// Nothing is given for everything, whatever is asked for, and what is optional says so.
func TestNoWildcards(t *testing.T) {
	t.Parallel()
	in := input(t, "  namespaces:\n    - {id: room, nameTemplate: '{{ .uid }}', spec: {apiVersion: v1, kind: Namespace}}\n"+
		"  deployments:\n    - {id: app, nameTemplate: '{{ .uid }}', spec: {apiVersion: apps/v1, kind: Deployment}}\n", rbac.Purposes()...)
	in.Optional = true
	optional := 0
	for _, r := range rbac.Of(in).Rules {
		if slices.Contains(append(r.Verbs, r.Group, r.Resource), "*") {
			t.Errorf("%s", r.String())
		}
		if r.Optional {
			optional++
		}
	}
	if optional == 0 {
		t.Error("nothing is optional")
	}
}

// Who gives rights to others is told what the server demands, and does not get it.
func TestEscalation(t *testing.T) {
	t.Parallel()
	in := input(t, "  manifests:\n    - {id: r, nameTemplate: '{{ .uid }}', spec: {apiVersion: rbac.authorization.k8s.io/v1, kind: Role}}\n"+
		"    - {id: b, nameTemplate: '{{ .uid }}', spec: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding}}\n", rbac.Apply)
	rights := rbac.Of(in)
	if notes := strings.Join(rights.Notes, "\n"); !strings.Contains(notes, "or the verb escalate") || !strings.Contains(notes, "or the verb bind") {
		t.Errorf("notes are %q", notes)
	}
	for _, r := range rights.Rules {
		if slices.Contains(r.Verbs, "escalate") || slices.Contains(r.Verbs, "bind") {
			t.Errorf("%s", r.String())
		}
	}
}
