package form

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// chartSection is the list of charts, which make resources of all kinds.
const chartSection = "charts"

// Release has the objects that one row gets of a chart.
type Release struct {
	*Chart
	Name, Namespace string
	Documents       []ChartDocument // in the order of the templates
}

// WithReleases returns a copy of the form with the objects of a row's releases as resources,
// after its own ones. No text of these objects is a template.
func (f *Form) WithReleases(releases []Release) (*Form, lynq.Problems) {
	var rep report
	var added []*entry
	for i := range releases {
		added = append(added, f.entriesOf(&rep, &releases[i])...)
	}
	next := *f
	next.Resources = nil
	for _, r := range f.Resources {
		own := *r // callers may change resources, and other rows need the form as it is
		next.Resources = append(next.Resources, &own)
	}
	next.Resources = append(next.Resources, inOrder(added)...)
	checkIDs(&rep, subjectOf("form", f.Name), slices.Concat(f.entries, added))
	return &next, rep.problems
}

// entriesOf turns the objects of a release into resources.
func (f *Form) entriesOf(rep *report, r *Release) []*entry {
	subject := subjectOf("form", f.Name) + fmt.Sprintf(", chart %q", r.ID)
	objects := r.objects(rep, subject)
	ids := r.ids(objects)
	entries := make([]*entry, 0, len(objects))
	for i, v := range objects {
		h := hookOf(v)
		if h.dropped() {
			continue
		}
		defaults := slices.Concat(f.defaults, kept(v), h.defaults(v), r.defaults)
		id := Text{Pos: v.Pos, Text: ids[i]}
		e := readObject(rep, subjectOf("form", f.Name), chartSection, entryLabel(id.Text, chartSection, i), id, withoutHook(v), r.policies, defaults)
		e.Chart = r.Chart
		if e.DependIDs = r.DependIDs; e.Policy.Hook() {
			e.DependIDs = nil // it runs while all of the node exists
		}
		if m := e.Manifest.Field("metadata").Field("namespace"); m == nil || m.Kind != document.String || m.Str == "" {
			e.TargetNamespace = Text{Pos: v.Pos, Text: r.Namespace}
		}
		entries = append(entries, e)
	}
	return entries
}

// objects returns the objects of a release in the order in which Helm installs them.
func (r *Release) objects(rep *report, subject string) []*document.Value {
	var objects []*document.Value
	for _, d := range InInstallOrder(r.Opened.InstallOrder, r.Documents) {
		switch {
		case d.kind() != "CustomResourceDefinition":
			objects = append(objects, objectsOf(rep, subject, []*document.Value{d.content})...)
		case !r.SkipCRDs:
			rep.problems.Add(d.content.Pos, "install it once with kubectl apply --server-side, and turn it off in the values of the chart or set skipCRDs: true",
				"%s: the template makes a CustomResourceDefinition, which all tenants of a cluster share", subject)
		}
	}
	return objects
}

// ids returns the ids of a release's objects. They have the chart's id, the kind and the name
// without that of the release, so that objects of all rows have the same ids. Objects that
// would share an id have their whole names, and their namespaces.
func (r *Release) ids(objects []*document.Value) []string {
	ids, count := make([]string, len(objects)), map[string]int{}
	for i, v := range objects {
		ids[i] = r.objectID(v, cutRelease(nameOf(v), r.Name))
		if own := v.Field("metadata").Field("annotations").Field(wellknown.AnnotationResourceID).Literal(); own != "" {
			ids[i] = own
		}
		count[ids[i]]++
	}
	for i, v := range objects {
		if count[ids[i]] > 1 { // checkIDs reports those that stay equal
			ids[i] = r.objectID(v, nameOf(v), v.Field("metadata").Field("namespace").Literal(), groupOf(v))
		}
	}
	return ids
}

func (r *Release) objectID(v *document.Value, more ...string) string {
	parts := slices.Concat([]string{r.ID, strings.ToLower(v.Field("kind").Literal())}, more)
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "-")
}

func nameOf(v *document.Value) string {
	name := v.Field("metadata").Field("name")
	if name == nil || name.Kind != document.String {
		return ""
	}
	return name.Str
}

// cutRelease returns a name without that of the release, where it is a whole part.
func cutRelease(name, release string) string {
	front, rest, found := strings.Cut("-"+name+"-", "-"+release+"-")
	if !found || release == "" {
		return name
	}
	return strings.Trim(front+"-"+rest, "-")
}

