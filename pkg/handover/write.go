package handover

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// tries limits how often lynqctl reads an object again that others change meanwhile, as
// controllers change a status.
const tries = 10

var errReplaced = errors.New("it was deleted and created again since this run looked (run it again)")

// write takes an object over in one write, and checks the result. changed reports whether it
// may have changed anything.
func (n *nodeHandover) write(o *Object) (changed bool, err error) {
	f := o.Found
	for try := 1; ; try++ {
		c, err := changeOf(n.plan.Node, &f, n.record)
		if err != nil || c == nil {
			return changed, err
		}
		patch, err := c.patch()
		if err != nil {
			return changed, err
		}
		permit, err := f.permit(n.plan.Node, n.record)
		if err != nil {
			return changed, err
		}
		m, err := n.Cluster.Write(n.hidden(), f.Served, write.Request{Verb: write.JSONPatch, Namespace: f.Namespace, Name: f.Name, Body: patch, DryRun: n.DryRun, Owners: permit})
		if err == nil {
			f.Meta = m
			return true, n.confirm(&f)
		}
		if !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) && !apierrors.IsNotFound(err) || try == tries {
			return changed, err
		}
		changed = true // by this write, if only its answer was lost
		again, lookErr := n.look(&f)
		if lookErr != nil {
			return changed, lookErr
		}
		if !apierrors.IsConflict(err) {
			return changed, err
		}
		f = again
	}
}

// permit asks the gate for the write. The inventory replaces the LynqNode as the owner, or the
// object has no owner afterwards.
func (f *Found) permit(n *Node, record types.UID) (decide.OwnersPermit, error) {
	live := tracking.LiveOf(f.Ref, f.Meta)
	s := &plan.Step{Entry: &inventory.Entry{Ref: f.Ref, Lifecycle: lynq.Lifecycle{Deletion: f.Deletion}}, Live: &live}
	if !f.owned(n) {
		return decide.PermitDetach(s)
	}
	if record == "" {
		record = futureRecord
	}
	return decide.PermitSuccession(s, record)
}

// look reads an object again. It returns an error if the object no longer belongs to the
// LynqNode.
func (n *nodeHandover) look(f *Found) (Found, error) {
	again := *f
	m, err := n.Cluster.Metadata(n.Finishing, f.Served, f.Namespace, f.Name)
	if apierrors.IsNotFound(err) {
		return again, errors.New("it was deleted since this run looked (run it again)")
	}
	if err != nil {
		return again, err
	}
	if m.UID != f.Meta.UID {
		return again, errReplaced
	}
	again.Meta = m
	if s := judge(n.plan.Node, again, n.record).Step; s.Action == plan.ActionSkip || s.Action == plan.ActionBlock {
		return again, fmt.Errorf("it changed since this run looked: %s (run it again)", s.Message)
	}
	return again, nil
}

// confirm checks that an object has the change. Otherwise the garbage collector could delete
// it with the LynqNode.
func (n *nodeHandover) confirm(f *Found) error {
	if n.DryRun {
		return nil
	}
	c, err := changeOf(n.plan.Node, f, n.record)
	if err == nil && c != nil {
		err = errors.New("the server accepted the change, and the object is not as it was to become: an admission webhook may have changed it (its LynqNode stays)")
	}
	return err
}

// removeNode removes the LynqNode that lynqctl read. It first removes the finalizer, because
// an operator that sees a deleted LynqNode with it deletes the objects. The deletion then
// orphans what still refers to the LynqNode, so the garbage collector deletes nothing.
func (n *nodeHandover) removeNode() error {
	served, err := n.Cluster.Resource(n.Finishing, wellknown.Group, "", wellknown.KindNode)
	if err != nil {
		return err
	}
	return n.remover().remove(served, removal{
		ref: n.plan.ref(), uid: n.plan.UID, version: n.plan.ResourceVersion, finalizers: n.plan.finalizers, finalizer: wellknown.FinalizerNode,
	})
}

func (n *nodeHandover) remover() *remover { return &remover{n.hidden(), n.Cluster, n.DryRun} }

// hidden returns the context of writes that no message may quote. A handover reads no rows, so
// nobody knows which values of an object or a LynqNode are secret.
func (n *nodeHandover) hidden() context.Context { return redact.HideMessages(n.Finishing) }

// removal is an object of the operator that lynqctl removes.
type removal struct {
	ref        lynq.Ref
	uid        types.UID
	version    string
	finalizers []string
	finalizer  string // of the operator, "" for none
}

// hint adds to an error what to do about a webhook that doesn't answer. The operator's own webhooks
// don't answer while the operator is stopped.
func hint(err error) error {
	p := write.ProblemOf(err)
	switch {
	case p.Kind != write.ProblemWebhook:
		return err
	case !strings.Contains(p.Webhook, "lynq"):
		return fmt.Errorf("%w (%s)", err, p.Hint)
	}
	return fmt.Errorf("%w (a webhook of the stopped operator prevents the write. Delete its configurations, which nothing needs any more, and run this command again: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o name | grep lynq | xargs kubectl delete)", err)
}
