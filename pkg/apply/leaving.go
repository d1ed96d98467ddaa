package apply

import (
	"context"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// noteLeaving notes in the inventories of kept nodes when their grace period began. It
// returns the nodes with an inventory that it couldn't write. Their period doesn't begin.
func (r *run) noteLeaving(ctx context.Context, plans []plan.Plan) []report.NodeResult {
	var writing sync.WaitGroup
	var mu sync.Mutex
	var failed []report.NodeResult
	for i := range plans {
		p := &plans[i]
		for k := range p.Leaving {
			l := &p.Leaving[k]
			id := l.NodeID
			id.Hub = p.Hub // an inventory may lack the hub
			if l.IsMarked() || r.Options.DryRun {
				r.tellLeaving(id, l)
				continue
			}
			if !r.slots.Take(ctx) {
				continue // the next run notes it
			}
			writing.Go(func() {
				defer r.slots.Give()
				if why := r.markLeaving(id, l); why != nil && r.finishing.Err() == nil { // else the next run notes it
					mu.Lock()
					defer mu.Unlock()
					failed = append(failed, report.NodeResult{NodeID: id, Outcome: report.OutcomeFailed, Problems: []report.Details{{Message: why.Error()}}, Leaves: true})
				}
			})
		}
	}
	writing.Wait()
	return failed
}

// markLeaving writes the inventory of a node with a new or changed grace period.
func (r *run) markLeaving(id lynq.NodeID, l *plan.Leaving) error {
	saved, err := saveOn(r.finishing, r.Inventories, l.Inventory, l.Marked())
	if err != nil {
		if r.finishing.Err() == nil {
			r.Reporter.Report(report.Event{Time: r.Now(), Type: report.EventNode, NodeID: id, Details: report.Details{Outcome: report.OutcomeFailed, Message: err.Error()}})
		}
		return err
	}
	r.tellLeaving(id, l)
	if r.Recorder != nil && l.Begins {
		r.Recorder.Record(r.finishing, report.KubernetesEvent{
			Namespace: id.Namespace, Inventory: inventory.Name(id.Name), UID: saved.UID,
			Type: report.Normal, Reason: "LynqNodeLeaving", Message: report.LeavingText(l), Time: r.Now(),
		})
	}
	return nil
}

// tellLeaving reports until when lynqctl keeps a node.
func (r *run) tellLeaving(id lynq.NodeID, l *plan.Leaving) {
	r.Reporter.Report(report.Event{Time: r.Now(), Type: report.EventLeaving, NodeID: id, Since: l.Since, Until: l.Until, Begins: l.Begins, Details: report.Details{Message: report.LeavingText(l)}})
}