// Annotations of Helm.
const (
	helmHook        = "helm.sh/hook"
	helmHookWeight  = "helm.sh/hook-weight"
	helmHookDelete  = "helm.sh/hook-delete-policy"
	helmHookLog     = "helm.sh/hook-output-log-policy"
	helmKeepPolicy  = "helm.sh/resource-policy"
	helmKeep        = "keep"
	hookWave        = 20_000 // before and after it, hooks of a chart have their waves
	greatestWeight  = 10_000
	hookPreInstall  = "pre-install"
	hookPostInstall = "post-install"
	hookPreDelete   = "pre-delete"
)

// chartHook is what a chart says of an object that Helm would create at certain events.
type chartHook struct {
	is     bool
	events []string
	weight int
}

// hookOf reads the annotations with which Helm marks hooks.
func hookOf(v *document.Value) chartHook {
	annotations := v.Field("metadata").Field("annotations")
	events := annotations.Field(helmHook)
	if events == nil || events.Kind != document.String {
		return chartHook{}
	}
	h := chartHook{is: true}
	for event := range strings.SplitSeq(events.Str, ",") {
		h.events = append(h.events, strings.ToLower(strings.TrimSpace(event)))
	}
	if weight := annotations.Field(helmHookWeight); weight != nil {
		h.weight, _ = strconv.Atoi(weight.Str) // Helm reads other texts as 0, too
	}
	return h
}

// unknown reports whether Helm skips the hook, because it doesn't know an event.
func (h chartHook) unknown() bool {
	known := []string{
		hookPreInstall, hookPostInstall, hookPreDelete, "post-delete", "pre-upgrade", "post-upgrade",
		"pre-rollback", "post-rollback", "test", "test-success",
	}
	return slices.ContainsFunc(h.events, func(event string) bool { return !slices.Contains(known, event) })
}

// dropped reports whether nothing in lynqctl is like the hook's events: upgrades, rollbacks,
// tests, and what comes after a deletion.
func (h chartHook) dropped() bool {
	return h.unknown() || h.is && !slices.ContainsFunc(h.events, func(event string) bool {
		return slices.Contains([]string{hookPreInstall, hookPostInstall, hookPreDelete}, event)
	})
}

// defaults returns the policies of a hook. Jobs and Pods of an installation are created once,
// in waves before and after the other objects. Those of a deletion run then. Other objects,
// such as a ServiceAccount for these Jobs, only have their waves.
func (h chartHook) defaults(v *document.Value) []*policyDefault {
	kind := v.Field("kind").Literal()
	runs, said := kind == "Job" && groupOf(v) == "batch" || kind == "Pod" && groupOf(v) == "", map[string]string{}
	switch pre := slices.Contains(h.events, hookPreInstall); {
	case pre || slices.Contains(h.events, hookPostInstall):
		weight := min(max(h.weight, -greatestWeight), greatestWeight)
		wave := hookWave + weight
		if pre {
			wave = weight - hookWave
		}
		if said["applyOrder"] = strconv.Itoa(wave); runs {
			said["creationPolicy"] = string(lynq.CreateOnce)
		}
	case h.is && runs:
		said["runOn"] = string(lynq.RunOnDelete)
	}
	return impliedBy(v, said)
}

// kept returns the policy of an object that Helm would keep.
func kept(v *document.Value) []*policyDefault {
	if v.Field("metadata").Field("annotations").Field(helmKeepPolicy).Literal() != helmKeep {
		return nil
	}
	return impliedBy(v, map[string]string{"deletionPolicy": string(lynq.DeleteRetain)})
}

// impliedBy returns policies that annotations of Helm stand for.
func impliedBy(v *document.Value, said map[string]string) []*policyDefault {
	if len(said) == 0 {
		return nil
	}
	d := &policyDefault{name: "the chart", pos: v.Pos, said: map[string]saying{}}
	for field, value := range said {
		d.said[field] = saying{value: value, text: value, pos: v.Pos, by: d}
	}
	return []*policyDefault{d}
}

// withoutHook returns an object without the annotations of a hook, because Argo CD would run
// it as one of its own.
func withoutHook(v *document.Value) *document.Value {
	for _, key := range []string{helmHook, helmHookWeight, helmHookDelete, helmHookLog} {
		v = without(v, "metadata", "annotations", key)
	}
	return v
}
