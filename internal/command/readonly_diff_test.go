package command

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
)

// readOnlyForm has lists, removed fields, and objects that move to another name.
const readOnlyForm = tenantForm + `    - {id: kept, nameTemplate: "{{ .uid }}-kept", deletionPolicy: Retain, spec: {apiVersion: v1, kind: ConfigMap, data: {a: "1", b: "2"}}}
  statefulSets:
    - id: app
      nameTemplate: "{{ .uid }}"
      waitForReady: false
      spec:
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {labels: {tier: gold}}
        spec:
          serviceName: app
          selector: {matchLabels: {app: "{{ .uid }}"}}
          template:
            metadata: {labels: {app: "{{ .uid }}"}}
            spec:
              containers: [{name: app, image: "nginx:1", env: [{name: A, value: "1"}, {name: B, value: "2"}]}, {name: side, image: "side:1"}]
`

// TestDiffReadOnly wants a diff without permissions to write to show the same changes as the
// API server's dry run, to say so once, and to write nothing.
func TestDiffReadOnly(t *testing.T) {
	t.Parallel()
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]*strings.Replacer{
		"nothing":       strings.NewReplacer(),
		"values":        strings.NewReplacer("gold", "free", "nginx:1", "nginx:2"),
		"fields":        strings.NewReplacer(`, b: "2"`, "", "{tier: gold}", "{}", `data: {plan: gold}`, `data: {other: "1"}`),
		"a resource":    strings.NewReplacer("id: kept", "id: other", "{{ .uid }}-kept", "{{ .uid }}-other"),
		"a merge":       strings.NewReplacer("      waitForReady: false", "      waitForReady: false\n      patchStrategy: merge", "nginx:1", "nginx:2"),
		"a replacement": strings.NewReplacer("      waitForReady: false", "      waitForReady: false\n      patchStrategy: replace", "nginx:1", "nginx:2"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTenant(t, managers, "--for", "status")
			p.write(t, "form.yaml", readOnlyForm)
			if code, said := p.run(t, "apply", "-f", p.dir); code != 0 {
				t.Fatal(said)
			}
			if name != "nothing" {
				p.write(t, "rows.csv", "id\na\nc\n")
			}
			p.write(t, "form.yaml", change.Replace(readOnlyForm))
			diff := []string{"diff", "-f", p.dir, "--max-delete=100%", "--namespaces", "shop"}
			wantCode, want := p.run(t, diff...)
			as := p.as()
			as.rules = nil
			for _, group := range []string{"", "apps", "coordination.k8s.io", "operator.lynq.sh"} {
				as.rules = append(as.rules, allowed{"shop", rbacv1.PolicyRule{
					Verbs: []string{"get", "list"}, APIGroups: []string{group}, Resources: []string{"configmaps", "statefulsets", "leases", "lynqnodes"},
				}})
			}
			code, got := p.runAs(t, as, diff...)
			lines := strings.Split(got, "\n")
			i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "warning: you may not write these kinds") })
			if i < 0 && name != "nothing" {
				t.Fatalf("says %q", got)
			}
			if i >= 0 {
				lines = slices.Delete(lines, i, i+1)
			}
			if got = strings.Join(lines, "\n"); code != wantCode || got != want {
				t.Errorf("exit %d, want %d, shows\n%s\nwant\n%s", code, wantCode, got, want)
			}
			if as.writes > 0 {
				t.Errorf("%d writes", as.writes)
			}
		})
	}
}
