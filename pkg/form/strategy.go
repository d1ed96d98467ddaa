package form

import (
	"cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// patchStrategy is a policy with two spellings. The annotation has its words of
// component-operator-runtime too.
func patchStrategy() twofold {
	return twofold{"patchStrategy", lynq.AnnotationUpdatePolicy, map[string]string{
		"SsaMerge": string(lynq.PatchApply), "SsaOverride": string(lynq.PatchOverride),
	}}
}

// readPatchStrategy reads how an object is updated. The policies about its creation
// and deletion have been read: what is to stay cannot be deleted by each update.
func readPatchStrategy(o *object, r *Resource) {
	p := &r.Policy
	p.Patch = cmp.Or(twofoldWord(o, r, patchStrategy(), lynq.PatchStrategies()...), p.Patch)
	if p.Patch != lynq.PatchRecreate {
		return
	}
	at := o.text("patchStrategy").Pos
	if at == (lynq.Pos{}) {
		at = annotationText(o, r, lynq.AnnotationUpdatePolicy).Pos
	}
	if p.Creation == lynq.CreateOnce {
		o.fail(at, "remove one of them", "%s is recreate, and creationPolicy is Once: what is created once is never updated", o.name("patchStrategy"))
	}
	if p.Deletion != lynq.DeleteDelete {
		o.fail(at, "remove one of them", "%s is recreate, and deletionPolicy is %s: an update would delete what must be kept", o.name("patchStrategy"), p.Deletion)
	}
}
