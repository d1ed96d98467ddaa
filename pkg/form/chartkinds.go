package form

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// ChartKind is a kind that a template of a chart names. APIVersion is "" if the template
// computes it, and so is Kind.
type ChartKind struct{ APIVersion, Kind string }

// Known returns the kind with an apiVersion of Kubernetes if the template computes it. known is
// false if nobody knows the kind before there is a row.
func (k ChartKind) Known() (_ ChartKind, known bool) {
	if k.APIVersion != "" || k.Kind == "" {
		return k, k.Kind != ""
	}
	for _, name := range kinds.ServedNames() {
		if kind, group, grouped := strings.Cut(name, "."); kind == k.Kind {
			if k.APIVersion = "v1"; grouped {
				k.APIVersion = group + "/v1"
			}
			return k, true
		}
	}
	return k, false
}

// WithChartKinds returns a copy of the form with resources that stand for the objects of its
// charts. Each kind has two: lynqctl would delete one with the node, and keep the other. They
// have no content.
func (f *Form) WithChartKinds() *Form {
	next := *f
	next.Resources = slices.Clone(f.Resources)
	for _, c := range f.Charts {
		for _, k := range c.Opened.Kinds {
			k, known := k.Known()
			if !known {
				continue
			}
			for _, policy := range standIns(k) {
				next.Resources = append(next.Resources, &Resource{
					Pos: c.Pos, ID: c.ID + "-" + strings.ToLower(k.Kind), Section: chartSection, Chart: c, APIVersion: k.APIVersion, Kind: k.Kind,
					TargetNamespace: c.Namespace, Manifest: &document.Value{Kind: document.Map, Pos: c.Pos}, Policy: policy,
				})
			}
		}
	}
	return &next
}

// standIns returns the policies that objects of a chart's kind may have.
func standIns(k ChartKind) []lynq.Policy {
	goes, stays := lynq.DefaultPolicy(), lynq.DefaultPolicy()
	stays.Deletion = lynq.DeleteRetain
	policies := []lynq.Policy{goes, stays}
	if group, _ := lynq.SplitAPIVersion(k.APIVersion); k.Kind == "Job" && group == "batch" || k.Kind == "Pod" && group == "" {
		hook := lynq.DefaultPolicy()
		hook.RunOn = lynq.RunOnDelete
		policies = append(policies, hook)
	}
	return policies
}

// checkChartDefaults reports defaults whose kind no template of the charts names, and no
// resource of the form has. A misspelled kind would leave the objects unprotected that it means.
func checkChartDefaults(rep *report, subject string, defaults []*policyDefault, charts []*Chart, resources []*entry) {
	var known []string
	for _, e := range resources {
		known = append(known, e.Kind)
	}
	for _, c := range charts {
		for _, k := range c.Opened.Kinds {
			if k.Kind == "" { // any kind may come of it
				return
			}
			known = append(known, k.Kind)
		}
	}
	for _, d := range defaults {
		if d.kind.Text != "" && !slices.Contains(known, d.kind.Text) {
			rep.problems.Add(d.pos, suggest.Fix(d.kind.Text, known), "%s: %s: no template of the chart has kind %s", subject, d.name, d.kind.Text)
		}
	}
}
