package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// finalizeFlags are the flags of finalize.
type finalizeFlags struct {
	removalFlags
	everywhere bool
	nodes      []string
	force      bool
}

func (a *app) finalizeCommand() *cobra.Command {
	f := finalizeFlags{removalFlags: removalFlags{runFlags: defaultRunFlags(), cascade: "foreground"}}
	cmd := &cobra.Command{
		Use:   "finalize [--force OBJECT...]",
		Short: "Complete what was deleted with other tools",
		Long: `Complete the deletion of inventories and hub records that were deleted with
kubectl, or that hang with their namespace: the objects of their nodes go as
their deletionPolicy says, and then the finalizer that holds the inventory. A
hub record goes after all of the hub's nodes.

A cleanup that fails keeps its finalizer and says why. --force gives up on the
objects that are named, as Kind[.group]/NAMESPACE/NAME: they are marked as
orphans where that can be done, and what is left behind is listed.

Exit codes: 0 done, or nothing to do; 1 something failed, the rest was done; 2
bad usage, nothing was touched; 3 not confirmed, or refused by a guard, nothing
was touched; 130 interrupted, and the inventories are correct.`,
		Example: `  # A namespace hangs in Terminating
  lynqctl finalize -n shop

  # What would be done for a hub, in all namespaces
  lynqctl finalize -A --hub crm --dry-run=client

  # The controller of a custom resource is gone for good, and it cannot go
  lynqctl finalize -n shop --force Database.example.com/shop/acme`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && !f.force {
				return fmt.Errorf("finalize takes objects only with --force, got %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.finalize(cmd.Context(), &f, args) },
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.Lookup("namespace").Usage = "inventories and hub records in this namespace"
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "inventories and hub records in all namespaces")
	flags.StringVar(&f.hub, "hub", "", "only inventories and the hub record of this hub, as NAME or NAMESPACE/NAME")
	flags.StringSliceVar(&f.nodes, "node", nil, "only these nodes")
	flags.BoolVar(&f.force, "force", false, "give up on the named objects")
	return cmd
}

func (a *app) finalize(ctx context.Context, f *finalizeFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.everywhere && f.namespace != "" {
		return badUsage(errors.New("-A and -n exclude each other"))
	}
	if f.force && len(args) == 0 {
		return badUsage(errors.New("--force gives up on objects: name them, as Kind[.group]/NAMESPACE/NAME"))
	}
	giveUp := map[lynq.Ref]bool{}
	var errs []error
	for _, arg := range args {
		ref, err := lynq.ParseRef(arg)
		errs = append(errs, err)
		giveUp[ref] = true
	}
	if err := errors.Join(errs...); err != nil {
		return badUsage(err)
	}
	wanted := completion{hub: f.hub, nodes: f.nodes, giveUp: giveUp}
	if !f.everywhere {
		ns, err := f.place("node")
		if err != nil {
			return err
		}
		wanted.namespace = ns
	}
	err := a.remove(ctx, &f.removalFlags, &wanted, apply.CascadeOrdered, giveUp)
	for _, b := range wanted.unread {
		_, _ = fmt.Fprintln(a.stderr, "error:", b)
	}
	if err == nil && len(wanted.unread) > 0 {
		return &exitError{code: exitFailed, err: errSaid, summary: count(len(wanted.unread), "record") + " could not be read"}
	}
	return err
}

// completion selects what somebody deleted, and our finalizers hold.
type completion struct {
	namespace string // "" for all
	hub       string // NAME or NAMESPACE/NAME, "" for any
	nodes     []string
	giveUp    map[lynq.Ref]bool
	// unread are the records that are being deleted and that nobody can tell the
	// hub of.
	unread []*inventory.RecordError
	// ignored are those of the hubs of which some are being deleted and do not
	// count.
	ignored apply.Ignored
}

func (c *completion) nothing() string {
	if c.namespace != "" {
		return "no record in namespace " + c.namespace + " is being deleted"
	}
	return "no record is being deleted"
}

func (c *completion) question(nodes int) string {
	return "Complete the deletion of " + count(nodes, "node")
}

func (c *completion) choose(all *records) ([]*leavingHub, error) {
	var found leavingHubs
	for _, h := range all.hubs {
		if h.Deleting && h.Finalizer && c.within(h.Namespace) && c.of(keyOfHub(h)) && len(c.nodes) == 0 {
			found.hub(place{h.Namespace, h.Name}).record = h
		}
	}
	rules := all.rules()
	for _, m := range all.members() {
		h := found.at[m.of]
		counts := rules.Counts(m.of.key(), m.Namespace)
		if h != nil && h.record != nil && counts || m.deleted && c.selects(&m) && (counts || c.namespace != "") {
			found.add(&m)
		}
	}
	c.unread = c.unreadable(all.broken)
	c.ignore(all, rules)
	if unknown := c.unknown(all, &found); len(unknown) > 0 {
		return nil, fmt.Errorf("--force: no record that is being deleted names %s (lynqctl inventory show NODE lists what a record names)", strings.Join(unknown, ", "))
	}
	return found.all, nil
}

// ignore finds what is being deleted in all namespaces and does not count. In the
// one that a person names all is completed: objects have to agree all the same.
func (c *completion) ignore(all *records, rules apply.Counting) {
	c.ignored = apply.Ignored{}
	if c.namespace != "" {
		return
	}
	_, _, ignored := rules.Split(all.nodes, all.broken)
	c.unread = slices.DeleteFunc(c.unread, func(b *inventory.RecordError) bool { return slices.Contains(ignored.Broken, b) })
	deleted := map[lynq.HubKey]bool{}
	for _, inv := range ignored.Inventories {
		deleted[apply.HubOf(inv)] = deleted[apply.HubOf(inv)] || inv.Deleting && c.of(apply.HubOf(inv))
	}
	for _, b := range ignored.Broken {
		deleted[apply.HubOfBroken(b)] = deleted[apply.HubOfBroken(b)] || b.Deleting && c.of(apply.HubOfBroken(b))
	}
	ignored.Inventories = slices.DeleteFunc(ignored.Inventories, func(inv *inventory.Inventory) bool { return !deleted[apply.HubOf(inv)] })
	ignored.Broken = slices.DeleteFunc(ignored.Broken, func(b *inventory.RecordError) bool { return !deleted[apply.HubOfBroken(b)] })
	c.ignored = ignored
}

func (c *completion) warnings() []string { return c.ignored.Warnings() }

// of tells whether a hub is meant.
func (c *completion) of(hub lynq.HubKey) bool {
	return c.hub == "" || lynq.Names{c.hub}.Choose(hub.Namespace, hub.Name)
}

// unreadable are the records that are being deleted and of which nobody knows
// what to complete. What another hub has is not looked at where one was named.
func (c *completion) unreadable(broken []*inventory.RecordError) []*inventory.RecordError {
	var unread []*inventory.RecordError
	for _, b := range broken {
		another := b.Hub != "" && !c.of(apply.HubOfBroken(b))
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
		if h := found.at[placeOf(inv)]; h != nil && h.nodes[keyOf(inv)] {
			for i := range inv.Records {
				named[inv.Records[i].Ref] = true
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
	return c.within(m.Namespace) && c.of(m.of.key()) && (len(c.nodes) == 0 || slices.Contains(c.nodes, m.Name))
}
