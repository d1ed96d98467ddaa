package ready

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestReadinessOf checks that a claim has the readiness of its storage class, which is read
// only if it matters.
func TestReadinessOf(t *testing.T) {
	claim := func(phase string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "PersistentVolumeClaim",
			"spec": map[string]any{"storageClassName": "late"}, "status": map[string]any{"phase": phase},
		}}
	}
	class := func(mode string) *unstructured.Unstructured {
		c := &unstructured.Unstructured{Object: map[string]any{"volumeBindingMode": mode}}
		c.SetName("late")
		return c
	}
	for name, tt := range map[string]struct {
		claim *unstructured.Unstructured
		class *unstructured.Unstructured
		err   error
		asked bool
		want  Readiness
	}{
		"bound":                   {claim("Bound"), nil, nil, false, Readiness{State: StateReady}},
		"binds on first use":      {claim("Pending"), class("WaitForFirstConsumer"), nil, true, Readiness{State: StateReady, Message: "waiting for the first consumer"}},
		"binds at once":           {claim("Pending"), class("Immediate"), nil, true, Readiness{State: StateWaiting, Message: `not bound: storage class "late" has given no volume yet`}},
		"there is none":           {claim("Pending"), nil, apierrors.NewNotFound(schema.GroupResource{}, "late"), true, Readiness{State: StateWaiting, Message: `not bound: storage class "late" doesn't exist`}},
		"this user can't read it": {claim("Pending"), nil, errors.New("no"), true, Readiness{State: StateWaiting, Message: `not bound; how storage class "late" binds is not known: no`}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := false
			got := WithClass(tt.claim, func(name string) (*unstructured.Unstructured, error) {
				asked = name == "late"
				return tt.class, tt.err
			})
			if got != tt.want || asked != tt.asked {
				t.Errorf("got %+v, asked for its class: %v, want %+v", got, asked, tt.want)
			}
		})
	}
}
