package form

import (
	"math"
	"slices"
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Field is one field of hubs or forms. The loader, the JSON schemas for editors and
// 'lynqctl explain' read it. Suggestions prefer earlier fields of an object.
type Field struct {
	Name string
	Doc  string // for people
	Type FieldType
	// Required texts must not be blank.
	Required bool
	Default  string
	Words    []string // of a text, if no other is valid
	Pattern  string   // of a text, or of the texts in a list
	Low      int      // of a number
	High     int
	// Fields are those of an object, or of the objects in a list. Nil allows any content.
	Fields []Field
	// Shared names the definition in the schema, for an object that several fields have.
	Shared string
	// Rules are more keywords of the JSON schema, as JSON. Those of a list of objects are about
	// its items.
	Rules string
}

// FieldType says what a field takes.
type FieldType uint8

// The types.
const (
	TextField FieldType = iota
	NumberField
	FlagField
	ObjectField
	ListField   // of objects if it has fields, or else of texts
	MapField    // of texts, in which Fields are special
	ChoiceField // its field type names the object that it has
	AnyField
)

// FieldsOf returns a hub or a form with all its fields, or none for another kind.
func FieldsOf(kind string) Field {
	switch kind {
	case wellknown.KindHub:
		return hubFields()
	case wellknown.KindForm:
		return formFields()
	}
	return Field{Name: kind}
}

// These patterns describe texts that several fields have.
const (
	notBlankPattern  = `\S`
	namePattern      = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	idPattern        = `^[^/@\s{]+$`
	conditionPattern = `\{\{|^(true|false)$`
	intervalPattern  = `^[0-9]+(s|m|h)$`
)

// aroundSpec returns a hub or a form, of which spec has its own fields.
func aroundSpec(kind, doc, what string, annotations, spec []Field) Field {
	metadata := []Field{
		{Name: "name", Required: true, Pattern: namePattern, Rules: `"maxLength": 63`, Doc: "Name of the " + what + "."},
		{Name: "namespace", Pattern: `^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$`, Doc: "Namespace of the nodes, unless -n names one; a form's wins over its hub's."},
		{Name: "generation", Type: NumberField, High: math.MaxInt},
		{Name: "labels", Type: MapField},
		{Name: "annotations", Type: MapField, Fields: annotations},
	}
	for _, name := range []string{
		"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
		"managedFields", "ownerReferences", "finalizers", "selfLink", "generateName",
	} {
		metadata = append(metadata, Field{Name: name, Type: AnyField})
	}
	return Field{Name: kind, Type: ObjectField, Doc: doc, Fields: []Field{
		{Name: "apiVersion", Required: true, Words: []string{wellknown.APIVersion}},
		{Name: "kind", Required: true, Words: []string{kind}},
		{Name: "status", Type: AnyField, Doc: "The operator's; not read."},
		{Name: "metadata", Type: ObjectField, Required: true, Fields: metadata},
		{Name: "spec", Type: ObjectField, Required: true, Fields: spec},
	}}
}

// graceFieldOf returns the grace period of a hub or a form.
func graceFieldOf(doc string) Field {
	return Field{Name: graceField, Type: AnyField, Doc: doc, Rules: `"oneOf": [{"type": "string", "minLength": 1, "pattern": "^(0|([0-9]+h)?([0-9]+m)?([0-9]+s)?)$"}, {"enum": [0]}]`}
}

func excludeField() Field {
	return Field{Name: "exclude", Type: ListField, Doc: "Objects that are never created, updated or deleted.", Fields: []Field{
		{Name: "kind", Required: true, Pattern: `^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$`, Doc: "Exactly the kind."},
		{Name: "name", Required: true, Pattern: `^[^/{}\s]+$`, Doc: "A name, with * for any characters."},
		{Name: "namespace", Pattern: `^[^/{}\s]+$`, Doc: "A namespace, with * for any characters; any, and none, where it is left out."},
	}}
}

// formFields returns a form with all its fields.
func formFields() Field {
	policies := policyFields()
	defaults := defaultsField(policies)
	resource := resourceFields(policies)
	spec := []Field{
		{Name: "hubId", Required: true, Pattern: namePattern, Doc: "Name of the hub."},
		rolloutField(),
		excludeField(),
		graceFieldOf("How long nodes are kept after their rows have gone, such as 72h; 0 keeps none, whatever the hub says."),
		{Name: "dependForms", Type: ListField, Pattern: namePattern, Doc: "Forms of the same hub that this one needs: a node waits until the nodes of the same row in those are ready. lynqctl deletes them in the opposite order."},
		tombstonesField(),
		{Name: fileSection, Type: ListField, Pattern: notBlankPattern, Rules: `"minItems": 1`, Doc: "YAML files in the directory of the form's file or below it, by path or pattern, such as base/*.yaml. Each document is a resource."},
		{Name: kustomizeSection, Pattern: notBlankPattern, Doc: "The directory of a kustomization, in the directory of the form's file or below it, such as overlays/prod. Each object that it makes is a resource."},
		defaults,
		chartsField(defaults),
	}
	for _, s := range sections() {
		f := Field{Name: s.Name, Type: ListField, Fields: resource, Shared: "resource"}
		if s.Name == anySection {
			f.Doc = "Resources of any kind."
		}
		spec = append(spec, f)
	}
	return aroundSpec(wellknown.KindForm, "Templates of the resources that every active row of a hub gets.", "form", []Field{
		{Name: wellknown.AnnotationRenamedFrom, Pattern: namePattern, Rules: `"maxLength": 253`, Doc: "The name that the form had before. lynqctl keeps its nodes, with their objects."},
	}, spec)
}

func rolloutField() Field {
	return Field{Name: "rollout", Type: ObjectField, Doc: "How changes spread.", Fields: []Field{
		{Name: "maxSkew", Type: NumberField, High: math.MaxInt32, Default: "0", Doc: "How many nodes may change at once; 0 is no limit."},
		{Name: "progressDeadlineSeconds", Type: NumberField, Low: 60, High: 3600, Default: strconv.Itoa(defaultProgressDeadline)},
		{Name: "onFailure", Words: []string{string(StopOnFailure), string(ContinueOnFailure)}, Default: string(StopOnFailure), Doc: "What becomes of the rollout once maxSkew nodes that it changed are broken."},
		{Name: "stages", Type: ListField, Doc: "Parts of the nodes that change one after the other. All other nodes are the last stage.", Rules: `"oneOf": [{"required": ["match"]}, {"required": ["rows"]}, {"required": ["percent"]}]`, Fields: []Field{
			{Name: "match", Pattern: conditionPattern, Doc: "A template that gives true for the rows of the stage."},
			{Name: "rows", Type: NumberField, Low: 1, High: math.MaxInt32, Doc: "How many of the next nodes."},
			{Name: "percent", Type: NumberField, Low: 1, High: 100, Doc: "How many of the next nodes, as a percentage of all nodes of the form."},
			{Name: "pause", Type: FlagField, Default: "false", Doc: "Wait after the stage for lynqctl apply --continue."},
		}},
		{Name: "maxFailed", Type: NumberField, High: math.MaxInt32, Default: "0", Doc: "How many nodes of a stage may fail before the next stage doesn't begin."},
	}}
}

func tombstonesField() Field {
	return Field{Name: "tombstones", Type: ListField, Doc: "Objects to delete that no inventory has, one for each row.", Fields: []Field{
		{Name: "apiVersion", Required: true},
		{Name: "kind", Required: true},
		{Name: "nameTemplate", Required: true},
		{Name: "targetNamespace"},
		{Name: "matchLabels", Type: MapField, Required: true, Doc: "Labels that the object must have, all of them; the values are templates.", Rules: `"minProperties": 1, "additionalProperties": {"type": "string", "minLength": 1}`},
	}}
}

// defaultsField returns the policies that resources get from the form or the chart.
func defaultsField(policies []Field) Field {
	fields := []Field{{Name: "match", Type: ObjectField, Required: true, Doc: "Which resources it matches: those that have all of these.", Rules: `"minProperties": 1`, Fields: []Field{
		{Name: "kind", Pattern: `^\S+$`, Doc: "Exactly the kind."},
		{Name: "apiVersion", Pattern: `^\S+$`, Doc: "Exactly the apiVersion."},
		{Name: "id", Pattern: `^[^?\[\]\\/\s{}]+$`, Doc: "An id, with * for any characters."},
	}}}
	for _, f := range policies {
		f.Default, f.Doc = "", "As the field "+f.Name+" of a resource."
		fields = append(fields, f)
	}
	return Field{
		Name: "defaults", Type: ListField, Fields: fields, Shared: "default", Rules: `"minProperties": 2`,
		Doc: "Policies of resources that don't set them, in this form and in its files. Of several that match, the last one counts.",
	}
}

func chartsField(defaults Field) Field {
	return Field{Name: chartSection, Type: ListField, Doc: "Helm charts. Each row gets the objects of one release of each.", Fields: []Field{
		{Name: "id", Required: true, Pattern: idPattern, Rules: `"minLength": 1, "maxLength": 253`, Doc: "Unique among the form's charts. The ids of its objects begin with it."},
		{Name: "path", Required: true, Pattern: `^\s*[^:\s]([^:]|:[^/])*$|^oci://[^@\s]+@sha256:[0-9a-f]{64}$`, Doc: "The chart's directory or archive, in the directory of the form's file or below it. Or its address in a registry, with a digest: oci://REGISTRY/REPOSITORY:TAG@sha256:DIGEST."},
		{Name: "releaseName", Doc: "Template of the release's name; without it, the uid."},
		{Name: "namespace", Doc: "Template of the release's namespace; without it, the node's."},
		{Name: "includeWhen", Pattern: conditionPattern, Doc: "Which rows get the chart: a template that gives true or false."},
		{Name: "skipCRDs", Type: FlagField, Default: "false", Doc: "Ignore the chart's crds/, because somebody else installs them."},
		{Name: "emptyLookups", Type: FlagField, Default: "false", Doc: "The function lookup finds nothing, as in helm template. Without it, a template that calls lookup is an error."},
		{Name: "values", Type: ObjectField, Doc: "Values of the release. Texts are templates."},
		{Name: "valuesFiles", Type: ListField, Pattern: notBlankPattern, Doc: "Files of values, in the directory of the form's file or below it. Later ones win, and values win over them."},
		{Name: "dependIds", Type: ListField, Doc: "Ids of resources that all objects of the chart wait for."},
		defaults,
	}}
}

// resourceFields returns the fields of a resource, with its policies.
func resourceFields(policies []Field) []Field {
	return slices.Concat([]Field{
		{Name: "id", Required: true, Pattern: idPattern, Rules: `"minLength": 1, "maxLength": 253`, Doc: "Unique in the form."},
		{Name: "includeWhen", Pattern: conditionPattern, Doc: "Of which rows' nodes it is a part: a template that gives true or false."},
		{Name: "nameTemplate", Doc: "Template of the object's name; without it, spec.metadata.name."},
		{Name: "targetNamespace", Doc: "Template of its namespace; without it, the node's."},
		{Name: "labelsTemplate", Type: MapField, Doc: "Key: template; merged over the labels in spec.metadata."},
		{Name: "annotationsTemplate", Type: MapField, Doc: "Key: template; merged over the annotations in spec.metadata."},
		{Name: "dependIds", Type: ListField, Doc: "Ids of resources that this one waits for."},
		{Name: "spec", Type: ObjectField, Required: true, Rules: `"additionalProperties": true`, Doc: "The whole manifest; every string in it is a template.", Fields: []Field{
			{Name: "apiVersion", Required: true}, {Name: "kind", Required: true},
		}},
	}, policies, []Field{
		{Name: "readiness", Type: ObjectField, Doc: "What it takes to be ready, beside what the kind tells. As an annotation of the manifest: lynq.sh/status-hint.", Fields: []Field{
			{Name: "observedGeneration", Type: FlagField, Default: "false", Doc: "Its controller reports status.observedGeneration, if not at once."},
			{Name: "readyCondition", Type: FlagField, Default: "false", Doc: "It has a condition Ready, if not at once."},
			{Name: "conditions", Type: ListField, Pattern: `^[^,;]*[^,;\s][^,;]*$`, Doc: "Conditions that must be True."},
			{Name: "values", Type: ListField, Pattern: `^[^;]*[^;\s][^;]*$`, Doc: "Fields and their values, as kubectl wait --for=jsonpath takes them: {.status.phase}=Running"},
		}},
		{Name: "ignoreFields", Type: ListField, Doc: "JSONPaths, left alone after the first creation."},
	})
}

// policyFields returns the policies that resources and defaults set.
func policyFields() []Field {
	var fields []Field
	for _, p := range lynq.Policies() {
		f := Field{Name: p.Field, Doc: p.Doc, Default: p.Default}
		switch p.Kind {
		case lynq.OtherPolicy:
			continue
		case lynq.WavePolicy:
			f.Type, f.Low, f.High = NumberField, lynq.LowestWave, lynq.HighestWave
		case lynq.SecondsPolicy:
			f.Type, f.Low, f.High = NumberField, 1, 3600
		case lynq.FlagPolicy:
			f.Type = FlagField
		case lynq.IntervalPolicy:
			const part = `([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)`
			f.Pattern = `^\+?` + part + `(` + part + `)*$`
		case lynq.WordPolicy:
			for _, word := range p.Values {
				words := []string{word}
				if p.Annotation != "" {
					words = cases(word)
				}
				for _, w := range words {
					if !slices.Contains(f.Words, w) {
						f.Words = append(f.Words, w)
					}
				}
			}
		}
		fields = append(fields, f)
	}
	return fields
}
