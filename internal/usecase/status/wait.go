package status

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// errReady ends a watch because all nodes are ready.
var errReady = errors.New("all nodes are ready")

// Wait waits until all nodes that the options choose are ready. It returns their last
// states. If the time is over before, the error says how many aren't ready.
func Wait(ctx context.Context, e *session.Engine, o *Options) (*Status, error) {
	var last *Status
	err := Follow(ctx, e, o, func(_ time.Time, s *Status, _ []status.Node) error {
		if last = s; !o.reached(s) {
			return nil
		}
		sure, err := List(ctx, e, o) // a watch doesn't look for nodes without an inventory
		if err != nil {
			return err
		}
		if last = sure; o.reached(sure) {
			return errReady
		}
		return nil
	})
	switch {
	case errors.Is(err, errReady):
		return last, nil
	case err == nil: // the time is over, and a node that the user named is gone
		err = &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: "not all nodes exist"}
	}
	return last, err
}

// reached reports whether all chosen nodes exist and are ready.
func (o *Options) reached(s *Status) bool {
	for _, name := range o.Nodes {
		if !slices.ContainsFunc(s.Nodes, func(n status.Node) bool { return n.Name == name }) {
			return false
		}
	}
	for _, name := range o.Hubs {
		if !slices.ContainsFunc(s.Hubs, func(h status.Hub) bool { return h.Run != nil && lynq.Names{name}.Choose(h.Namespace, h.Name) }) {
			return false
		}
	}
	return len(s.Nodes)+len(o.Hubs) > 0 && s.Ended() == nil
}
