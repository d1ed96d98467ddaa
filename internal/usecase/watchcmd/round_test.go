package watchcmd

import (
	"errors"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestRoundEnds checks that the next round repeats what a round that was cut short left
// out: its interrupted nodes, or everything if it carried nothing out. Failed nodes wait.
func TestRoundEnds(t *testing.T) {
	a, b := lynq.NodeKey{Namespace: "shop", Name: "a-web"}, lynq.NodeKey{Namespace: "shop", Name: "b-web"}
	wanted := map[lynq.NodeKey]string{a: "1", b: "2"}
	failed := &session.Error{Outcome: session.Failed, Err: session.ErrReported}
	for name, tt := range map[string]struct {
		ended map[lynq.NodeKey]report.Outcome // nil if the round carried nothing out
		err   error
		want  error
		whole bool                  // the next round plans all nodes
		due   map[lynq.NodeKey]bool // the nodes that the next round plans at once
	}{
		"whole":                      {ended: map[lynq.NodeKey]report.Outcome{}},
		"a node failed":              {ended: map[lynq.NodeKey]report.Outcome{a: report.OutcomeFailed}, err: failed},
		"new changes cut it":         {ended: map[lynq.NodeKey]report.Outcome{a: report.OutcomeInterrupted}, err: errNewChanges, want: errNewChanges, due: map[lynq.NodeKey]bool{a: true}},
		"a timer cut it":             {ended: map[lynq.NodeKey]report.Outcome{b: report.OutcomeInterrupted}, err: errTimer, want: errTimer, due: map[lynq.NodeKey]bool{b: true}},
		"another hub cut it":         {ended: map[lynq.NodeKey]report.Outcome{a: report.OutcomeInterrupted, b: report.OutcomeFailed}, err: errJoinedHub, want: errJoinedHub, due: map[lynq.NodeKey]bool{a: true}},
		"cut before the first write": {err: errInputsChanged, want: errInputsChanged, whole: true, due: wantedAll(wanted)},
		"refused before it":          {err: failed, whole: true, due: wantedAll(wanted)},
	} {
		t.Run(name, func(t *testing.T) {
			h := keptHubOf(nil)
			h.w = &watching{engine: &session.Engine{}}
			began := time.Now()
			h.times.whole = began
			p := &part{hubWatch: h, rows: &hubRows{wanted: wanted}, ended: tt.ended}
			r := &round{parts: []*part{p}, began: began, plans: []plan.Plan{{Hub: h.hub.Key, Nodes: []plan.NodePlan{
				{NodeID: lynq.NodeID{Namespace: a.Namespace, Name: a.Name}}, {NodeID: lynq.NodeID{Namespace: b.Namespace, Name: b.Name}},
			}}}}
			if got := r.end(tt.err); !errors.Is(got, tt.want) {
				t.Errorf("%s: %v, want %v", name, got, tt.want)
			}
			if h.times.whole.IsZero() != tt.whole {
				t.Errorf("%s: the next round plans all nodes: %t", name, h.times.whole.IsZero())
			}
			due := h.nodes.due(wanted, began)
			for n := range wanted {
				if due[n] != tt.due[n] {
					t.Errorf("%s: node %s is due: %t", name, n, due[n])
				}
			}
		})
	}
}

func wantedAll(wanted map[lynq.NodeKey]string) map[lynq.NodeKey]bool {
	all := map[lynq.NodeKey]bool{}
	for n := range wanted {
		all[n] = true
	}
	return all
}
