package harness

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"
)

// waitTimeout limits a wait. Nothing in a test cluster takes longer, even on a busy
// machine.
const waitTimeout = 3 * time.Minute

// Get returns the object that ref names, such as "deployment/web" or
// "widgets.example.com/w". A namespaced object is in the Env's namespace.
func (e *Env) Get(t testing.TB, ref string) *unstructured.Unstructured {
	t.Helper()
	obj, err := e.get(t.Context(), e.Namespace, ref)
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	if obj == nil {
		t.Fatalf("%s does not exist in namespace %s", ref, e.Namespace)
	}
	return obj
}

// Absent fails the test if the object exists.
func (e *Env) Absent(t testing.TB, ref string) {
	t.Helper()
	obj, err := e.get(t.Context(), e.Namespace, ref)
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	if obj != nil {
		t.Errorf("%s exists in namespace %s:\n%s", ref, e.Namespace, render(obj))
	}
}

// Equal evaluates a kubectl JSONPath, such as ".spec.replicas", on the object and compares
// the result with want.
func (e *Env) Equal(t testing.TB, ref, path, want string) {
	t.Helper()
	got, err := evaluate(e.Get(t, ref), path)
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	if got != want {
		t.Errorf("%s: %s is %q, want %q", ref, path, got, want)
	}
}

// Owners compares the managers of one field with want. See FieldOwners.
func (e *Env) Owners(t testing.TB, ref, path string, want ...string) {
	t.Helper()
	got, err := FieldOwners(e.Get(t, ref), path)
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %s is owned by %q, want %q", ref, path, got, want)
	}
}

// Condition is a condition that a test waits for.
type Condition struct {
	what string
	met  func(*unstructured.Unstructured) bool // the object is nil if it doesn't exist
}

// Exists is met by any object.
func Exists() Condition {
	return Condition{"to exist", func(obj *unstructured.Unstructured) bool { return obj != nil }}
}

// Gone is met when the object doesn't exist.
func Gone() Condition {
	return Condition{"to be gone", func(obj *unstructured.Unstructured) bool { return obj == nil }}
}

// PathEquals is met when a kubectl JSONPath yields want.
func PathEquals(path, want string) Condition {
	return Condition{
		what: fmt.Sprintf("for %s to be %q", path, want),
		met: func(obj *unstructured.Unstructured) bool {
			if obj == nil {
				return false
			}
			got, err := evaluate(obj, path)
			return err == nil && got == want
		},
	}
}

// ConditionTrue is met when status.conditions has this type with status True.
func ConditionTrue(conditionType string) Condition {
	return PathEquals(fmt.Sprintf(".status.conditions[?(@.type==%q)].status", conditionType), "True")
}

// Wait watches the object until the condition is met, and returns it, or nil if it is gone.
// After three minutes, it fails the test and shows the object.
func (e *Env) Wait(t testing.TB, ref string, c Condition) *unstructured.Unstructured {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), waitTimeout, errDeadline)
	defer cancel()
	obj, err := e.wait(ctx, e.Namespace, ref, c.met)
	if err != nil {
		t.Fatalf("%s: waited %s in namespace %s: %v; it is:\n%s", ref, c.what, e.Namespace, err, render(obj))
	}
	return obj
}

// evaluate evaluates a kubectl JSONPath. It returns "" for a path without a match.
func evaluate(obj *unstructured.Unstructured, path string) (string, error) {
	parser := jsonpath.New("path").AllowMissingKeys(true)
	if err := parser.Parse("{" + path + "}"); err != nil {
		return "", fmt.Errorf("JSONPath %s: %w", path, err)
	}
	var out bytes.Buffer
	if err := parser.Execute(&out, obj.Object); err != nil {
		return "", fmt.Errorf("JSONPath %s: %w", path, err)
	}
	return out.String(), nil
}

// render shows an object to people, without the values of a Secret.
func render(obj *unstructured.Unstructured) string {
	if obj == nil {
		return "(absent)"
	}
	shown := obj.DeepCopy()
	if shown.GetKind() == "Secret" {
		unstructured.RemoveNestedField(shown.Object, "data")
	}
	data, err := yaml.Marshal(shown.Object)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
