package status

import (
	"cmp"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Counts has totals of nodes, and of the objects that their inventories list.
type Counts struct {
	Nodes   int `json:"nodes"`
	Healthy int `json:"healthy"`
	Well    int `json:"well"` // an older name of Healthy
	Desired int `json:"desired"`
	Ready   int `json:"ready"`
	Failed  int `json:"failed"`
	// Missing and Drifted count objects that another client deleted or changed.
	Missing    int `json:"missingObjects,omitempty"`
	Drifted    int `json:"driftedObjects,omitempty"`
	Skipped    int `json:"skipped"`
	Conflicted int `json:"conflicted"`
	Excluded   int `json:"excluded,omitempty"`
	// Degraded counts nodes that lost pods and count as ready. Well includes them.
	Degraded int `json:"degraded,omitempty"`
	// Leaving counts nodes that lynqctl keeps for their grace period. Well includes them.
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
	if n.Degraded() {
		c.Degraded++
	}
	c.Desired += n.Desired
	c.Ready += n.Ready
	c.Failed += n.Failed
	c.Missing += n.Missing
	c.Drifted += n.Drifted
	c.Skipped += n.Skipped
	c.Conflicted += n.Conflicted
	c.Excluded += n.Excluded
}

// Hub has the totals of a hub's nodes.
type Hub struct {
	Name      string `json:"hub"`
	Namespace string `json:"namespace"`
	Counts
	Forms []Form `json:"forms,omitempty"`
	// Partial is set if the user selected only some of the hub's nodes.
	Partial bool `json:"partial,omitempty"`
	// Deleting is set if somebody deleted the hub record and its finalizer still blocks
	// that.
	Deleting bool `json:"deleting,omitempty"`
	// Run is the last run's result for the hub. It is nil if none is recorded.
	Run *Run `json:"lastRun,omitempty"`
	// Unrecorded counts nodes that the last run wanted and that have no inventory. It is
	// also 0 if the number of inventories is unknown.
	Unrecorded int `json:"missing,omitempty"`
}

// Form has the totals of the nodes of one form.
type Form struct {
	Name      string `json:"form"`
	Namespace string `json:"formNamespace,omitempty"`
	Counts
	// Partial is set if the user selected only some of the form's nodes.
	Partial bool `json:"partial,omitempty"`
	// Absent is set if the files of the last run lacked the form.
	Absent bool `json:"absent,omitempty"`
	// Rollout is the progress of the last run. It is nil if the form has no rollout.
	Rollout *Rollout `json:"rollout,omitempty"`
}

func (f *Form) key() lynq.FormKey { return lynq.FormKey{Namespace: f.Namespace, Name: f.Name} }

// Rollout is the progress of a form's rollout.
type Rollout struct {
	Phase   inventory.RolloutPhase `json:"phase"`
	Updated int                    `json:"updated"`
	Total   int                    `json:"total"`
	// Stage is the first stage that isn't updated yet, counted from 1.
	Stage  int `json:"stage,omitempty"`
	Stages int `json:"stages,omitempty"`
}

// Run is the last run's result for a hub.
type Run struct {
	Time   time.Time `json:"time,omitzero"`
	Rows   int       `json:"rows"`
	Active int       `json:"active"`
	Nodes  int       `json:"nodes"` // the nodes that the run wanted
	// Interrupted is when the run was interrupted. It is zero if the run finished.
	Interrupted time.Time `json:"interrupted,omitzero"`
	// Held are the deletions that a guard holds. It is nil if there are none.
	Held *inventory.HeldDeletions `json:"heldDeletions,omitempty"`
	// Approved is set if a user approved the held deletions.
	Approved bool `json:"approved,omitempty"`
	// Unrendered are nodes whose rows failed to render. The record limits their number,
	// and MoreUnrendered counts the rest. lynqctl keeps the objects of these nodes.
	Unrendered     []inventory.Unrendered `json:"unrendered,omitempty"`
	MoreUnrendered int                    `json:"moreUnrendered,omitempty"`
	// Troubles are other problems that a user must fix.
	Troubles []inventory.Trouble `json:"troubles,omitempty"`
}

// Sum returns totals by hub and form, sorted by namespace and name. A hub without nodes
// has totals if it has a record. A node without a known hub is in no total.
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

// rolledOut copies the rollout progress to the forms that have nodes.
func (h *Hub) rolledOut(rollouts []inventory.Rollout) {
	for _, r := range rollouts {
		i := slices.IndexFunc(h.Forms, func(f Form) bool { return f.key() == r.Form })
		if i >= 0 {
			h.Forms[i].Rollout = &Rollout{r.Phase, r.Updated, r.Total, r.Stage, r.Stages}
		}
	}
}

// miss marks the forms that the files of the last run lacked.
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
