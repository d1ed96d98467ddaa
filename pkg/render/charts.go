package render

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Charts renders Helm charts.
type Charts interface {
	// Release returns all that a release's templates make, in the order of the templates.
	// Several goroutines call it.
	Release(c *form.Chart, r *Release) ([]form.ChartObject, lynq.Problems)
}

// Release says what a row makes of a chart.
type Release struct {
	Name, Namespace string
	Values          []byte // as JSON
	Secret          bool   // problems must not quote values
	// Check asks for the lines of templates whose results aren't YAML. It costs as much as
	// another release.
	Check bool
}

// chart is a compiled chart of a form.
type chart struct {
	*form.Chart
	at        place
	when      *node // the condition for a row to get it; nil for all rows
	name      checkedName
	namespace checkedName
	values    *node
	ops       []op // write the values as JSON
	digest    string
	drops     string // stands for objects of this version of the chart, see lynq.Drops
	sensitive bool   // a secret column feeds it
}

// maxReleaseName is the length that Helm allows (helm.sh/helm: chart/common/util,
// ValidateReleaseName).
const maxReleaseName = 53

func releaseRule() nameRule {
	return nameRule{form: nameSubdomain, max: maxReleaseName, what: "releaseName", why: "Helm allows no longer ones"}
}

// chart compiles what a form says of a chart. Only values may have secret columns.
func (c *compiler) chart(of *form.Chart) {
	c.res = &form.Resource{Pos: of.Pos, ID: of.ID}
	c.charts = append(c.charts, of)
	out := chart{Chart: of, at: c.place(of.Pos, "")}
	if of.IncludeWhen.Text != "" {
		c.program.conditional = true
		out.when = c.text(of.IncludeWhen.Text, c.place(of.IncludeWhen.Pos, "includeWhen"), false, use{trim: true, condition: true})
	}
	name, at := of.ReleaseName.Text, c.place(of.ReleaseName.Pos, "releaseName")
	if name == "" {
		name, at.pos = "{{ .uid }}", of.Pos
	}
	out.name = c.checkedName(name, releaseRule(), at)
	out.namespace = checkedName{node: staticText(c.program.Namespace)}
	if of.Namespace.Text != "" {
		out.namespace = c.checkedName(of.Namespace.Text, namespaceRule(), c.place(of.Namespace.Pos, "namespace"))
	}
	out.values = &node{kind: document.Map, slot: noSlot}
	if of.Values != nil {
		out.values = c.chartValue(of.Values, []string{"values"})
	}
	var l layout
	if err := l.json(out.values); err != nil {
		c.fail(out.at, "", "%v", err)
	}
	out.ops = l.ops
	c.uid(out.at) // the chart's objects need them, and no row compiles an expression
	c.nodeName(out.at)
	c.program.charts = append(c.program.charts, out)
}

// chartValue compiles a part of a chart's values. Nobody knows which values the chart puts
// into Secrets, so secret columns are allowed everywhere.
func (c *compiler) chartValue(v *document.Value, path []string) *node {
	n := &node{kind: v.Kind, value: v, slot: noSlot}
	switch v.Kind {
	case document.String:
		at := c.place(v.Pos, fieldPath(path))
		at.inSecret = true
		return c.text(v.Str, at, false, use{})
	case document.List:
		for _, item := range v.Items {
			n.items = append(n.items, c.chartValue(item, append(path, "[]")))
		}
	case document.Map:
		for _, f := range v.Fields {
			n.fields = append(n.fields, field{key: f.Key, node: c.chartValue(f.Value, append(path, f.Key))})
		}
	}
	return n
}

// finishCharts computes what needs all expressions of the form.
func (p *Program) finishCharts() {
	for i := range p.charts {
		c := &p.charts[i]
		d := newDigester()
		d.texts("chart", c.Opened.Digest, p.Namespace)
		d.value(c.Spec)
		if defaults := p.Form.Spec.Field("defaults"); defaults != nil {
			d.value(defaults)
		}
		for _, n := range []*node{c.name.node, c.namespace.node, c.values} {
			d.columns(p, n)
		}
		c.digest = d.short()
		c.drops = lynq.DropsChart(c.ID, c.digest)
		c.sensitive = slices.ContainsFunc(p.chartFields(c), func(f FieldColumns) bool { return f.Secret })
	}
}

// chartFields returns which columns feed the objects of a chart. Any of them may feed any
// field, so the path is empty.
func (p *Program) chartFields(c *chart) []FieldColumns {
	w := columnWalk{program: p}
	for _, n := range []*node{c.name.node, c.namespace.node, c.values} {
		w.node(n, nil)
	}
	all := FieldColumns{}
	for _, f := range w.fields {
		all.Columns, all.Secret = append(all.Columns, f.Columns...), all.Secret || f.Secret
	}
	if slices.Sort(all.Columns); len(all.Columns) == 0 {
		return nil
	}
	all.Columns = slices.Compact(all.Columns)
	return []FieldColumns{all}
}

