package apply

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// mostHolders limits the objects that a run reads to find out which one has a value.
const mostHolders = 20

// takenValue continues a step whose value another object has, for example a node port. If
// that is the step's earlier object under another name, it is deleted first. Otherwise the
// error names the holder.
func (c *executor) takenValue(s *Step, err error) move {
	said := write.TakenBy(err)
	if said == "" || s.Object == nil {
		return fails(err)
	}
	manifest, broken := s.Object.Body.Content()
	if broken != nil {
		return fails(err)
	}
	for i := range c.steps.Of {
		old := &c.steps.Of[i]
		if old.Object != nil || old.Live == nil || old.State != Pending || old.ID() != s.ID() || !sameKind(old.Step, s.Step) || !c.holds(old.Step, s.Resource, manifest, said) {
			continue
		}
		if why := c.stays(old); why != "" {
			return fails(write.Hinted(err, old.Ref().String()+" has it: "+why))
		}
		if c.requests.dryRun {
			return endsAs(report.OutcomeDone, "not tried: lynqctl deletes "+old.Ref().String()+" first, which has the value")
		}
		old.Early, s.After = true, old
		c.tell.report(report.Event{Type: report.EventWarning, Details: report.Details{Object: s.Ref(), ID: s.ID(), Message: "lynqctl deletes " + old.Ref().String() + " first, because it has a value that only one object can have"}})
		return move{kind: moveWaits}
	}
	if hint := c.holder(s, manifest, said); hint != "" {
		return fails(write.Hinted(err, hint))
	}
	return fails(err)
}

func sameKind(a, b *plan.Step) bool {
	return a.Ref().Group == b.Ref().Group && a.Ref().Kind == b.Ref().Kind
}

// stays says why an object isn't deleted before the node's other objects are ready, or "".
// The gate decides about the deletion itself.
func (c *executor) stays(old *Step) string {
	may, why := c.steps.MayLeave(old)
	switch {
	case old.Action != plan.ActionDelete:
		return "the node keeps it, so choose another value, or delete it"
	case old.Loss() || old.Entry.HoldsData():
		return "it holds data, so lynqctl doesn't delete it first"
	case why != "":
		return why
	case !may:
		return "other objects of the node must be deleted before it, so choose another value for one run"
	}
	return ""
}

// holds reports whether a step's live object has the value.
func (c *executor) holds(s *plan.Step, resource lynq.APIResource, manifest map[string]any, said string) bool {
	o, err := c.requests.cluster.Get(c.requests.ctx, resource, s.Ref().Namespace, s.Ref().Name)
	return err == nil && o.GetUID() == s.Live.UID && fields.HasTaken(manifest, o.Object, said)
}

// holder says which object of the run has the value, and what to do. It returns ""
// if it doesn't find one.
func (c *executor) holder(s *Step, manifest map[string]any, said string) string {
	read := 0
	for _, changing := range []bool{true, false} {
		for i := range c.of.Nodes {
			n := &c.of.Nodes[i]
			for j := range n.Steps {
				other := &n.Steps[j]
				if other.Live == nil || !sameKind(other, s.Step) || other.Ref() == s.Ref() || (other.Action != plan.ActionKeep) != changing {
					continue
				}
				if read++; read > mostHolders {
					return ""
				}
				if c.holds(other, s.Resource, manifest, said) {
					return fmt.Sprintf("%s of node %s has it: %s", other.Ref(), n.Key(), wayOut(other))
				}
			}
		}
	}
	return ""
}

// wayOut says how another object gets the value of a step's object.
func wayOut(holder *plan.Step) string {
	switch {
	case holder.Deletes() && holder.Object == nil:
		return "this run deletes it, so run apply again"
	case holder.Action == plan.ActionUpdate:
		return "if it changes to another value, run apply again. To swap values, give one of the two a third value, apply, and then set the final values"
	}
	return "choose another value, or change that object first"
}
