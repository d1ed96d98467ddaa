package session

import (
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
)

// TestPlanRan decides from the record of a hub's plans whether a plan may run. The record
// only ever refuses.
func TestPlanRan(t *testing.T) {
	ended := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	of := func(forgotten int, runs ...history.PlanRun) *history.Plans {
		return &history.Plans{UID: "u", Began: forgotten + len(runs), Forgotten: forgotten, Runs: runs}
	}
	for name, c := range map[string]struct {
		plans *history.Plans
		then  *planfile.Ran
		want  string
	}{
		"no plan ran":                      {&history.Plans{}, nil, ""},
		"others ran":                       {of(0, history.PlanRun{ID: "other", Number: 1, Ended: ended}), nil, ""},
		"it ran":                           {of(0, history.PlanRun{ID: "me", Number: 1, Ended: ended}), nil, "the plan ran already, at 2026-03-04T05:06:07Z"},
		"it began":                         {of(0, history.PlanRun{ID: "me", Number: 1}), nil, ""},
		"made after others":                {of(0, history.PlanRun{ID: "other", Number: 1, Ended: ended}), &planfile.Ran{UID: "u", Plans: 1}, ""},
		"the record is gone":               {&history.Plans{}, &planfile.Ran{UID: "u", Plans: 1}, "somebody deleted the record"},
		"the record is another":            {of(0), &planfile.Ran{UID: "before", Plans: 1}, "somebody deleted the record"},
		"made before a forgotten plan":     {of(3), &planfile.Ran{UID: "u", Plans: 2}, "so many plans ran"},
		"made after the forgotten plans":   {of(3), &planfile.Ran{UID: "u", Plans: 3}, ""},
		"made first, and others forgotten": {of(1), nil, "so many plans ran"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ran(c.plans, "me", c.then); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
