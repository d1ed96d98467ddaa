package form

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// Chart is a Helm chart of a form. Each row gets the objects of one release of it.
type Chart struct {
	Pos  lynq.Pos
	ID   string
	Path Text // the chart's directory or archive, from the form's file, or its address
	// Past says that the form is an earlier one, for which nothing is downloaded.
	Past bool
	// ReleaseName and Namespace are templates. They are zero for the uid, and for the node's
	// namespace.
	ReleaseName, Namespace Text
	// IncludeWhen is a template that renders true for the rows that get the chart. It is zero
	// if all rows get it.
	IncludeWhen Text
	// Values are those of the release, a Map or nil. Its strings are templates.
	Values      *document.Value
	ValuesFiles []Text
	// SkipCRDs leaves the chart's crds/ to others.
	SkipCRDs bool
	// EmptyLookups has lookups in templates find nothing. Without it, they are errors.
	EmptyLookups bool
	// DependIDs are resources of the form that come before all objects of the chart.
	DependIDs []string
	depends   []Text
	valid     bool // its fields have no errors
	// Opened is what the chart's files say. It has no Digest if they can't be read.
	Opened OpenedChart
	// Spec is all that the form says of the chart.
	Spec     *document.Value
	defaults []*policyDefault
	policies []lynq.PolicyField // read the objects of all rows, see lynq.Policies
}

// OpenedChart has what the files of a chart say.
type OpenedChart struct {
	Handle        int // for those who render it
	Name, Version string
	Digest        string   // of all its files, and of its files of values
	Files         []string // as positions have them
	// Kinds are the kinds that its templates name, with their apiVersions.
	Kinds []ChartKind
	// DeletionHooks is set if some template may be a hook pre-delete.
	DeletionHooks bool
	// InstallOrder are kinds in the order in which Helm installs their objects.
	InstallOrder []string
	// Warnings are what the chart's author means, and lynqctl doesn't do.
	Warnings lynq.Problems
}

// Dir returns the directory in which paths of the chart begin.
func (c *Chart) Dir() string { return filepath.Dir(c.Pos.File) }

// readCharts reads spec.charts.
func readCharts(spec *object) []*Chart {
	var charts []*Chart
	for _, o := range spec.objects(chartSection) {
		item := o.value
		if item.Kind != document.Map {
			continue
		}
		if id := item.Field("id").Literal(); id != "" {
			o.subject += fmt.Sprintf(", chart %q", id)
		}
		c := readChart(o)
		if other := slices.IndexFunc(charts, func(other *Chart) bool { return other.ID == c.ID }); other >= 0 && c.ID != "" {
			o.fail(document.FieldPos(item, "id"), "charts have ids of their own", "id %q appears twice, first %s", c.ID, placeFrom(item.Pos, charts[other].Pos))
		}
		charts = append(charts, c)
	}
	return charts
}

func readChart(o *object) *Chart {
	before := len(o.problems)
	c := &Chart{Pos: o.value.Pos, ID: readID(o).Text, Path: readChartLocation(o), Spec: o.value, policies: lynq.Policies()}
	c.ReleaseName, c.Namespace = notBlank(o.text("releaseName")), notBlank(o.text("namespace"))
	c.IncludeWhen = readCondition(o, "includeWhen")
	c.SkipCRDs, c.EmptyLookups = o.boolean("skipCRDs"), o.boolean("emptyLookups")
	if values := o.object("values"); values != nil && values.value.Kind == document.Map {
		c.Values = values.value
		checkValueKeys(values, c.Values)
	}
	for i, file := range o.texts("valuesFiles") {
		c.ValuesFiles = append(c.ValuesFiles, readChartPath(o, fmt.Sprintf("valuesFiles[%d]", i), file))
	}
	for _, d := range o.texts("dependIds") {
		c.depends, c.DependIDs = append(c.depends, d), append(c.DependIDs, d.Text)
	}
	c.defaults = readDefaults(o)
	o.done()
	c.valid = len(o.problems) == before
	return c
}

// readChartLocation reads the path of a chart, which may be its address in a registry.
func readChartLocation(o *object) Text {
	t := o.needText("path")
	if document.IsTemplate(t.Text) || !lynq.IsChart(t.Text) {
		return readChartPath(o, "path", t)
	}
	if _, err := lynq.ParseChart(t.Text); err != nil {
		fix := ""
		if known, ok := errors.AsType[*lynq.ChartError](err); ok {
			fix = known.Fix
		}
		o.fail(t.Pos, fix, "%s: %v", o.name("path"), err)
	}
	return t
}

