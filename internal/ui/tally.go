package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// changesShown limits how many changes of one kind have a line each, in a run that changes
// more than list.Few nodes.
const changesShown = 10

// tally counts the changes of large runs without a line. Its zero value is a run without
// nodes. It isn't safe for concurrent use.
type tally struct {
	nodes int // nodes that the run changes
	// lines counts the changes with a line. left counts those that no line has counted yet.
	// The keys say what happened to the objects.
	lines, left map[string]int
}

// takes reports whether a change is only counted. Lost objects have a line in any run.
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

// line returns the count since the last line, or "".
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
