package delete

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Records holds the inventories and hub records of the cluster, as far as lynqctl could
// read them.
type Records struct {
	Nodes  []*inventory.Inventory
	Hubs   []*inventory.Hub
	Broken []*inventory.UnreadableError
}

// Selection chooses the nodes and hubs to delete. It is a pure function.
type Selection interface {
	// Choose returns the hubs whose nodes the run deletes. The error says why it found
	// none, or why it can't decide.
	Choose(all *Records) ([]*LeavingHub, error)
	// Warnings are about records that Choose ignored.
	Warnings() []string
	// Nothing says that Choose found no node.
	Nothing() string
	// Question asks for confirmation, without the consequences for other objects. Typed
	// returns the names that the user must type, none for a plain yes.
	Question(nodes int) string
	Typed() []string
}

// LeavingHub is a hub whose nodes the run deletes.
type LeavingHub struct {
	lynq.HubKey
	Nodes map[lynq.NodeKey]bool
	// Record is the hub record, or nil if it stays or doesn't exist.
	Record *inventory.Hub
	// unrecorded is set if the hub has no hub record, so that its last node is all that is
	// left of it.
	unrecorded bool
}

// Member is an inventory, even an unreadable one.
type Member struct {
	lynq.NodeKey
	Of   lynq.HubKey // its hub
	form lynq.FormKey
	// Deleted is set if someone deleted the inventory, and our finalizer may block that.
	Deleted bool
	broken  *inventory.UnreadableError
}

// Members returns the inventories whose hub is known.
func (all *Records) Members() []Member {
	var members []Member
	for _, inv := range all.Nodes {
		members = append(members, Member{inv.Node.Key(), inv.Node.Full().Hub, inv.Node.Full().Form, inv.Deleting && inv.Finalizer, nil})
	}
	for _, b := range all.Broken {
		if b.Node.Name != "" && b.Node.Hub.Name != "" {
			hub := b.Node.Full().Hub
			members = append(members, Member{b.Node.Key(), hub, b.Node.Full().Form, b.Deleting, b})
		}
	}
	return members
}

// Rules say which inventories count, by the hub records.
func (all *Records) Rules() inventory.Counting { return inventory.NewCounting(all.Hubs) }

// counting returns the members that count. If the hub has a record, these are the members
// in the namespaces that it names.
func (all *Records) counting() []Member {
	rules := all.Rules()
	return slices.DeleteFunc(all.Members(), func(m Member) bool { return !rules.Counts(m.Of, m.Namespace) })
}

// brokenHub says why a hub record can't be read. It returns nil if it can, or if the hub
// has none.
func (all *Records) brokenHub(p lynq.HubKey) *inventory.UnreadableError {
	for _, b := range all.Broken {
		if b.Node.Namespace == p.Namespace && b.Name == inventory.HubName(p.Name) {
			return b
		}
	}
	return nil
}

// hubRecord returns the hub record, or nil if lynqctl read none.
func (all *Records) hubRecord(p lynq.HubKey) *inventory.Hub {
	for _, h := range all.Hubs {
		if h.Key() == p {
			return h
		}
	}
	return nil
}

// recorded reports whether a hub has a hub record.
func (all *Records) recorded(p lynq.HubKey) bool {
	return all.brokenHub(p) != nil ||
		slices.ContainsFunc(all.Hubs, func(h *inventory.Hub) bool { return h.Key() == p })
}

// gone reports whether nothing is left of a hub. It returns false if the records weren't
// read.
func (all *Records) gone(p lynq.HubKey) bool {
	return all != nil && !all.recorded(p) &&
		!slices.ContainsFunc(all.Members(), func(m Member) bool { return m.Of == p })
}

// LeavingHubs indexes hubs by their keys.
type LeavingHubs struct {
	At  map[lynq.HubKey]*LeavingHub
	All []*LeavingHub
}

