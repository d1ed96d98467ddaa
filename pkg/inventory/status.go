package inventory

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Status is the last run's result for a node.
type Status struct {
	Desired    int         `json:"desired"`
	Ready      int         `json:"ready"`
	Failed     int         `json:"failed"`
	Skipped    int         `json:"skipped"`
	Conflicted int         `json:"conflicted"`
	Excluded   int         `json:"excluded,omitempty"` // wanted objects that a rule excludes; no other count has them
	Conditions []Condition `json:"conditions,omitempty"`
	// Objects differ from what the node wants, as many as fit. MoreObjects counts the
	// rest.
	Objects     []ObjectStatus `json:"objects,omitempty"`
	MoreObjects int            `json:"moreObjects,omitempty"`
}

// Condition has type Ready, Progressing or Degraded, and the field names of
// metav1.Condition.
type Condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"` // True, False or Unknown
	Reason             string    `json:"reason"`
	Message            string    `json:"message,omitempty"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

// These are the types of conditions.
const (
	ConditionReady       = "Ready"
	ConditionProgressing = "Progressing"
	ConditionDegraded    = "Degraded"
)

// ReasonRenderFailed is the reason of condition Degraded if a row failed to render.
const ReasonRenderFailed = "RenderFailed"

// These are the values of a condition's Status.
const (
	conditionTrue = "True"
	// maxMessage limits the text of a condition, so that many failures don't exceed the
	// inventory.
	maxMessage = 4096
)

// Is reports whether a condition is True.
func (s Status) Is(condition string) bool {
	i := slices.IndexFunc(s.Conditions, func(c Condition) bool { return c.Type == condition })
	return i >= 0 && s.Conditions[i].Status == conditionTrue
}

// At returns the status to save, with conditions sorted by type. Each condition has the
// time of its last change of Status. This is the time in before if Status is the same
// there, and otherwise now in whole seconds. Messages become valid UTF-8 of at most 4 KiB,
// so that they read back unchanged.
func (s Status) At(before Status, now time.Time) Status {
	s.Conditions = slices.Clone(s.Conditions)
	slices.SortStableFunc(s.Conditions, func(a, b Condition) int { return cmp.Compare(a.Type, b.Type) })
	now = now.UTC().Truncate(time.Second)
	s.Objects, s.MoreObjects = s.boundedObjects()
	for i := range s.Conditions {
		c := &s.Conditions[i]
		c.Message = bounded(c.Message)
		c.LastTransitionTime = now
		for _, old := range before.Conditions {
			if old.Type == c.Type && old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
	}
	return s
}

// bounded shortens a text for the inventory.
func bounded(s string) string { return cut(s, maxMessage) }

// cut returns at most this many bytes of a text, as valid UTF-8.
func cut(s string, most int) string {
	const ellipsis = "…"
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= most {
		return s
	}
	end := most - len(ellipsis)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
}

// equalStatus compares the saved parts.
func equalStatus(a, b Status) bool {
	return a.Desired == b.Desired && a.Ready == b.Ready && a.Failed == b.Failed &&
		a.Skipped == b.Skipped && a.Conflicted == b.Conflicted && a.MoreObjects == b.MoreObjects && a.Excluded == b.Excluded &&
		slices.EqualFunc(a.Objects, b.Objects, ObjectStatus.equal) &&
		slices.EqualFunc(a.Conditions, b.Conditions, func(x, y Condition) bool {
			at, bt := x.LastTransitionTime, y.LastTransitionTime
			x.LastTransitionTime, y.LastTransitionTime = time.Time{}, time.Time{}
			return at.Equal(bt) && x == y
		})
}
