package lynq

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// PolicyKind says what the values of a policy are.
type PolicyKind uint8

// The kinds.
const (
	WordPolicy     PolicyKind = iota // one of PolicyField.Values
	WavePolicy                       // a whole number from LowestWave to HighestWave
	FlagPolicy                       // true or false
	SecondsPolicy                    // a whole number from 1 to 3600
	IntervalPolicy                   // a duration of a minute or more
	OtherPolicy                      // it has a reader of its own
)

// DigestRule says how a digest takes in a policy. Clusters record digests. A digest of a
// form that doesn't use a new policy stays the same.
type DigestRule uint8

// The rules.
const (
	NotDigested  DigestRule = iota
	Digested                // as field=value
	DigestedWord            // by its value alone
	DigestedForm            // with all that the form says
)

// PolicyField is one policy: how forms spell it, what inventories and digests keep of it,
// and what contradicts it.
type PolicyField struct {
	// Field is its name in forms. Annotation is its name on a manifest, "" for none. Words
	// of a policy with an annotation are spelled IfUnowned, ifUnowned or if-unowned.
	Field, Annotation string
	Doc               string // for people, in explain and in editors
	Kind              PolicyKind
	Values            []string          // of a WordPolicy, the default among them
	Synonyms          map[string]string // words that only the annotation has
	Default           string            // "" where it depends on other policies
	// Recorded is its name in an inventory's entries and in -o json, "" if no inventory records
	// it.
	Recorded string
	// Always is set if records, digests and output have the default, too, and only its word.
	// Other policies don't appear if they have the default.
	Always bool
	// Template is its part in the digest of a form's resource. Written is set if a change of the
	// policy alone writes the object again.
	Template DigestRule
	Written  bool
	// Hook says which values a resource with runOn: Delete can't have.
	Hook HookRule
	// Contradicts are the values of other policies that exclude one of this policy.
	Contradicts []Contradiction
	PolicyValue
}

// HookRule says why runOn: Delete excludes all values of a policy but the default and But,
// and with Never the default too. The zero rule excludes nothing.
type HookRule struct {
	Why, But string
	Never    bool
}

// Contradiction is a value, "" for all, with the only value of another policy that it allows.
type Contradiction struct {
	Value     string
	Field, Be string // the other policy
	Why       string
}

// Digest returns the part of a policy that a digest covers, "" for nothing.
func (f *PolicyField) Digest(p *Policy) string {
	said := f.Said(p)
	switch {
	case f.Template == NotDigested || said == "":
		return ""
	case f.Template == Digested:
		return f.Field + "=" + said
	}
	return said
}

// Said returns the value. It returns "" for the default of a policy without Always.
func (f *PolicyField) Said(p *Policy) string {
	value := f.Get(p)
	if !f.Always && value == f.Default {
		return ""
	}
	return value
}

// Policies returns all policies that a resource of a form may have.
func Policies() []PolicyField {
	return slices.Concat(contentPolicies(), occasionPolicies(), orderPolicies())
}

// Reasons why a hook can't have a policy.
const (
	neverUpdated = "lynqctl never updates it"
	beforeAll    = "it runs before lynqctl deletes the node's other objects (for an order among hooks: dependIds)"
	goesToo      = "the Job is deleted with the node"
)

