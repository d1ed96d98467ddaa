package status

import (
	"cmp"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Counts sums nodes up, and their objects as their records have them.
type Counts struct {
	Nodes      int `json:"nodes"`
	Healthy    int `json:"healthy"`
	Well       int `json:"well"` // an older name of Healthy
	Desired    int `json:"desired"`
	Ready      int `json:"ready"`
	Failed     int `json:"failed"`
	Skipped    int `json:"skipped"`
	Conflicted int `json:"conflicted"`
	Excluded   int `json:"excluded,omitempty"`
	// Leaving counts nodes that are kept for their grace period. They are well, too.
	Leaving int `json:"leaving,omitempty"`
}

func (c *Counts) add(n *Node) {
	c.Nodes++
	if n.Well {
		c.Healthy++
		c.Well++
	}
	if n.Condition == InGrace {
		c.Leaving++
	}
	c.Desired += n.Desired
	c.Ready += n.Ready
	c.Failed += n.Failed
	c.Skipped += n.Skipped
	c.Conflicted += n.Conflicted
	c.Excluded += n.Excluded
}

// Hub sums up the nodes of a hub.
type Hub struct {
	Name      string `json:"hub"`
	Namespace string `json:"namespace"`
	Counts
	Forms []Form `json:"forms,omitempty"`
	// Partial: only some of its nodes were asked for.
	Partial bool `json:"partial,omitempty"`
	// Deleting: its deletion was requested, and a finalizer holds it.
	Deleting bool `json:"deleting,omitempty"`
	// Run is what the last run saw of the hub, nil where nothing tells.
	Run *Run `json:"lastRun,omitempty"`
	// Missing are nodes that the last run wanted and no record names; 0 also
	// where it is not known how many records there are.
	Missing int `json:"missing,omitempty"`
}

// Form sums up the nodes of one of a hub's forms.
type Form struct {
	Name      string `json:"form"`
	Namespace string `json:"formNamespace,omitempty"`
	Counts
	// Partial: only some of its nodes were asked for.
	Partial bool `json:"partial,omitempty"`
	// Absent: the inputs of the last run did not have it.
	Absent bool `json:"absent,omitempty"`
	// Rollout is how far the last run came with it, nil where the form has none.
	Rollout *Rollout `json:"rollout,omitempty"`
}

func (f *Form) key() lynq.FormKey { return lynq.FormKey{Namespace: f.Namespace, Name: f.Name} }

// Rollout says how far the rollout of a form has come.
type Rollout struct {
	Phase   inventory.RolloutPhase `json:"phase"`
	Updated int                    `json:"updated"`
	Total   int                    `json:"total"`
	// Stage is the first of Stages that isn't updated yet, counted from 1.
	Stage  int `json:"stage,omitempty"`
	Stages int `json:"stages,omitempty"`
}

// Run holds what the last run saw of a hub.
type Run struct {
	Time   time.Time `json:"time,omitzero"`
	Rows   int       `json:"rows"`
	Active int       `json:"active"`
	Nodes  int       `json:"nodes"` // that it wanted
	// Interrupted is when it ended before it was done, zero where it was.
	Interrupted time.Time `json:"interrupted,omitzero"`
	// Held are the deletions that it held back, nil for none.
	Held *inventory.HeldDeletions `json:"heldDeletions,omitempty"`
	// Approved: a person lets those through.
	Approved bool `json:"approved,omitempty"`
	// Unrendered are nodes whose rows failed to render, as many as the record names, and
	// MoreUnrendered counts the others. lynqctl keeps the objects that they may want.
	Unrendered     []inventory.Unrendered `json:"unrendered,omitempty"`
	MoreUnrendered int                    `json:"moreUnrendered,omitempty"`
	// Troubles are what else waits for a person.
	Troubles []inventory.Trouble `json:"troubles,omitempty"`
}

// Sum sums nodes up by hub and form, sorted by namespace and name. Hubs without
// nodes have sums too where they have a record. A node whose hub is not known is
// in none.
func Sum(nodes []Node, records []*inventory.Hub) []Hub {
	hubs := map[lynq.HubKey]*Hub{}
	hub := func(p lynq.HubKey) *Hub {
		if hubs[p] == nil {
			hubs[p] = &Hub{Namespace: p.Namespace, Name: p.Name}
		}
		return hubs[p]
	}
	for _, r := range records {
		h := hub(r.Key())
		h.Run, h.Deleting = &Run{Time: r.Time, Rows: r.Rows, Active: r.Active, Nodes: r.Nodes, Interrupted: r.Interrupted, Held: r.Held, Unrendered: r.Unrendered, MoreUnrendered: r.MoreUnrendered, Troubles: r.Troubles}, r.Deleting
		h.Run.Approved = r.Held != nil && r.Approved == r.Held.Digest
	}
	for i := range nodes {
		if n := &nodes[i]; n.Hub.Name != "" {
			h := hub(n.Hub)
			h.add(n)
			h.form(n.Form).add(n)
		}
	}
	for _, r := range records {
		h := hubs[r.Key()]
		h.rolledOut(r.Rollouts)
		h.miss(r.Absent)
	}
	sums := make([]Hub, 0, len(hubs))
	for _, h := range hubs {
		slices.SortFunc(h.Forms, func(a, b Form) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
		})
		sums = append(sums, *h)
	}
	slices.SortFunc(sums, func(a, b Hub) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return sums
}

// rolledOut notes how far rollouts have come of the forms that have nodes.
func (h *Hub) rolledOut(rollouts []inventory.Rollout) {
	for _, r := range rollouts {
		i := slices.IndexFunc(h.Forms, func(f Form) bool { return f.key() == r.Form })
		if i >= 0 {
			h.Forms[i].Rollout = &Rollout{r.Phase, r.Updated, r.Total, r.Stage, r.Stages}
		}
	}
}

// miss notes which forms the inputs of the last run did not have.
func (h *Hub) miss(absent []inventory.AbsentForm) {
	for i := range h.Forms {
		h.Forms[i].Absent = slices.ContainsFunc(absent, func(a inventory.AbsentForm) bool {
			return a.Form == h.Forms[i].key()
		})
	}
}

func (h *Hub) form(key lynq.FormKey) *Form {
	i := slices.IndexFunc(h.Forms, func(f Form) bool { return f.key() == key })
	if i < 0 {
		i, h.Forms = len(h.Forms), append(h.Forms, Form{Name: key.Name, Namespace: key.Namespace})
	}
	return &h.Forms[i]
}
