package watchcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// holdDeletions leaves deletions out of the plans if guards refuse those of the hub. If a
// person approved exactly these deletions, as the hub record says, it returns the plans
// without refusals. It is a pure function.
//
// If no guard refuses anything, it returns the plans unchanged. If a guard refuses more
// than deletions, it does the same: they keep their refusals, and nobody may carry them
// out. Deletions by tombstones are held together with those of nodes.
func holdDeletions(plans []plan.Plan, hub lynq.HubKey, record *inventory.Hub, now time.Time) (run []plan.Plan, held *inventory.HeldDeletions, approved bool) {
	p := planOf(plans, hub)
	if p == nil || !p.Holdable() {
		return plans, nil, false
	}
	run = decide.Hold(plans, hub, p.Refusals)
	held = heldDeletions(planOf(run, hub).Held, record, now)
	if record == nil || record.Approved != held.Digest {
		return run, held, false
	}
	return decide.Approve(plans, hub), nil, true
}

// planOf returns the plan of a hub's nodes, or nil.
func planOf(plans []plan.Plan, hub lynq.HubKey) *plan.Plan {
	if i := slices.IndexFunc(plans, func(p plan.Plan) bool { return p.Hub == hub && !p.After }); i >= 0 {
		return &plans[i]
	}
	return nil
}

// heldDeletions returns the held deletions for the hub record. record is the earlier one,
// or nil. The time when the hold began stays as long as the guard is the same.
func heldDeletions(h *plan.Held, record *inventory.Hub, now time.Time) *inventory.HeldDeletions {
	var whats []string
	for _, r := range h.Refusals {
		whats = append(whats, r.What)
	}
	held := &inventory.HeldDeletions{
		Guard: h.Guards(), Message: strings.Join(whats, "; "), Digest: h.Digest, Since: now.UTC().Truncate(time.Second),
		Deleted: h.Deleted, Orphaned: h.Orphaned,
	}
	if record != nil && record.Held != nil && record.Held.Guard == held.Guard {
		held.Since = record.Held.Since
	}
	held.SetNodes(nodeNamesOf(h.Nodes), nodeNamesOf(h.Partly))
	return held
}

func nodeNamesOf(keys []lynq.NodeKey) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.String()
	}
	return names
}

// tellHeld sends a Kubernetes event about held deletions if they are new, or about their
// approval. The event is on the hub record as it was before the run.
func tellHeld(ctx context.Context, recorder report.Recorder, record *inventory.Hub, held *inventory.HeldDeletions, approved bool, now time.Time) {
	e := report.KubernetesEvent{
		Namespace: record.Namespace, Inventory: inventory.HubName(record.Name), UID: record.UID, Time: now,
	}
	switch {
	case record.UID == "":
		return // no hub record exists yet
	case approved:
		e.Type, e.Reason, e.Message = "Normal", "DeletionsApproved", "a person approved the deletions "+record.Approved+": they are carried out"
	case held != nil && (record.Held == nil || record.Held.Digest != held.Digest):
		e.Type, e.Reason = "Warning", "DeletionsHeld"
		e.Message = fmt.Sprintf("%s: %s (%s; %s)", held.Guard, held.Message, heldSummary(held), approveWith(record))
	default:
		return
	}
	recorder.Record(ctx, e)
}

// heldSummary says what the held deletions would delete.
func heldSummary(h *inventory.HeldDeletions) string {
	parts := []string{phrase.Count(h.Going(), "node") + " would go"}
	if n := h.Narrowed(); n > 0 {
		parts = append(parts, phrase.Count(n, "node")+" would lose objects")
	}
	parts = append(parts, phrase.Count(h.Deleted, "object")+" to delete")
	if h.Orphaned > 0 {
		parts = append(parts, fmt.Sprintf("%d to orphan", h.Orphaned))
	}
	return strings.Join(parts, ", ")
}

// approveWith returns the command that approves the held deletions of a hub.
func approveWith(record *inventory.Hub) string {
	return fmt.Sprintf("to approve them, run lynqctl watch approve %s -n %s", record.Name, record.Namespace)
}
