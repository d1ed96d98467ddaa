package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/suggest"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// records are what the cluster has of records: all that could be read.
type records struct {
	nodes  []*inventory.Inventory
	hubs   []*inventory.Hub
	broken []*inventory.UnreadableError
}

// selection says which nodes and hubs are to go. It is a pure function.
type selection interface {
	// choose gives the hubs whose nodes are to go. The error says why there are
	// none, or why it cannot be told.
	choose(all *records) ([]*leavingHub, error)
	// warnings are about records that choose left out.
	warnings() []string
	// nothing says that there is none.
	nothing() string
	// question is what is asked before they go, but for what goes with them, and typed
	// are the names that a person has to type then, none for a plain yes.
	question(nodes int) string
	typed() []string
}

// leavingHub is a hub of which nodes go.
type leavingHub struct {
	lynq.HubKey
	nodes map[plan.NodeKey]bool
	// record is the hub's own, nil where that stays, or there is none.
	record *inventory.Hub
	// unrecorded: the hub has no record of its own, so that nothing of it is left
	// after its last node.
	unrecorded bool
}

// member is the record of a node, also one that cannot be read.
type member struct {
	plan.NodeKey
	of   lynq.HubKey // its hub
	form lynq.FormKey
	// deleted: it is being deleted, and our finalizer may hold it.
	deleted bool
	broken  *inventory.UnreadableError
}

// members are the records of nodes whose hubs are known.
func (all *records) members() []member {
	var members []member
	for _, inv := range all.nodes {
		members = append(members, member{keyOf(inv), plan.HubOf(inv), plan.FormOf(inv), inv.Deleting && inv.Finalizer, nil})
	}
	for _, b := range all.broken {
		if b.Node != "" && b.Hub != "" {
			hub := plan.HubOfBroken(b)
			members = append(members, member{plan.NodeKey{Namespace: b.Namespace, Name: b.Node}, lynq.HubKey{Namespace: hub.Namespace, Name: hub.Name}, plan.FormOfBroken(b), b.Deleting, b})
		}
	}
	return members
}

// rules tell which inventories count, by the records of hubs.
func (all *records) rules() plan.Counting { return plan.NewCounting(all.hubs, all.nodes) }

// counting are the members that count: those in the namespaces that the record of
// their hub names, where it has one.
func (all *records) counting() []member {
	rules := all.rules()
	return slices.DeleteFunc(all.members(), func(m member) bool { return !rules.Counts(m.of, m.Namespace) })
}

// brokenHub is why the record of a hub cannot be read, nil where it can, or
// where there is none.
func (all *records) brokenHub(p lynq.HubKey) *inventory.UnreadableError {
	for _, b := range all.broken {
		if b.Namespace == p.Namespace && b.Name == inventory.HubName(p.Name) {
			return b
		}
	}
	return nil
}

// hubRecord is the record of a hub, nil where none could be read.
func (all *records) hubRecord(p lynq.HubKey) *inventory.Hub {
	for _, h := range all.hubs {
		if (lynq.HubKey{Namespace: h.Namespace, Name: h.Name}) == p {
			return h
		}
	}
	return nil
}

// recorded tells whether a hub has a record of its own.
func (all *records) recorded(p lynq.HubKey) bool {
	return all.brokenHub(p) != nil ||
		slices.ContainsFunc(all.hubs, func(h *inventory.Hub) bool { return lynq.HubKey{Namespace: h.Namespace, Name: h.Name} == p })
}

// gone tells whether nothing is left of a hub. Records that were not read tell
// nothing.
func (all *records) gone(p lynq.HubKey) bool {
	return all != nil && !all.recorded(p) &&
		!slices.ContainsFunc(all.members(), func(m member) bool { return m.of == p })
}

func keyOf(inv *inventory.Inventory) plan.NodeKey {
	return plan.NodeKey{Namespace: inv.Namespace, Name: inv.Node}
}

// leavingHubs are hubs by their places.
type leavingHubs struct {
	at  map[lynq.HubKey]*leavingHub
	all []*leavingHub
}

func (l *leavingHubs) hub(p lynq.HubKey) *leavingHub {
	if l.at == nil {
		l.at = map[lynq.HubKey]*leavingHub{}
	}
	if l.at[p] == nil {
		l.at[p] = &leavingHub{HubKey: p, nodes: map[plan.NodeKey]bool{}}
		l.all = append(l.all, l.at[p])
	}
	return l.at[p]
}

// join adds what another choice found of a hub.
func (l *leavingHubs) join(h *leavingHub) {
	into := l.hub(h.HubKey)
	maps.Copy(into.nodes, h.nodes)
	into.record = cmp.Or(into.record, h.record)
}

func (l *leavingHubs) add(m *member) { l.hub(m.of).nodes[m.NodeKey] = true }

// removal is what delete is told to delete.
type removal struct {
	targets []Target
	// ignoreMissing: targets that are not there are no error.
	ignoreMissing bool
}

func (r *removal) warnings() []string { return nil } // what is planned warns

func (r *removal) nothing() string {
	if len(r.targets) > 1 {
		return "there is nothing of " + r.text()
	}
	return "there is no " + r.text()
}

// text names the targets: "node acme-web, node bolt-web".
func (r *removal) text() string {
	names := make([]string, len(r.targets))
	for i, t := range r.targets {
		names[i] = t.What + " " + t.Name
	}
	return strings.Join(names, ", ")
}

func (r *removal) question(nodes int) string {
	if !slices.ContainsFunc(r.targets, func(t Target) bool { return t.What != "node" }) {
		return "Delete " + r.text()
	}
	return fmt.Sprintf("Delete %s: %s", r.text(), lynq.Count(nodes, "node"))
}

