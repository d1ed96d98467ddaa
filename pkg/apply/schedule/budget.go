package schedule

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// SameFailures is of how many nodes in a row a write must fail by one error, before
// those of other nodes are not tried for long any more.
const SameFailures = 10

// Budget keeps each node of a form from being tried for as long as the first, where
// what fails is the same for all: a webhook, say, that does not answer.
type Budget struct {
	mu      sync.Mutex
	streaks map[Kind]*streak
}

// NewBudget is one of which nothing is spent.
func NewBudget() *Budget { return &Budget{streaks: map[Kind]*streak{}} }

// Kind groups objects that may fail for one cause: the objects of a kind in a form.
type Kind struct {
	Form        Form
	Group, Kind string
}

// streak are nodes that failed in a row by one error.
type streak struct {
	failure string
	nodes   map[lynq.NodeKey]bool
}

// Failed takes note of a write of a node that was tried in vain. It tells whether the others are
// not tried for long from now on.
func (b *Budget) Failed(k Kind, node lynq.NodeKey, ref lynq.Ref, err error) bool {
	failure := failureOf(ref, err)
	return failure != "" && b.note(k, node, failure)
}

// note is Failed for a failure in words.
func (b *Budget) note(k Kind, node lynq.NodeKey, failure string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streaks[k]
	if s == nil || s.failure != failure {
		s = &streak{failure: failure, nodes: map[lynq.NodeKey]bool{}}
		b.streaks[k] = s
	}
	before := len(s.nodes)
	s.nodes[node] = true
	return before < SameFailures && len(s.nodes) == SameFailures
}

// Succeeded takes note of a write that was done.
func (b *Budget) Succeeded(k Kind) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.streaks, k)
}

// Spent tells whether writes are not to be tried for long.
func (b *Budget) Spent(k Kind) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streaks[k]
	return s != nil && len(s.nodes) >= SameFailures
}

// failureOf is what an internal error of the server says, but for what differs from
// object to object; "" for other errors, which tell of the server and not of the form.
func failureOf(ref lynq.Ref, err error) string {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || answer.Status().Code != http.StatusInternalServerError {
		return ""
	}
	text := strings.NewReplacer(ref.Name, "", ref.Namespace, "").Replace(answer.Status().Message)
	return "internal error: " + regexp.MustCompile("[0-9]+").ReplaceAllString(text, "0")
}
