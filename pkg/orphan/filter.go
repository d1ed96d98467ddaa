package orphan

import (
	"slices"
	"time"
)

// Filter says which orphans are meant: those that meet all that is said. The
// zero value means all.
type Filter struct {
	Reasons []string
	Hubs    []string
	// Nodes are names of nodes, or NAMESPACE/NAME.
	Nodes []string
	// OlderThan leaves out what was orphaned later than so long ago; 0 nothing.
	OlderThan time.Duration
}

// Matches tells whether an orphan is meant. What is not known of an orphan is
// not what was asked for: one of unknown age is not older than anything.
func (f *Filter) Matches(o *Orphan, now time.Time) bool {
	return within(f.Reasons, o.Reason) && within(f.Hubs, o.From.Hub.Name) && f.matchesNode(o.From) &&
		(f.OlderThan == 0 || !o.Since.IsZero() && now.Sub(o.Since) >= f.OlderThan)
}

func (f *Filter) matchesNode(from Origin) bool {
	if from.Name == "" {
		return len(f.Nodes) == 0
	}
	return within(f.Nodes, from.Name) || slices.Contains(f.Nodes, from.String())
}

// within tells whether a value is among those that are asked for; all are where
// none is.
func within(wanted []string, value string) bool {
	return len(wanted) == 0 || value != "" && slices.Contains(wanted, value)
}
