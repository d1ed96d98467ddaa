package apply

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// budget saves time if a write fails for all nodes of a form, for example because a webhook
// doesn't answer. Later nodes try for less time than the first.
type budget struct {
	mu      sync.Mutex
	streaks map[writeKind]*streak
}

// newBudget returns a budget without failures.
func newBudget() *budget { return &budget{streaks: map[writeKind]*streak{}} }

// writeKind groups objects that may fail for one cause: the objects of a kind in a form.
type writeKind struct {
	form        schedule.Form
	group, kind string
}

// streak counts the nodes that failed in a row with one error.
type streak struct {
	failure string
	nodes   map[lynq.NodeKey]bool
}

// failed notes that all attempts of a node's write failed. It reports whether this failure
// makes the budget spent.
func (b *budget) failed(k writeKind, node lynq.NodeKey, ref lynq.Ref, err error) bool {
	failure := failureOf(ref, err)
	return failure != "" && b.note(k, node, failure)
}

// note works like failed, with the failure as text.
func (b *budget) note(k writeKind, node lynq.NodeKey, failure string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streaks[k]
	if s == nil || s.failure != failure {
		s = &streak{failure: failure, nodes: map[lynq.NodeKey]bool{}}
		b.streaks[k] = s
	}
	before := len(s.nodes)
	s.nodes[node] = true
	return before < schedule.SameFailures && len(s.nodes) == schedule.SameFailures
}

// succeeded notes a successful write.
func (b *budget) succeeded(k writeKind) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.streaks, k)
}

// spent reports whether writes should only be tried for a short time.
func (b *budget) spent(k writeKind) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streaks[k]
	return s != nil && len(s.nodes) >= schedule.SameFailures
}

// failureOf returns the text of the server's internal error, without parts that differ
// between objects. It returns "" for other errors, because they come from the server and
// not from the form.
func failureOf(ref lynq.Ref, err error) string {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || answer.Status().Code != http.StatusInternalServerError {
		return ""
	}
	text := strings.NewReplacer(ref.Name, "", ref.Namespace, "").Replace(answer.Status().Message)
	return "internal error: " + regexp.MustCompile("[0-9]+").ReplaceAllString(text, "0")
}