// typed are the names of hubs: all that ever came of their rows goes with them.
func (r *removal) typed() []string {
	var names []string
	for _, t := range r.targets {
		if t.What == "hub" {
			names = append(names, t.Name)
		}
	}
	return names
}

func (r *removal) choose(all *records) ([]*leavingHub, error) {
	var found leavingHubs
	var errs []error
	for i := range r.targets {
		hubs, err := r.targets[i].choose(all)
		if missing := (*notFoundError)(nil); errors.As(err, &missing) && r.ignoreMissing {
			unread := r.targets[i].mayBeUnread(all)
			if unread == nil {
				continue
			}
			err = fmt.Errorf("whether there is a %s %q is not known, since an inventory cannot be read: %w", r.targets[i].What, r.targets[i].Name, unread)
		}
		errs = append(errs, err)
		for _, h := range hubs {
			found.join(h)
		}
	}
	return found.all, errors.Join(errs...)
}

// notFoundError is that there is nothing of a name.
type notFoundError struct{ error }

func notFound(format string, args ...any) error { return &notFoundError{fmt.Errorf(format, args...)} }

// mayBeUnread is a record that could not be read and may be of a target that was not
// found, nil for none.
func (t *Target) mayBeUnread(all *records) error {
	for _, b := range all.broken {
		may := b.Hub == ""
		switch t.What {
		case "node":
			may = b.Namespace == t.Namespace && (b.Node == "" || b.Node == t.Name)
		case "form":
			may = b.Hub == "" || b.Form == ""
		}
		if may {
			return b
		}
	}
	return nil
}

func (t *Target) choose(all *records) ([]*leavingHub, error) {
	switch t.What {
	case "node":
		return t.node(all)
	case "form":
		return t.form(all)
	}
	return t.wholeHub(all)
}

func (t *Target) node(all *records) ([]*leavingHub, error) {
	var found leavingHubs
	var near, elsewhere []string
	for _, m := range all.members() {
		switch {
		case m.Name == t.Name && m.Namespace == t.Namespace && m.broken != nil:
			return nil, m.broken
		case m.Name == t.Name && m.Namespace == t.Namespace:
			found.add(&m)
		case m.Name == t.Name:
			elsewhere = append(elsewhere, m.Namespace)
		case m.Namespace == t.Namespace:
			near = append(near, m.Name)
		}
	}
	if len(found.all) > 0 {
		return found.all, nil
	}
	if len(elsewhere) > 0 {
		return nil, notFound("there is no node %q in namespace %s (it is in %s: say -n)", t.Name, t.Namespace, strings.Join(elsewhere, ", "))
	}
	return nil, notFound("there is no node %q in namespace %s%s", t.Name, t.Namespace, hint(t.Name, near))
}

func (t *Target) form(all *records) ([]*leavingHub, error) {
	var found leavingHubs
	forms := map[lynq.FormKey]bool{}
	var others []string
	for _, m := range all.counting() {
		switch {
		case t.Hub != "" && !(lynq.Names{t.Hub}).Choose(m.of.Namespace, m.of.Name) || t.Namespace != "" && m.of.Namespace != t.Namespace:
		case lynq.Names{t.Name}.Choose(m.form.Namespace, m.form.Name):
			found.add(&m)
			forms[m.form] = true
		case m.form.Name != "" && !slices.Contains(others, m.form.Name):
			others = append(others, m.form.Name)
		}
	}
	switch {
	case len(found.all) == 0:
		of := ""
		if t.Hub != "" {
			of = fmt.Sprintf(" of hub %q", t.Hub)
		}
		return nil, notFound("there is no node of a form %q%s%s", t.Name, of, hint(t.Name, others))
	case len(found.all) > 1:
		var hubs []string
		for _, h := range found.all {
			hubs = append(hubs, h.String())
		}
		slices.Sort(hubs)
		return nil, fmt.Errorf("several hubs have a form %q: %s (say --hub NAMESPACE/NAME with one of these)", t.Name, strings.Join(hubs, ", "))
	case len(forms) > 1:
		var names []string
		for form := range forms {
			names = append(names, form.String())
		}
		slices.Sort(names)
		return nil, fmt.Errorf("hub %s has several forms %q: %s (say one of these in the place of %s)", found.all[0], t.Name, strings.Join(names, ", "), t.Name)
	}
	return found.all, nil
}

func (t *Target) wholeHub(all *records) ([]*leavingHub, error) {
	here := lynq.HubKey{Namespace: t.Namespace, Name: t.Name}
	if broken := all.brokenHub(here); broken != nil {
		return nil, broken
	}
	var found leavingHubs
	var near, elsewhere []string
	for _, h := range all.hubs {
		switch at := (lynq.HubKey{Namespace: h.Namespace, Name: h.Name}); {
		case at == here:
			found.hub(here).record = h
		case h.Name == t.Name:
			elsewhere = append(elsewhere, h.Namespace)
		case h.Namespace == t.Namespace:
			near = append(near, h.Name)
		}
	}
	for _, m := range all.counting() {
		if m.of == here {
			found.add(&m)
		}
	}
	switch {
	case len(found.all) > 0:
		return found.all, nil
	case len(elsewhere) > 0:
		return nil, notFound("there is no hub %q in namespace %s (it is in %s: say -n)", t.Name, t.Namespace, strings.Join(elsewhere, ", "))
	}
	return nil, notFound("there is no hub %q in namespace %s%s", t.Name, t.Namespace, hint(t.Name, near))
}

// hint is what to do about an unknown name, in parentheses.
func hint(name string, known []string) string {
	return " (" + cmp.Or(suggest.Fix(name, known), "lynqctl status -A lists what there is") + ")"
}
