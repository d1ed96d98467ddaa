package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/render/expr"
)

// Options say how to render forms.
type Options struct {
	// Namespace is the namespace of all nodes. If it is "", the form's namespace applies,
	// then the hub's, then FallbackNamespace.
	Namespace         string
	FallbackNamespace string
	// HubNamespace is for hubs whose file names no namespace, if Namespace is "" too. Render
	// leaves it "", because it needs no cluster.
	HubNamespace string
	// AllowVarying lets resources that lynqctl creates only once call functions with
	// varying results.
	AllowVarying bool
	// ClusterScoped has kinds without a namespace, in addition to those of Kubernetes.
	ClusterScoped map[form.GroupKind]bool
	// Verbatim is an annotation for objects that a tool's variable substitution could
	// change (see substitutable). The form's own value wins. An empty key adds none.
	Verbatim form.Entry
	// Charts renders the charts of forms.
	Charts Charts
	// Strict makes an object of a chart an error if it shows a secret column outside a Secret.
	Strict bool
	// Annotate adds annotations to a row's resources, as the caller did to those of the form.
	// nil adds none.
	Annotate func(f *form.Form)
	// Kustomize makes text that kustomize can't build an error, because kustomize reads
	// the output.
	Kustomize bool
}

// namespaceOf returns the namespace of a form's nodes (contract: nodes).
func (o Options) namespaceOf(f *form.Form, h *form.Hub) string {
	for _, ns := range []string{o.Namespace, f.Namespace, h.Namespace, o.FallbackNamespace} {
		if ns != "" {
			return ns
		}
	}
	return "default"
}

// hubNamespaceOf returns the namespace of a hub, or "" if it isn't known.
func (o Options) hubNamespaceOf(h *form.Hub) string {
	return cmp.Or(h.Namespace, o.Namespace, o.HubNamespace)
}

// Program is a compiled form. It is immutable and safe for concurrent use.
type Program struct {
	Form      *form.Form
	Hub       *form.Hub
	Namespace string // namespace of its nodes
	// HubNamespace is the hub's namespace, or "" if it isn't known.
	HubNamespace string
	Exclude      lynq.Exclusions // rules of the form and the hub

	uid       int           // index of the uid's column
	columns   []string      // of a row, see Columns
	fields    []lookupField // their values follow those of the columns
	exprs     *expr.Set
	uses      []usage // usage of each expression
	resources []resource
	charts    []chart
	places    []int // of the resources in the order in which they are written
	// own are the slots of lynqctl's own expressions.
	own       map[string]int
	kustomize bool    // see Options.Kustomize
	options   Options // of Compile
	// conditional is set if some rows don't get all resources.
	conditional bool
	// exposed are the places outside Secrets that show values of secret columns.
	exposed     lynq.Problems
	tombstones  []tombstone
	dependForms []string // sorted
	inputs      []input
	// stages are the conditions of the rollout's stages. It is nil without a rollout.
	stages []*node
}

// place is the position of a string in a form.
type place struct {
	pos      lynq.Pos
	resource string // id of the resource, or of the chart
	chart    bool
	field    string // "spec.replicas", "nameTemplate", ...
	secret   bool   // the value may be secret, so errors must not show it
	inSecret bool   // it is a value of a Secret
}

// usage is the place of an expression's string, with the resources that need the result.
type usage struct {
	// at is the string's first place. more counts other places, for errors, because the
	// string runs once for all of them.
	at   place
	more int
	// always means that every row needs the result. Otherwise only rows with one of these
	// resources do.
	always bool
	of     []int
	// condition means that the string decides whether a row gets a resource. It runs
	// first.
	condition bool
}

