package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// silent is a cluster whose watches report nothing.
type silent struct{ wait.Watcher }

func (silent) Watch(ctx context.Context, _ lynq.APIResource, _ wait.Scope, _ wait.Handler) error {
	<-ctx.Done()
	return ctx.Err()
}

// quoting is a cause that quotes a value.
type quoting struct{}

func (quoting) Cause(context.Context, lynq.Ref) string { return "the pod says hunter2" }

func (quoting) Stuck(context.Context, lynq.Ref) string { return "the pod lacks hunter2" }

// TestConcealed fails hooks whose condition and pod quote a value. Nobody sees it of a hook
// that has a value of a secret column, and everybody of another one.
func TestConcealed(t *testing.T) {
	t.Parallel()
	for name, sensitive := range map[string]bool{"secret": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ref := lynq.Ref{Group: "batch", Kind: "Job", Namespace: "shop", Name: name}
			job := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": name, "namespace": "shop", "uid": "u", "resourceVersion": "2"},
				"status": map[string]any{"conditions": []any{map[string]any{"type": "Failed", "status": "True", "message": "no hunter2"}}},
			}}
			ctx, end := context.WithCancel(t.Context())
			tracker := wait.New(ctx, silent{})
			l := &waiter{tracker: tracker, causes: quoting{}, watching: ctx, now: time.Now, hub: "crm"}
			policy := &lynq.Policy{}
			policy.RunOn = lynq.RunOnDelete
			s := &Step{
				StepResult: report.StepResult{Step: &plan.Step{Object: &plan.Object{Ref: ref, Policy: policy}, Entry: &inventory.Entry{Ref: ref, Sensitive: sensitive}}},
				Record:     &inventory.Entry{Ref: ref}, Deadline: time.Now().Add(time.Hour),
			}
			l.watch(s)
			tracker.Expect(ref, wait.Revision{UID: "u", ResourceVersion: "1"}, func() {})
			tracker.Learn(ref, job)
			m, ended := l.look(s)
			end()
			tracker.Wait()
			if !ended || strings.Contains(m.message, "hunter2") == sensitive || strings.Contains(m.message, redact.Concealed) != sensitive {
				t.Errorf("%s: %t, %q", name, ended, m.message)
			}
		})
	}
}