// contentPolicies say what lynqctl writes and how, and what stays.
func contentPolicies() []PolicyField {
	return []PolicyField{
		{
			Field: "creationPolicy", Values: words(CreationPolicies()...), Default: string(CreateWhenNeeded),
			Doc:      "Once: written once, then left alone.",
			Recorded: "creation", Always: true, Template: DigestedWord,
			Hook:        HookRule{Why: "lynqctl creates it each time that it deletes the node"},
			PolicyValue: word(func(p *Policy) *CreationPolicy { return &p.Creation }),
		}, {
			Field: "deletionPolicy", Annotation: wellknown.AnnotationDeletePolicy, Values: words(DeletionPolicies()...), Default: string(DeleteDelete),
			Doc:      "Retain: kept, marked as an orphan, when the node no longer wants it. RetainOnApply: kept when the form drops it, deleted with its node. RetainOnDelete: the other way round. As an annotation of the manifest: lynq.sh/delete-policy.",
			Synonyms: map[string]string{"Orphan": string(DeleteRetain)},
			Recorded: "deletion", Always: true, Template: DigestedWord,
			Hook:        HookRule{Why: goesToo},
			PolicyValue: word(func(p *Policy) *DeletionPolicy { return &p.Deletion }),
		}, {
			Field: "conflictPolicy", Values: words(ConflictPolicies()...), Default: string(ConflictStuck),
			Doc:      "Force: take over what others manage.",
			Recorded: "conflict", Always: true,
			Hook:        HookRule{Why: "a hook never runs an object that another tool owns"},
			PolicyValue: word(func(p *Policy) *ConflictPolicy { return &p.Conflict }),
		}, {
			Field: "patchStrategy", Annotation: wellknown.AnnotationUpdatePolicy, Values: words(PatchStrategies()...), Default: string(PatchApply),
			Doc:      "How it is written. apply: server-side apply. override: that, and lynqctl takes back what kubectl and Helm manage, and removes what the form does not have. merge: a merge patch. replace: an update of the whole. recreate: deleted and created again, where its content changes. As an annotation of the manifest: lynq.sh/update-policy.",
			Synonyms: map[string]string{"SsaMerge": string(PatchApply), "SsaOverride": string(PatchOverride)},
			Recorded: "patch", Always: true, Template: DigestedWord, Written: true,
			Hook: HookRule{Why: neverUpdated},
			Contradicts: []Contradiction{
				{string(PatchRecreate), "creationPolicy", string(CreateWhenNeeded), "lynqctl never updates what it creates once"},
				{string(PatchRecreate), "deletionPolicy", string(DeleteDelete), "an update would delete what must be kept"},
			},
			PolicyValue: word(func(p *Policy) *PatchStrategy { return &p.Patch }),
		},
	}
}

// occasionPolicies say when lynqctl adopts, runs or writes an object, and when it is ready.
func occasionPolicies() []PolicyField {
	return []PolicyField{
		{
			Field: "adoptionPolicy", Annotation: wellknown.AnnotationAdoptionPolicy, Values: words(AdoptNever, AdoptIfUnowned, AdoptAlways),
			Doc:         "What happens to an object that exists and is not the node's; without it, IfUnowned under conflictPolicy Stuck and Always under Force. Never: it is a conflict. IfUnowned: it is adopted, unless another tool or controller has it. Always: it is taken over.",
			Hook:        HookRule{Why: "a hook never runs an existing object", But: string(AdoptNever)},
			PolicyValue: word(func(p *Policy) *AdoptionPolicy { return &p.Adoption }),
		}, {
			Field: "readiness", Annotation: wellknown.AnnotationStatusHint, Kind: OtherPolicy, Template: DigestedWord,
			Hook:        HookRule{Why: "a hook is ready when it has completed"},
			PolicyValue: readinessValue(),
		}, {
			Field: "reconcilePolicy", Annotation: wellknown.AnnotationReconcilePolicy, Values: words(OnObjectChange, OnObjectOrNodeChange, ReconcileOnce), Default: string(OnObjectChange),
			Doc:         "When it is written again. OnObjectChange: when its manifest changes, or others changed it. OnObjectOrNodeChange: also when any mapped column of the row changes, or the form. Once: never, as creationPolicy Once.",
			Synonyms:    map[string]string{"OnObjectOrComponentChange": string(OnObjectOrNodeChange)},
			Template:    DigestedForm,
			Hook:        HookRule{Why: beforeAll, Never: true},
			PolicyValue: reconcileValue(),
		}, {
			Field: "runOn", Annotation: wellknown.AnnotationRunOn, Values: words(RunOnApply, RunOnDelete), Default: string(RunOnApply),
			Doc:      "Delete: a Job or Pod that lynqctl creates before it deletes the node, and that must complete before lynqctl deletes anything of it. As an annotation of the manifest: lynq.sh/run-on.",
			Recorded: "runOn", Template: DigestedWord,
			PolicyValue: quiet(RunOnApply, func(p *Policy) *RunOn { return &p.RunOn }),
		}, {
			Field: "reapplyInterval", Annotation: wellknown.AnnotationReapplyInterval, Kind: IntervalPolicy,
			Doc:         "After which time it is written again, changed or not, such as 24h; one minute at least.",
			Hook:        HookRule{Why: beforeAll, Never: true},
			Contradicts: []Contradiction{{"", "creationPolicy", string(CreateWhenNeeded), "lynqctl never writes again what it creates once"}},
			PolicyValue: intervalValue(),
		},
	}
}

