package status_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// TestConceal shows a node whose condition, cause, pod and event quote a value. Nobody sees
// it if the entry says that the object has a secret value, and everybody otherwise.
func TestConceal(t *testing.T) {
	const said = "the command hunter2 fails"
	for name, sensitive := range map[string]bool{"secret": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			for _, state := range []ready.State{ready.StateWaiting, ready.StateFailed} {
				s := newNowScene()
				app := s.app()
				app.Sensitive = sensitive
				s.is(state, said)
				s.now.Causes = map[lynq.Ref]string{app.Ref: "pod p: " + said}
				pod := lynq.Ref{Kind: "Pod", Namespace: "shop", Name: "p"}
				objects := status.Tree(s.inv, s.now, map[lynq.Ref]status.Seen{
					app.Ref: {Ref: app.Ref, UID: "1", Readiness: s.now.Ready[app.Ref]},
				}, []status.Seen{{Ref: pod, UID: "p", Owner: types.UID("1"), Readiness: ready.Readiness{State: state, Message: said}}})
				events := []status.Event{
					{Kind: "Pod", Namespace: "shop", Name: "p", Message: said},
					{Kind: "Deployment", Namespace: "shop", Name: "acme", Message: said},
					{Kind: "ConfigMap", Namespace: "shop", Name: "acme", Message: "other"},
				}
				status.ConcealEvents(s.inv, objects, events)
				shown := objects[slices.IndexFunc(objects, func(o status.Object) bool { return o.Ref() == app.Ref })]
				n := s.now.Of(s.inv)
				for place, text := range map[string]string{
					"node": n.Message, "object": shown.Message, "pod": shown.Owned[0].Message, "event": events[0].Message, "event of the object": events[1].Message,
				} {
					if strings.Contains(text, "hunter2") == sensitive || strings.Contains(text, redact.Concealed) != sensitive {
						t.Errorf("%v, %s: %q", state, place, text)
					}
				}
				if events[2].Message != "other" {
					t.Errorf("event of another object: %q", events[2].Message)
				}
			}
		})
	}
}
