package inventory

import (
	"fmt"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// hubRun is how the last run on a hub ended, as its record has it.
type hubRun struct {
	Interrupted time.Time `json:"interrupted,omitzero"`
	// Unrendered and MoreUnrendered are as Hub has them.
	Unrendered     []Unrendered   `json:"unrendered,omitempty"`
	MoreUnrendered int            `json:"moreUnrendered,omitempty"`
	Troubles       []Trouble      `json:"troubles,omitempty"`
	Rollouts       []Rollout      `json:"rollouts,omitempty"`
	Absent         []AbsentForm   `json:"absentForms,omitempty"`
	Held           *HeldDeletions `json:"heldDeletions,omitempty"`
}

// AbsentForm is a form that has nodes and that the inputs of a run did not have.
type AbsentForm struct {
	Form  lynq.FormKey
	Nodes int
}

// Rollout says how far the rollout of a form with maxSkew has come.
type Rollout struct {
	Form  lynq.FormKey
	Phase RolloutPhase
	// Updated are the nodes that are as the form has them, and ready; Total all that
	// the last run wanted.
	Updated, Total int
	// Stage is the first of Stages that isn't updated yet, counted from 1; both are 0 where
	// the form has no stages.
	Stage, Stages int
}

// RolloutPhase says whether a rollout goes on, stopped or ended.
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
	Node    lynq.NodeID
	Message string
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
		h.Unrendered[i].Node.Hub = h.Key()
		h.Unrendered[i].Message = cut(h.Unrendered[i].Message, maxUnrenderedMessage)
	}
}

// UnrenderedText says which nodes failed to render, and what that holds back, in a sentence:
// the first of some, and how many others there are.
func UnrenderedText(some []Unrendered, more int) string {
	first := &some[0]
	text := fmt.Sprintf("node %s fails to render: %s", first.Node, first.Message)
	if others := len(some) - 1 + more; others > 0 {
		text += fmt.Sprintf(" (and %s)", phrase.Count(others, "other node"))
	}
	return text + "; until its row or form is repaired, lynqctl deletes no object that the row may want"
}

// encodeRun says how the run ended, where it was not simply done.
func (h *Hub) encodeRun(to map[string]string) error {
	if h.Interrupted.IsZero() && len(h.Unrendered)+len(h.Troubles)+len(h.Rollouts)+len(h.Absent) == 0 && h.Held == nil {
		return nil
	}
	text, err := phrase.JSON(hubRun{
		Interrupted: h.Interrupted.UTC(), Unrendered: h.Unrendered, MoreUnrendered: h.MoreUnrendered, Troubles: h.Troubles, Rollouts: h.Rollouts, Absent: h.Absent, Held: h.Held,
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
	h.Interrupted, h.Unrendered, h.MoreUnrendered = r.Interrupted.UTC(), r.Unrendered, r.MoreUnrendered
	for i := range h.Unrendered {
		h.Unrendered[i].Node.Hub = h.Key()
	}
	h.Troubles, h.Rollouts, h.Absent, h.Held = r.Troubles, r.Rollouts, r.Absent, r.Held
	return nil
}
