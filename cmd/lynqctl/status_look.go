package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// standing is how nodes are, and their hubs.
type standing struct {
	nodes []status.Node // sorted
	hubs  []status.Hub
	// warnings are about what could not be read.
	warnings []string
	// ignored are warnings about records that do not count.
	ignored []string
	// elsewhere are records of hubs that are not in the namespace that is looked at.
	elsewhere []*inventory.Hub
}

// look reads the records that the flags choose.
func (f *statusFlags) look(ctx context.Context, client *kube.Client) (*standing, error) {
	records := newHubRecords(inventory.NewStore(client.ConfigMaps()), f.namespace)
	r, err := f.readAll(ctx, records)
	if err != nil {
		return nil, err
	}
	s := &standing{ignored: f.ignored(&r.ignored)}
	hubs, err := f.hubRecords(ctx, records, s)
	if err != nil {
		return nil, unread(ctx, err)
	}
	if err := f.unknown(r); err != nil {
		return nil, err
	}
	for _, inv := range r.chosen {
		s.nodes = append(s.nodes, status.Of(inv))
	}
	for _, b := range r.broken {
		s.warnings = append(s.warnings, b.Error())
		s.nodes = append(s.nodes, status.OfBroken(b))
	}
	status.Sort(s.nodes)
	s.hubs = status.Sum(s.nodes, f.shownHubs(ctx, records, s, hubs))
	s.elsewhere = records.elsewhere()
	return s, f.missing(ctx, records.store, s)
}

// means tells whether the flags choose a node whose record is broken.
func (f *statusFlags) means(n *status.Node) bool { return f.mayChoose(n.Name, n.HubKey(), n.FormKey()) }

// hubRecords reads the records of hubs that are in the namespaces that are looked
// at.
func (f *statusFlags) hubRecords(ctx context.Context, records *hubRecords, s *standing) ([]*inventory.Hub, error) {
	list, err := records.listed(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range list.broken {
		key := lynq.HubKey{Namespace: b.Namespace, Name: strings.TrimPrefix(b.Name, inventory.HubName(""))}
		if f.ownRecords = append(f.ownRecords, key); f.showsHub(key) {
			s.warnings = append(s.warnings, b.Error())
		}
	}
	for _, h := range list.hubs {
		f.ownRecords = append(f.ownRecords, keyOfHub(h))
	}
	return list.hubs, nil
}

// keyOfHub is the hub that a record is of.
func keyOfHub(h *inventory.Hub) lynq.HubKey {
	return lynq.HubKey{Namespace: h.Namespace, Name: h.Name}
}

// whole tells whether hubs are shown whole.
func (f *statusFlags) whole() bool { return len(f.forms)+len(f.nodes) == 0 }

// showsHub tells whether a hub is shown though it may have no nodes.
func (f *statusFlags) showsHub(key lynq.HubKey) bool {
	return f.whole() && lynq.Names(f.hubs).Choose(key.Namespace, key.Name)
}

// shownHubs are the records of hubs that the flags choose, or that nodes are of.
// Such a hub may be in a namespace that was not looked at, and may not be.
func (f *statusFlags) shownHubs(ctx context.Context, records *hubRecords, s *standing, hubs []*inventory.Hub) []*inventory.Hub {
	wanted := map[lynq.HubKey]bool{}
	for i := range s.nodes {
		if p := s.nodes[i].HubKey(); p.Name != "" {
			wanted[p] = true
		}
	}
	var shown []*inventory.Hub
	for _, h := range hubs {
		if key := keyOfHub(h); wanted[key] || f.showsHub(key) {
			shown = append(shown, h)
		}
	}
	for p := range wanted {
		if f.namespace == "" || p.Namespace == f.namespace {
			continue // it was looked at
		}
		h, err := records.load(ctx, p)
		switch {
		case err != nil && !apierrors.IsForbidden(err):
			s.warnings = append(s.warnings, err.Error())
		case h != nil && h.Overwritten:
			s.warnings = append(s.warnings, fmt.Sprintf("ConfigMap %s/%s: an older lynqctl took it, the record of hub %q, for an object of a node (the next apply makes it a record again)",
				h.Namespace, inventory.HubName(h.Name), h.Name))
		case h != nil:
			shown = append(shown, h)
		}
	}
	slices.Sort(s.warnings)
	return shown
}

// missing notes which hubs have fewer records than the last run wanted nodes. A
// hub's nodes may be in any namespace, and where those may not be looked at,
// nobody can tell.
func (f *statusFlags) missing(ctx context.Context, store *inventory.Store, s *standing) error {
	if !f.whole() {
		return nil
	}
	for i := range s.hubs {
		h := &s.hubs[i]
		if h.Run == nil || h.Nodes >= h.Run.Nodes {
			continue
		}
		recorded := h.Nodes
		if f.namespace != "" {
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
func recordsOf(ctx context.Context, store *inventory.Store, hub lynq.HubKey) (int, error) {
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
		if apply.HubOf(inv) == hub {
			n++
		}
	}
	for _, b := range broken {
		if apply.HubOfBroken(b) == hub {
			n++
		}
	}
	return n, nil
}

// unwell is how many nodes are not well.
func (s *standing) unwell() int {
	n := 0
	for i := range s.nodes {
		if !s.nodes[i].Well {
			n++
		}
	}
	return n
}

// summary says what is wrong, "" where nothing is.
func (s *standing) summary() string {
	var parts []string
	if n := s.unwell(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s not well", n, count(len(s.nodes), "node")))
	}
	for i := range s.hubs {
		if h := &s.hubs[i]; h.Missing > 0 {
			parts = append(parts, fmt.Sprintf("hub %s/%s: %s wanted and not recorded", h.Namespace, h.Name, count(h.Missing, "node")))
		}
	}
	if len(parts) == 0 && len(s.warnings) > 0 {
		parts = append(parts, "not all could be read")
	}
	return strings.Join(parts, "; ")
}

// ended is the end of a command that showed how nodes are.
func (s *standing) ended() error {
	if summary := s.summary(); summary != "" {
		return &exitError{code: exitFailed, err: errSaid, summary: summary}
	}
	return nil
}
