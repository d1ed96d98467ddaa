package apply_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	forms "github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

const hookInputs = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: crm}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
  extraValueMappings: {db: db, size: size}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  jobs:
    - id: backup
      nameTemplate: " {{ .uid | lower | trunc 20 }}-backup "
      targetNamespace: ops
      labelsTemplate: {lynq.sh/uid: "{{ .uid }}", app: backup}
      annotationsTemplate: {example.com/of: "{{ .hubId }}/{{ .uid }}"}
      spec:
        apiVersion: batch/v1
        kind: Job
        metadata: {labels: {tier: gold}, annotations: {lynq.sh/run-on: delete, example.com/db: "{{ .db }}"}}
        spec:
          backoffLimit: 2
          parallelism: "{{ .size | int }}"
          suspend: false
          template:
            metadata: {labels: {example.com/x: mine, db: x}}
            spec:
              restartPolicy: Never
              serviceAccountName: robot
              nodeName: null
              priority: 1.5
              containers:
                - name: backup
                  image: example.com/dump
                  command: []
                  args:
                    - plain
                    - "{{ .uid }}"
                    - "--{{ .db }}--{{ .db | upper }}--"
                    - "{{ if eq .db \"a\" }}A{{ else }}B{{ end }} and {{- range until 2 }} x{{ end }} end"
                    - "{{ .size | int }}"
                    - '{{ "fixed" }}'
`

// hookProgram compiles the hook's form with a changed text.
func hookProgram(t *testing.T, old, changed string) *render.Program {
	t.Helper()
	if !strings.Contains(hookInputs, old) {
		t.Fatalf("%q is not in the form", old)
	}
	file := filepath.Join(t.TempDir(), "form.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(hookInputs, old, changed, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs, err := forms.Load([]string{file}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, problems := render.Compile(inputs.Forms[0], inputs.Hubs[0], render.Options{Namespace: "shop"})
	if len(problems) > 0 {
		t.Fatal(problems.Err())
	}
	return p
}

// readDeclared records a hook from one form and a row, and reads it with the declaration of
// another form or the same.
func readDeclared(t *testing.T, recorded, declaring *render.Program, uid, db, size string) error {
	t.Helper()
	values := map[string]string{"id": uid, "active": "1", "db": db, "size": size}
	var row lynq.Row
	for _, column := range render.Columns(recorded.Hub) {
		row.Values = append(row.Values, values[column])
	}
	rendered, problems := recorded.Node(row)
	if len(problems) > 0 {
		t.Fatal(problems.Err())
	}
	node, err := plan.Make(rendered)
	if err != nil {
		t.Fatal(err)
	}
	hook := &node.Hooks[0]
	manifest, err := hook.HookManifest()
	if err != nil {
		t.Fatal(err)
	}
	r := plan.NewEntry(hook)
	r.Digest = hook.Digest
	inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: uid, Namespace: "shop", Name: node.Name}, UID: "inv", Hooks: []inventory.Entry{r}}
	p := decide.Decide(&decide.Input{
		Hub:      lynq.HubKey{Name: "crm"},
		Desired:  decide.Desired{Active: 1, Forms: []lynq.FormKey{{Name: "web"}}, Hooks: []decide.FormHooks{{Form: lynq.FormKey{Name: "web"}, Hooks: declaring.Hooks()}}},
		Recorded: decide.Recorded{Inventories: []*inventory.Inventory{inv}},
	}, decide.Limits{AllowEmpty: true})
	if s := &p.Nodes[0].Steps[0]; s.Action != plan.ActionCreate {
		t.Fatalf("%s %s", s.Action, s.Message)
	}
	_, err = decide.ReadHook(p, plan.NewOwner(lynq.NodeKey{Namespace: "shop", Name: node.Name}, lynq.HubKey{Name: "crm"}, inv), &r, manifest)
	return err
}

// TestDeclaredHook checks that a recorded hook matches the declaration in its form,
// whatever the row.
func TestDeclaredHook(t *testing.T) {
	p := hookProgram(t, "", "")
	for _, uid := range []string{"acme", "Acme", "acme.com", "a--b", strings.Repeat("long", 20)} {
		t.Run(uid, func(t *testing.T) {
			for _, db := range []string{"", "a", "{{ .uid }}", `"'\u2028<&>`, "--", "a--b\n--c"} {
				for _, size := range []string{"0", "3", "-7"} {
					if err := readDeclared(t, p, p, uid, db, size); err != nil {
						t.Errorf("%q, %q, %s: %v", uid, db, size, err)
					}
				}
			}
		})
	}
}

// TestChangedHook checks that each fixed field in the form, and each text beside an action,
// must match the record.
func TestChangedHook(t *testing.T) {
	recorded := hookProgram(t, "", "")
	for _, tt := range []struct{ old, changed, in string }{
		{"backoffLimit: 2", "backoffLimit: 3", "spec.backoffLimit"},
		{"suspend: false", "suspend: true", "spec.suspend"},
		{"nodeName: null", "nodeName: n1", "spec.template.spec.nodeName"},
		{"priority: 1.5", "priority: 2.5", "spec.template.spec.priority"},
		{"example.com/dump", "example.com/dump:2", "spec.template.spec.containers[0].image"},
		{"serviceAccountName: robot", "serviceAccountName: other", "spec.template.spec.serviceAccountName"},
		{"- plain", "- 'plain '", "spec.template.spec.containers[0].args[0]"},
		{`- "{{ .uid }}"`, `- "{{ .uid }}!"`, "spec.template.spec.containers[0].args[1]"},
		{`"--{{ .db }}--`, `"-{{ .db }}-x-`, "spec.template.spec.containers[0].args[2]"},
		{" end\"", " END\"", "spec.template.spec.containers[0].args[3]"},
		{`{{ "fixed" }}`, `other`, "spec.template.spec.containers[0].args[5]"},
		{"command: []", "command: [sh]", "spec.template.spec.containers[0].command"},
		{"example.com/x: mine", "example.com/x: other", "spec.template.metadata.labels.example.com/x"},
		{"tier: gold", "tier: free", "metadata.labels.tier"},
		{"{{ .hubId }}/{{ .uid }}", "{{ .templateRef }}/{{ .uid }}", "metadata.annotations.example.com/of"},
		{"-backup \"", "-copy \"", "metadata.name"},
	} {
		t.Run(tt.old, func(t *testing.T) {
			err := readDeclared(t, recorded, hookProgram(t, tt.old, tt.changed), "acme", "main", "3")
			if err == nil || !strings.HasSuffix(err.Error(), "they differ in "+tt.in) {
				t.Errorf("%s: %v, want %s", tt.changed, err, tt.in)
			}
		})
	}
}