// Hub returns the hub with this key, and adds it if necessary.
func (l *LeavingHubs) Hub(p lynq.HubKey) *LeavingHub {
	if l.At == nil {
		l.At = map[lynq.HubKey]*LeavingHub{}
	}
	if l.At[p] == nil {
		l.At[p] = &LeavingHub{HubKey: p, Nodes: map[lynq.NodeKey]bool{}}
		l.All = append(l.All, l.At[p])
	}
	return l.At[p]
}

// join adds the nodes of a hub that another target selected.
func (l *LeavingHubs) join(h *LeavingHub) {
	into := l.Hub(h.HubKey)
	maps.Copy(into.Nodes, h.Nodes)
	into.Record = cmp.Or(into.Record, h.Record)
}

// Add adds a node to its hub.
func (l *LeavingHubs) Add(m *Member) { l.Hub(m.Of).Nodes[m.NodeKey] = true }

// removal holds the targets of the delete command.
type removal struct {
	targets []Target
	// ignoreMissing accepts targets that don't exist.
	ignoreMissing bool
}

func (r *removal) Warnings() []string { return nil } // the plan has the warnings

func (r *removal) Nothing() string {
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

func (r *removal) Question(nodes int) string {
	if !slices.ContainsFunc(r.targets, func(t Target) bool { return t.What != "node" }) {
		return "Delete " + r.text()
	}
	return fmt.Sprintf("Delete %s: %s", r.text(), phrase.Count(nodes, "node"))
}

// Typed returns the names of hubs, because deleting a hub deletes everything that came from
// its rows.
func (r *removal) Typed() []string {
	var names []string
	for _, t := range r.targets {
		if t.What == "hub" {
			names = append(names, t.Name)
		}
	}
	return names
}

func (r *removal) Choose(all *Records) ([]*LeavingHub, error) {
	var found LeavingHubs
	var errs []error
	for i := range r.targets {
		hubs, err := r.targets[i].choose(all)
		if missing := (*notFoundError)(nil); errors.As(err, &missing) && r.ignoreMissing {
			unread := r.targets[i].mayBeUnread(all)
			if unread == nil {
				continue
			}
			err = fmt.Errorf("lynqctl can't tell whether %s %q exists, because it can't read an inventory: %w", r.targets[i].What, r.targets[i].Name, unread)
		}
		errs = append(errs, err)
		for _, h := range hubs {
			found.join(h)
		}
	}
	return found.All, errors.Join(errs...)
}

// notFoundError says that nothing has a name.
type notFoundError struct{ error }

func notFound(format string, args ...any) error { return &notFoundError{fmt.Errorf(format, args...)} }

// mayBeUnread returns an unreadable record that may belong to a missing target, or nil.
func (t *Target) mayBeUnread(all *Records) error {
	for _, b := range all.Broken {
		may := b.Node.Hub.Name == ""
		switch t.What {
		case "node":
			may = b.Node.Namespace == t.Namespace && (b.Node.Name == "" || b.Node.Name == t.Name)
		case "form":
			may = b.Node.Hub.Name == "" || b.Node.Form.Name == ""
		}
		if may {
			return b
		}
	}
	return nil
}

func (t *Target) choose(all *Records) ([]*LeavingHub, error) {
	switch t.What {
	case "node":
		return t.node(all)
	case "form":
		return t.form(all)
	}
	return t.wholeHub(all)
}

func (t *Target) node(all *Records) ([]*LeavingHub, error) {
	var found LeavingHubs
	var near, elsewhere []string
	for _, m := range all.Members() {
		switch {
		case m.Name == t.Name && m.Namespace == t.Namespace && m.broken != nil:
			return nil, m.broken
		case m.Name == t.Name && m.Namespace == t.Namespace:
			found.Add(&m)
		case m.Name == t.Name:
			elsewhere = append(elsewhere, m.Namespace)
		case m.Namespace == t.Namespace:
			near = append(near, m.Name)
		}
	}
	if len(found.All) > 0 {
		return found.All, nil
	}
	if len(elsewhere) > 0 {
		return nil, notFound("there is no node %q in namespace %s (lynqctl found it in %s: pass -n)", t.Name, t.Namespace, strings.Join(elsewhere, ", "))
	}
	return nil, notFound("there is no node %q in namespace %s%s", t.Name, t.Namespace, session.Hint(t.Name, near))
}

func (t *Target) form(all *Records) ([]*LeavingHub, error) {
	var found LeavingHubs
	forms := map[lynq.FormKey]bool{}
	var others, elsewhere []string
	for _, m := range all.counting() {
		is := lynq.Names{t.Name}.Choose(m.form.Namespace, m.form.Name)
		switch {
		case t.Hub != "" && !(lynq.Names{t.Hub}).Choose(m.Of.Namespace, m.Of.Name):
		case t.Namespace != "" && m.Of.Namespace != t.Namespace:
			if is && !slices.Contains(elsewhere, m.Of.String()) {
				elsewhere = append(elsewhere, m.Of.String())
			}
		case is:
			found.Add(&m)
			forms[m.form] = true
		case m.form.Name != "" && !slices.Contains(others, m.form.Name):
			others = append(others, m.form.Name)
		}
	}
	switch {
	case len(found.All) == 0:
		return nil, t.noForm(others, elsewhere)
	case len(found.All) > 1:
		var hubs []string
		for _, h := range found.All {
			hubs = append(hubs, h.String())
		}
		slices.Sort(hubs)
		return nil, fmt.Errorf("several hubs have a form %q: %s (pass --hub NAMESPACE/NAME with one of these)", t.Name, strings.Join(hubs, ", "))
	case len(forms) > 1:
		var names []string
		for form := range forms {
			names = append(names, form.String())
		}
		slices.Sort(names)
		return nil, fmt.Errorf("hub %s has several forms %q: %s (pass one of these instead of %s)", found.All[0], t.Name, strings.Join(names, ", "), t.Name)
	}
	return found.All, nil
}

// noForm says that no node has the form. others are forms of the selected hubs. elsewhere
// are hubs with this form in namespaces that -n excludes.
func (t *Target) noForm(others, elsewhere []string) error {
	of, hint := "", session.Hint(t.Name, others)
	switch {
	case t.Hub != "":
		of = fmt.Sprintf(" of hub %q", t.Hub)
	case t.Namespace != "":
		of = " of a hub"
	}
	if t.Namespace != "" {
		of += " in namespace " + t.Namespace
	}
	if len(elsewhere) > 0 {
		slices.Sort(elsewhere)
		hint = fmt.Sprintf(" (lynqctl found it in hub %s: pass the namespace of the hub with -n, and not that of the nodes)", strings.Join(elsewhere, ", "))
	}
	return notFound("no node has a form %q%s%s", t.Name, of, hint)
}

func (t *Target) wholeHub(all *Records) ([]*LeavingHub, error) {
	here := lynq.HubKey{Namespace: t.Namespace, Name: t.Name}
	if broken := all.brokenHub(here); broken != nil {
		return nil, broken
	}
	var found LeavingHubs
	var near, elsewhere []string
	for _, h := range all.Hubs {
		switch at := h.Key(); {
		case at == here:
			found.Hub(here).Record = h
		case h.Name == t.Name:
			elsewhere = append(elsewhere, h.Namespace)
		case h.Namespace == t.Namespace:
			near = append(near, h.Name)
		}
	}
	for _, m := range all.counting() {
		if m.Of == here {
			found.Add(&m)
		}
	}
	switch {
	case len(found.All) > 0:
		return found.All, nil
	case len(elsewhere) > 0:
		return nil, notFound("there is no hub %q in namespace %s (lynqctl found it in %s: pass -n)", t.Name, t.Namespace, strings.Join(elsewhere, ", "))
	}
	return nil, notFound("there is no hub %q in namespace %s%s", t.Name, t.Namespace, session.Hint(t.Name, near))
}
