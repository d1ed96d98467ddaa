package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// changesShown is how many changes of one kind have a line each, in a run that changes more
// than list.Few nodes.
const changesShown = 10

// tally counts the changes of large runs that have no line of their own. Its zero value is
// of a run without nodes. It is not safe for concurrent use.
type tally struct {
	nodes int // that the run changes
	// lines are the changes with a line, and left those that no line counts yet, by what
	// became of the objects.
	lines, left map[string]int
}

// takes tells whether a change is counted, and has no line. Objects that are lost have one
// in any run.
func (t *tally) takes(a plan.Action, became string) bool {
	if t.nodes <= list.Few || leaves(a) || a == plan.ActionPurge || a == plan.ActionRecreate {
		return false
	}
	if t.lines == nil {
		t.lines, t.left = map[string]int{}, map[string]int{}
	}
	if t.lines[became] < changesShown {
		t.lines[became]++
		return false
	}
	t.left[became]++
	return true
}

// line counts what was taken since the last line, "" for nothing.
func (t *tally) line() string {
	var parts []string
	for _, became := range slices.Sorted(maps.Keys(t.left)) {
		parts = append(parts, fmt.Sprintf("%d more %s", t.left[became], became))
	}
	clear(t.left)
	if len(parts) == 0 {
		return ""
	}
	return "... and " + strings.Join(parts, ", ") + " (-o json lists each object)"
}
