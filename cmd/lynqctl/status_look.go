package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/internal/kube"
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
}

// look reads the records that the flags choose.
func (f *statusFlags) look(ctx context.Context, client *kube.Client) (*standing, error) {
	store := inventory.NewStore(client.ConfigMaps())
	s := &standing{}
	hubs, err := f.hubRecords(ctx, store, s)
	if err != nil {
		return nil, unread(ctx, err)
	}
	r, err := f.read(ctx, client)
	if err != nil {
		return nil, err
	}
	for _, inv := range r.chosen {
		s.nodes = append(s.nodes, status.Of(inv))
	}
	for _, b := range r.broken {
		if n := status.OfBroken(b); f.means(&n) {
			s.warnings = append(s.warnings, b.Error())
			s.nodes = append(s.nodes, n)
		}
	}
	status.Sort(s.nodes)
	s.hubs = status.Sum(s.nodes, f.shownHubs(ctx, store, s, hubs))
	return s, f.missing(ctx, store, s)
}

// means tells whether the flags choose a node whose record is broken: what it
// does not say may be what was asked for.
func (f *statusFlags) means(n *status.Node) bool {
	may := func(names []string, name string) bool {
		return len(names) == 0 || name == "" || slices.Contains(names, name)
	}
	return may(f.nodes, n.Name) && may(f.hubs, n.Hub) && may(f.forms, n.Form)
}

// hubRecords reads the records of hubs that are in the namespaces that are looked
// at.
func (f *statusFlags) hubRecords(ctx context.Context, store *inventory.Store, s *standing) ([]*inventory.Hub, error) {
	hubs, err := store.Hubs(ctx, f.namespace)
	broken := (*inventory.BrokenError)(nil)
	if errors.As(err, &broken) {
		for _, b := range broken.Records {
			name := strings.TrimPrefix(b.Name, inventory.HubName(""))
			if f.ownRecords = append(f.ownRecords, name); f.showsHub(name) {
				s.warnings = append(s.warnings, b.Error())
			}
		}
	} else if err != nil {
		return nil, err
	}
	for _, h := range hubs {
		f.ownRecords = append(f.ownRecords, h.Name)
	}
	return hubs, nil
}

// whole tells whether hubs are shown whole.
func (f *statusFlags) whole() bool { return len(f.forms)+len(f.nodes) == 0 }

// showsHub tells whether a hub is shown though it may have no nodes.
func (f *statusFlags) showsHub(name string) bool {
	return f.whole() && (len(f.hubs) == 0 || slices.Contains(f.hubs, name))
}

// shownHubs are the records of hubs that the flags choose, or that nodes are of.
// Such a hub may be in a namespace that was not looked at, and may not be.
func (f *statusFlags) shownHubs(ctx context.Context, store *inventory.Store, s *standing, hubs []*inventory.Hub) []*inventory.Hub {
	wanted := map[status.Place]bool{}
	for i := range s.nodes {
		if p := s.nodes[i].Place(); p.Name != "" {
			wanted[p] = true
		}
	}
	var shown []*inventory.Hub
	for _, h := range hubs {
		p := status.Place{Namespace: h.Namespace, Name: h.Name}
		if wanted[p] || f.showsHub(h.Name) {
			shown = append(shown, h)
		}
	}
	for p := range wanted {
		if f.namespace == "" || p.Namespace == f.namespace {
			continue // it was looked at
		}
		h, err := store.LoadHub(ctx, p.Namespace, p.Name)
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
			if recorded, err = recordsOf(ctx, store, status.Place{Namespace: h.Namespace, Name: h.Name}); apierrors.IsForbidden(err) {
				continue
			} else if err != nil {
				return unread(ctx, err)
			}
		}
		h.Missing = max(h.Run.Nodes-recorded, 0)
	}
	return nil
}

// recordsOf counts the records of a hub's nodes in all namespaces.
func recordsOf(ctx context.Context, store *inventory.Store, hub status.Place) (int, error) {
	all, err := store.Nodes(ctx, lynq.HubKey{Namespace: hub.Namespace, Name: hub.Name})
	broken := (*inventory.BrokenError)(nil)
	if err != nil && !errors.As(err, &broken) {
		return 0, err
	}
	n := 0
	count := func(node status.Node) {
		if node.Place() == hub {
			n++
		}
	}
	for _, inv := range all {
		count(status.Of(inv))
	}
	if broken != nil {
		for _, b := range broken.Records {
			count(status.OfBroken(b))
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
