package apply

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// conflict ends a step because its object or fields of it have another owner.
func (c *executor) conflict(s *Step, message string) move {
	c.tell.record(report.Warning, "ResourceConflict", s.Ref().String()+": "+message)
	return endsAs(report.OutcomeConflicted, message)
}

// failed ends a step with an error and a fix.
func (c *executor) failed(s *Step, err error) {
	if s.Reason == plan.ReasonGivenUp {
		message := "lynqctl keeps it and stops managing it: " + write.Describe(s.Ref(), err)
		if c.record.owner().Collected(s.Live) {
			message += "; the garbage collector deletes it when it can, because it belonged to the inventory"
		}
		c.carry(s, c.leaveBehind(s, message))
		return
	}
	if c.requests.dryRun && s.Object != nil && c.comesInto(s, err) {
		return
	}
	if s.Hook() {
		err = InNamespace(s.Ref(), c.record.owner(), err)
	} else if s.Ref().Namespace == c.plan.Namespace {
		err = write.InNamespace(c.plan.Namespace, write.OrAnotherNamespace, err) // the namespace also has the inventory
	}
	var conflict *write.ConflictError
	conflicts := errors.As(err, &conflict)
	switch unwritten := conflicts || write.ProblemOf(err).Refused; {
	case s.Entry != nil || s.Object == nil:
	case unwritten && !s.Touched:
		s.Record = nil // nothing was written, so no entry is necessary
	default:
		s.Record = new(s.Begun())
	}
	if conflicts {
		c.carry(s, c.conflict(s, conflict.Error()))
		return
	}
	if c.requests.cut(err) {
		c.breakOff(s, report.OutcomeSkipped, "interrupted while lynqctl wrote it: "+write.DescribeStep(s.Step, err))
		return
	}
	if c.budget.failed(c.kind(s), c.plan.Key(), s.Ref(), err) {
		c.tell.reporter.Report(report.Event{Time: c.now(), Type: report.EventWarning, NodeID: lynq.NodeID{Hub: c.of.Hub}, Details: report.Details{Message: c.ending.secrets.Hide("form " + c.plan.Form.Name + ": " + phrase.Count(schedule.SameFailures, "node") +
			" in a row failed with the same error, so lynqctl doesn't try other " + s.Ref().Kind + " objects of it for as long: " + write.Describe(s.Ref(), err))}})
	}
	c.end(s, report.OutcomeFailed, write.DescribeStep(s.Step, err))
}

// kind returns the group of writes that may fail for the same cause.
func (c *executor) kind(s *Step) writeKind {
	return writeKind{form: c.form, group: s.Ref().Group, kind: s.Ref().Kind}
}

// comesInto handles objects in a server dry run that the server can't try. Their namespace
// or kind doesn't exist yet, and a real run would create it first.
func (c *executor) comesInto(s *Step, err error) bool {
	p := write.ProblemOf(err)
	switch {
	case p.Kind == write.ProblemNoNamespace && c.requests.dependencies.Makes("namespace/"+s.Ref().Namespace):
		c.untried(s, plan.ReasonNamespaceNew, "lynqctl creates its namespace first")
	case meta.IsNoMatchError(err) && c.requests.dependencies.Makes("kind/"+s.Object.GroupKind()):
		c.untried(s, plan.ReasonKindNew, "lynqctl creates its kind first")
	default:
		return false
	}
	return true
}

func (c *executor) untried(s *Step, why plan.Reason, message string) {
	s.Becomes(s.As(s.Action, why))
	c.end(s, report.OutcomeDone, "not tried: "+message)
}
