package robust_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// columns returns the columns of a row other than uid and activation.
func columns() []string { return []string{"plan", "alias", "feature"} }

// newRow returns a row in its first state.
func newRow(uid string) model.Row {
	return model.Row{UID: uid, Active: true, Columns: map[string]string{"plan": "free", "alias": uid, "feature": "true"}}
}

// catalog returns a resource for a form in its first state.
func catalog(id string) model.Resource {
	r := model.Resource{ID: id, Kind: model.Config, Name: nameOf("uid", id), Deletion: model.Delete, Adoption: model.IfUnowned}
	switch id {
	case "data":
		r.Kind = model.Claim
	case "keep":
		r.Kind, r.Deletion, r.Name = model.Claim, model.Retain, nameOf("alias", id)
	case "far":
		r.Far = true
	case "wid":
		r.Kind = model.Widget
	case "opt":
		r.When = "feature"
	case "seed":
		r.Purge = true
	case "over":
		r.Recreate = true
	case "hold":
		r.Data = true
	case "set", "take":
		r.Kind, r.TakesClaims = model.Set, id == "take"
	case "bye":
		r.Kind, r.Hook = model.Job, true
	case "space":
		r.Kind = model.Space
	case "kind":
		r.Kind = model.Kind
	case "note":
		r.Kind = model.Note
	case "task":
		r.Kind, r.Ends = model.Job, true
	}
	return r
}

func resourceIDs() []string {
	return []string{"conf", "data", "keep", "far", "wid", "opt", "seed", "over", "hold", "set", "take", "bye", "space", "kind", "note", "task"}
}

// nameOf returns the template of a resource's name.
func nameOf(pattern, id string) string {
	name := "{{ .uid }}-" + id
	switch pattern {
	case "alias":
		name = "{{ .alias }}-" + id
	case "plan":
		name = "{{ .uid }}-{{ .plan }}-" + id
	}
	return name
}

func form(name string, ids ...string) model.Form {
	f := model.Form{Name: name}
	for _, id := range ids {
		f.Resources = append(f.Resources, catalog(id))
	}
	return f
}

// firstInputs returns the first inputs of every history.
func firstInputs() model.Inputs {
	return model.Inputs{
		{
			Name:  "us",
			Rows:  []model.Row{newRow("acme"), newRow("bolt"), newRow("coil"), newRow("dune")},
			Forms: []model.Form{form("web", "conf", "data", "wid", "opt"), form("db", "keep", "far", "over", "seed")},
		},
		{
			Name:  "eu",
			Rows:  []model.Row{newRow("elm"), newRow("fir")},
			Forms: []model.Form{form("app", "conf", "data", "keep", "wid")},
		},
	}
}

// paper writes the inputs for lynqctl. It replaces the model's names by those of a cluster.
type paper struct {
	group      string // of Widgets
	namespaces map[string]string
	views      bool // the cluster serves Projects, which are views of Namespaces
}

// files returns hub, forms and rows in lynqctl's format, by path.
func (p paper) files(in model.Inputs) map[string]string {
	written := map[string]string{}
	for _, hub := range in {
		written[hubPath(hub)] = hubFile(hub)
		written[hub.Name+"/rows.csv"] = rowsFile(hub)
		for _, form := range hub.Forms {
			written[formPath(hub, form)] = p.form(hub, form)
		}
	}
	return written
}

// manifests are the paths of hubs and forms, in order.
func manifests(in model.Inputs) []string {
	var names []string
	for _, hub := range in {
		names = append(names, hubPath(hub))
		for _, form := range hub.Forms {
			names = append(names, formPath(hub, form))
		}
	}
	slices.Sort(names)
	return names
}

func hubPath(hub model.Hub) string { return hub.Name + "/hub.yaml" }

func formPath(hub model.Hub, form model.Form) string { return hub.Name + "/" + form.Name + ".yaml" }

