package apply

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// sameFailures is of how many nodes in a row a write must fail by one error, before
// those of other nodes are not tried for long any more.
const sameFailures = 10

// budget keeps each node of a form from being tried for as long as the first, where
// what fails is the same for all: a webhook, say, that does not answer.
type budget struct {
	mu      sync.Mutex
	streaks map[streakKey]*streak
}

// streakKey is what may fail for one cause: the objects of a kind in a form.
type streakKey struct {
	form        FormKey
	group, kind string
}

// streak are nodes that failed in a row by one error.
type streak struct {
	failure string
	nodes   map[plan.NodeKey]bool
}

// failed takes note of a write that was tried in vain. It tells whether the others are
// not tried for long from now on.
func (b *budget) failed(k streakKey, node plan.NodeKey, failure string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streaks[k]
	if s == nil || s.failure != failure {
		s = &streak{failure: failure, nodes: map[plan.NodeKey]bool{}}
		b.streaks[k] = s
	}
	before := len(s.nodes)
	s.nodes[node] = true
	return before < sameFailures && len(s.nodes) == sameFailures
}

// succeeded takes note of a write that was done.
func (b *budget) succeeded(k streakKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.streaks, k)
}

// spent tells whether writes are not to be tried for long.
func (b *budget) spent(k streakKey) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streaks[k]
	return s != nil && len(s.nodes) >= sameFailures
}

type hastyKey struct{}

// Hasty is a context whose requests are not to be tried for long.
func Hasty(ctx context.Context) context.Context { return context.WithValue(ctx, hastyKey{}, true) }

// IsHasty tells whether a context is such a one.
func IsHasty(ctx context.Context) bool { return ctx.Value(hastyKey{}) != nil }

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

// streak is that of a step.
func (n *nodeRun) streak(s *stepRun) streakKey {
	return streakKey{n.form(), s.ref().Group, s.ref().Kind}
}

// inVain takes note of a write that failed, and says once that others are tried less.
func (n *nodeRun) inVain(s *stepRun, err error) {
	failure := failureOf(s.ref(), err)
	if failure == "" || !n.budget.failed(n.streak(s), n.plan.NodeKey, failure) {
		return
	}
	n.Reporter.Report(Event{Time: n.Now(), Type: EventWarning, Hub: n.hub, Message: "form " + n.plan.Form + ": " + lynq.Count(sameFailures, "node") +
		" in a row failed by the same error, so that other " + s.ref().Kind + " objects of it are not tried for as long: " + describeWrite(s.ref(), err)})
}
