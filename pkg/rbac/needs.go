package rbac

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// Purpose names a use of lynqctl.
type Purpose string

// The purposes. Orphans is all commands of that name, Delete also finalize.
const (
	Apply   Purpose = "apply"
	Delete  Purpose = "delete"
	Orphans Purpose = "orphans"
	Diff    Purpose = "diff"
	Status  Purpose = "status"
	Watch   Purpose = "watch"
)

// Purposes are all of them.
func Purposes() []Purpose { return []Purpose{Apply, Delete, Orphans, Diff, Status, Watch} }

// Chosen are the purposes that words name: each once, in the one order.
func Chosen(words []string) []Purpose {
	return slices.DeleteFunc(Purposes(), func(p Purpose) bool { return !slices.Contains(words, string(p)) })
}

// does is the purpose whose commands do to objects and records what those of p do: watch
// is apply, again and again, and more only in what it watches.
func (p Purpose) does() Purpose {
	if p == Watch {
		return Apply
	}
	return p
}

// needs is what a purpose needs of the objects of one entry.
type needs struct {
	verbs []string
	// everywhere: objects of the kind are looked for in the whole cluster.
	everywhere bool
	// watched: they are waited for.
	watched bool
}

// entry is what an entry of a form says of its objects' life.
type entry struct {
	*form.Resource
	group string
	// data: orphans prune deletes it only with --include-data, and that is meant.
	data bool
	// excluded: a rule excludes all objects of the entry, whatever the rows say.
	excluded bool
}

// needs is the one place that tells what is done to the objects of an entry. A field of
// forms that does more with them adds its verbs here.
func (e *entry) needs(p Purpose) needs {
	n := needs{verbs: []string{"get", "list"}}
	if e.excluded && p != Orphans { // who has no inputs knows no rules
		return n
	}
	kept := e.Policy.Deletion.Kept()
	switch p {
	case Apply, Diff:
		n.add(true, "create", "patch") // server-side apply needs both to create
		n.add(e.Policy.Patch == lynq.PatchReplace, "update")
		n.add(!kept.WhenDropped || !kept.WhenNodeGoes, "delete") // recreate and purgeOrder delete only what is not kept
	case Delete:
		n.add(kept.WhenNodeGoes, "patch") // the marks of an orphan
		n.add(!kept.WhenNodeGoes, "delete")
		n.add(e.Policy.Hook(), "create", "patch")
	case Orphans:
		n.everywhere = kept.Ever()
		n.add(n.everywhere, "patch")
		n.add(n.everywhere && (!e.ref().HoldsData() || e.data), "delete")
	}
	n.watched = p == Apply && e.waited() || p == Delete && e.Policy.Hook() || (p == Apply || p == Delete || p == Orphans) && n.deletes() && e.lingers()
	return n
}

func (n *needs) add(where bool, verbs ...string) {
	if where {
		n.verbs = append(n.verbs, verbs...)
	}
}

func (n *needs) deletes() bool { return slices.Contains(n.verbs, "delete") }

// ref is an object of the entry's kind.
func (e *entry) ref() lynq.Ref { return lynq.Ref{Group: e.group, Kind: e.Kind} }

// is reports whether the entry is of a kind.
func (e *entry) is(group string, kinds ...string) bool {
	return e.group == group && slices.Contains(kinds, e.Kind)
}

// waited reports whether an apply waits until the objects are ready.
func (e *entry) waited() bool {
	switch {
	case e.Policy.Unwaited:
		return false
	case e.is("", "Service"):
		return e.balanced() || e.Policy.Readiness != nil
	}
	return !kinds.ReadyOnceThere(e.group, e.Kind)
}

// balanced tells of a Service whether it asks for a load balancer, or may.
func (e *entry) balanced() bool {
	t := e.Manifest.Field("spec").Field("type")
	return t != nil && (t.Str == "LoadBalancer" || isTemplate(t.Str))
}

// lingers reports whether deleted objects stay for a while as a rule: by a finalizer that
// the control plane puts there, or a grace period. Of custom resources no one knows.
func (e *entry) lingers() bool {
	return !kinds.BuiltIn(e.group) || e.is("", "PersistentVolumeClaim", "PersistentVolume", "Pod", "Namespace") ||
		e.is("", "Service") && e.balanced() || e.is("apiextensions.k8s.io", "CustomResourceDefinition")
}