// resource is a compiled resource of a form.
type resource struct {
	*form.Resource
	group     string
	identity  string // group and kind, the start of the key that finds duplicates
	name      checkedName
	namespace checkedName // its node is nil if the kind has no namespace
	outside   bool        // a static namespace differs from the node's
	when      *node       // the condition for a row to get it; nil for all rows
	root      *node
	layouts   layouts
	labels    []checkedText // labels that depend on the row
	labelMap  *node
	// podNames are names in the manifest that controllers make names of Pods of.
	podNames []checkedName
	indexed  *indexed // nil if it is no indexed Job
	// annotations are those of the object, and then those of templates in it.
	annotations []measure
	data        []dataValue // the values of a ConfigMap or a Secret
	size        measure     // of data, or else of the body
	at          place
	template    string // see templateDigest
	sensitive   bool   // it has a value of a secret column
}

// checkedName is the name or namespace of an object.
type checkedName struct {
	node *node
	at   place
	rule nameRule
	good bool // the sample of its expression is a valid name
}

// subject names a place in messages by form, resource and field.
func (p *Program) subject(at place) string {
	switch {
	case at.chart && at.field == "":
		return fmt.Sprintf("form %q, chart %q", p.Form.Name, at.resource)
	case at.chart:
		return fmt.Sprintf("form %q, chart %q, %s", p.Form.Name, at.resource, at.field)
	}
	return fmt.Sprintf("form %q, resource %q, %s", p.Form.Name, at.resource, at.field)
}

// checkedText is the value of a label.
type checkedText struct {
	node *node
	at   place
	good bool // the sample of its expression is a valid value
}

