package gitops

import (
	"fmt"
	"strings"
	"testing"
)

// ordered is a form with some resources. The existence of one of them shows the effect of a
// policy.
type ordered struct {
	cell
	form      string // ID stands for its name
	resources []string
	tells     string // an id
}

const (
	// never is a Deployment that never becomes ready. plain is ready at once.
	never   = `timeoutSeconds: 1, spec: {apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x, test.lynq.sh/never-ready: "true"}}, spec: {containers: [{name: a, image: a}]}}}}`
	plain   = `spec: {apiVersion: v1, kind: ConfigMap, data: {a: b}}`
	service = `spec: {apiVersion: v1, kind: Service, spec: {selector: {app: none}, ports: [{port: 80}]}}`
	idle    = `spec: {apiVersion: v1, kind: PersistentVolumeClaim, spec: {storageClassName: wait, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`
)

func orders() []ordered {
	of := func(id, row string) cell { return cell{id: id, row: row, policy: row} }
	return []ordered{
		{cell: of("d2", "dependIds"), resources: []string{"d1: " + never, "d2: dependIds: [d1], " + plain}, tells: "d2"},
		{cell: of("w2", "applyOrder"), resources: []string{"w1: " + never, "w2: applyOrder: 1, " + plain}, tells: "w2"},
		{cell: of("h2", "skipOnDependencyFailure: false"), resources: []string{"h1: " + never, "h2: dependIds: [h1], skipOnDependencyFailure: false, " + plain}, tells: "h2"},
		{cell: of("s3", "skipOnDependencyFailure: true"), resources: []string{"s1: " + never, "s2: " + plain, "s3: dependIds: [s2], " + plain}, tells: "s3"},
		{cell: of("u1", "waitForReady: false"), resources: []string{"u1: waitForReady: false, " + never, "u2: dependIds: [u1], " + plain}, tells: "u2"},
		{cell: of("c1", "waitForReady: true"), resources: []string{"c1: " + idle, "c2: " + plain, "c3: dependIds: [c2], " + plain}, tells: "c3"},
		{cell: of("r1", "readiness"), resources: []string{`r1: timeoutSeconds: 1, readiness: {values: ["{.spec.type}=never"]}, ` + service, "r2: dependIds: [r1], " + plain}, tells: "r2"},
		{cell: cell{"upper", "dependForms", "dependForms"}, form: "dependForms: [base]", resources: []string{"f2: " + plain}, tells: "f2"},
	}
}

// formOf returns a form with resources, each given as an id and the rest.
func formOf(name, more string, resources ...string) string {
	if more != "" {
		more = "  " + more + "\n"
	}
	form := "---\napiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: " + name + "}\nspec:\n  hubId: cells\n" + more + "  manifests:\n"
	for _, r := range resources {
		id, rest, _ := strings.Cut(r, ": ")
		form += fmt.Sprintf("    - {id: %s, nameTemplate: '{{ .uid }}-%s', %s}\n", id, id, rest)
	}
	return form
}

// orderStories are about the order of objects, and about waiting.
func orderStories() []story {
	s := story{name: "order", form: formOf("base", "", "f1: "+never)}
	for i, o := range orders() {
		name := fmt.Sprintf("form%d", i)
		if o.row == "dependForms" {
			name = o.id
		}
		s.form += formOf(name, o.form, o.resources...)
		s.cells = append(s.cells, o.cell)
	}
	s.tell = func(t *testing.T, w *world) map[string]string {
		w.rows(t, "acme,1,v1,")
		w.carry(t)
		becomes := map[string]string{}
		for _, o := range orders() {
			becomes[o.id] = w.value(t, "configmaps", "acme-"+o.tells, "data")
		}
		return becomes
	}
	return []story{s}
}
