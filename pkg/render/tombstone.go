package render

import (
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// tombstone is a compiled tombstone of a form.
type tombstone struct {
	*form.Tombstone
	group     string
	name      checkedName
	namespace checkedName // its node is nil if the kind has no namespace
	match     map[string]field
	labels    []checkedText // labels that depend on the row
}

// tombstone compiles one tombstone. An empty name is an error of the row, as for objects,
// because it must never select several objects.
func (c *compiler) tombstone(t *form.Tombstone) {
	group, _ := lynq.SplitAPIVersion(t.APIVersion)
	c.res = &form.Resource{
		Pos: t.Pos, ID: t.ID, APIVersion: t.APIVersion, Kind: t.Kind,
		NameTemplate: t.NameTemplate, TargetNamespace: t.TargetNamespace,
	}
	c.labels, c.uidLabels, c.aside = nil, false, true
	defer func() { c.aside = false }()
	out := tombstone{Tombstone: t, group: group, name: c.name(nameRuleOf(group, t.Kind))}
	if !kinds.ClusterScoped(group, t.Kind) && !c.options.ClusterScoped[form.GroupKind{Group: group, Kind: t.Kind}] {
		out.namespace = c.namespace()
	}
	out.match = c.entries(nil, "labels", t.MatchLabels, "matchLabels")
	out.labels = c.checkStaticLabels(c.labels)
	c.program.tombstones = append(c.program.tombstones, out)
}

// checkTombstones reports names and labels that no object can have.
func (f *frame) checkTombstones(problems *lynq.Problems) {
	for i := range f.program.tombstones {
		t := &f.program.tombstones[i]
		f.checkName(&t.name, problems)
		if t.namespace.node != nil {
			f.checkName(&t.namespace, problems)
		}
		for _, l := range t.labels {
			f.checkLabel(l, problems)
			if text := f.textOf(l.node); len(text) == 0 {
				f.fail(problems, l.at, "", "it is empty: a label with a value is needed")
			}
		}
	}
}

// tombstones returns the row's tombstones.
func (f *frame) tombstones() []lynq.Tombstone {
	if len(f.program.tombstones) == 0 {
		return nil
	}
	stones := make([]lynq.Tombstone, 0, len(f.program.tombstones))
	for i := range f.program.tombstones {
		t := &f.program.tombstones[i]
		s := lynq.Tombstone{
			Ref:        lynq.Ref{Group: t.group, Kind: t.Kind, Name: string(f.textOf(t.name.node))},
			APIVersion: t.APIVersion, Labels: make(map[string]string, len(t.match)), Pos: t.Pos,
		}
		if t.namespace.node != nil {
			s.Namespace = string(f.textOf(t.namespace.node))
		}
		for key, l := range t.match {
			s.Labels[key] = string(f.textOf(l.node))
		}
		stones = append(stones, s)
	}
	return stones
}
