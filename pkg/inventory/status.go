package inventory

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Status holds what the last run found of a node.
type Status struct {
	Desired    int         `json:"desired"`
	Ready      int         `json:"ready"`
	Failed     int         `json:"failed"`
	Skipped    int         `json:"skipped"`
	Conflicted int         `json:"conflicted"`
	Excluded   int         `json:"excluded,omitempty"` // wanted objects that a rule excludes; in no other count
	Conditions []Condition `json:"conditions,omitempty"`
	// Objects are those that are not as the node wants them, as many as there is
	// room for; MoreObjects counts the others.
	Objects     []ObjectStatus `json:"objects,omitempty"`
	MoreObjects int            `json:"moreObjects,omitempty"`
}

// Condition is one of Ready, Progressing and Degraded, with metav1.Condition's
// field names.
type Condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"` // True, False or Unknown
	Reason             string    `json:"reason"`
	Message            string    `json:"message,omitempty"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

// The types of conditions.
const (
	ConditionReady       = "Ready"
	ConditionProgressing = "Progressing"
	ConditionDegraded    = "Degraded"
)

// ReasonRenderFailed gives the reason of the condition Degraded where a row did not
// render.
const ReasonRenderFailed = "RenderFailed"

// The values of a condition's Status.
const (
	conditionTrue = "True"
	// maxMessage bounds the text of a condition, so that a long list of
	// failures cannot outgrow its record.
	maxMessage = 4096
)

// Is tells whether a condition is True.
func (s Status) Is(condition string) bool {
	i := slices.IndexFunc(s.Conditions, func(c Condition) bool { return c.Type == condition })
	return i >= 0 && s.Conditions[i].Status == conditionTrue
}

// At is s as it is to be recorded: conditions sorted by type, each with the
// time at which its Status last became another. That is the time in before,
// the status that was recorded last, where the condition had the same Status
// there; else now, in whole seconds. Messages are valid UTF-8 of at most 4 KiB,
// so that they read back as they were written.
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

// bounded makes a text storable.
func bounded(s string) string { return cut(s, maxMessage) }

// cut is a text of at most so many bytes, and valid UTF-8.
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

// equalStatus compares what is recorded.
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
