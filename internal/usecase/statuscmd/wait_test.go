package statuscmd

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// looks is what the looks of a wait find, one after the other. The last one repeats until
// the time is over, after ends looks.
type looks struct {
	states []*Status
	stuck  []string
	err    error
	ends   int

	done    int
	timeout context.CancelCauseFunc
}

func (l *looks) look() (*Status, []string, error) {
	l.done++
	if l.done > len(l.states) && l.err != nil {
		return nil, nil, l.err
	}
	return l.states[min(l.done, len(l.states))-1], l.stuck, nil
}

// after is the clock of a wait. It never ends after the time is over.
func (l *looks) after(time.Duration) <-chan time.Time {
	if l.done == l.ends {
		l.timeout(&session.TimeoutError{After: time.Minute})
		return nil
	}
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

func nodeNamed(name string, well bool) status.Node {
	return status.Node{NodeID: lynq.NodeID{Namespace: "shop", Name: name}, Well: well}
}

func TestWait(t *testing.T) {
	unwell := &Status{Nodes: []status.Node{nodeNamed("acme-web", false)}}
	well := &Status{Nodes: []status.Node{nodeNamed("acme-web", true)}}
	recorded := &Status{Hubs: []status.Hub{{Namespace: "shop", Name: "crm", Run: &status.Run{}}}}
	for name, c := range map[string]struct {
		looks
		hubs, nodes []string
		want        string // the summary of the error
		after       int    // looks
	}{
		"ready at once":          {looks: looks{states: []*Status{well}}, nodes: []string{"acme-web"}, after: 1},
		"one of two":             {looks: looks{states: []*Status{{Nodes: append(unwell.Nodes, nodeNamed("bolt-web", true))}}, ends: 2}, nodes: []string{"acme-web", "bolt-web"}, after: 2, want: "1 of 2 nodes not Ready; gave up after 1m0s (--timeout)"},
		"ready later":            {looks: looks{states: []*Status{unwell, unwell, well}}, nodes: []string{"acme-web"}, after: 3},
		"never ready":            {looks: looks{states: []*Status{unwell}, ends: 4}, nodes: []string{"acme-web"}, after: 4, want: "1 of 1 node not Ready; gave up after 1m0s (--timeout)"},
		"stuck":                  {looks: looks{states: []*Status{unwell}, stuck: []string{"Job shop/a of node acme-web"}}, nodes: []string{"acme-web"}, after: 1, want: "1 of 1 node not Ready; waiting doesn't help: Job shop/a of node acme-web"},
		"a node disappears":      {looks: looks{states: []*Status{unwell, {}}, ends: 2}, nodes: []string{"acme-web"}, after: 2, want: "no run has recorded node acme-web; gave up after 1m0s (--timeout)"},
		"a hub is recorded":      {looks: looks{states: []*Status{{}, recorded}}, hubs: []string{"shop/crm"}, after: 2},
		"a hub isn't recorded":   {looks: looks{states: []*Status{{}}, ends: 2}, hubs: []string{"shop/crm"}, after: 2, want: "no run has recorded hub shop/crm; gave up after 1m0s (--timeout)"},
		"something is unchecked": {looks: looks{states: []*Status{{Nodes: well.Nodes, Warnings: []string{"forbidden"}}}, ends: 2}, nodes: []string{"acme-web"}, after: 2, want: "some could not be checked; gave up after 1m0s (--timeout)"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			c.timeout = cancel
			o := &Options{InventoryOptions: session.InventoryOptions{Hubs: c.hubs, Nodes: c.nodes}}
			_, err := o.wait(ctx, c.looks.after, c.look)
			summary := ""
			if known := (*session.Error)(nil); errors.As(err, &known) {
				if summary = known.Summary; known.Outcome != session.Failed {
					t.Errorf("outcome %v", known.Outcome)
				}
			}
			if summary != c.want || c.done != c.after {
				t.Errorf("%d looks, summary %q (%v)", c.done, summary, err)
			}
		})
	}
}

// A cluster that can't be read any more isn't a node that isn't ready.
func TestWaitUnread(t *testing.T) {
	l := looks{states: []*Status{{Nodes: []status.Node{nodeNamed("acme-web", false)}}}, err: errors.New("connection refused")}
	s, err := new(Options).wait(t.Context(), l.after, l.look)
	if known := (*session.Error)(nil); s != nil || !errors.As(err, &known) || known.Outcome != session.BadInput {
		t.Errorf("%v, %v", s, err)
	}
}
