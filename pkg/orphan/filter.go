package orphan

import (
	"slices"
	"time"
)

// Filter selects orphans. An orphan must match every field that is set. The zero value
// selects all.
type Filter struct {
	Reasons []string
	Hubs    []string
	// Nodes are names as NODE or NAMESPACE/NODE.
	Nodes []string
	// OlderThan excludes orphans that are younger than this. With 0, it excludes none.
	OlderThan time.Duration
}

// Matches reports whether the filter selects an orphan. A field never matches an unknown
// value, so OlderThan excludes orphans of unknown age.
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

// within reports whether the list contains a value. An empty list contains all.
func within(wanted []string, value string) bool {
	return len(wanted) == 0 || value != "" && slices.Contains(wanted, value)
}
