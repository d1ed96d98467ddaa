package statuscmd

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

// Options say which nodes to show.
type Options struct {
	session.InventoryOptions
	// FailedOnly makes a watch show only nodes that aren't healthy.
	FailedOnly bool
	// Recorded shows the state that the last runs recorded, without reading objects.
	Recorded bool

	// repeated is set for a watch, which reads again and again. A read then asks neither
	// for causes nor for nodes of other namespaces.
	repeated bool
	// looked receives the live state of the chosen nodes after each look. nil receives none.
	looked func(*status.Now, []*inventory.Inventory)
}

// Status holds the states of nodes and their hubs.
type Status struct {
	Nodes []status.Node // sorted
	Hubs  []status.Hub
	// Warnings name what lynqctl couldn't read.
	Warnings []string
	// Ignored are warnings about inventories that don't count, or that --namespaces leaves
	// out.
	Ignored []string
}

// List reads the states of the nodes that the options choose.
func List(ctx context.Context, e *session.Engine, o *Options) (*Status, error) {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.ConnectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	return o.look(ctx, client)
}

// look reads the inventories that the options choose, and their objects.
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
	o.leftOut(s, shown)
	return s, o.missing(ctx, records.Store, s)
}

// now reads the objects of the chosen nodes, unless the options ask for the recorded state.
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
	if o.looked != nil {
		o.looked(now, r.Chosen)
	}
	return now, nil
}

// addUnrendered adds nodes that failed to render and have no inventory. The hub records
// name them. They have no labels, so a selector never selects them.
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

// means reports whether the options choose a node whose inventory is broken.
func (o *Options) means(n *status.Node) bool {
	return o.MayChoose(n.Name, n.Hub, n.Form)
}

// ownRecords returns the hubs with a hub record in the chosen namespaces.
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

// whole reports whether the list shows every node of a hub.
func (o *Options) whole() bool { return len(o.Forms) == 0 && o.wholeForms() }

// wholeForms reports whether the list shows every node of a form.
func (o *Options) wholeForms() bool { return len(o.Nodes) == 0 && o.Selector == nil }

// sum sums nodes up by hub.
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

// leftOut notes the hubs with nodes in namespaces that --namespaces lacks.
func (o *Options) leftOut(s *Status, hubs []*inventory.Hub) {
	for _, h := range hubs {
		outside := session.Outside(o.Access.Namespaces, h.Key(), h, nil)
		if len(outside) == 0 {
			continue
		}
		s.Ignored = append(s.Ignored, fmt.Sprintf("--namespaces leaves out the nodes of hub %s in %s", h.Key(), strings.Join(outside, ", ")))
		for i := range s.Hubs {
			if s.Hubs[i].Namespace == h.Namespace && s.Hubs[i].Name == h.Name {
				s.Hubs[i].Partial = true
			}
		}
	}
}

// showsHub reports whether the list shows a hub even if it has no nodes.
func (o *Options) showsHub(key lynq.HubKey) bool {
	return o.whole() && lynq.Names(o.Hubs).Choose(key.Namespace, key.Name)
}

// shownHubs returns the hub records that the options choose, and those of listed nodes. A
// hub record may be in another namespace, which the user perhaps may not read.
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
			continue // the first list had it
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

// missing notes hubs that have fewer inventories than the last run had nodes. A hub's nodes
// may be in any namespace. If the user may not read those, the number stays unknown.
func (o *Options) missing(ctx context.Context, store *store.Store, s *Status) error {
	if !o.whole() || o.repeated && o.Namespace != "" {
		return nil
	}
	for i := range s.Hubs {
		h := &s.Hubs[i]
		recorded := h.Nodes - h.Leaving
		if h.Run == nil || h.Partial || recorded >= h.Run.Nodes {
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
		h.Unrecorded = max(h.Run.Nodes-recorded, 0)
	}
	return nil
}

// recordsOf counts a hub's inventories in all namespaces, if they count. It leaves out
// nodes in their grace period, which no row wants.
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

// unwell counts the nodes that aren't healthy.
func (s *Status) unwell() int {
	n := 0
	for i := range s.Nodes {
		if !s.Nodes[i].Well {
			n++
		}
	}
	return n
}

// summary says what is wrong, or "".
func (s *Status) summary() string {
	var parts []string
	if n := s.unwell(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s not Ready", n, phrase.Count(len(s.Nodes), "node")))
	}
	for i := range s.Hubs {
		if h := &s.Hubs[i]; h.Unrecorded > 0 {
			parts = append(parts, fmt.Sprintf("hub %s/%s: %s wanted and not recorded", h.Namespace, h.Name, phrase.Count(h.Unrecorded, "node")))
		}
	}
	if len(parts) == 0 && len(s.Warnings) > 0 {
		parts = append(parts, "some could not be checked")
	}
	return strings.Join(parts, "; ")
}

// Ended returns an error if nodes aren't healthy, or some couldn't be read.
func (s *Status) Ended() error {
	if summary := s.summary(); summary != "" {
		return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: summary}
	}
	return nil
}
