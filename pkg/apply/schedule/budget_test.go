package schedule

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestBudget: ten nodes in a row that fail by one error spend it, once; another error,
// another kind, or a write that is done begin from the start.
func TestBudget(t *testing.T) {
	b := NewBudget()
	k, other := Kind{Kind: "Deployment"}, Kind{Kind: "Service"}
	node := func(i int) lynq.NodeKey { return lynq.NodeKey{Namespace: "shop", Name: fmt.Sprint(i)} }
	fail := func(failure string, from, to int) (told int) {
		for i := from; i < to; i++ {
			for range 2 { // objects of a node
				if b.note(k, node(i), failure) {
					told++
				}
			}
		}
		return told
	}
	if told := fail("no webhook", 0, 9); told != 0 || b.Spent(k) {
		t.Error("nine nodes spend it")
	}
	if told := fail("other", 9, 10) + fail("no webhook", 10, 19); told != 0 || b.Spent(k) {
		t.Error("errors that differ spend it")
	}
	if told := fail("no webhook", 19, 30); told != 1 || !b.Spent(k) || b.Spent(other) {
		t.Errorf("ten nodes: told %d times, spent %v, of another kind %v", told, b.Spent(k), b.Spent(other))
	}
	b.Succeeded(k)
	if b.Spent(k) || fail("no webhook", 30, 39) != 0 {
		t.Error("a write that was done does not give it back")
	}
}

// TestFailureOf: what tells objects apart makes no other failure; only internal errors
// tell of what is written.
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
