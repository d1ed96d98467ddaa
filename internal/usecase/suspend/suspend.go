package suspend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
)

// Options name the nodes. Until and Reason are for Suspend.
type Options struct {
	session.InventoryOptions
	Dir    string    // the tree of the nodes, or "" for the cluster
	Until  time.Time // zero for no end
	Reason string
}

// Suspend makes lynqctl leave nodes alone, until a time or until Resume.
func Suspend(ctx context.Context, e *session.Engine, o *Options) error {
	switch {
	case len(o.Reason) > inventory.MaxSuspensionText:
		return session.BadUsage(fmt.Errorf("--reason has %d bytes, and the limit is %d (write a shorter reason)", len(o.Reason), inventory.MaxSuspensionText))
	case !o.Until.IsZero() && !e.Now().Before(o.Until):
		return session.BadUsage(fmt.Errorf("--until %s is in the past (name a later time)", o.Until.UTC().Format(time.RFC3339)))
	case o.Until.UTC().Year() > 9999:
		return session.BadUsage(errors.New("--until is after the year 9999 (leave it out to suspend without an end)"))
	}
	now := e.Now().UTC().Truncate(time.Second)
	s := inventory.Suspension{By: session.Who(), Since: now, Reason: o.Reason}
	if !o.Until.IsZero() {
		s.Until = o.Until.UTC().Truncate(time.Second)
	}
	s = s.Shown() // as lynqctl reads it again
	return change(ctx, e, o, &s)
}

// Resume lets lynqctl continue with nodes.
func Resume(ctx context.Context, e *session.Engine, o *Options) error {
	return change(ctx, e, o, nil)
}

// change records a suspension on all nodes, or removes it for nil. It changes nothing if one
// of the nodes doesn't exist.
func change(ctx context.Context, e *session.Engine, o *Options, s *inventory.Suspension) error {
	if o.Dir != "" {
		return changeTree(ctx, e, o, s)
	}
	return e.OnCluster(ctx, &o.Access, o.Timeout, &session.RunOptions{}, func(ctx context.Context, r session.Run) error {
		named, err := o.Named(ctx, r.Client)
		if err != nil {
			return err
		}
		if err := named.Ended(o.NotFound(ctx, r.Client, named.Missing)); err != nil {
			return err
		}
		c := changing{Engine: e, options: o, run: &r, next: s}
		var errs []error
		for _, inv := range named.Inventories {
			errs = append(errs, c.node(ctx, inv))
		}
		return session.Fail(errors.Join(errs...))
	})
}

// changing is one run of change.
type changing struct {
	*session.Engine
	options *Options
	run     *session.Run
	next    *inventory.Suspension
}

// tries limits how often lynqctl tries again after another client's write.
const tries = 5

// node changes one node. A run may save the inventory meanwhile.
func (c *changing) node(ctx context.Context, inv *inventory.Inventory) error {
	key := inv.Node.Key()
	var err error
	for range tries {
		if c.next == nil && inv.Suspended(time.Time{}) == nil {
			c.Notef("node %s isn't suspended", key)
			return nil
		}
		var next, saved *inventory.Inventory
		if next, err = inv.Suspend(c.next); err != nil {
			return err
		}
		if saved, err = c.run.Store.Save(ctx, next); err == nil && same(saved.Suspended(time.Time{}), c.next) {
			c.tell(ctx, saved)
			return nil
		}
		if changed := (*store.ChangedError)(nil); err != nil && !errors.As(err, &changed) {
			return err
		}
		if inv, err = c.again(ctx, inv); err != nil {
			return err
		}
	}
	return fmt.Errorf("other clients change the inventory of node %s all the time (run again)", key)
}

// again reads a node whose inventory another client changed.
func (c *changing) again(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error) {
	one := c.options.InventoryOptions
	one.Nodes = []string{inv.Node.Name}
	named, err := one.Named(ctx, c.run.Client)
	switch {
	case err != nil:
		return nil, err
	case len(named.Inventories) == 0:
		return nil, errors.Join(fmt.Errorf("the inventory of node %s was deleted meanwhile", inv.Node.Key()), named.Ended(nil))
	}
	return named.Inventories[0], nil
}

// same reports whether two suspensions are equal. Either may be nil.
func same(a, b *inventory.Suspension) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// tell shows the change, and adds it to the history of the hub.
func (c *changing) tell(ctx context.Context, inv *inventory.Inventory) {
	id := inv.Node.Full()
	node := history.Node{Namespace: id.Namespace, Name: id.Name, FormNamespace: id.Form.Namespace, Form: id.Form.Name, Row: id.UID, Outcome: history.OutcomeResumed}
	if c.next != nil {
		node.Outcome, node.Message = history.OutcomeSuspended, c.next.String()
		c.Notef("node %s: %s", id.Key(), c.next)
	} else {
		c.Notef("node %s: resumed", id.Key())
	}
	c.run.RememberNode(ctx, id.Hub, &node)
}
