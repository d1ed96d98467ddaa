package inventory

import (
	"fmt"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// hubRun is the JSON form of the last run's result.
type hubRun struct {
	Interrupted time.Time `json:"interrupted,omitzero"`
	// See the fields of Hub with these names.
	Unrendered     []Unrendered   `json:"unrendered,omitempty"`
	MoreUnrendered int            `json:"moreUnrendered,omitempty"`
	Troubles       []Trouble      `json:"troubles,omitempty"`
	Rollouts       []Rollout      `json:"rollouts,omitempty"`
	Absent         []AbsentForm   `json:"absentForms,omitempty"`
	Held           *HeldDeletions `json:"heldDeletions,omitempty"`
}

// AbsentForm is a form with nodes that the run's files lacked.
type AbsentForm struct {
	Form  lynq.FormKey
	Nodes int
}

// Rollout is the progress of a form's rollout with maxSkew.
type Rollout struct {
	Form  lynq.FormKey
	Phase RolloutPhase
	// Updated counts the nodes that match the form and are ready. Total counts all nodes
	// that the last run wanted.
	Updated, Total int
	// Stage is the first of Stages that isn't updated yet, counted from 1. Both are 0 if
	// the form has no stages.
	Stage, Stages int
}

// RolloutPhase is the phase of a rollout.
type RolloutPhase string

// These are the phases.
const (
	RolloutComplete    RolloutPhase = "Complete"
	RolloutProgressing RolloutPhase = "Progressing" // the next run continues it
	RolloutStopped     RolloutPhase = "Stopped"     // failed nodes stop the change of others
)

// Unrendered is a node that failed to render, with the reason but no values of its row. It
// may have no inventory.
type Unrendered struct {
	Node    lynq.NodeID
	Message string
}

// These limits keep a hub record small.
const (
	maxUnrendered        = 100
	maxUnrenderedMessage = 512
)

// SetUnrendered stores as many nodes as fit.
func (h *Hub) SetUnrendered(nodes []Unrendered) {
	h.Unrendered = slices.Clone(nodes[:min(len(nodes), maxUnrendered)])
	h.MoreUnrendered = len(nodes) - len(h.Unrendered)
	for i := range h.Unrendered {
		h.Unrendered[i].Node.Hub = h.Key()
		h.Unrendered[i].Message = cut(h.Unrendered[i].Message, maxUnrenderedMessage)
	}
}

// UnrenderedText says in a sentence which nodes failed to render and what that holds back.
// It names the first nodes and counts the others.
func UnrenderedText(some []Unrendered, more int) string {
	first := &some[0]
	text := fmt.Sprintf("node %s fails to render: %s", first.Node, first.Message)
	if others := len(some) - 1 + more; others > 0 {
		text += fmt.Sprintf(" (and %s)", phrase.Count(others, "other node"))
	}
	return text + "; until its row or form is repaired, lynqctl deletes no object that the row may want"
}

// encodeRun writes the run's result, unless the run simply completed.
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

// run reads the run's result.
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