// chartOf returns the chart that makes a resource, or nil.
func (p *Program) chartOf(id string) *chart {
	of := p.Form.ChartOf(id)
	i := slices.IndexFunc(p.charts, func(c chart) bool { return c.Chart == of })
	if i < 0 {
		return nil
	}
	return &p.charts[i]
}

// includeCharts decides which charts the row gets.
func (f *frame) includeCharts(problems *lynq.Problems) {
	for i := range f.base.charts {
		c := &f.base.charts[i]
		if f.without[i] = false; c.when == nil {
			continue
		}
		f.without[i] = !f.isTrue(c.when, place{pos: c.IncludeWhen.Pos, resource: c.ID, chart: true, field: "includeWhen"}, problems)
	}
}

// expand adds the objects of the row's charts to the frame's program.
func (f *frame) expand(problems *lynq.Problems) {
	var releases []form.Release
	var found lynq.Problems
	before := len(*problems)
	for i := range f.base.charts {
		if !f.without[i] {
			r, unread := f.release(&f.base.charts[i], problems)
			releases, found = append(releases, r), append(found, unread...)
		}
	}
	if len(*problems) > before {
		return
	}
	next, more := f.base.Form.WithReleases(releases)
	if found = append(found, more...); len(found) == 0 {
		if annotate := f.base.options.Annotate; annotate != nil {
			annotate(next)
		}
		f.program, found = f.base.with(next)
		found = append(found, f.shown(next.Resources[len(f.base.resources):])...)
	}
	for _, p := range found {
		p.Row = strings.Clone(f.uid)
		*problems = append(*problems, p)
	}
	n := len(f.program.resources)
	f.left = slices.Grow(f.left, n)[:n]
	f.outside = slices.Grow(f.outside, n)[:n]
	clear(f.left[len(f.base.resources):])
	clear(f.outside[len(f.base.resources):])
}

// contract drops the objects of the last row's charts.
func (f *frame) contract() {
	n := len(f.base.resources)
	f.program, f.left, f.outside = f.base, f.left[:n], f.outside[:n]
}

// release asks for the objects of a chart, and reads them. It also returns what is wrong with
// objects, if the chart doesn't know better.
func (f *frame) release(c *chart, problems *lynq.Problems) (form.Release, lynq.Problems) {
	r := form.Release{Chart: c.Chart, Name: string(f.textOf(c.name.node))}
	r.Namespace = string(f.textOf(c.namespace.node)) // the first text is valid only until this call
	before := len(*problems)
	f.checkName(&c.name, problems)
	f.checkName(&c.namespace, problems)
	values, err := f.appendJSON(nil, c.ops, 0)
	if err != nil {
		f.fail(problems, c.at, "", "%v", err)
	}
	if len(*problems) > before {
		return r, nil
	}
	of := Release{Name: r.Name, Namespace: r.Namespace, Values: values, Secret: c.sensitive}
	objects, found := f.base.options.Charts.Release(c.Chart, &of)
	var unread lynq.Problems
	if r.Documents, unread = form.ReadChart(objects); len(unread) > 0 {
		of.Check = true
		_, found = f.base.options.Charts.Release(c.Chart, &of)
	}
	for _, p := range found {
		f.fail(problems, place{pos: p.Pos, resource: c.ID, chart: true}, p.Fix, "%s", p.What)
	}
	return r, unread
}

// with returns the program with the objects of a row's charts, which follow the program's
// resources in the form. It compiles no expression.
func (p *Program) with(f *form.Form) (*Program, lynq.Problems) {
	next := *p
	next.resources = slices.Clip(p.resources)
	c := &compiler{program: &next, options: p.options, known: p.own, literal: true}
	for _, r := range f.Resources[len(p.resources):] {
		c.resource(r)
	}
	for i := range next.resources[len(p.resources):] {
		r := &next.resources[len(p.resources)+i]
		if r.Policy.Hook() && r.outside {
			c.problems.Add(r.Pos, "remove namespace from the chart in the form, or switch the hook off in values",
				"form %q, resource %q: the chart has a hook pre-delete in another namespace than the node's, and lynqctl doesn't run it there", p.Form.Name, r.ID)
		}
		of := slices.IndexFunc(p.charts, func(c chart) bool { return c.Chart == r.Chart })
		r.template, r.sensitive = p.charts[of].digest, p.charts[of].sensitive
	}
	next.inOrder()
	return &next, c.problems
}

// inOrder puts resources in the order of their waves. Those of the form have it already.
func (p *Program) inOrder() {
	p.places = make([]int, len(p.resources))
	for i := range p.places {
		p.places[i] = i
	}
	if len(p.charts) > 0 {
		slices.SortStableFunc(p.places, func(a, b int) int {
			return p.resources[a].Policy.ApplyOrder - p.resources[b].Policy.ApplyOrder
		})
	}
}
