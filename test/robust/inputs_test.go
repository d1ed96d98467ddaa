package robust_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// columns are those of a row beside its uid and whether it is active.
func columns() []string { return []string{"plan", "alias", "feature"} }

// newRow is a row as it first is.
func newRow(uid string) model.Row {
	return model.Row{UID: uid, Active: true, Columns: map[string]string{"plan": "free", "alias": uid, "feature": "true"}}
}

// catalog has every resource that a form may have, as it first is.
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
	}
	return r
}

func resourceIDs() []string {
	return []string{"conf", "data", "keep", "far", "wid", "opt", "seed", "over"}
}

// nameOf is the template of a resource's name.
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

// firstInputs are what every history begins with.
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

// files are hub, forms and rows as lynqctl reads them, by path.
func files(in model.Inputs, group string, namespaces map[string]string) map[string]string {
	written := map[string]string{}
	for _, hub := range in {
		written[hub.Name+"/hub.yaml"] = hubFile(hub)
		written[hub.Name+"/rows.csv"] = rowsFile(hub)
		for _, form := range hub.Forms {
			written[hub.Name+"/"+form.Name+".yaml"] = formFile(hub, form, group, namespaces)
		}
	}
	return written
}

func rowsFile(hub model.Hub) string {
	var b strings.Builder
	b.WriteString("id,active," + strings.Join(columns(), ",") + "\n")
	for _, row := range hub.Rows {
		fmt.Fprintf(&b, "%s,%t", row.UID, row.Active)
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
  valueMappings: {uid: id, activate: active}
  extraValueMappings: {plan: plan, alias: alias, feature: feature}
%s`, hub.Name, excludes(hub.Exclude))
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

func formFile(hub model.Hub, form model.Form, group string, namespaces map[string]string) string {
	lists := map[string]string{}
	for _, r := range form.Resources {
		switch r.Kind {
		case model.Claim:
			lists["persistentVolumeClaims"] += resource(r, namespaces) +
				"      spec: {apiVersion: v1, kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n"
		case model.Widget:
			lists["manifests"] += resource(r, namespaces) +
				fmt.Sprintf("      spec: {apiVersion: %s/v1, kind: Widget, spec: {plan: \"{{ .plan }}\"}}\n", group)
		default:
			lists["configMaps"] += resource(r, namespaces) +
				"      spec: {apiVersion: v1, kind: ConfigMap, data: {plan: \"{{ .plan }}\"}}\n"
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: %s}\nspec:\n  hubId: %s\n%s", form.Name, hub.Name, excludes(form.Exclude))
	for _, list := range slices.Sorted(maps.Keys(lists)) {
		fmt.Fprintf(&b, "  %s:\n%s", list, lists[list])
	}
	if form.Tombstone {
		fmt.Fprintf(&b, "  tombstones:\n    - {apiVersion: v1, kind: ConfigMap, nameTemplate: %q, matchLabels: {tenant: \"{{ .uid }}\"}}\n", model.TombstoneOf("{{ .uid }}").Name)
	}
	return b.String()
}

// resource is all of a resource but its manifest.
func resource(r model.Resource, namespaces map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "    - id: %s\n      nameTemplate: %q\n      labelsTemplate: {tenant: \"{{ .uid }}\"}\n      deletionPolicy: %s\n      adoptionPolicy: %s\n", r.ID, r.Name, r.Deletion, r.Adoption)
	if r.Far {
		fmt.Fprintf(&b, "      targetNamespace: %s\n", namespaces[model.Far])
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
	return b.String()
}
