package session

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// TestUndone wants skipped nodes to count apart from failed ones.
func TestUndone(t *testing.T) {
	nodes := func(outcomes ...report.Outcome) []report.NodeResult {
		var all []report.NodeResult
		for _, o := range outcomes {
			all = append(all, report.NodeResult{Outcome: o})
		}
		return all
	}
	for _, tt := range []struct {
		failed []report.NodeResult
		want   string
	}{
		{nodes(report.OutcomeFailed), "1 node failed"},
		{nodes(report.OutcomeNotReady, report.OutcomeConflicted), "2 nodes failed"},
		{nodes(report.OutcomeNotReady, report.OutcomeSkipped), "1 node failed, and 1 was skipped"},
		{nodes(report.OutcomeSkipped, report.OutcomeFailed, report.OutcomeSkipped), "1 node failed, and 2 were skipped"},
		{nodes(report.OutcomeSkipped), "1 node was skipped"},
		{nodes(report.OutcomeSkipped, report.OutcomeSkipped), "2 nodes were skipped"},
	} {
		if got := undone(tt.failed); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
