package form

import "fmt"

// checkPurge reports settings that don't fit an object that lynqctl deletes when its work
// is done.
func checkPurge(o *object, r *Resource, said saying) {
	switch p := &r.Policy; {
	case p.PurgeOrder == nil:
	case *p.PurgeOrder < p.ApplyOrder:
		said.fail(o, r, "raise it", "%s is %d, before its own wave %d (applyOrder)", o.name("purgeOrder"), *p.PurgeOrder, p.ApplyOrder)
	case r.IsNamespace(), r.IsDefinition():
		said.fail(o, r, "remove it", "%s of a %s would delete everything in it", o.name("purgeOrder"), r.Kind)
	}
}

// checkWaves reports a resource of a later wave that an earlier wave needs. Each would
// wait for the other, and lynqctl would write neither. It also
// reports a resource that lynqctl would delete in a later wave than its Namespace or
// definition, because Kubernetes deletes it with these.
func checkWaves(rep *report, subject string, entries []*entry) {
	for _, e := range entries {
		for _, other := range entries {
			if e.Policy.DeleteOrder > other.Policy.DeleteOrder && e.StandsOn(other.Resource) {
				rep.problems.Add(e.Pos, fmt.Sprintf("raise deleteOrder of %s, or lower that of %s", other.ID, e.ID),
					"%s, %s: is deleted in a later wave than its %s, whose deletion deletes it too: %s (deleteOrder %d), then %s (deleteOrder %d)",
					subject, e.label, other.Kind, other.ID, other.Policy.DeleteOrder, e.ID, e.Policy.DeleteOrder)
			}
			if e.Policy.ApplyOrder < other.Policy.ApplyOrder {
				checkApplyOrder(rep, subject, e, other)
			}
		}
	}
}

// checkApplyOrder reports a dependency on a resource of a later wave.
func checkApplyOrder(rep *report, subject string, e, later *entry) {
	path := fmt.Sprintf("%s (wave %d) -> %s (wave %d), which waits for all of wave %d", e.ID, e.Policy.ApplyOrder, later.ID, later.Policy.ApplyOrder, e.Policy.ApplyOrder)
	fix := fmt.Sprintf("raise applyOrder of %s, or lower that of %s", e.ID, later.ID)
	if e.StandsOn(later.Resource) {
		rep.problems.Add(e.Pos, fix, "%s, %s: needs the %s of a later wave: %s", subject, e.label, later.Kind, path)
		return
	}
	for _, d := range e.depends {
		if d.Text == later.ID {
			rep.problems.Add(d.Pos, fix, "%s, %s: depends on a later wave: %s", subject, e.label, path)
		}
	}
}
