package render

import (
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Hooks returns the form's resources with runOn: Delete, without values of rows.
func (p *Program) Hooks() []lynq.Hook {
	var hooks []lynq.Hook
	for i := range p.resources {
		r := &p.resources[i]
		if !r.Policy.Hook() {
			continue
		}
		h := lynq.Hook{ID: r.ID, Group: r.group, Kind: r.Kind}
		if r.TargetNamespace.Text != "" || r.Manifest.Field("metadata").Field("namespace") != nil {
			h.Namespace = p.pieces(r.namespace.node)
		}
		h.Manifest, _ = p.outline(r.root).(map[string]any)
		leaveAdded(h.Manifest)
		hooks = append(hooks, h)
	}
	for i := range p.charts {
		hooks = append(hooks, p.charts[i].hooks()...)
	}
	return hooks
}

// hooks returns the hooks that a chart may have. Only a row tells their names and contents, so
// they run in the namespace of their node only.
func (c *chart) hooks() []lynq.Hook {
	if !c.Opened.DeletionHooks {
		return nil
	}
	return []lynq.Hook{
		{ID: c.ID + "-job", Prefix: true, Group: "batch", Kind: "Job"},
		{ID: c.ID + "-pod", Prefix: true, Kind: "Pod"},
	}
}

// leaveAdded removes the fields that lynqctl adds to a manifest.
func leaveAdded(manifest map[string]any) {
	metadata, _ := manifest["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	for _, key := range append(lynq.NodeLabelKeys(), wellknown.LabelHub) {
		delete(labels, key)
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	for _, key := range []string{wellknown.AnnotationDeletionPolicy, wellknown.AnnotationResourceID, wellknown.AnnotationRunOn} {
		delete(annotations, key)
	}
}

// outline returns a part of a manifest for lynq.Hook.
func (p *Program) outline(n *node) any {
	switch {
	case n.slot != noSlot && n.text:
		return p.pieces(n)
	case n.slot != noSlot:
		return lynq.Scalar{}
	}
	switch n.kind {
	case document.Map:
		m := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			if f.when == always { // the rest is from lynqctl
				m[f.key] = p.outline(f.node)
			}
		}
		return m
	case document.List:
		l := make([]any, len(n.items))
		for i, item := range n.items {
			l[i] = p.outline(item)
		}
		return l
	}
	return n.fixed()
}

// pieces splits a text into fixed text and gaps.
func (p *Program) pieces(n *node) lynq.Text {
	if n.slot == noSlot {
		return lynq.Text{{Fixed: string(n.static)}}
	}
	return p.exprs.Pieces(n.slot)
}
