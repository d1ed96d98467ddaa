package ready

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// condition is an entry of an object's status.conditions.
type condition struct {
	Type, Status    string
	Reason, Message string
	// Generation is the generation that the condition describes, or 0.
	Generation int64
}

// findCondition returns the condition with a type.
func findCondition(o *unstructured.Unstructured, conditionType string) (condition, bool) {
	v, _, err := unstructured.NestedFieldNoCopy(o.Object, "status", "conditions")
	list, ok := v.([]any)
	if err != nil || !ok {
		return condition{}, false
	}
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok || text(fields, "type") != conditionType {
			continue
		}
		generation, _ := toInt64(fields["observedGeneration"])
		return condition{
			Type:       conditionType,
			Status:     text(fields, "status"),
			Reason:     text(fields, "reason"),
			Message:    text(fields, "message"),
			Generation: generation,
		}, true
	}
	return condition{}, false
}

// isTrue reports whether the object has a condition of this type with status True.
func isTrue(o *unstructured.Unstructured, conditionType string) (condition, bool) {
	c, ok := findCondition(o, conditionType)
	return c, ok && c.Status == "True"
}

// stale reports whether the condition describes an earlier generation.
func (c condition) stale(o *unstructured.Unstructured) bool {
	return c.Generation != 0 && c.Generation < o.GetGeneration()
}

// wanted returns the readiness of an object that waits for this condition.
func (c condition) wanted(o *unstructured.Unstructured) Readiness {
	switch {
	case c.stale(o):
		return Waiting(unseenChange)
	case c.Status == "True":
		return ready("")
	}
	return Waiting("%s is %s: %s", c.Type, c.Status, c.describe())
}

func (c condition) describe() string { return describe(c.Reason, c.Message) }

// maxMessage limits the bytes of a controller's message that people see.
const maxMessage = 300

// describe joins a condition's reason and message to one short line.
func describe(reason, message string) string {
	parts := make([]string, 0, 2)
	for _, part := range []string{reason, message} {
		if part = strings.Join(strings.Fields(part), " "); part != "" {
			parts = append(parts, part)
		}
	}
	line := strings.Join(parts, ": ")
	switch {
	case line == "":
		return "no reason given"
	case len(line) > maxMessage:
		return strings.ToValidUTF8(line[:maxMessage], "") + "…"
	}
	return line
}

// text returns a string field, or "".
func text(fields map[string]any, name string) string {
	s, _ := fields[name].(string)
	return s
}