// orderPolicies say in which order lynqctl writes and deletes, and what it waits for.
func orderPolicies() []PolicyField {
	return []PolicyField{
		{
			Field: "applyOrder", Annotation: wellknown.AnnotationApplyOrder, Kind: WavePolicy, Default: "0",
			Doc:         "Its wave: it waits until all of the earlier ones are ready. As an annotation of the manifest: lynq.sh/apply-order.",
			Hook:        HookRule{Why: beforeAll, Never: true},
			PolicyValue: wave(func(p *Policy) *int { return &p.ApplyOrder }),
		}, {
			Field: "deleteOrder", Annotation: wellknown.AnnotationDeleteOrder, Kind: WavePolicy, Default: "0",
			Doc:         "The wave in which it is deleted: it stays until all of the earlier ones are gone. As an annotation of the manifest: lynq.sh/delete-order.",
			Recorded:    "deleteOrder",
			Hook:        HookRule{Why: beforeAll, Never: true},
			PolicyValue: wave(func(p *Policy) *int { return &p.DeleteOrder }),
		}, {
			Field: "purgeOrder", Annotation: wellknown.AnnotationPurgeOrder, Kind: WavePolicy,
			Doc:  "It is deleted at the end of this wave, when its work is done, and created again when its manifest changes. Not before applyOrder. As an annotation of the manifest: lynq.sh/purge-order.",
			Hook: HookRule{Why: beforeAll, Never: true},
			Contradicts: []Contradiction{
				{"", "deletionPolicy", string(DeleteDelete), "a purge would delete what must be kept"},
				{"", "waitForReady", "true", "a purge waits until the object is ready"},
			},
			PolicyValue: purgeValue(),
		}, {
			Field: "waitForReady", Kind: FlagPolicy, Default: "true",
			Doc:         "Those that depend on this wait until it is ready.",
			Recorded:    "unwaited",
			Hook:        HookRule{Why: "lynqctl deletes nothing before it has completed"},
			PolicyValue: unless(func(p *Policy) *bool { return &p.Unwaited }),
		}, {
			Field: "holdsData", Kind: FlagPolicy, Default: "false",
			Doc:         "Data is lost when lynqctl deletes this object. A node that loses it counts against --max-delete.",
			Recorded:    "holdsData",
			Hook:        HookRule{Why: goesToo},
			PolicyValue: flag(func(p *Policy) *bool { return &p.Data }),
		}, {
			Field: "skipOnDependencyFailure", Kind: FlagPolicy, Default: "true",
			Doc:         "Leave this out when one of those it depends on failed.",
			Hook:        HookRule{Why: "lynqctl stops when a hook has failed"},
			PolicyValue: flag(func(p *Policy) *bool { return &p.SkipOnDependencyFailure }),
		}, {
			Field: "timeoutSeconds", Kind: SecondsPolicy, Default: "300",
			Doc:         "How long they wait.",
			PolicyValue: secondsValue(),
		}, {
			Field: "ignoreFields", Kind: OtherPolicy,
			Hook:        HookRule{Why: neverUpdated},
			PolicyValue: PolicyValue{Get: func(p *Policy) string { return strings.Join(p.IgnoreFields, " ") }},
		},
	}
}

// DefaultPolicy returns the policy of a resource whose form sets none.
func DefaultPolicy() Policy { return DefaultOf(Policies()) }

// DefaultOf is DefaultPolicy for a caller that has the table already.
func DefaultOf(table []PolicyField) Policy {
	var p Policy
	for i := range table {
		if f := &table[i]; f.Default != "" {
			f.Set(&p, f.Default)
		}
	}
	return p
}

// Recorded are the words that an inventory may have: all.
func (CreationPolicy) Recorded() []string { return words(CreationPolicies()...) }

// Recorded are the words that an inventory may have: all.
func (DeletionPolicy) Recorded() []string { return words(DeletionPolicies()...) }

// Recorded are the words that an inventory may have: all.
func (ConflictPolicy) Recorded() []string { return words(ConflictPolicies()...) }

// Recorded are the words that an inventory may have: all.
func (PatchStrategy) Recorded() []string { return words(PatchStrategies()...) }

// Recorded are the words that an inventory may have: not the default.
func (RunOn) Recorded() []string { return words(RunOnDelete) }

// Unusual are the recorded policies that are not the default, as people write them.
func (l Lifecycle) Unusual() []string {
	var words []string
	p := Policy{Lifecycle: l}
	for _, f := range Policies() {
		switch value := f.Said(&p); {
		case f.Recorded == "" || f.Kind != WordPolicy || value == "":
		case !f.Always:
			words = append(words, f.Field+"="+value)
		case value != f.Default:
			words = append(words, value)
		}
	}
	return words
}
