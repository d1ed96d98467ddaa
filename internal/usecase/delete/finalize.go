package delete

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// FinalizeOptions say which deletions Finalize completes.
type FinalizeOptions struct {
	RemoveOptions
	Namespace string // "" means all
	// Hub is NAME or NAMESPACE/NAME, "" for any. Nodes are names, empty for all.
	Hub   string
	Nodes []string
	// GiveUp are objects that Finalize doesn't try to delete.
	GiveUp map[lynq.Ref]bool
}

// Finalize completes deletions that other tools began. It returns a *session.Error if it
// couldn't complete one.
func Finalize(ctx context.Context, e *session.Engine, o *FinalizeOptions) error {
	wanted := completion{namespace: o.Namespace, hub: o.Hub, nodes: o.Nodes, giveUp: o.GiveUp}
	err := Remove(ctx, e, &o.RemoveOptions, &wanted, plan.CascadeOrdered, o.GiveUp)
	for _, b := range wanted.unread {
		e.Notef("error: %v", b)
	}
	if err == nil && len(wanted.unread) > 0 {
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: phrase.Count(len(wanted.unread), "inventory") + " can't be read"}
	}
	return err
}

// completion selects inventories and hub records that another tool deleted and our
// finalizer blocks.
type completion struct {
	namespace string // "" means all
	hub       string // NAME or NAMESPACE/NAME, "" for any
	nodes     []string
	giveUp    map[lynq.Ref]bool
	// unread are deleted inventories whose hub is unknown.
	unread []*inventory.UnreadableError
	// ignored are deleted inventories of these hubs that don't count.
	ignored inventory.Ignored
}

func (c *completion) Nothing() string {
	if c.namespace != "" {
		return "no inventory or hub record in namespace " + c.namespace + " is being deleted"
	}
	return "no inventory or hub record is being deleted"
}

func (c *completion) Question(nodes int) string {
	return "Complete the deletion of " + phrase.Count(nodes, "node")
}

func (c *completion) Typed() []string { return nil }

func (c *completion) Choose(all *Records) ([]*LeavingHub, error) {
	var found LeavingHubs
	for _, h := range all.Hubs {
		if h.Deleting && h.Finalizer && c.within(h.Namespace) && c.of(h.Key()) && len(c.nodes) == 0 {
			found.Hub(h.Key()).Record = h
		}
	}
	rules := all.Rules()
	for _, m := range all.Members() {
		h := found.At[m.Of]
		counts := rules.Counts(m.Of, m.Namespace)
		if h != nil && h.Record != nil && counts || m.Deleted && c.selects(&m) && (counts || c.namespace != "") {
			found.Add(&m)
		}
	}
	c.unread = c.unreadable(all.Broken)
	c.ignore(all, rules)
	if unknown := c.unknown(all, &found); len(unknown) > 0 {
		return nil, fmt.Errorf("--force: no inventory that is being deleted has an entry for %s (list entries with 'lynqctl inventory show NODE')", strings.Join(unknown, ", "))
	}
	return found.All, nil
}

// ignore finds deleted inventories that don't count, in all namespaces. If the user named a
// namespace, all of its inventories count. lynqctl checks the objects' own labels in any
// case.
func (c *completion) ignore(all *Records, rules inventory.Counting) {
	c.ignored = inventory.Ignored{}
	if c.namespace != "" {
		return
	}
	_, _, ignored := rules.Split(all.Nodes, all.Broken)
	c.unread = slices.DeleteFunc(c.unread, func(b *inventory.UnreadableError) bool { return slices.Contains(ignored.Broken, b) })
	deleted := map[lynq.HubKey]bool{}
	for _, inv := range ignored.Inventories {
		hub := inv.Node.Full().Hub
		deleted[hub] = deleted[hub] || inv.Deleting && c.of(hub)
	}
	for _, b := range ignored.Broken {
		hub := b.Node.Full().Hub
		deleted[hub] = deleted[hub] || b.Deleting && c.of(hub)
	}
	ignored.Inventories = slices.DeleteFunc(ignored.Inventories, func(inv *inventory.Inventory) bool { return !deleted[inv.Node.Full().Hub] })
	ignored.Broken = slices.DeleteFunc(ignored.Broken, func(b *inventory.UnreadableError) bool { return !deleted[b.Node.Full().Hub] })
	c.ignored = ignored
}

func (c *completion) Warnings() []string { return c.ignored.Warnings() }

// of reports whether the user selected a hub.
func (c *completion) of(hub lynq.HubKey) bool {
	return c.hub == "" || lynq.Names{c.hub}.Choose(hub.Namespace, hub.Name)
}

// unreadable returns deleted records that are too broken to complete. If the user named a
// hub, it ignores records of other hubs.
func (c *completion) unreadable(broken []*inventory.UnreadableError) []*inventory.UnreadableError {
	var unread []*inventory.UnreadableError
	for _, b := range broken {
		another := b.Node.Hub.Name != "" && !c.of(b.Node.Full().Hub)
		if b.Deleting && c.within(b.Node.Namespace) && (b.Node.Name == "" || b.Node.Hub.Name == "") && !another {
			unread = append(unread, b)
		}
	}
	return unread
}

// unknown returns the given-up objects that no leaving inventory lists.
func (c *completion) unknown(all *Records, found *LeavingHubs) []string {
	named := map[lynq.Ref]bool{}
	for _, inv := range all.Nodes {
		if h := found.At[inv.Node.Full().Hub]; h != nil && h.Nodes[inv.Node.Key()] {
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

func (c *completion) selects(m *Member) bool {
	return c.within(m.Namespace) && c.of(m.Of) && (len(c.nodes) == 0 || slices.Contains(c.nodes, m.Name))
}
