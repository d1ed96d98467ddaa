package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// check reports names, namespaces, labels, annotations and sizes of the row's objects that
// Kubernetes would refuse.
func (f *frame) check(problems *lynq.Problems) {
	longest := f.results.Longest()
	for i := range f.program.resources {
		if f.left[i] {
			continue
		}
		r := &f.program.resources[i]
		f.checkName(&r.name, problems)
		f.outside[i] = r.outside
		if r.namespace.node != nil {
			f.checkName(&r.namespace, problems)
			if r.namespace.node.slot != noSlot {
				f.outside[i] = string(f.textOf(r.namespace.node)) != f.program.Namespace
			}
		}
		for _, l := range r.labels {
			f.checkLabel(l, problems)
		}
		for j := range r.podNames {
			if n := &r.podNames[j]; len(f.textOf(n.node)) > 0 { // serviceName may be empty
				f.checkName(n, problems)
			}
		}
		if r.indexed != nil {
			f.checkIndexed(r, problems)
		}
		f.checkSize(i, longest, problems)
	}
	f.checkTombstones(problems)
}

func (f *frame) checkName(n *checkedName, problems *lynq.Problems) {
	slot := n.node.slot
	if slot == noSlot {
		return // Compile checked static names
	}
	quick := n.good && f.results.AllNames(slot, n.rule.max)
	if quick && len(n.rule.reserved) == 0 {
		return
	}
	name := f.results.Bytes(slot)
	switch {
	case !quick && !n.rule.accepts(name):
		f.checkNameBy(n, n.rule, problems)
	case n.rule.reserves(name):
		what, fix := fmt.Sprintf("%s %s is %s", n.rule.what, phrase.Quote(string(name)), reserved), n.rule.reservedFix()
		if f.program.uses[slot].at.secret {
			what = fmt.Sprintf("a text of %d characters is a name %s", len(name), reserved)
		}
		f.fail(problems, n.at, fix, "%s", what)
	}
}

// checkNameBy reports a name that a rule refuses.
func (f *frame) checkNameBy(n *checkedName, rule nameRule, problems *lynq.Problems) {
	name := f.textOf(n.node)
	if rule.accepts(name) {
		return
	}
	what, fix := rule.refusal(string(name))
	if slot := n.node.slot; slot != noSlot && f.program.uses[slot].at.secret {
		what = fmt.Sprintf("a text of %d characters is no %s that Kubernetes accepts", len(name), rule.what)
	}
	f.fail(problems, n.at, fix, "%s", what)
}

func (f *frame) checkLabel(l checkedText, problems *lynq.Problems) {
	slot := l.node.slot
	if l.good && f.results.AllLabels(slot) {
		return
	}
	if v := f.results.Bytes(slot); !naming.IsLabelValue(v) {
		what := phrase.Quote(string(v))
		if f.program.uses[slot].at.secret {
			what = fmt.Sprintf("a text of %d characters", len(v))
		}
		f.fail(problems, l.at, labelFix, "%s cannot be the value of a label", what)
	}
}

// textOf returns the text of a static string or a slot.
func (f *frame) textOf(n *node) []byte {
	if n.slot != noSlot {
		return f.results.Bytes(n.slot)
	}
	return n.static
}

// appendKey appends the key that identifies the object of resource i in a cluster.
func (f *frame) appendKey(dst []byte, i int) []byte {
	r := &f.program.resources[i]
	dst = append(dst, r.identity...)
	if r.namespace.node != nil {
		dst = append(dst, f.textOf(r.namespace.node)...)
	}
	dst = append(dst, 0)
	return append(dst, f.textOf(r.name.node)...)
}

// ref returns the reference of the object of resource i.
func (f *frame) ref(i int) lynq.Ref {
	r := &f.program.resources[i]
	ref := lynq.Ref{Group: r.group, Kind: r.Kind, Name: string(f.textOf(r.name.node))}
	if r.namespace.node != nil {
		ref.Namespace = string(f.textOf(r.namespace.node))
	}
	return ref
}

// refs returns the objects of a row that failed to render. Their names may be empty or
// invalid.
func (f *frame) refs() []lynq.Ref {
	refs := make([]lynq.Ref, 0, len(f.program.resources))
	for i := range f.program.resources {
		if !f.left[i] {
			refs = append(refs, f.ref(i))
		}
	}
	return refs
}

// appendNodeKey appends the key that identifies a node.
func (f *frame) appendNodeKey(dst []byte) []byte {
	dst = append(dst, "node\x00"...)
	dst = append(dst, f.program.Namespace...)
	dst = append(dst, 0)
	return append(dst, f.name()...)
}

// labels returns the labels of the object of resource i.
func (f *frame) labels(i int) labels.Set {
	set := labels.Set{}
	for _, l := range f.program.resources[i].labelMap.fields {
		if f.holds(l.when, i) {
			set[l.key] = string(f.textOf(l.node))
		}
	}
	return set
}
