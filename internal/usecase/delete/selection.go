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
	"github.com/lynqctl/lynqctl/pkg/inventory/trust"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Records are what the cluster has of records: all that could be read.
type Records struct {
	Nodes  []*inventory.Inventory
	Hubs   []*inventory.Hub
	Broken []*inventory.UnreadableError
}

// Selection says which nodes and hubs are to go. It is a pure function.
type Selection interface {
	// Choose gives the hubs whose nodes are to go. The error says why there are
	// none, or why it cannot be told.
	Choose(all *Records) ([]*LeavingHub, error)
	// Warnings are about records that choose left out.
	Warnings() []string
	// Nothing says that there is none.
	Nothing() string
	// Question is what is asked before they go, but for what goes with them, and typed
	// are the names that a person has to type then, none for a plain yes.
	Question(nodes int) string
	Typed() []string
}

// LeavingHub is a hub of which nodes go.
type LeavingHub struct {
	lynq.HubKey
	Nodes map[lynq.NodeKey]bool
	// Record is the hub's own, nil where that stays, or there is none.
	Record *inventory.Hub
	// unrecorded: the hub has no record of its own, so that nothing of it is left
	// after its last node.
	unrecorded bool
}

// Member is the record of a node, also one that cannot be read.
type Member struct {
	lynq.NodeKey
	Of   lynq.HubKey // its hub
	form lynq.FormKey
	// Deleted: it is being deleted, and our finalizer may hold it.
	Deleted bool
	broken  *inventory.UnreadableError
}

// Members are the records of nodes whose hubs are known.
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

// Rules tell which inventories count, by the records of hubs.
func (all *Records) Rules() trust.Counting { return trust.NewCounting(all.Hubs) }

// counting are the members that count: those in the namespaces that the record of
// their hub names, where it has one.
func (all *Records) counting() []Member {
	rules := all.Rules()
	return slices.DeleteFunc(all.Members(), func(m Member) bool { return !rules.Counts(m.Of, m.Namespace) })
}

// brokenHub is why the record of a hub cannot be read, nil where it can, or
// where there is none.
func (all *Records) brokenHub(p lynq.HubKey) *inventory.UnreadableError {
	for _, b := range all.Broken {
		if b.Node.Namespace == p.Namespace && b.Name == inventory.HubName(p.Name) {
			return b
		}
	}
	return nil
}

// hubRecord is the record of a hub, nil where none could be read.
func (all *Records) hubRecord(p lynq.HubKey) *inventory.Hub {
	for _, h := range all.Hubs {
		if h.Key() == p {
			return h
		}
	}
	return nil
}

// recorded tells whether a hub has a record of its own.
func (all *Records) recorded(p lynq.HubKey) bool {
	return all.brokenHub(p) != nil ||
		slices.ContainsFunc(all.Hubs, func(h *inventory.Hub) bool { return h.Key() == p })
}

// gone tells whether nothing is left of a hub. Records that were not read tell
// nothing.
func (all *Records) gone(p lynq.HubKey) bool {
	return all != nil && !all.recorded(p) &&
		!slices.ContainsFunc(all.Members(), func(m Member) bool { return m.Of == p })
}

// LeavingHubs are hubs by their places.
type LeavingHubs struct {
	At  map[lynq.HubKey]*LeavingHub
	All []*LeavingHub
}

// Hub is the hub with that identity, which is added where it is not there yet.
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

// join adds what another choice found of a hub.
func (l *LeavingHubs) join(h *LeavingHub) {
	into := l.Hub(h.HubKey)
	maps.Copy(into.Nodes, h.Nodes)
	into.Record = cmp.Or(into.Record, h.Record)
}

// Add adds a node to its hub.
func (l *LeavingHubs) Add(m *Member) { l.Hub(m.Of).Nodes[m.NodeKey] = true }

// removal is what delete is told to delete.
type removal struct {
	targets []Target
	// ignoreMissing: targets that are not there are no error.
	ignoreMissing bool
}

func (r *removal) Warnings() []string { return nil } // what is planned warns

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

// Typed are the names of hubs: all that ever came of their rows goes with them.
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

// notFoundError is that there is nothing of a name.
type notFoundError struct{ error }

func notFound(format string, args ...any) error { return &notFoundError{fmt.Errorf(format, args...)} }

// mayBeUnread is a record that could not be read and may be of a target that was not
// found, nil for none.
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
	var others []string
	for _, m := range all.counting() {
		switch {
		case t.Hub != "" && !(lynq.Names{t.Hub}).Choose(m.Of.Namespace, m.Of.Name) || t.Namespace != "" && m.Of.Namespace != t.Namespace:
		case lynq.Names{t.Name}.Choose(m.form.Namespace, m.form.Name):
			found.Add(&m)
			forms[m.form] = true
		case m.form.Name != "" && !slices.Contains(others, m.form.Name):
			others = append(others, m.form.Name)
		}
	}
	switch {
	case len(found.All) == 0:
		of := ""
		if t.Hub != "" {
			of = fmt.Sprintf(" of hub %q", t.Hub)
		}
		return nil, notFound("there is no node of a form %q%s%s", t.Name, of, session.Hint(t.Name, others))
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
