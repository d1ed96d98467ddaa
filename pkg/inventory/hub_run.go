package inventory

import (
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// hubRun is how the last run on a hub ended, as its record has it.
type hubRun struct {
	// Time is that of the run, as the record says it too: a lynqctl that does not
	// know of this writes a later one there, and leaves this as it is.
	Time        time.Time `json:"time"`
	Interrupted time.Time `json:"interrupted,omitzero"`
	// Unrendered and MoreUnrendered are as Hub has them.
	Unrendered     []Unrendered `json:"unrendered,omitempty"`
	MoreUnrendered int          `json:"moreUnrendered,omitempty"`
	Rollouts       []Rollout    `json:"rollouts,omitempty"`
	Absent         []AbsentForm `json:"absentForms,omitempty"`
	// Held is of that run: an older lynqctl that runs later holds nothing.
	Held *HeldDeletions `json:"heldDeletions,omitempty"`
}

// AbsentForm is a form that has nodes and that the inputs of a run did not have.
type AbsentForm struct {
	Form          string `json:"form"`
	FormNamespace string `json:"formNamespace,omitempty"`
	Nodes         int    `json:"nodes"`
}

// Rollout is how far the rollout of a form has come that has maxSkew.
type Rollout struct {
	Form          string       `json:"form"`
	FormNamespace string       `json:"formNamespace,omitempty"`
	Phase         RolloutPhase `json:"phase"`
	// Updated are the nodes that are as the form has them, and ready; Total all that
	// the last run wanted.
	Updated int `json:"updated"`
	Total   int `json:"total"`
}

// RolloutPhase is where a rollout is.
type RolloutPhase string

// The phases.
const (
	RolloutComplete    RolloutPhase = "Complete"
	RolloutProgressing RolloutPhase = "Progressing" // the next run goes on with it
	RolloutStopped     RolloutPhase = "Stopped"     // broken nodes keep others from their change
)

// Unrendered is a node that could not be rendered, and why, without the values of its
// row. It may have no inventory.
type Unrendered struct {
	Node          string `json:"node"`
	Namespace     string `json:"namespace"`
	Form          string `json:"form"`
	FormNamespace string `json:"formNamespace,omitempty"`
	UID           string `json:"uid"`
	Message       string `json:"message"`
}

// What the record of a hub has room for.
const (
	maxUnrendered        = 100
	maxUnrenderedMessage = 512
)

// SetUnrendered takes as many nodes as there is room for.
func (h *Hub) SetUnrendered(nodes []Unrendered) {
	h.Unrendered = slices.Clone(nodes[:min(len(nodes), maxUnrendered)])
	h.MoreUnrendered = len(nodes) - len(h.Unrendered)
	for i := range h.Unrendered {
		h.Unrendered[i].Message = cut(h.Unrendered[i].Message, maxUnrenderedMessage)
	}
}

// encodeRun says how the run ended, where it was not simply done.
func (h *Hub) encodeRun(to map[string]string) error {
	if h.Interrupted.IsZero() && len(h.Unrendered)+len(h.Rollouts)+len(h.Absent) == 0 && h.Held == nil {
		return nil
	}
	text, err := lynq.JSON(hubRun{
		Time: h.Time.UTC(), Interrupted: h.Interrupted.UTC(), Unrendered: h.Unrendered, MoreUnrendered: h.MoreUnrendered, Rollouts: h.Rollouts, Absent: h.Absent, Held: h.Held,
	})
	if err != nil {
		return err
	}
	to[keyRun] = text
	return nil
}

// run reads how the run ended.
func (d *decoder) run(h *Hub) error {
	if _, said := d.cm.Data[keyRun]; !said {
		return nil
	}
	var r hubRun
	if err := d.json(keyRun, &r); err != nil {
		return err
	}
	if r.Time.Equal(h.Time) {
		h.Interrupted, h.Unrendered, h.MoreUnrendered = r.Interrupted.UTC(), r.Unrendered, r.MoreUnrendered
		h.Rollouts, h.Absent, h.Held = r.Rollouts, r.Absent, r.Held
	}
	return nil
}