func rowsFile(hub model.Hub) string {
	var b strings.Builder
	b.WriteString("id,was,active," + strings.Join(columns(), ",") + "\n")
	for _, row := range hub.Rows {
		fmt.Fprintf(&b, "%s,%s,%t", row.UID, row.Previous, row.Active)
		for _, column := range columns() {
			b.WriteString("," + row.Columns[column])
		}
		b.WriteString("\n")
	}
	return b.String()
}

func hubFile(hub model.Hub) string {
	return fmt.Sprintf(`apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: %s}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active, previousUid: was}
  extraValueMappings: {plan: plan, alias: alias, feature: feature}
  deletionGracePeriod: %s
%s`, hub.Name, hub.Grace, excludes(hub.Exclude))
}

func excludes(rules []model.Rule) string {
	var b strings.Builder
	for i, r := range rules {
		if i == 0 {
			b.WriteString("  exclude:\n")
		}
		fmt.Fprintf(&b, "    - {kind: %s, name: %q}\n", r.Kind, r.Name)
	}
	return b.String()
}

// wide returns the cluster's name for an object without a namespace, because other
// histories have such objects, too.
func (p paper) wide(kind, name string) string {
	switch kind {
	case model.Space:
		return p.namespaces[model.Near] + "-" + name
	case model.Kind:
		return name + "." + p.things()
	}
	return name
}

// narrow returns the model's name for such an object.
func (p paper) narrow(kind, name string) (string, bool) {
	switch kind {
	case model.Space:
		return strings.CutPrefix(name, p.namespaces[model.Near]+"-")
	case model.Kind:
		return strings.CutSuffix(name, "."+p.things())
	}
	return name, true
}

// things returns the group of the kinds that nodes create.
func (p paper) things() string { return "things." + p.group }

func (p paper) form(hub model.Hub, form model.Form) string {
	lists := map[string]string{}
	for _, r := range form.Resources {
		list, manifest := p.manifest(r)
		lists[list] += p.resource(r) + revisionOf(form, r) + "      spec: " + manifest + "\n"
	}
	var b strings.Builder
	before := ""
	if form.Before != "" {
		before = ", annotations: {lynq.sh/renamed-from: " + form.Before + "}"
	}
	fmt.Fprintf(&b, "apiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: %s%s}\nspec:\n  hubId: %s\n%s", form.Name, before, hub.Name, excludes(form.Exclude))
	for _, list := range slices.Sorted(maps.Keys(lists)) {
		fmt.Fprintf(&b, "  %s:\n%s", list, lists[list])
	}
	b.WriteString(stagesOf(form))
	if form.Tombstone {
		fmt.Fprintf(&b, "  tombstones:\n    - {apiVersion: v1, kind: ConfigMap, nameTemplate: %q, matchLabels: {tenant: \"{{ .uid }}\"}}\n", model.TombstoneOf("{{ .uid }}").Name)
	}
	return b.String()
}

// revisionOf returns an annotation with the form's revision.
func revisionOf(form model.Form, r model.Resource) string {
	if form.Revision == 0 || r.Hook {
		return ""
	}
	return fmt.Sprintf("      annotationsTemplate: {revision: \"%d\"}\n", form.Revision)
}

// stagesOf returns the rollout of a form.
func stagesOf(form model.Form) string {
	if len(form.Stages) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  rollout:\n    maxFailed: %d\n    stages:\n", form.MaxFailed)
	for _, s := range form.Stages {
		chosen := fmt.Sprintf("match: '{{ eq .plan %q }}'", s.Plan)
		switch {
		case s.Rows > 0:
			chosen = fmt.Sprintf("rows: %d", s.Rows)
		case s.Percent > 0:
			chosen = fmt.Sprintf("percent: %d", s.Percent)
		}
		fmt.Fprintf(&b, "      - {%s, pause: %t}\n", chosen, s.Pause)
	}
	return b.String()
}

