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

// Purposes returns all purposes.
func Purposes() []Purpose { return []Purpose{Apply, Delete, Orphans, Diff, Status, Watch} }

// Chosen returns the purposes that words name, each once, in a fixed order.
func Chosen(words []string) []Purpose {
	return slices.DeleteFunc(Purposes(), func(p Purpose) bool { return !slices.Contains(words, string(p)) })
}

// does returns the purpose whose commands write the same objects and records as those of p. watch
// does the same as apply, and only watches more.
func (p Purpose) does() Purpose {
	if p == Watch {
		return Apply
	}
	return p
}

// needs are the permissions that a purpose needs for the objects of one entry.
type needs struct {
	verbs []string
	// everywhere is set if the commands look for objects of the kind in the whole cluster.
	everywhere bool
	// watched is set if the commands wait for the objects.
	watched bool
}

// entry has the facts about an entry of a form that decide about permissions.
type entry struct {
	*form.Resource
	group string
	// data is set if orphans prune deletes it only with --include-data.
	data bool
	// excluded is set if a rule excludes all objects of the entry, for any row.
	excluded bool
}

// needs returns what commands of a purpose do with the objects of an entry. It is the only place
// that says this. A field of forms that does more with them adds its verbs here.
func (e *entry) needs(p Purpose) needs {
	n := needs{verbs: []string{"get", "list"}}
	if e.excluded && p != Orphans { // commands without inputs know no rules
		return n
	}
	kept := e.Policy.Deletion.Kept()
	switch p {
	case Apply, Diff:
		n.add(true, "create", "patch") // server-side apply needs both to create
		n.add(e.Policy.Patch == lynq.PatchReplace, "update")
		n.add(!kept.WhenDropped || !kept.WhenNodeGoes, "delete") // recreate and purgeOrder delete no kept object
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

// ref returns a reference to an object of the entry's kind.
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

// balanced reports whether a Service wants a load balancer, or may want one.
func (e *entry) balanced() bool {
	t := e.Manifest.Field("spec").Field("type")
	return t != nil && (t.Str == "LoadBalancer" || isTemplate(t.Str))
}

// lingers reports whether deleted objects mostly stay for a while, because of a finalizer
// of the control plane or a grace period. Nobody knows it of custom resources.
func (e *entry) lingers() bool {
	return !kinds.BuiltIn(e.group) || e.is("", "PersistentVolumeClaim", "PersistentVolume", "Pod", "Namespace") ||
		e.is("", "Service") && e.balanced() || e.is("apiextensions.k8s.io", "CustomResourceDefinition")
}
