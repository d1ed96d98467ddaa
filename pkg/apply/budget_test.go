package apply

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestBudget checks that ten nodes in a row with one error spend the budget, once. Another
// error, another kind or a successful write starts the count again.
func TestBudget(t *testing.T) {
	b := newBudget()
	k, other := writeKind{kind: "Deployment"}, writeKind{kind: "Service"}
	node := func(i int) lynq.NodeKey { return lynq.NodeKey{Namespace: "shop", Name: fmt.Sprint(i)} }
	fail := func(failure string, from, to int) (told int) {
		for i := from; i < to; i++ {
			for range 2 { // several objects of one node
				if b.note(k, node(i), failure) {
					told++
				}
			}
		}
		return told
	}
	if told := fail("no webhook", 0, 9); told != 0 || b.spent(k) {
		t.Error("nine nodes spend it")
	}
	if told := fail("other", 9, 10) + fail("no webhook", 10, 19); told != 0 || b.spent(k) {
		t.Error("errors that differ spend it")
	}
	if told := fail("no webhook", 19, 30); told != 1 || !b.spent(k) || b.spent(other) {
		t.Errorf("ten nodes: told %d times, spent %v, of another kind %v", told, b.spent(k), b.spent(other))
	}
	b.succeeded(k)
	if b.spent(k) || fail("no webhook", 30, 39) != 0 {
		t.Error("a write that was done does not give it back")
	}
}

// TestFailureOf checks that differences between objects don't make another failure. Only
// internal errors are about the written object.
func TestFailureOf(t *testing.T) {
	failure := func(name string, port int) string {
		return failureOf(lynq.Ref{Kind: "Service", Namespace: "shop", Name: name},
			apierrors.NewInternalError(fmt.Errorf("failed calling webhook for %s: 127.0.0.1:%d refused", name, port)))
	}
	if a, b := failure("acme", 4711), failure("bolt", 815); a == "" || a != b {
		t.Errorf("%q and %q", a, b)
	}
	for _, err := range []error{errors.New("EOF"), apierrors.NewServiceUnavailable("busy"), apierrors.NewTooManyRequestsError("busy")} {
		if got := failureOf(lynq.Ref{Kind: "Service"}, err); got != "" {
			t.Errorf("%v: %q", err, got)
		}
	}
}
