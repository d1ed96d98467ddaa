package form

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

const defaultProgressDeadline = 600

// readForm reads a LynqForm.
func readForm(rep *report, v *document.Value, fields []Field) *Form {
	o := newObject(rep, subject("form", v), "", v)
	o.fields = fields
	m := readMeta(o)
	form := &Form{Pos: v.Pos, Name: m.Name, Namespace: m.Namespace, Generation: m.Generation}
	form.RenamedFrom = readRenamedFrom(o, m)
	spec := o.needObject("spec")
	form.Spec = spec.value
	o.done()
	hub := spec.needText("hubId")
	form.HubID, form.HubIDPos = hub.Text, hub.Pos
	form.Rollout = readRollout(spec.object("rollout"))
	form.Exclude = readExclude(spec, m)
	form.Grace = readGrace(spec)
	form.DependForms = readDependForms(spec, form.Name)
	form.Tombstones = readTombstones(spec)
	form.Files = readFilePatterns(spec)
	form.Kustomize = readKustomize(spec)
	form.defaults = readDefaults(spec)
	form.Charts = readCharts(spec)
	form.entries = readSections(spec, form.defaults)
	spec.done()
	if !form.hasMore() {
		form.complete(rep, form.entries, true)
	}
	return form
}

// complete checks the resources of a form, and puts them in order. whole is false if some
// files can't be read, and their resources are unknown.
func (f *Form) complete(rep *report, entries []*entry, whole bool) {
	subject := subjectOf("form", f.Name)
	checkIDs(rep, subject, entries)
	if whole {
		checkDependencies(rep, subject, entries)
		checkCharts(rep, subject, f.Charts, entries)
	}
	switch {
	case !whole:
	case len(f.Charts) > 0: // nobody knows the objects of a chart before there is a row
		checkChartDefaults(rep, subject, f.defaults, f.Charts, entries)
	default:
		checkDefaults(rep, subject, f.defaults, entries)
	}
	checkWaves(rep, subject, entries)
	f.Resources = inOrder(entries)
}

func readRollout(o *object) Rollout {
	seconds, skew, failed, onFailure := defaultProgressDeadline, 0, 0, StopOnFailure
	var stages []Stage
	if o != nil {
		skew = o.integer("maxSkew", 0)
		seconds = o.integer("progressDeadlineSeconds", seconds)
		onFailure = enum(o, "onFailure", onFailure)
		stages, failed = readStages(o), o.integer("maxFailed", 0)
		o.done()
	}
	return Rollout{MaxSkew: skew, ProgressDeadline: time.Duration(seconds) * time.Second, OnFailure: onFailure, Stages: stages, MaxFailed: failed}
}

// readStages reads the stages of a rollout. Each stage selects nodes in exactly one way.
func readStages(o *object) []Stage {
	var stages []Stage
	for _, of := range o.objects("stages") {
		v := of.value
		s := Stage{v.Pos, readCondition(of, "match"), lynq.Stage{Rows: of.integer("rows", 0), Percent: of.integer("percent", 0), Pause: of.boolean("pause")}}
		of.done()
		ways := slices.DeleteFunc([]string{"match", "rows", "percent"}, func(field string) bool { return v.Kind != document.Map || v.Field(field) == nil })
		if len(ways) != 1 {
			o.fail(v.Pos, "", "%s needs one of match, rows and percent, and has %d", of.path, len(ways))
		}
		stages = append(stages, s)
	}
	return stages
}

// readSections reads all resources, in the order of the file.
func readSections(spec *object, defaults []*policyDefault) []*entry {
	var entries []*entry
	for _, s := range sections() {
		for i, item := range spec.list(s.Name) {
			if item.Kind != document.Map {
				spec.fail(item.Pos, "", "%s[%d] must be a mapping, found %s", spec.name(s.Name), i, item.Describe())
				continue
			}
			entries = append(entries, readEntry(spec, s, i, item, defaults))
		}
	}
	// The file may have sections in any order. Within a section, the list's order counts,
	// even if aliases bring in lines from elsewhere.
	first := map[string]int{}
	for i, f := range spec.value.Fields {
		first[f.Key] = i
	}
	slices.SortStableFunc(entries, func(a, b *entry) int {
		return cmp.Compare(first[a.Section], first[b.Section])
	})
	return entries
}

// checkIDs reports duplicate ids.
func checkIDs(rep *report, subject string, entries []*entry) {
	first := map[string]lynq.Pos{}
	for _, e := range entries {
		if e.ID == "" {
			continue
		}
		if pos, twice := first[e.ID]; twice {
			fix := "ids are unique in a form"
			if e.Section == fileSection || e.Section == kustomizeSection {
				fix = "ids are unique in a form; set one with the annotation " + wellknown.AnnotationResourceID
			}
			rep.problems.Add(e.idPos, fix, "%s: id %q appears twice, first %s", subject, e.ID, placeFrom(e.idPos, pos))
			continue
		}
		first[e.ID] = e.idPos
	}
}

// checkDependencies reports missing dependencies, dependencies on itself, and cycles.
func checkDependencies(rep *report, subject string, entries []*entry) {
	var ids []string
	for _, e := range entries {
		if e.ID != "" {
			ids = append(ids, e.ID)
		}
	}
	for _, e := range entries {
		for _, d := range e.depends {
			switch {
			case d.Text == e.ID:
				rep.problems.Add(d.Pos, "remove it", "%s, %s: depends on itself", subject, e.label)
			case !slices.Contains(ids, d.Text):
				known := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == e.ID })
				rep.problems.Add(d.Pos, suggest.Fix(d.Text, known), "%s, %s: depends on %q, but this form has no resource with that id", subject, e.label, d.Text)
			}
		}
	}
	checkHookDependencies(rep, subject, entries)
	for _, c := range cycles(entries) {
		rep.problems.Add(c.pos, "remove one of these dependencies", "%s: resources depend on each other in a cycle: %s", subject, c.path)
	}
}

// entryLabel names a resource for messages by its id, or else by its place.
func entryLabel(id, section string, index int) string {
	if id == "" {
		return fmt.Sprintf("%s[%d]", section, index)
	}
	return fmt.Sprintf("resource %q", id)
}
