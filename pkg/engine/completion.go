package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// FinalizeOptions say which deletions are completed.
type FinalizeOptions struct {
	RemoveOptions
	Namespace string // "" for all
	// Hub is NAME or NAMESPACE/NAME, "" for any, and Nodes are names, empty for all.
	Hub   string
	Nodes []string
	// GiveUp are objects whose deletion is not tried.
	GiveUp map[lynq.Ref]bool
}

// Finalize completes the deletion of what was deleted with other tools.
func (e *Engine) Finalize(ctx context.Context, o *FinalizeOptions) error {
	wanted := completion{namespace: o.Namespace, hub: o.Hub, nodes: o.Nodes, giveUp: o.GiveUp}
	err := e.remove(ctx, &o.RemoveOptions, &wanted, plan.CascadeOrdered, o.GiveUp)
	for _, b := range wanted.unread {
		e.notef("error: %v", b)
	}
	if err == nil && len(wanted.unread) > 0 {
		return &Error{Outcome: Failed, Err: ErrReported, Summary: lynq.Count(len(wanted.unread), "inventory") + " could not be read"}
	}
	return err
}

// completion selects what was deleted with another tool, and our finalizers hold.
type completion struct {
	namespace string // "" for all
	hub       string // NAME or NAMESPACE/NAME, "" for any
	nodes     []string
	giveUp    map[lynq.Ref]bool
	// unread are the records that are being deleted and whose hub is
	// not known.
	unread []*inventory.UnreadableError
	// ignored are those of the hubs of which some are being deleted and do not
	// count.
	ignored plan.Ignored
}

func (c *completion) nothing() string {
	if c.namespace != "" {
		return "no inventory or hub record in namespace " + c.namespace + " is being deleted"
	}
	return "no inventory or hub record is being deleted"
}

func (c *completion) question(nodes int) string {
	return "Complete the deletion of " + lynq.Count(nodes, "node")
}

func (c *completion) typed() []string { return nil }

func (c *completion) choose(all *records) ([]*leavingHub, error) {
	var found leavingHubs
	for _, h := range all.hubs {
		if h.Deleting && h.Finalizer && c.within(h.Namespace) && c.of(keyOfHub(h)) && len(c.nodes) == 0 {
			found.hub(lynq.HubKey{Namespace: h.Namespace, Name: h.Name}).record = h
		}
	}
	rules := all.rules()
	for _, m := range all.members() {
		h := found.at[m.of]
		counts := rules.Counts(m.of, m.Namespace)
		if h != nil && h.record != nil && counts || m.deleted && c.selects(&m) && (counts || c.namespace != "") {
			found.add(&m)
		}
	}
	c.unread = c.unreadable(all.broken)
	c.ignore(all, rules)
	if unknown := c.unknown(all, &found); len(unknown) > 0 {
		return nil, fmt.Errorf("--force: no inventory that is being deleted has an entry for %s (lynqctl inventory show NODE lists entries)", strings.Join(unknown, ", "))
	}
	return found.all, nil
}

// ignore finds what is being deleted in all namespaces and does not count. In the
// one that a person names all is completed: objects have to agree all the same.
func (c *completion) ignore(all *records, rules plan.Counting) {
	c.ignored = plan.Ignored{}
	if c.namespace != "" {
		return
	}
	_, _, ignored := rules.Split(all.nodes, all.broken)
	c.unread = slices.DeleteFunc(c.unread, func(b *inventory.UnreadableError) bool { return slices.Contains(ignored.Broken, b) })
	deleted := map[lynq.HubKey]bool{}
	for _, inv := range ignored.Inventories {
		deleted[plan.HubOf(inv)] = deleted[plan.HubOf(inv)] || inv.Deleting && c.of(plan.HubOf(inv))
	}
	for _, b := range ignored.Broken {
		deleted[plan.HubOfBroken(b)] = deleted[plan.HubOfBroken(b)] || b.Deleting && c.of(plan.HubOfBroken(b))
	}
	ignored.Inventories = slices.DeleteFunc(ignored.Inventories, func(inv *inventory.Inventory) bool { return !deleted[plan.HubOf(inv)] })
	ignored.Broken = slices.DeleteFunc(ignored.Broken, func(b *inventory.UnreadableError) bool { return !deleted[plan.HubOfBroken(b)] })
	c.ignored = ignored
}

func (c *completion) warnings() []string { return c.ignored.Warnings() }

// of tells whether a hub is meant.
func (c *completion) of(hub lynq.HubKey) bool {
	return c.hub == "" || lynq.Names{c.hub}.Choose(hub.Namespace, hub.Name)
}

// unreadable are the records that are being deleted and of which is not known
// what to complete. What another hub has is not looked at where one was named.
func (c *completion) unreadable(broken []*inventory.UnreadableError) []*inventory.UnreadableError {
	var unread []*inventory.UnreadableError
	for _, b := range broken {
		another := b.Hub != "" && !c.of(plan.HubOfBroken(b))
		if b.Deleting && c.within(b.Namespace) && (b.Node == "" || b.Hub == "") && !another {
			unread = append(unread, b)
		}
	}
	return unread
}

// unknown are the objects that are to be given up and that no record names which
// is to go.
func (c *completion) unknown(all *records, found *leavingHubs) []string {
	named := map[lynq.Ref]bool{}
	for _, inv := range all.nodes {
		if h := found.at[plan.HubOf(inv)]; h != nil && h.nodes[keyOf(inv)] {
			for _, r := range slices.Concat(inv.Entries, inv.Hooks) {
				named[r.Ref] = true
			}
		}
	}
	var unknown []string
	for ref := range c.giveUp {
		if !named[ref] {
			unknown = append(unknown, ref.Full())
		}
	}
	slices.Sort(unknown)
	return unknown
}

func (c *completion) within(namespace string) bool {
	return c.namespace == "" || c.namespace == namespace
}

func (c *completion) selects(m *member) bool {
	return c.within(m.Namespace) && c.of(m.of) && (len(c.nodes) == 0 || slices.Contains(c.nodes, m.Name))
}
