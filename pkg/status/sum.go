package status

import (
	"cmp"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// Counts sums nodes up, and their objects as their records have them.
type Counts struct {
	Nodes      int `json:"nodes"`
	Well       int `json:"well"`
	Desired    int `json:"desired"`
	Ready      int `json:"ready"`
	Failed     int `json:"failed"`
	Skipped    int `json:"skipped"`
	Conflicted int `json:"conflicted"`
}

func (c *Counts) add(n *Node) {
	c.Nodes++
	if n.Well {
		c.Well++
	}
	c.Desired += n.Desired
	c.Ready += n.Ready
	c.Failed += n.Failed
	c.Skipped += n.Skipped
	c.Conflicted += n.Conflicted
}

// Hub sums up the nodes of a hub.
type Hub struct {
	Name      string `json:"hub"`
	Namespace string `json:"namespace"`
	Counts
	Forms []Form `json:"forms,omitempty"`
	// Deleting: somebody deleted its record, and a finalizer holds that.
	Deleting bool `json:"deleting,omitempty"`
	// Run is what the last run saw of the hub, nil where nothing tells.
	Run *Run `json:"lastRun,omitempty"`
	// Missing are nodes that the last run wanted and no record names; 0 also
	// where it is not known how many records there are.
	Missing int `json:"missing,omitempty"`
}

// Form sums up the nodes of one of a hub's forms.
type Form struct {
	Name string `json:"form"`
	Counts
}

// Run is what the last run saw of a hub.
type Run struct {
	Time   time.Time `json:"time,omitzero"`
	Rows   int       `json:"rows"`
	Active int       `json:"active"`
	Nodes  int       `json:"nodes"` // that it wanted
}

// Place is where the record of a hub is.
type Place struct{ Namespace, Name string }

// Place is where the record of the node's hub is.
func (n *Node) Place() Place { return Place{n.HubNamespace, n.Hub} }

// Sum sums nodes up by hub and form, sorted by namespace and name. Hubs without
// nodes have sums too where they have a record. A node whose hub is not known is
// in none.
func Sum(nodes []Node, records []*inventory.Hub) []Hub {
	hubs := map[Place]*Hub{}
	hub := func(p Place) *Hub {
		if hubs[p] == nil {
			hubs[p] = &Hub{Namespace: p.Namespace, Name: p.Name}
		}
		return hubs[p]
	}
	for _, r := range records {
		h := hub(Place{r.Namespace, r.Name})
		h.Run, h.Deleting = &Run{Time: r.Time, Rows: r.Rows, Active: r.Active, Nodes: r.Nodes}, r.Deleting
	}
	for i := range nodes {
		if n := &nodes[i]; n.Hub != "" {
			h := hub(n.Place())
			h.add(n)
			h.form(n.Form).add(n)
		}
	}
	sums := make([]Hub, 0, len(hubs))
	for _, h := range hubs {
		slices.SortFunc(h.Forms, func(a, b Form) int { return cmp.Compare(a.Name, b.Name) })
		sums = append(sums, *h)
	}
	slices.SortFunc(sums, func(a, b Hub) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return sums
}

func (h *Hub) form(name string) *Form {
	i := slices.IndexFunc(h.Forms, func(f Form) bool { return f.Name == name })
	if i < 0 {
		i, h.Forms = len(h.Forms), append(h.Forms, Form{Name: name})
	}
	return &h.Forms[i]
}
