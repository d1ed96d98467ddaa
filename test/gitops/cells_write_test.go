package gitops

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// edit is a change of another client to the object of a resource.
type edit struct{ manager, patch string }

// written is a resource whose object existed before, or is edited, or both.
type written struct {
	cell
	policies string
	pods     bool   // a Deployment, not a ConfigMap
	before   string // the data of its object
	manager  string // who created that
	marks    string // further metadata of it
	edit     edit
}

func writes() []written {
	theirs := `{"data":{"plan":"theirs","added":"by others"}}`
	image := `{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"img:theirs"},{"name":"b","image":"img:theirs"}]}}}}`
	helm := "labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: default}"
	of := func(id, row string) cell { return cell{id: id, row: row, policy: row} }
	return []written{
		{cell: of("apply", "patchStrategy: apply"), policies: "patchStrategy: apply", edit: edit{"autoscaler", theirs}},
		{cell: of("apply-kubectl", "patchStrategy: apply"), policies: "patchStrategy: apply", edit: edit{"kubectl-edit", theirs}},
		{cell: of("merge", "patchStrategy: merge"), policies: "patchStrategy: merge", edit: edit{"autoscaler", theirs}},
		{cell: of("merge-kubectl", "patchStrategy: merge"), policies: "patchStrategy: merge", edit: edit{"kubectl-edit", theirs}},
		{cell: of("replace", "patchStrategy: replace"), policies: "patchStrategy: replace", edit: edit{"autoscaler", theirs}},
		{cell: of("replace-once", "creationPolicy: Once"), policies: "patchStrategy: replace, creationPolicy: Once", edit: edit{"autoscaler", theirs}},
		{cell: of("override-kubectl", "patchStrategy: override"), policies: "patchStrategy: override", before: "{plan: theirs, added: by others}", manager: "kubectl-create"},
		{cell: of("override-helm", "patchStrategy: override"), policies: "patchStrategy: override", before: "{plan: theirs, added: by others}", manager: "helm"},
		{cell: of("once", "creationPolicy: Once"), policies: "creationPolicy: Once", edit: edit{"autoscaler", theirs}},
		{cell: of("once-labels", "creationPolicy: Once"), policies: "creationPolicy: Once", edit: edit{"autoscaler", `{"metadata":{"labels":{"plan":"theirs"}}}`}},
		{cell: cell{"reconcile-once", "reconcilePolicy: Once", "creationPolicy: Once"}, policies: "reconcilePolicy: Once", edit: edit{"autoscaler", theirs}},
		{cell: cell{"reconcile-once-labels", "reconcilePolicy: Once", "creationPolicy: Once"}, policies: "reconcilePolicy: Once", edit: edit{"autoscaler", `{"metadata":{"labels":{"plan":"theirs"}}}`}},
		{cell: of("force", "conflictPolicy: Force"), policies: "conflictPolicy: Force", before: "{plan: theirs}", manager: "others"},
		{cell: of("stuck", "conflictPolicy: Stuck"), policies: "conflictPolicy: Stuck", before: "{plan: theirs}", manager: "others"},
		{cell: cell{"always", "adoptionPolicy: Always", "adoptionPolicy"}, policies: "adoptionPolicy: Always, conflictPolicy: Force", before: "{plan: theirs}", manager: "helm", marks: helm},
		{cell: cell{"never", "adoptionPolicy: Never", "adoptionPolicy"}, policies: "adoptionPolicy: Never", before: "{plan: theirs}", manager: "someone"},
		{cell: cell{"if-unowned", "adoptionPolicy: IfUnowned", "adoptionPolicy"}, policies: "adoptionPolicy: IfUnowned, conflictPolicy: Force", before: "{plan: theirs}", manager: "helm", marks: helm},
		{cell: of("ignored", "ignoreFields"), policies: "ignoreFields: [$.data.plan]", edit: edit{"autoscaler", theirs}},
		{cell: of("ignored-place", "ignoreFields"), policies: "ignoreFields: ['$.spec.template.spec.containers[0].image']", pods: true, edit: edit{"autoscaler", image}},
		{cell: of("ignored-all", "ignoreFields"), policies: "ignoreFields: ['$.spec.template.spec.containers[*].image']", pods: true, edit: edit{"autoscaler", image}},
		{cell: of("ignored-filter", "ignoreFields"), policies: "ignoreFields: [\"$.spec.template.spec.containers[?(@.name == 'b')].image\"]", pods: true, edit: edit{"autoscaler", image}},
		{cell: of("ignored-anywhere", "ignoreFields"), policies: "ignoreFields: ['$..image']", pods: true, edit: edit{"autoscaler", image}},
	}
}

func (w written) kind() string {
	if w.pods {
		return "deployments"
	}
	return "configmaps"
}

// resource returns the resource in the form.
func (w written) resource() string {
	spec := `{apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}"}}`
	if w.pods {
		spec = `{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 0, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {containers: [{name: a, image: "img:{{ .plan }}"}, {name: b, image: "img:{{ .plan }}"}]}}}}`
	}
	return fmt.Sprintf("    - {id: %s, nameTemplate: '{{ .uid }}-%s', labelsTemplate: {plan: '{{ .plan }}'}, %s, spec: %s}\n", w.id, w.id, w.policies, spec)
}

// writeStories are about objects and edits of others, and how the carrier overwrites them.
func writeStories() []story {
	s := story{name: "write", form: "apiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: web}\nspec:\n  hubId: cells\n  manifests:\n"}
	for _, r := range writes() {
		s.form += r.resource()
		s.cells = append(s.cells, r.cell)
	}
	s.tell = func(t *testing.T, w *world) map[string]string {
		for _, r := range writes() {
			if r.before == "" {
				continue
			}
			o := fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: acme-%s, %s}, data: %s}", r.id, r.marks, r.before)
			if r.manager == "others" {
				w.patch(t, r.manager, r.kind(), "acme-"+r.id, types.ApplyPatchType, o)
				continue
			}
			w.create(t, r.manager, r.kind(), o)
		}
		w.rows(t, "acme,1,v1,")
		w.carry(t)
		for _, r := range writes() {
			if r.edit.manager != "" {
				w.patch(t, r.edit.manager, r.kind(), "acme-"+r.id, types.StrategicMergePatchType, r.edit.patch)
			}
		}
		w.rows(t, "acme,1,v2,")
		w.carry(t)
		becomes := map[string]string{}
		for _, r := range writes() {
			switch {
			case r.pods:
				becomes[r.id] = w.value(t, r.kind(), "acme-"+r.id, "spec.template.spec.containers")
			case strings.HasSuffix(r.id, "labels"):
				becomes[r.id] = w.value(t, r.kind(), "acme-"+r.id, "data", "metadata.labels.plan")
			default:
				becomes[r.id] = w.value(t, r.kind(), "acme-"+r.id, "data")
			}
		}
		return becomes
	}
	return []story{s}
}
