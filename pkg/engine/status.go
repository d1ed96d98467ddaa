package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// StatusOptions say which nodes are shown.
type StatusOptions struct {
	InventoryOptions
	// FailedOnly: a watch shows only nodes that are not well.
	FailedOnly bool
	// Recorded: nodes are shown as the last runs recorded them, and no object is
	// looked at.
	Recorded bool
}

// Status is how nodes are, and their hubs.
type Status struct {
	Nodes []status.Node // sorted
	Hubs  []status.Hub
	// Warnings are about what could not be read.
	Warnings []string
	// Ignored are warnings about inventories that do not count.
	Ignored []string
}

// Status reads how nodes are.
func (e *Engine) Status(ctx context.Context, o *StatusOptions) (*Status, error) {
	ctx, cancel := Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.connectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	s, _, err := o.look(ctx, client)
	return s, err
}

// look reads the inventories that the options choose, and gives the records of hubs
// that are in other namespaces.
func (o *StatusOptions) look(ctx context.Context, client *kube.Client) (*Status, []*inventory.Hub, error) {
	records := newHubRecords(store.New(client.ConfigMaps()), o.Namespace)
	r, err := o.readAll(ctx, records)
	if err != nil {
		return nil, nil, err
	}
	s := &Status{Ignored: r.Ignored}
	hubs, err := records.listed(ctx)
	if err != nil {
		return nil, nil, unread(ctx, err)
	}
	if err := o.unknown(r, o.ownRecords(hubs, s)); err != nil {
		return nil, nil, err
	}
	now, err := o.now(ctx, client, r, s)
	if err != nil {
		return nil, nil, err
	}
	for _, inv := range r.Chosen {
		s.Nodes = append(s.Nodes, now.Of(inv))
	}
	for _, b := range r.Broken {
		s.Warnings = append(s.Warnings, b.Error())
		s.Nodes = append(s.Nodes, status.OfBroken(b))
	}
	shown := o.shownHubs(ctx, records, s, hubs.hubs)
	o.addUnrendered(s, shown)
	status.Sort(s.Nodes)
	s.Hubs = o.sum(s.Nodes, shown)
	return s, records.elsewhere(), o.missing(ctx, records.store, s)
}

// now looks at the objects of the chosen nodes, unless only what is recorded is asked
// for.
func (o *StatusOptions) now(ctx context.Context, client *kube.Client, r *Inventories, s *Status) (*status.Now, error) {
	if o.Recorded {
		return nil, nil
	}
	now, warnings, err := nodesNow(ctx, client, r)
	if err != nil {
		return nil, err
	}
	s.Warnings = append(s.Warnings, warnings...)
	explain(ctx, client, now, r.Chosen)
	return now, nil
}

// addUnrendered adds the nodes that could not be rendered and have no inventory, as
// the records of hubs name them. They have no labels to be selected by.
func (o *StatusOptions) addUnrendered(s *Status, hubs []*inventory.Hub) {
	if o.Selector != nil {
		return
	}
	type key struct{ namespace, name string }
	known := map[key]bool{}
	for i := range s.Nodes {
		known[key{s.Nodes[i].Namespace, s.Nodes[i].Name}] = true
	}
	for _, h := range hubs {
		for i := range h.Unrendered {
			n := status.OfUnrendered(keyOfHub(h), &h.Unrendered[i], h.Time)
			if !known[key{n.Namespace, n.Name}] && (o.Namespace == "" || n.Namespace == o.Namespace) && o.means(&n) {
				s.Nodes = append(s.Nodes, n)
			}
		}
	}
}

// means tells whether the options choose a node whose record is broken.
func (o *StatusOptions) means(n *status.Node) bool {
	return o.mayChoose(n.Name, n.HubKey(), n.FormKey())
}

// ownRecords are the hubs with a record in the namespaces that are looked at.
func (o *StatusOptions) ownRecords(list *hubList, s *Status) []lynq.HubKey {
	var keys []lynq.HubKey
	for _, b := range list.broken {
		key := lynq.HubKey{Namespace: b.Namespace, Name: strings.TrimPrefix(b.Name, inventory.HubName(""))}
		if keys = append(keys, key); o.showsHub(key) {
			s.Warnings = append(s.Warnings, b.Error())
		}
	}
	for _, h := range list.hubs {
		keys = append(keys, keyOfHub(h))
	}
	return keys
}

// keyOfHub is the hub that a record is of.
func keyOfHub(h *inventory.Hub) lynq.HubKey {
	return lynq.HubKey{Namespace: h.Namespace, Name: h.Name}
}

// whole tells whether hubs are shown whole.
func (o *StatusOptions) whole() bool { return len(o.Forms) == 0 && o.wholeForms() }

// wholeForms tells whether forms are.
func (o *StatusOptions) wholeForms() bool { return len(o.Nodes) == 0 && o.Selector == nil }