// Columns returns the columns that a hub maps or looks up, each once. Rows for its programs have this
// order.
func Columns(h *form.Hub) []string {
	var columns []string
	for _, m := range h.Mappings {
		if !slices.Contains(columns, m.Column) {
			columns = append(columns, m.Column)
		}
	}
	more := []string{h.Expires.Column, h.PreviousUID.Column}
	for _, l := range h.Lookups {
		more = append(more, l.Column)
	}
	for _, c := range more {
		if c != "" && !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// column returns the index of a variable's column in rows. It returns expr.NoColumn if the
// hub doesn't map the variable.
func column(h *form.Hub, variable string) int {
	for _, m := range h.Mappings {
		if m.Variable == variable {
			return slices.Index(Columns(h), m.Column)
		}
	}
	return expr.NoColumn
}

// Compile compiles a form. It reports all errors in templates, names and labels that show
// without a row. The program is nil if there are errors.
func Compile(f *form.Form, h *form.Hub, o Options) (*Program, lynq.Problems) {
	p := &Program{
		Form:      f,
		Hub:       h,
		Namespace: o.namespaceOf(f, h), HubNamespace: o.hubNamespaceOf(h),
		uid: column(h, "uid"), columns: Columns(h),
		Exclude:   slices.Concat(f.Exclude, h.Exclude),
		kustomize: o.Kustomize, options: o,
	}
	for _, d := range f.DependForms {
		p.dependForms = append(p.dependForms, d.Text)
	}
	slices.Sort(p.dependForms)
	scope := newScope(p, o)
	c := &compiler{program: p, scope: scope, exprs: expr.NewCompiler(scope), options: o, known: map[string]int{}}
	p.exprs = c.exprs.Set()
	if !naming.IsDNS1123Label(p.Namespace) {
		c.problems.Add(f.Pos, "use at most 63 lowercase letters, digits, and '-'", "namespace %q of form %q isn't valid in Kubernetes", p.Namespace, f.Name)
	}
	for _, r := range f.Resources {
		c.resource(r)
	}
	for _, t := range f.Tombstones {
		c.tombstone(t)
	}
	for _, chart := range f.Charts {
		c.chart(chart)
	}
	c.charts = nil
	c.stages(f.Rollout.Stages)
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	p.keepSecrets()
	p.inputs = p.readInputs()
	for i := range p.resources {
		r := &p.resources[i]
		r.sensitive = slices.ContainsFunc(p.Fields(r.ID), func(f FieldColumns) bool { return f.Secret })
	}
	p.finishCharts()
	p.inOrder()
	p.own = c.known
	c.exprs.Finish()
	return p, nil
}

// Version compiles another version of the form for the same hub, with the same options. It
// returns nil if that version has errors.
func (p *Program) Version(f *form.Form) *Program {
	other, _ := Compile(f, p.Hub, p.options) // its errors are no longer anybody's problem
	return other
}

// keepSecrets marks expressions with a secret column as secret. A column in any Secret is
// secret everywhere, except the uid.
func (p *Program) keepSecrets() {
	secret := map[int]bool{}
	for i := range len(p.columns) + len(p.fields) {
		secret[i] = p.secret(i)
	}
	for i := range p.uses {
		if p.uses[i].at.secret {
			for _, column := range p.exprs.Columns(i) {
				secret[column] = column != p.uid
			}
		}
	}
	for i := range p.uses {
		at := &p.uses[i].at
		at.secret = at.secret || slices.ContainsFunc(p.exprs.Columns(i), func(column int) bool { return secret[column] })
	}
}

// newScope returns the variables of contract section 1, "Templates".
func newScope(p *Program, o Options) *expr.Scope {
	s := &expr.Scope{
		Columns: map[string]int{}, Lookups: lookupsOf(p.Hub), Width: len(p.columns),
		Constants: map[string]string{
			"hubId":       p.Hub.Name,
			"templateRef": p.Form.Name,
			"namespace":   p.Namespace,
		},
		Varying: o.AllowVarying, UID: p.uid, HostOrURL: column(p.Hub, "hostOrUrl"),
	}
	for _, m := range p.Hub.Mappings {
		s.Columns[m.Variable] = column(p.Hub, m.Variable)
	}
	if _, mapped := s.Columns["host"]; s.HostOrURL != expr.NoColumn && !mapped {
		s.Columns["host"] = expr.HostColumn
	}
	return s
}

// compiler compiles one form.
type compiler struct {
	program  *Program
	scope    *expr.Scope
	exprs    *expr.Compiler
	options  Options
	known    map[string]int // from text and use to the expression
	problems lynq.Problems

	// These fields describe the current resource.
	res       *form.Resource
	labels    []checkedText
	uidLabels bool          // it has a label lynq.sh/uid somewhere
	aside     bool          // the text belongs to no resource, and all rows need it
	charts    []*form.Chart // those so far, while it compiles charts
	literal   bool          // no text is a template
}

func (c *compiler) place(pos lynq.Pos, field string) place {
	return place{pos: pos, resource: c.res.ID, chart: len(c.charts) > 0, field: field}
}

func (c *compiler) fail(at place, fix, format string, args ...any) {
	c.problems.Add(at.pos, fix, "%s: %s", c.program.subject(at), fmt.Sprintf(format, args...))
}

// use says how the output uses a string, if this changes the result.
type use struct {
	trim      bool
	uidLabel  bool
	condition bool
	name      bool // the name of an object or a namespace
}

// text compiles a string into a static node or a slot.
func (c *compiler) text(s string, at place, stringOnly bool, u use) *node {
	if u.trim && (c.literal || !strings.Contains(s, "{{")) {
		s = strings.TrimSpace(s)
	}
	if c.literal {
		return staticText(s)
	}
	key := fmt.Sprint("text ", u.trim, u.uidLabel, s)
	i, ok := c.known[key]
	if !ok {
		e, findings := c.exprs.Compile(s, c.res.Policy.Creation.Once())
		c.program.syncFields(c.scope)
		for _, f := range findings {
			c.fail(at, f.Fix, "%s", f.What)
		}
		if len(findings) > 0 {
			return &node{kind: document.Null, slot: noSlot} // not cached, so that the next place reports it too
		}
		if static, ok := e.Static(); ok {
			return staticText(static)
		}
		e.Trim, e.UIDLabel = u.trim, u.uidLabel
		i = c.add(e, usage{at: at})
		if !e.Varies { // a varying string runs for each of its places
			c.known[key] = i
		}
	}
	e, of := c.program.exprs.At(i), &c.program.uses[i]
	if ok {
		of.more++
	}
	if c.aside {
		of.always = true
	} else {
		of.of = append(of.of, c.owner())
	}
	of.condition = of.condition || u.condition
	c.expose(i, at, u)
	n := &node{kind: document.String, slot: i, text: stringOnly || e.Result == expr.Text}
	e.Styled = e.Styled || n.text
	of.at.secret = of.at.secret || at.secret
	return n
}

// owner returns the place of the current resource, or -1 for the first chart, -2 for the
// second, and so on.
func (c *compiler) owner() int {
	if n := len(c.charts); n > 0 {
		return -n
	}
	return len(c.program.resources)
}

// add adds an expression to the program.
func (c *compiler) add(e expr.Expr, u usage) int {
	c.program.uses = append(c.program.uses, u)
	return c.exprs.Add(e)
}

// uid returns a slot with the row's uid.
func (c *compiler) uid(at place) *node {
	return c.fixed("uid", c.exprs.OfUID, at)
}

// nodeName returns a slot with the name of the row's node.
func (c *compiler) nodeName(at place) *node {
	return c.fixed("node", func() expr.Expr { return c.exprs.OfNode(c.program.Form.Name) }, at)
}

// fixed returns a slot for one of lynqctl's own expressions. It adds the expression once.
func (c *compiler) fixed(key string, compile func() expr.Expr, at place) *node {
	i, ok := c.known[key]
	if !ok {
		e := compile()
		e.Styled = true
		i = c.add(e, usage{at: at, always: true})
		c.known[key] = i
	}
	return &node{kind: document.String, slot: i, text: true}
}

// value compiles a part of a manifest.
func (c *compiler) value(v *document.Value, path []string) *node {
	n := &node{kind: v.Kind, value: v, slot: noSlot}
	switch v.Kind {
	case document.String:
		return c.leaf(v, path)
	case document.List:
		for _, item := range v.Items {
			n.items = append(n.items, c.value(item, append(path, "[]")))
		}
	case document.Map:
		for _, f := range v.Fields {
			n.fields = append(n.fields, field{key: f.Key, node: c.value(f.Value, append(path, f.Key))})
		}
	}
	return n
}

// leaf compiles a string of a manifest. It remembers the string if Kubernetes requires the
// value of a label there.
func (c *compiler) leaf(v *document.Value, path []string) *node {
	key, parent := path[len(path)-1], ""
	if len(path) > 1 {
		parent = path[len(path)-2]
	}
	isLabel := parent == "labels" || parent == "matchLabels" || parent == "nodeSelector"
	if c.literal && !isLabel {
		return &node{kind: document.String, value: v, static: []byte(v.Str), slot: noSlot}
	}
	at := c.place(v.Pos, fieldPath(path))
	at.inSecret = c.res.Kind == "Secret" && c.res.APIVersion == "v1" && path[0] != "metadata"
	at.secret = at.inSecret
	u := use{uidLabel: isLabel && key == wellknown.LabelUID}
	c.uidLabels = c.uidLabels || u.uidLabel
	n := c.text(v.Str, at, form.StringOnly(c.res.APIVersion, c.res.Kind, path), u)
	if isLabel && (path[0] == "metadata" || c.ofKubernetes()) {
		c.labels = append(c.labels, c.checkedLabel(n, at))
	}
	return n
}

// ofKubernetes reports whether the kind is part of Kubernetes, so that its fields have
// known meanings.
func (c *compiler) ofKubernetes() bool {
	group, _ := lynq.SplitAPIVersion(c.res.APIVersion)
	return kinds.BuiltIn(group)
}

// fieldPath formats a path as in spec.containers[0].image.
func fieldPath(path []string) string {
	var b strings.Builder
	for _, p := range path {
		if p != "[]" && b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(p)
	}
	return b.String()
}
