package render

import (
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// resource compiles one resource, which is its manifest with lynqctl's metadata.
func (c *compiler) resource(r *form.Resource) {
	c.res, c.labels, c.uidLabels = r, nil, false
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	clusterScoped := kinds.ClusterScoped(group, r.Kind) || c.options.ClusterScoped[form.GroupKind{Group: group, Kind: r.Kind}]
	out := resource{
		Resource: r,
		group:    group,
		identity: group + "\x00" + r.Kind + "\x00",
		at:       c.place(r.Pos, "metadata"),
	}
	out.when = c.condition(r)
	out.name = c.name(narrowed(nameRuleOf(group, r.Kind), group, r.Kind))
	if !clusterScoped {
		out.namespace = c.namespace()
		n := out.namespace.node
		out.outside = n.slot == noSlot && string(n.static) != c.program.Namespace
	}
	var content []field
	for _, f := range r.Manifest.Fields {
		switch f.Key {
		case "apiVersion", "kind", "metadata":
		default:
			content = append(content, field{key: f.Key, node: c.value(f.Value, []string{f.Key})})
		}
	}
	root := &node{kind: document.Map, slot: noSlot}
	root.fields = append([]field{
		{key: "apiVersion", node: staticText(r.APIVersion)},
		{key: "kind", node: staticText(r.Kind)},
		{key: "metadata", node: c.metadata(&out)},
	}, content...)
	out.root, out.labels = root, c.labels
	out.podNames, out.indexed = c.podNames(&out), indexedOf(group, r.Kind, root)
	c.checkStatic(&out)
	if c.options.Kustomize {
		c.checkList(&out)
		c.checkKustomize(root, nil)
	}
	if !c.literal { // rows share it, so nothing may change later
		if err := out.layOut(); err != nil {
			c.fail(out.at, "", "%v", err)
		}
	}
	c.measures(&out, out.root.child("metadata", "annotations"))
	if len(c.problems) == 0 && r.Chart == nil { // all objects of a chart have the chart's
		out.template = c.program.templateDigest(&out)
	}
	c.program.resources = append(c.program.resources, out)
}

// condition compiles the condition for rows to get the resource, or returns nil for all
// rows.
func (c *compiler) condition(r *form.Resource) *node {
	if r.IncludeWhen.Text == "" {
		return nil
	}
	c.program.conditional = true
	return c.text(r.IncludeWhen.Text, c.place(r.IncludeWhen.Pos, "includeWhen"), false, use{trim: true, condition: true})
}

// name compiles the object's name from nameTemplate, or else from metadata.name.
func (c *compiler) name(rule nameRule) checkedName {
	at, s := c.place(c.res.NameTemplate.Pos, "nameTemplate"), c.res.NameTemplate.Text
	if s == "" {
		if v := c.res.Manifest.Field("metadata").Field("name"); v != nil {
			at, s = c.place(v.Pos, "metadata.name"), v.Str
		}
	}
	if s == "" {
		return checkedName{node: staticText("")} // Load reports the missing name
	}
	return c.checkedName(s, rule, at)
}

// namespace compiles the object's namespace. It comes from targetNamespace, then
// metadata.namespace, then the node.
func (c *compiler) namespace() checkedName {
	at, s := c.place(c.res.TargetNamespace.Pos, "targetNamespace"), c.res.TargetNamespace.Text
	if s == "" {
		if v := c.res.Manifest.Field("metadata").Field("namespace"); v != nil {
			at, s = c.place(v.Pos, "metadata.namespace"), v.Str
		}
	}
	if s == "" {
		return checkedName{node: staticText(c.program.Namespace)}
	}
	return c.checkedName(s, namespaceRule(), at)
}

// metadata builds the object's metadata. Name and namespace come first, then sorted labels
// and annotations, then the form's other fields.
func (c *compiler) metadata(r *resource) *node {
	meta := &node{kind: document.Map, slot: noSlot}
	meta.fields = append(meta.fields, field{key: "name", node: r.name.node})
	if r.namespace.node != nil {
		meta.fields = append(meta.fields, field{key: "namespace", node: r.namespace.node})
	}
	labels, annotations := c.tracking(r)
	manifest := c.res.Manifest.Field("metadata")
	own := c.entries(manifest.Field("labels"), "labels", c.res.Labels, "labelsTemplate")
	texts := c.entries(manifest.Field("annotations"), "annotations", c.res.Annotations, "annotationsTemplate")
	if _, said := texts[wellknown.AnnotationUID]; c.uidLabels && !said {
		annotations[wellknown.AnnotationUID] = field{node: c.uid(r.at), when: madeUID}
	}
	if verbatim := c.options.Verbatim; verbatim.Key != "" {
		if _, said := texts[verbatim.Key]; !said {
			annotations[verbatim.Key] = field{node: staticText(verbatim.Text.Text), when: altered}
		}
	}
	r.labelMap = mapNode(own, labels)
	meta.fields = append(meta.fields, field{key: "labels", node: r.labelMap})
	all := mapNode(texts, annotations)
	meta.fields = append(meta.fields, field{key: "annotations", node: all})
	if manifest != nil {
		for _, f := range manifest.Fields {
			switch f.Key {
			case "name", "namespace", "labels", "annotations":
			default:
				meta.fields = append(meta.fields, field{key: f.Key, node: c.value(f.Value, []string{"metadata", f.Key})})
			}
		}
	}
	return meta
}

// tracking returns the labels and annotations of contract section 3, except those of an
// inventory.
func (c *compiler) tracking(r *resource) (labels, annotations map[string]field) {
	labels = map[string]field{wellknown.LabelHub: {node: staticText(c.program.Hub.Name)}}
	when, tracked := c.tracked(r)
	if tracked {
		labels[wellknown.LabelNode] = field{node: c.nodeName(r.at), when: when}
		labels[wellknown.LabelNodeNamespace] = field{node: staticText(c.program.Namespace), when: when}
		if hub := c.program.HubNamespace; hub != "" && hub != c.program.Namespace {
			labels[wellknown.LabelHubNamespace] = field{node: staticText(hub), when: when}
		}
	}
	annotations = map[string]field{
		wellknown.AnnotationDeletionPolicy: {node: staticText(string(r.Policy.Deletion))},
		wellknown.AnnotationResourceID:     {node: staticText(r.ID)},
	}
	if hint := r.Policy.Readiness; hint != nil {
		annotations[wellknown.AnnotationStatusHint] = field{node: staticText(hint.String())}
	}
	if r.Policy.Hook() {
		annotations[wellknown.AnnotationRunOn] = field{node: staticText(string(r.Policy.RunOn))}
	}
	if r.Policy.Creation.Once() {
		annotations[wellknown.AnnotationCreatedOnce] = field{node: staticText("true")}
	}
	return labels, annotations
}

// tracked returns when an object gets its node's labels instead of an owner reference.
// This holds for objects that outlive their node, are cluster-scoped, or have another
// namespace. If a template sets the namespace, it holds only for some rows.
func (c *compiler) tracked(r *resource) (condition, bool) {
	switch {
	case r.Policy.Deletion.Kept().WhenNodeGoes, r.namespace.node == nil:
		return always, true
	case r.namespace.node.slot != noSlot:
		return foreign, true
	}
	return always, r.outside
}

// entries compiles labels or annotations. The resource's template overrides the manifest.
func (c *compiler) entries(manifest *document.Value, name string, over []form.Entry, overName string) map[string]field {
	m := map[string]field{}
	if manifest != nil {
		for _, f := range manifest.Fields {
			if !slices.ContainsFunc(over, func(e form.Entry) bool { return e.Key == f.Key }) {
				m[f.Key] = field{node: c.value(f.Value, []string{"metadata", name, f.Key})}
				c.checkKey(f.Key, c.place(f.Pos, "metadata."+name))
			}
		}
	}
	for _, e := range over {
		at := c.place(e.Text.Pos, overName+"."+e.Key)
		u := use{uidLabel: name == "labels" && e.Key == wellknown.LabelUID}
		c.uidLabels = c.uidLabels || u.uidLabel
		n := c.text(e.Text.Text, at, true, u)
		if name == "labels" {
			c.labels = append(c.labels, c.checkedLabel(n, at))
		}
		m[e.Key] = field{node: n}
		c.checkKey(e.Key, at)
	}
	return m
}

// checkedName compiles and checks a name. It notes whether rows can use the fast check.
func (c *compiler) checkedName(s string, rule nameRule, at place) checkedName {
	n := c.text(s, at, true, use{trim: true, name: true})
	c.checkNameText(n, s, rule, at)
	return checkedName{node: n, at: at, rule: rule, good: rule.accepts([]byte(c.sample(n)))}
}

func (c *compiler) checkedLabel(n *node, at place) checkedText {
	sample := c.sample(n)
	return checkedText{node: n, at: at, good: sample != "" && naming.IsLabelValue(sample)}
}

// sample returns a slot's result if all inputs are sample words. It returns "" for any
// other node.
func (c *compiler) sample(n *node) string {
	if n.slot == noSlot {
		return ""
	}
	return c.exprs.Set().At(n.slot).Sample()
}

func mapNode(own, lynqs map[string]field) *node {
	all := maps.Clone(own)
	maps.Copy(all, lynqs)
	return &node{kind: document.Map, slot: noSlot, fields: sortedFields(all)}
}

func sortedFields(m map[string]field) []field {
	fields := make([]field, 0, len(m))
	for key, f := range m {
		f.key = key
		fields = append(fields, f)
	}
	return sortedByKey(fields)
}
