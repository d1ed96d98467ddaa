package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// dependents are all objects with an owner reference to a node's inventory. The garbage
// collector would delete them with it.
type dependents struct {
	record      *record
	requests    *requests
	decisions   *decisions
	steps       *Steps
	replacement *plan.Replacement
	manifests   func() *Manifests
}

// detachAll removes the owner reference to the inventory from all of these objects.
func (b *dependents) detachAll(ctx context.Context) (decide.Permit, error) {
	_, err := decide.PermitRestore(b.record.saved, b.replacement, nil)
	if err != nil {
		return decide.Permit{}, err
	}
	if err := b.manifests().Reown(false); err != nil {
		return decide.Permit{}, err
	}
	written := map[lynq.Ref]bool{}
	for _, o := range b.replacement.Moves {
		if written[o.Live.Ref], err = b.reown(ctx, b.stepOf(o), nil); err != nil {
			return decide.Permit{}, err
		}
	}
	for _, l := range b.replacement.Unlisted {
		if err := b.detachUnlisted(ctx, l); err != nil {
			return decide.Permit{}, err
		}
	}
	entries, unknown := b.record.saved.All(), []*inventory.Entry(nil)
	for i := range entries {
		if e := &entries[i]; !e.Purged() && !written[e.Ref] {
			unknown = append(unknown, e)
		}
	}
	referring, err := b.record.referring(unknown)
	if err != nil {
		return decide.Permit{}, err
	}
	return decide.PermitRestore(b.record.saved, b.replacement, referring)
}

// detachUnlisted removes the owner reference from an object that the inventory doesn't list.
func (b *dependents) detachUnlisted(ctx context.Context, l *tracking.Live) error {
	_, err := b.reown(ctx, b.stepOf(plan.Belonging{Entry: &inventory.Entry{Ref: l.Ref, Sensitive: true}, Live: l}), nil)
	return err
}

// stepOf returns the plan's step of an object, or one that does nothing.
func (b *dependents) stepOf(o plan.Belonging) *Step {
	at := slices.IndexFunc(b.steps.Of, func(s Step) bool { return s.Live != nil && s.Ref() == o.Live.Ref })
	if at >= 0 {
		return &b.steps.Of[at]
	}
	return new(newStep(&plan.Step{Entry: o.Entry, Live: o.Live}))
}

// attachAll gives all objects an owner reference to the inventory.
func (b *dependents) attachAll(ctx context.Context) error {
	if err := b.manifests().Reown(true); err != nil {
		return err
	}
	owner := b.record.ownerReference()
	for i := range b.steps.Of {
		if _, err := b.reown(ctx, &b.steps.Of[i], owner); err != nil {
			return err
		}
	}
	return nil
}

// reown replaces an object's owner references to inventories by owner, or removes them if
// it is nil. It keeps all others. written says whether the server changed the object.
func (b *dependents) reown(ctx context.Context, s *Step, owner any) (written bool, err error) {
	if s.Resource, err = b.requests.resourceOf(s); err != nil {
		return false, fmt.Errorf("%s: %w", s.Ref(), err)
	}
	for try := 0; ; try++ {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		o := b.decisions.object(s)
		then, now, err := o.Reown(owner)
		took(s, o)
		switch {
		case apierrors.IsNotFound(err):
			return false, nil // the step finds out what exists now
		case err == nil:
			s.Becomes(s.Seen(now))
			if s.Record != nil {
				s.Record = new(plan.Moved(*s.Record, then, now))
			}
			return now.ResourceVersion != then.ResourceVersion, nil
		case errors.Is(err, write.ErrReplaced) && owner != nil:
			return false, nil
		case errors.Is(err, write.ErrReplaced) && try < write.MaxTries:
			if s, err = b.another(s); s == nil || err != nil {
				return false, err
			}
		case write.ProblemOf(err).Kind != write.ProblemMoved || try == write.MaxTries:
			return false, fmt.Errorf("%s: %w", s.Ref(), err)
		}
	}
}

// another returns a step for the object that replaced the observed one, or nil. That object
// may refer to the inventory too, for example after kubectl replace --force.
func (b *dependents) another(s *Step) (*Step, error) {
	m, err := b.decisions.object(s).Metadata()
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Ref(), err)
	}
	l := tracking.LiveOf(s.Ref(), m)
	return &Step{StepResult: report.StepResult{Step: &plan.Step{Entry: &inventory.Entry{Ref: s.Ref(), Sensitive: true}, Live: &l}}, Resource: s.Resource}, nil
}
