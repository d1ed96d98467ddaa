package session

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply"
)

// TestUndone: a node that was skipped did not end badly.
func TestUndone(t *testing.T) {
	nodes := func(outcomes ...apply.Outcome) []apply.NodeResult {
		var all []apply.NodeResult
		for _, o := range outcomes {
			all = append(all, apply.NodeResult{Outcome: o})
		}
		return all
	}
	for _, tt := range []struct {
		failed []apply.NodeResult
		want   string
	}{
		{nodes(apply.OutcomeFailed), "1 node failed"},
		{nodes(apply.OutcomeNotReady, apply.OutcomeConflicted), "2 nodes failed"},
		{nodes(apply.OutcomeNotReady, apply.OutcomeSkipped), "1 node failed, and 1 was skipped"},
		{nodes(apply.OutcomeSkipped, apply.OutcomeFailed, apply.OutcomeSkipped), "1 node failed, and 2 were skipped"},
		{nodes(apply.OutcomeSkipped), "1 node was skipped"},
		{nodes(apply.OutcomeSkipped, apply.OutcomeSkipped), "2 nodes were skipped"},
	} {
		if got := undone(tt.failed); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
