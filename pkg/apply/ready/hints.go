package ready

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// hintOf returns the annotation with conditions for an object's readiness.
func hintOf(o *unstructured.Unstructured) string {
	annotations, _, _ := unstructured.NestedFieldNoCopy(o.Object, "metadata", "annotations")
	m, _ := annotations.(map[string]any)
	return text(m, wellknown.AnnotationStatusHint)
}

// hinted returns the readiness from an object's kind and its annotation.
func hinted(o *unstructured.Unstructured, hint string) Readiness {
	asked, err := lynq.ParseReadiness(hint)
	if err != nil {
		return Waiting("annotation %s: %v", wellknown.AnnotationStatusHint, err)
	}
	if _, ok := observedGeneration(o); asked.ObservedGeneration && !ok {
		return Waiting("its controller has not set status.observedGeneration yet")
	}
	r := ofKind(o)
	if r.State != StateReady {
		return r
	}
	if missing := lacking(o, asked); len(missing) > 0 {
		return Waiting("%s", strings.Join(missing, "; "))
	}
	r.Final = r.Final || asked.Completes()
	return r
}

// lacking returns the conditions of the annotation that an object doesn't meet, with its
// actual state.
func lacking(o *unstructured.Unstructured, asked *lynq.Readiness) []string {
	conditions := asked.Conditions
	if asked.ReadyCondition {
		conditions = append([]string{"Ready"}, conditions...)
	}
	var missing []string
	for _, name := range conditions {
		c, ok := findCondition(o, name)
		switch {
		case !ok:
			missing = append(missing, "condition "+name+" is not set yet")
		case c.stale(o):
			missing = append(missing, "condition "+name+" is of an earlier generation")
		case c.Status != "True":
			missing = append(missing, fmt.Sprintf("condition %s is %s: %s", name, c.Status, c.describe()))
		}
	}
	for _, text := range asked.Values {
		if problem := unlike(o, lynq.ParseReadyValue(text)); problem != "" {
			missing = append(missing, problem)
		}
	}
	return missing
}

// unlike describes how an object's value differs from the annotation, or returns "". It
// compares text and requires a value, as kubectl wait does.
func unlike(o *unstructured.Unstructured, v lynq.ReadyValue) string {
	path := jsonpath.New("readiness").AllowMissingKeys(true)
	if err := path.Parse(v.Path); err != nil {
		return fmt.Sprintf("%s cannot be read: %v", v.Path, err)
	}
	results, err := path.FindResults(o.Object)
	if err != nil {
		return fmt.Sprintf("%s cannot be read: %v", v.Path, err)
	}
	switch {
	case len(results) == 0 || len(results[0]) == 0:
		return v.Path + " is not set yet"
	case v.Any:
		return ""
	case len(results) > 1 || len(results[0]) > 1:
		return v.Path + " gives more than one value"
	}
	got := results[0][0].Interface()
	switch got.(type) {
	case map[string]any, []any:
		return v.Path + " is not a single value"
	}
	if now := strings.TrimSpace(fmt.Sprint(got)); now != strings.TrimSpace(v.Want) {
		return fmt.Sprintf("%s is %s, not %s", v.Path, describe("", now), v.Want)
	}
	return ""
}
