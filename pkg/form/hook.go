package form

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Hooks returns the resources that lynqctl runs when it deletes the node.
func (f *Form) Hooks() []*Resource { return f.which(true) }

// Wanted returns all other resources.
func (f *Form) Wanted() []*Resource { return f.which(false) }

func (f *Form) which(hook bool) []*Resource {
	return slices.DeleteFunc(slices.Clone(f.Resources), func(r *Resource) bool { return r.Policy.Hook() != hook })
}

// checkHook reports policies that contradict runOn: Delete. lynqctl creates a hook once,
// waits for its end, and deletes it with the node.
func checkHook(o *object, r *Resource, table []lynq.PolicyField, said map[string]saying) {
	runOn := said["runOn"]
	if !r.Policy.Hook() {
		return
	}
	group, version := lynq.SplitAPIVersion(r.APIVersion)
	switch {
	case group == "batch" && version == "v1" && r.Kind == "Job":
		if v := r.Manifest.Field("spec").Field("ttlSecondsAfterFinished"); v != nil {
			o.fail(v.Pos, "remove it: the Job is deleted with its node", "spec.ttlSecondsAfterFinished would delete a Job with runOn: Delete before lynqctl has seen that it completed")
		}
	case group == "" && version == "v1" && r.Kind == "Pod":
		if policy := r.Manifest.Field("spec").Field("restartPolicy"); policy.Literal() != "Never" && policy.Literal() != "OnFailure" {
			runOn.fail(o, r, "set restartPolicy: Never", "a Pod with runOn: Delete must end; set spec.restartPolicy to Never or OnFailure")
		}
	case r.Kind != "":
		runOn.fail(o, r, "make it a Job", "runOn: Delete is for a Job (batch/v1) or a Pod (v1); found %s of %s", r.Kind, r.APIVersion)
	}
	for i := range table {
		checkHookPolicy(o, r, &table[i], said[table[i].Field], runOn)
	}
}

// checkHookPolicy reports a policy that a hook can't have.
func checkHookPolicy(o *object, r *Resource, f *lynq.PolicyField, said, runOn saying) {
	field, value := o.value.Field(f.Field), f.Get(&r.Policy)
	wrong := value != f.Default && value != f.Hook.But
	if f.Hook.Never {
		wrong = field != nil || said.by != nil || r.Manifest.Field("metadata").Field("annotations").Field(f.Annotation) != nil
	}
	if f.Hook.Why == "" || !wrong {
		return
	}
	at := said
	switch {
	case field != nil:
		at.pos = field.Pos
	case said.value == "":
		at.pos = r.Pos
	}
	at.fail(o, r, "remove it", "%s contradicts runOn: Delete: %s%s", o.name(f.Field), f.Hook.Why, runOn.origin("runOn"))
}

// checkHookDependencies reports dependencies between hooks and other resources.
func checkHookDependencies(rep *report, subject string, entries []*entry) {
	hook := func(id string) bool {
		return slices.ContainsFunc(entries, func(e *entry) bool { return e.ID == id && e.Policy.Hook() })
	}
	exists := func(id string) bool {
		return slices.ContainsFunc(entries, func(e *entry) bool { return e.ID == id })
	}
	for _, e := range entries {
		for _, d := range e.depends {
			switch {
			case !exists(d.Text) || e.Policy.Hook() == hook(d.Text):
			case e.Policy.Hook():
				rep.problems.Add(d.Pos, "remove it", "%s, %s: has runOn: Delete and runs while the whole node exists; it can't depend on %q", subject, e.label, d.Text)
			default:
				rep.problems.Add(d.Pos, "remove it", "%s, %s: depends on %q, which has runOn: Delete and doesn't exist before lynqctl deletes the node", subject, e.label, d.Text)
			}
		}
	}
}
