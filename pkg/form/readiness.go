package form

import (
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// readReadiness reads readiness rules from the field or the annotation. It returns nil if
// there are none.
func readReadiness(o *object, r *Resource) *lynq.Readiness {
	byField, at := readinessField(o)
	annotation := annotationText(o, r, wellknown.AnnotationStatusHint)
	var byAnnotation *lynq.Readiness
	if annotation.IsSet() {
		var err error
		if byAnnotation, err = lynq.ParseReadiness(annotation.Text); err != nil {
			o.fail(annotation.Pos, "", "annotation %s: %v", wellknown.AnnotationStatusHint, err)
			return byField
		}
		checkReadiness(o, "annotation "+wellknown.AnnotationStatusHint, annotation.Pos, byAnnotation)
	}
	switch {
	case byField == nil && byAnnotation == nil:
		return nil
	case byField == nil:
		byField, at = byAnnotation, annotation.Pos
	case byAnnotation != nil && byField.String() != byAnnotation.String():
		o.fail(annotation.Pos, "set it once", "%s is on line %d, and annotation %s says something else", o.name("readiness"), at.Line, wellknown.AnnotationStatusHint)
	}
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	if kinds.ReadyOnceThere(group, r.Kind) {
		o.fail(at, "remove it", "%s of kind %s has no effect: it is ready once it exists", o.name("readiness"), r.Kind)
	}
	return byField
}

// readinessField reads the field alone. It returns nil if the field is absent or has no
// rule.
func readinessField(o *object) (*lynq.Readiness, lynq.Pos) {
	field := o.object("readiness")
	if field == nil {
		return nil, lynq.Pos{}
	}
	r := &lynq.Readiness{
		ObservedGeneration: field.boolean("observedGeneration"), ReadyCondition: field.boolean("readyCondition"),
		Conditions: readinessTexts(field, "conditions"), Values: readinessTexts(field, "values"),
	}
	field.done()
	if r.IsZero() {
		return nil, field.value.Pos
	}
	checkReadiness(o, o.name("readiness"), field.value.Pos, r)
	return r, field.value.Pos
}

// readinessTexts returns the conditions or values. They must not contain a semicolon,
// because it separates them in the annotation.
func readinessTexts(o *object, field string) []string {
	var texts []string
	for _, t := range o.texts(field) {
		switch {
		case strings.TrimSpace(t.Text) == "":
			o.fail(t.Pos, "remove it", "%s has an empty item", o.name(field))
		case strings.Contains(t.Text, ";"), field == "conditions" && strings.ContainsAny(t.Text, ","):
			o.fail(t.Pos, "write two items", "%s: %q has a comma or semicolon", o.name(field), t.Text)
		default:
			texts = append(texts, strings.TrimSpace(t.Text))
		}
	}
	return texts
}

// checkReadiness reports values that can't be compared.
func checkReadiness(o *object, name string, at lynq.Pos, r *lynq.Readiness) {
	for _, text := range r.Values {
		if document.IsTemplate(text) {
			o.fail(at, "write it out", "%s: value %q may not be a template", name, text)
			continue
		}
		if _, err := jsonpath.Parse("readiness", lynq.ParseReadyValue(text).Path); err != nil {
			o.fail(at, "write it as kubectl wait --for=jsonpath does: {.status.phase}=Running", "%s: value %q cannot be read: %v", name, text, err)
		}
	}
}
