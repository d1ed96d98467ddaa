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

// readPatchStrategy reads how an object is updated.
func readPatchStrategy(o *object, r *Resource) {
	p := &r.Policy
	p.Patch = cmp.Or(twofoldWord(o, r, patchStrategy(), lynq.PatchStrategies()...), p.Patch)
}