// sum sums nodes up by their hubs.
func (o *StatusOptions) sum(nodes []status.Node, hubs []*inventory.Hub) []status.Hub {
	sums := status.Sum(nodes, hubs)
	for i := range sums {
		sums[i].Partial = !o.whole()
		for j := range sums[i].Forms {
			sums[i].Forms[j].Partial = !o.wholeForms()
		}
	}
	return sums
}

// showsHub tells whether a hub is shown though it may have no nodes.
func (o *StatusOptions) showsHub(key lynq.HubKey) bool {
	return o.whole() && lynq.Names(o.Hubs).Choose(key.Namespace, key.Name)
}

// shownHubs are the records of hubs that the options choose, or that nodes are of.
// Such a hub may be in a namespace that was not looked at, and may not be.
func (o *StatusOptions) shownHubs(ctx context.Context, records *hubRecords, s *Status, hubs []*inventory.Hub) []*inventory.Hub {
	wanted := map[lynq.HubKey]bool{}
	for i := range s.Nodes {
		if p := s.Nodes[i].HubKey(); p.Name != "" {
			wanted[p] = true
		}
	}
	var shown []*inventory.Hub
	for _, h := range hubs {
		if key := keyOfHub(h); wanted[key] || o.showsHub(key) {
			shown = append(shown, h)
		}
	}
	for p := range wanted {
		if o.Namespace == "" || p.Namespace == o.Namespace {
			continue // it was looked at
		}
		h, err := records.load(ctx, p)
		switch {
		case err != nil && !apierrors.IsForbidden(err):
			s.Warnings = append(s.Warnings, err.Error())
		case h != nil && h.Overwritten:
			s.Warnings = append(s.Warnings, fmt.Sprintf("ConfigMap %s/%s: an older lynqctl took it, the record of hub %q, for an object of a node (the next apply makes it a record again)",
				h.Namespace, inventory.HubName(h.Name), h.Name))
		case h != nil:
			shown = append(shown, h)
		}
	}
	slices.Sort(s.Warnings)
	return shown
}

// missing notes which hubs have fewer records than the last run wanted nodes. A
// hub's nodes may be in any namespace, and where those may not be looked at,
// that is not known.
func (o *StatusOptions) missing(ctx context.Context, store *store.Store, s *Status) error {
	if !o.whole() {
		return nil
	}
	for i := range s.Hubs {
		h := &s.Hubs[i]
		if h.Run == nil || h.Nodes >= h.Run.Nodes {
			continue
		}
		recorded := h.Nodes
		if o.Namespace != "" {
			var err error
			if recorded, err = recordsOf(ctx, store, lynq.HubKey{Namespace: h.Namespace, Name: h.Name}); apierrors.IsForbidden(err) {
				continue
			} else if err != nil {
				return unread(ctx, err)
			}
		}
		h.Missing = max(h.Run.Nodes-recorded, 0)
	}
	return nil
}

// recordsOf counts the records of a hub's nodes in all namespaces, as far as they
// count.
func recordsOf(ctx context.Context, store *store.Store, hub lynq.HubKey) (int, error) {
	all, err := store.Nodes(ctx, hub)
	broken, err := brokenOnes(err)
	if err != nil {
		return 0, err
	}
	counting, err := newHubRecords(store, hub.Namespace).counting(ctx, all, broken)
	if err != nil {
		return 0, err
	}
	all, broken, _ = counting.Split(all, broken)
	n := 0
	for _, inv := range all {
		if plan.HubOf(inv) == hub {
			n++
		}
	}
	for _, b := range broken {
		if plan.HubOfBroken(b) == hub {
			n++
		}
	}
	return n, nil
}

// unwell is how many nodes are not well.
func (s *Status) unwell() int {
	n := 0
	for i := range s.Nodes {
		if !s.Nodes[i].Well {
			n++
		}
	}
	return n
}

// summary says what is wrong, "" where nothing is.
func (s *Status) summary() string {
	var parts []string
	if n := s.unwell(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s not Ready", n, lynq.Count(len(s.Nodes), "node")))
	}
	for i := range s.Hubs {
		if h := &s.Hubs[i]; h.Missing > 0 {
			parts = append(parts, fmt.Sprintf("hub %s/%s: %s wanted and not recorded", h.Namespace, h.Name, lynq.Count(h.Missing, "node")))
		}
	}
	if len(parts) == 0 && len(s.Warnings) > 0 {
		parts = append(parts, "not all could be looked at")
	}
	return strings.Join(parts, "; ")
}

// Ended is an error where nodes are not well, or not all could be read.
func (s *Status) Ended() error {
	if summary := s.summary(); summary != "" {
		return &Error{Outcome: Failed, Err: ErrReported, Summary: summary}
	}
	return nil
}