// readChartPath checks a path of a chart, which must not lead out of the form's directory.
func readChartPath(o *object, field string, t Text) Text {
	switch {
	case !t.IsSet():
	case document.IsTemplate(t.Text):
		o.fail(t.Pos, "write it out, and use two charts with includeWhen for two sorts of rows", "%s may not be a template", o.name(field))
	case strings.Contains(t.Text, "://"):
		o.fail(t.Pos, "download the file, and name it, so that each run has the same one; helm pull downloads charts", "%s must be a path; found an address", o.name(field))
	case t.Pos.File == files.StdinName:
		o.fail(t.Pos, "give the form as a file", "%s: a form from standard input has no directory", o.name(field))
	case !filepath.IsLocal(t.Text):
		o.fail(t.Pos, "move the chart there, and write its path from the form's file", "%s must be in the directory of the form's file, or below it", o.name(field))
	}
	return t
}

// openCharts reads the files of the form's charts. Forms may come from the memory, so the
// charts become copies.
func (f *Form) openCharts(rep *report, builder Builder, past bool) []*Chart {
	opened := make([]*Chart, len(f.Charts))
	for i, c := range f.Charts {
		next := *c
		next.Past = past
		opened[i] = &next
		subject := fmt.Sprintf("%s, chart %q", subjectOf("form", f.Name), c.ID)
		switch {
		case !c.valid:
		case builder == nil:
			rep.problems.Add(c.Path.Pos, "", "%s: this command renders no charts", subject)
		default:
			var problems lynq.Problems
			next.Opened, problems = builder.Open(&next)
			for _, p := range problems {
				rep.problems.Add(p.Pos, p.Fix, "%s: %s", subject, p.What)
			}
			for _, w := range next.Opened.Warnings {
				rep.warnings.Add(w.Pos, w.Fix, "%s: %s", subject, w.What)
			}
			if len(problems) == 0 {
				checkChartDefaults(rep, subject, c.defaults, []*Chart{&next}, nil)
			}
		}
	}
	return opened
}

// maxBeside limits how many files of a chart watch follows.
const maxBeside = 10_000

// beside returns the files of a chart and its directories, even if the chart has errors.
func (c *Chart) beside() (paths, dirs []string) {
	for _, file := range c.ValuesFiles {
		paths = append(paths, filepath.Join(c.Dir(), filepath.FromSlash(file.Text)))
	}
	if lynq.IsChart(c.Path.Text) { // its digest is in the form
		return paths, nil
	}
	root := filepath.Join(c.Dir(), filepath.FromSlash(c.Path.Text))
	paths = append(paths, root)
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // the next load reports it
		case len(paths)+len(dirs) > maxBeside:
			return filepath.SkipAll
		case entry.IsDir():
			dirs = append(dirs, path)
		default:
			paths = append(paths, path)
		}
		return nil
	})
	return paths, dirs
}

// checkValueKeys reports keys with templates. Only values can be templates.
func checkValueKeys(o *object, v *document.Value) {
	for _, item := range v.Items {
		checkValueKeys(o, item)
	}
	for _, f := range v.Fields {
		if document.IsTemplate(f.Key) {
			o.fail(f.Pos, "only values can be templates", "key %q has a template", f.Key)
		}
		checkValueKeys(o, f.Value)
	}
}

// checkCharts reports dependencies of charts on resources that the form lacks.
func checkCharts(rep *report, subject string, charts []*Chart, entries []*entry) {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	for _, c := range charts {
		for _, d := range c.depends {
			switch i := slices.Index(ids, d.Text); {
			case i < 0:
				rep.problems.Add(d.Pos, suggest.Fix(d.Text, ids), "%s, chart %q: depends on %q, but this form has no resource with that id", subject, c.ID, d.Text)
			case entries[i].Policy.Hook():
				rep.problems.Add(d.Pos, "remove it", "%s, chart %q: depends on %q, which has runOn: Delete and doesn't exist before lynqctl deletes the node", subject, c.ID, d.Text)
			}
		}
	}
}

// ChartOf returns the chart that makes a resource with an id, or nil. The longest id of a chart
// wins, because a chart web-db makes no resources of a chart web.
func (f *Form) ChartOf(id string) *Chart {
	var of *Chart
	for _, c := range f.Charts {
		if strings.HasPrefix(id, c.ID+"-") && (of == nil || len(of.ID) < len(c.ID)) {
			of = c
		}
	}
	return of
}

// Resource returns the resource with an id, or nil. For an object of a chart, it returns one
// that stands for all of the chart, because no row is known.
func (f *Form) Resource(id string) *Resource {
	if i := slices.IndexFunc(f.Resources, func(r *Resource) bool { return r.ID == id }); i >= 0 {
		return f.Resources[i]
	}
	c := f.ChartOf(id)
	if c == nil {
		return nil
	}
	return &Resource{Pos: c.Pos, ID: id, Section: chartSection, Chart: c, Manifest: &document.Value{Kind: document.Map, Pos: c.Pos}, Policy: lynq.DefaultPolicy()}
}
