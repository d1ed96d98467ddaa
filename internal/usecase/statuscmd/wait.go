package statuscmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// pollEvery is the shortest pause between two looks of a command that looks again and again.
const pollEvery = 2 * time.Second

// poll calls look until it is done, fails, or the context ends. A long look makes the pause
// before the next one longer.
func poll(ctx context.Context, after func(time.Duration) <-chan time.Time, look func() (done bool, err error)) error {
	for {
		began := time.Now()
		if done, err := look(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-after(max(pollEvery, lookingPart*time.Since(began))):
		}
	}
}

// HubsOf returns the hubs of files, as NAMESPACE/NAME.
func HubsOf(ctx context.Context, e *session.Engine, files *load.RenderOptions) ([]string, error) {
	inputs, err := load.Prepare(ctx, e, files, "")
	if err != nil {
		return nil, err
	}
	if err := files.Identify(inputs.Hubs); err != nil {
		return nil, session.BadUsage(err)
	}
	var hubs []string
	for _, hub := range load.HubKeys(inputs.Hubs) {
		hubs = append(hubs, hub.String())
	}
	return hubs, nil
}

// Wait waits until all nodes that the options choose are ready. It returns their last states.
// With an error, some aren't ready, or can't become ready until somebody changes something.
func Wait(ctx context.Context, e *session.Engine, o *Options) (*Status, error) {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.ConnectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	return o.wait(ctx, time.After, func() (s *Status, hopeless []string, err error) {
		looking := *o
		looking.looked = func(now *status.Now, chosen []*inventory.Inventory) { hopeless = stuck(ctx, client, now, chosen) }
		s, err = looking.look(ctx, client)
		return s, hopeless, err
	})
}

// wait looks until all nodes are ready, some are stuck, or the context ends.
func (o *Options) wait(ctx context.Context, after func(time.Duration) <-chan time.Time, look func() (*Status, []string, error)) (*Status, error) {
	var last *Status
	var stuck []string
	err := poll(ctx, after, func() (bool, error) {
		s, hopeless, err := look()
		if err != nil {
			return false, err
		}
		last, stuck = s, hopeless
		return o.unreached(s) == "" || len(stuck) > 0, nil
	})
	timeout := (*session.TimeoutError)(nil)
	timedOut := last != nil && errors.As(context.Cause(ctx), &timeout)
	if err != nil && !timedOut {
		return nil, unread(ctx, err)
	}
	summary := o.unreached(last)
	switch {
	case summary == "":
		return last, nil
	case len(stuck) > 0:
		summary += "; waiting doesn't help: " + strings.Join(stuck, ", ")
	default:
		summary += "; " + timeout.Error()
	}
	return last, &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: summary}
}

// unread returns the error of a look that failed, or of the context.
func unread(ctx context.Context, err error) error {
	if known := (*session.Error)(nil); errors.As(err, &known) {
		return err
	}
	return session.Unread(ctx, err)
}

// unreached says which of the chosen nodes aren't recorded or ready. It returns "" if all are
// ready.
func (o *Options) unreached(s *Status) string {
	var unrecorded []string
	for _, name := range o.Hubs {
		if !slices.ContainsFunc(s.Hubs, func(h status.Hub) bool { return h.Run != nil && lynq.Names{name}.Choose(h.Namespace, h.Name) }) {
			unrecorded = append(unrecorded, "no run has recorded hub "+name)
		}
	}
	for _, name := range o.Nodes {
		if !slices.ContainsFunc(s.Nodes, func(n status.Node) bool { return n.Name == name }) {
			unrecorded = append(unrecorded, "no run has recorded node "+name)
		}
	}
	if summary := s.summary(); summary != "" {
		unrecorded = append(unrecorded, summary)
	}
	return strings.Join(unrecorded, "; ")
}

// stuck names objects that can't become ready until somebody changes something. It skips
// hubs on which a run is working, because the run may change it.
func stuck(ctx context.Context, client *kube.Client, now *status.Now, inventories []*inventory.Inventory) []string {
	var names []string
	reader := session.NewCauses(client)
	for _, inv := range inventories {
		if now.Busy[inv.Node.Full().Hub] {
			continue
		}
		for _, t := range now.Troubles(inv) {
			r := now.Ready[t.Ref]
			if t.Reason == status.ReasonPodsLost {
				continue // its node counts as ready
			}
			if r.State == ready.StateFailed || r.State == ready.StateWaiting && reader.Stuck(ctx, t.Ref) != "" {
				names = append(names, fmt.Sprintf("%s of node %s", t.Ref, inv.Node.Name))
			}
		}
	}
	return names
}

// FollowNodes shows the nodes that the options name again and again, until the context ends.
// With --timeout, the error says whether they were ready at last.
func FollowNodes(ctx context.Context, e *session.Engine, o *session.InventoryOptions, show func([]*NodeStatus) error) error {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.ConnectToLook(&o.Access)
	if err != nil {
		return err
	}
	var last []*NodeStatus
	err = poll(ctx, time.After, func() (bool, error) {
		nodes, err := readNodes(ctx, client, o)
		if err != nil {
			return false, err
		}
		last = nodes
		return false, show(nodes)
	})
	if timeout := (*session.TimeoutError)(nil); last != nil && errors.As(context.Cause(ctx), &timeout) {
		return NotReady(last)
	}
	return unread(ctx, err)
}
