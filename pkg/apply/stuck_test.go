package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// said has the causes that a cluster states, one for each time that somebody asks.
type said struct{ causes []string }

func (*said) Cause(context.Context, lynq.Ref) string { return "" }

func (s *said) Stuck(context.Context, lynq.Ref) string {
	cause := s.causes[0]
	s.causes = s.causes[1:]
	return cause
}

// TestStuckEndsTheWait checks that a lasting cause ends a wait long before its timeout, and
// that the wait continues if the cause disappears. lynqctl asks for no cause of objects that
// are soon ready.
func TestStuckEndsTheWait(t *testing.T) {
	t.Parallel()
	const missing = `pod a: container web: CreateContainerConfigError: secret "db" not found`
	for name, tt := range map[string]struct {
		kind   string
		causes []string
		ends   time.Duration // 0 for never
	}{
		"it lasts":       {"Deployment", []string{missing, missing}, 30 * time.Second},
		"it comes later": {"Deployment", []string{"", missing, missing}, time.Minute},
		"it goes away":   {"Deployment", []string{missing, "", "", ""}, 0},
		"none":           {"Deployment", []string{"", "", ""}, 0},
		"another kind":   {"Widget", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ref := lynq.Ref{Group: "apps", Kind: tt.kind, Namespace: "shop", Name: "app"}
			began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
			now := began
			ctx, end := context.WithCancel(t.Context())
			tracker, asked := wait.New(ctx, silent{}), &said{tt.causes}
			l := &waiter{tracker: tracker, causes: asked, watching: ctx, now: func() time.Time { return now }, hub: "crm", tell: &nodeReporter{reporter: onEvent(func(report.Event) {}), now: time.Now, node: &plan.NodePlan{}, of: &plan.Plan{}}}
			s := &Step{StepResult: report.StepResult{Step: &plan.Step{Object: &plan.Object{Ref: ref, Policy: &lynq.Policy{}}}}, Deadline: now.Add(time.Hour), State: Waiting}
			l.watch(s)
			ended := time.Duration(0)
			for now.Sub(began) < 100*time.Second && ended == 0 {
				if m, over := l.look(s); over {
					ended = now.Sub(began)
					if m.outcome != report.OutcomeNotReady || !strings.Contains(m.message, missing) {
						t.Errorf("%s: %+v", name, m)
					}
				}
				now = now.Add(time.Second)
			}
			end()
			tracker.Wait()
			if ended != tt.ends {
				t.Errorf("%s: ended after %s, want %s", name, ended, tt.ends)
			}
			if len(tt.causes) > 0 && len(asked.causes) > 0 {
				t.Errorf("%s: never asked for %q", name, asked.causes)
			}
		})
	}
}
