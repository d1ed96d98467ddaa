package form

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func runOn() twofold { return twofold{field: "runOn", annotation: lynq.AnnotationRunOn} }

// readRunOn reads when a resource is created. What is created with its node says so by
// saying nothing.
func readRunOn(o *object, r *Resource) {
	if r.Policy.RunOn = twofoldWord(o, r, runOn(), lynq.RunOnApply, lynq.RunOnDelete); r.Policy.RunOn == lynq.RunOnApply {
		r.Policy.RunOn = ""
	}
}

// Hooks are the resources that are run when their node goes.
func (f *Form) Hooks() []*Resource { return f.which(true) }

// Wanted are all others.
func (f *Form) Wanted() []*Resource { return f.which(false) }

func (f *Form) which(hook bool) []*Resource {
	return slices.DeleteFunc(slices.Clone(f.Resources), func(r *Resource) bool { return r.Policy.Hook() != hook })
}

// checkHook finds what contradicts runOn: Delete: a hook is made once, run to its end, and
// goes with its node.
func checkHook(o *object, r *Resource) {
	if !r.Policy.Hook() {
		return
	}
	at := r.Pos
	if t := o.text(runOn().field); t.isSet() {
		at = t.Pos
	}
	group, version := lynq.SplitAPIVersion(r.APIVersion)
	switch {
	case group == "batch" && version == "v1" && r.Kind == "Job":
		if v := r.Manifest.Field("spec").Field("ttlSecondsAfterFinished"); v != nil {
			o.fail(v.Pos, "remove it: the Job goes with its node", "spec.ttlSecondsAfterFinished would delete a Job with runOn: Delete before lynqctl has seen that it completed")
		}
	case group == "" && version == "v1" && r.Kind == "Pod":
		if policy := r.Manifest.Field("spec").Field("restartPolicy"); policy.literal() != "Never" && policy.literal() != "OnFailure" {
			o.fail(at, "set restartPolicy: Never", "a Pod with runOn: Delete has to end, and its spec.restartPolicy is neither Never nor OnFailure")
		}
	case r.Kind != "":
		o.fail(at, "make it a Job", "runOn: Delete is for a Job (batch/v1) or a Pod (v1); found %s of %s", r.Kind, r.APIVersion)
	}
	checkHookPolicy(o, r)
}

// checkHookPolicy finds policies that a hook cannot have.
func checkHookPolicy(o *object, r *Resource) {
	p := &r.Policy
	refuse := func(field string, wrong bool, why string) {
		v := o.value.Field(field)
		if !wrong {
			return
		}
		at := r.Pos
		if v != nil {
			at = v.Pos
		}
		o.fail(at, "remove it", "%s contradicts runOn: Delete: %s", o.name(field), why)
	}
	refuse("creationPolicy", p.Creation == lynq.CreateOnce, "it is created each time that the node goes")
	refuse("deletionPolicy", p.Deletion != lynq.DeleteDelete, "what is run goes with the node")
	refuse("waitForReady", !p.WaitForReady, "nothing is deleted before it has completed")
	refuse("holdsData", p.HoldsData, "what is run goes with the node")
	refuse("skipOnDependencyFailure", !p.SkipOnDependencyFailure, "nothing goes on when a hook has failed")
	refuse("patchStrategy", p.Patch != lynq.PatchApply, "it is never updated")
	refuse("ignoreFields", len(p.IgnoreFields) > 0, "it is never updated")
	refuse("conflictPolicy", p.Conflict != lynq.ConflictStuck, "an object of another owner is never run")
	refuse("adoptionPolicy", p.Adoption != "" && p.Adoption != lynq.AdoptNever, "an object that is there already is never run")
	refuse("readiness", p.Readiness != nil, "it is ready when it has completed")
	annotations := r.Manifest.Field("metadata").Field("annotations")
	for _, field := range []string{"applyOrder", "purgeOrder", "deleteOrder", "reconcilePolicy", "reapplyInterval"} {
		spellings := cases(field)
		annotation := lynq.KeyPrefix + spellings[len(spellings)-1]
		refuse(field, o.value.Field(field) != nil || annotations.Field(annotation) != nil, "it is run before all else of the node goes (for an order among hooks: dependIds)")
	}
}

// checkHookDependencies reports dependencies between what is run when the node goes and
// what is there as long as it is.
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
				rep.problems.Add(d.Pos, "remove it", "%s, %s: has runOn: Delete, so that all of its node is there when it runs; it cannot depend on %q", subject, e.label, d.Text)
			default:
				rep.problems.Add(d.Pos, "remove it", "%s, %s: depends on %q, which has runOn: Delete and is not there before the node goes", subject, e.label, d.Text)
			}
		}
	}
}