// manifest returns a resource's manifest, and the form's list for it.
func (p paper) manifest(r model.Resource) (list, text string) {
	const claim = `spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`
	const pod = `containers: [{name: main, image: main, args: ["{{ .plan }}"]}]`
	switch r.Kind {
	case model.Claim:
		return "persistentVolumeClaims", "{apiVersion: v1, kind: PersistentVolumeClaim, " + strings.Replace(claim, "{", `{volumeName: "", `, 1) + "}"
	case model.Widget:
		return "manifests", "{apiVersion: " + p.group + `/v1, kind: Widget, spec: {plan: "{{ .plan }}", host: ""}}`
	case model.Set:
		retained := ""
		if r.TakesClaims {
			retained = "persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}, "
		}
		return "statefulSets", "{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 1, serviceName: main, " + retained +
			`selector: {matchLabels: {set: "{{ .uid }}"}}, template: {metadata: {labels: {set: "{{ .uid }}"}}, spec: {` + pod + "}}, " +
			"volumeClaimTemplates: [{metadata: {name: main}, " + claim + "}]}}"
	case model.Job:
		if r.Ends {
			return "jobs", `{apiVersion: batch/v1, kind: Job, metadata: {annotations: {plan: "{{ .plan }}"}}, ` +
				"spec: {ttlSecondsAfterFinished: 86400, template: {spec: {restartPolicy: Never, containers: [{name: main, image: main}]}}}}"
		}
		return "jobs", "{apiVersion: batch/v1, kind: Job, spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, " + pod + "}}}}"
	case model.Space:
		if r.Alias && p.views {
			return "manifests", `{apiVersion: project.openshift.io/v1, kind: Project, metadata: {annotations: {plan: "{{ .plan }}"}}}`
		}
		return "namespaces", `{apiVersion: v1, kind: Namespace, metadata: {annotations: {plan: "{{ .plan }}"}}}`
	case model.Note:
		return "manifests", note(r.Alias)
	case model.Kind:
		name := r.Name
		return "manifests", "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: " + p.things() + ", scope: Namespaced, " +
			fmt.Sprintf("names: {plural: %[1]q, singular: %[1]q, kind: %[1]q, listKind: %[2]q}, ", name, name+"-list") +
			"versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}"
	}
	return "configMaps", `{apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}"}}`
}

// note returns an Event, under the name of its other API group if alias is set.
func note(alias bool) string {
	apiVersion, about, text, by := "v1", "involvedObject", "message", "reportingComponent"
	if alias {
		apiVersion, about, text, by = "events.k8s.io/v1", "regarding", "note", "reportingController"
	}
	return fmt.Sprintf(`{apiVersion: %s, kind: Event, metadata: {annotations: {plan: "{{ .plan }}"}}, %s: {kind: ConfigMap, namespace: "{{ .namespace }}", name: main}, `+
		`%s: hello, %s: example.com/main, reportingInstance: main, action: none, reason: Noted, type: Normal, eventTime: "2026-01-01T00:00:00.000000Z"}`, apiVersion, about, text, by)
}

// resource returns everything of a resource except its manifest.
func (p paper) resource(r model.Resource) string {
	var b strings.Builder
	fmt.Fprintf(&b, "    - id: %s\n      nameTemplate: %q\n      labelsTemplate: {tenant: \"{{ .uid }}\"}\n", r.ID, p.wide(r.Kind, r.Name))
	if r.Hook {
		b.WriteString("      runOn: Delete\n      timeoutSeconds: 60\n")
		return b.String()
	}
	fmt.Fprintf(&b, "      deletionPolicy: %s\n      adoptionPolicy: %s\n", r.Deletion, r.Adoption)
	if r.Far {
		fmt.Fprintf(&b, "      targetNamespace: %s\n", p.namespaces[model.Far])
	}
	if r.When != "" {
		fmt.Fprintf(&b, "      includeWhen: \"{{ .%s }}\"\n", r.When)
	}
	if r.Purge {
		b.WriteString("      purgeOrder: 0\n")
	}
	if r.Recreate {
		b.WriteString("      patchStrategy: recreate\n")
	}
	if r.Data {
		b.WriteString("      holdsData: true\n")
	}
	return b.String()
}
