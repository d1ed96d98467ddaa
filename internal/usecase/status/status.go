package status

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// Options say which nodes are shown.
type Options struct {
	session.InventoryOptions
	// FailedOnly: a watch shows only nodes that are not well.
	FailedOnly bool
	// Recorded: nodes are shown as the last runs recorded them, and no object is
	// looked at.
	Recorded bool

	// repeated: a watch looks again and again, so that a look asks neither for causes nor
	// for nodes of other namespaces.
	repeated bool
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

// List reads how nodes are.
func List(ctx context.Context, e *session.Engine, o *Options) (*Status, error) {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.ConnectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	return o.look(ctx, client)
}

// look reads the inventories that the options choose, and looks at their objects.
func (o *Options) look(ctx context.Context, client *kube.Client) (*Status, error) {
	records := session.NewHubRecords(store.New(client.ConfigMaps()), o.Namespace)
	r, err := o.ReadAll(ctx, records)
	if err != nil {
		return nil, err
	}
	s := &Status{Ignored: r.Ignored}
	hubs, err := records.Listed(ctx)
	if err != nil {
		return nil, session.Unread(ctx, err)
	}
	if err := o.Unknown(r, o.ownRecords(hubs, s)); err != nil {
		return nil, err
	}
	now, err := o.now(ctx, client, r, s)
	if err != nil {
		return nil, err
	}
	for _, inv := range r.Chosen {
		s.Nodes = append(s.Nodes, now.Of(inv))
	}
	for _, b := range r.Broken {
		s.Warnings = append(s.Warnings, b.Error())
		s.Nodes = append(s.Nodes, status.OfBroken(b))
	}
	shown := o.shownHubs(ctx, records, s, hubs.Hubs)
	o.addUnrendered(s, shown)
	status.Sort(s.Nodes)
	s.Hubs = o.sum(s.Nodes, shown)
	return s, o.missing(ctx, records.Store, s)
}

// now looks at the objects of the chosen nodes, unless only what is recorded is asked
// for.
func (o *Options) now(ctx context.Context, client *kube.Client, r *session.Inventories, s *Status) (*status.Now, error) {
	if o.Recorded {
		return nil, nil
	}
	now, warnings, err := nodesNow(ctx, client, r)
	if err != nil {
		return nil, err
	}
	s.Warnings = append(s.Warnings, warnings...)
	if !o.repeated {
		explain(ctx, client, now, r.Chosen)
	}
	return now, nil
}

// addUnrendered adds the nodes that could not be rendered and have no inventory, as
// the records of hubs name them. They have no labels to be selected by.
func (o *Options) addUnrendered(s *Status, hubs []*inventory.Hub) {
	if o.Selector != nil {
		return
	}
	known := map[lynq.NodeKey]bool{}
	for i := range s.Nodes {
		known[s.Nodes[i].Key()] = true
	}
	for _, h := range hubs {
		for i := range h.Unrendered {
			n := status.OfUnrendered(&h.Unrendered[i], h.Time)
			if !known[n.Key()] && (o.Namespace == "" || n.Namespace == o.Namespace) && o.means(&n) {
				s.Nodes = append(s.Nodes, n)
			}
		}
	}
}

// means tells whether the options choose a node whose record is broken.
func (o *Options) means(n *status.Node) bool {
	return o.MayChoose(n.Name, n.Hub, n.Form)
}

// ownRecords are the hubs with a record in the namespaces that are looked at.
func (o *Options) ownRecords(list *session.HubList, s *Status) []lynq.HubKey {
	var keys []lynq.HubKey
	for _, b := range list.Broken {
		key := lynq.HubKey{Namespace: b.Node.Namespace, Name: strings.TrimPrefix(b.Name, inventory.HubName(""))}
		if keys = append(keys, key); o.showsHub(key) {
			s.Warnings = append(s.Warnings, b.Error())
		}
	}
	for _, h := range list.Hubs {
		keys = append(keys, h.Key())
	}
	return keys
}

// whole tells whether hubs are shown whole.
func (o *Options) whole() bool { return len(o.Forms) == 0 && o.wholeForms() }

// wholeForms tells whether forms are.
func (o *Options) wholeForms() bool { return len(o.Nodes) == 0 && o.Selector == nil }

// sum sums nodes up by their hubs.
func (o *Options) sum(nodes []status.Node, hubs []*inventory.Hub) []status.Hub {
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
func (o *Options) showsHub(key lynq.HubKey) bool {
	return o.whole() && lynq.Names(o.Hubs).Choose(key.Namespace, key.Name)
}

// shownHubs are the records of hubs that the options choose, or that nodes are of.
// Such a hub may be in a namespace that was not looked at, and may not be.
func (o *Options) shownHubs(ctx context.Context, records *session.HubRecords, s *Status, hubs []*inventory.Hub) []*inventory.Hub {
	wanted := map[lynq.HubKey]bool{}
	for i := range s.Nodes {
		if p := s.Nodes[i].Hub; p.Name != "" {
			wanted[p] = true
		}
	}
	var shown []*inventory.Hub
	for _, h := range hubs {
		if key := h.Key(); wanted[key] || o.showsHub(key) {
			shown = append(shown, h)
		}
	}
	for p := range wanted {
		if o.Namespace == "" || p.Namespace == o.Namespace {
			continue // it was looked at
		}
		h, err := records.Load(ctx, p)
		switch {
		case err != nil && !apierrors.IsForbidden(err):
			s.Warnings = append(s.Warnings, err.Error())
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
func (o *Options) missing(ctx context.Context, store *store.Store, s *Status) error {
	if !o.whole() || o.repeated && o.Namespace != "" {
		return nil
	}
	for i := range s.Hubs {
		h := &s.Hubs[i]
		recorded := h.Nodes - h.Leaving
		if h.Run == nil || recorded >= h.Run.Nodes {
			continue
		}
		if o.Namespace != "" {
			var err error
			if recorded, err = recordsOf(ctx, store, lynq.HubKey{Namespace: h.Namespace, Name: h.Name}); apierrors.IsForbidden(err) {
				continue
			} else if err != nil {
				return session.Unread(ctx, err)
			}
		}
		h.Missing = max(h.Run.Nodes-recorded, 0)
	}
	return nil
}

// recordsOf counts the records of a hub's nodes in all namespaces, as far as they
// count. No row wants those that are kept for their grace period.
func recordsOf(ctx context.Context, store *store.Store, hub lynq.HubKey) (int, error) {
	all, err := store.Nodes(ctx, hub)
	broken, err := session.BrokenOnes(err)
	if err != nil {
		return 0, err
	}
	counting, err := session.NewHubRecords(store, hub.Namespace).Counting(ctx, all, broken)
	if err != nil {
		return 0, err
	}
	all, broken, _ = counting.Split(all, broken)
	n := 0
	for _, inv := range all {
		if inv.Node.Full().Hub == hub && inv.LeavingSince.IsZero() {
			n++
		}
	}
	for _, b := range broken {
		if b.Node.Full().Hub == hub {
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
		parts = append(parts, fmt.Sprintf("%d of %s not Ready", n, phrase.Count(len(s.Nodes), "node")))
	}
	for i := range s.Hubs {
		if h := &s.Hubs[i]; h.Missing > 0 {
			parts = append(parts, fmt.Sprintf("hub %s/%s: %s wanted and not recorded", h.Namespace, h.Name, phrase.Count(h.Missing, "node")))
		}
	}
	if len(parts) == 0 && len(s.Warnings) > 0 {
		parts = append(parts, "some could not be checked")
	}
	return strings.Join(parts, "; ")
}

// Ended is an error where nodes are not well, or not all could be read.
func (s *Status) Ended() error {
	if summary := s.summary(); summary != "" {
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: summary}
	}
	return nil
}
