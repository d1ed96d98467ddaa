package inventorycmd

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// recovery is one run of a command that recovers inventories. Rebuild and Restore fill in
// their steps.
type recovery struct {
	run *session.Run
	// find looks for lost inventories. unable says that some of them can't be recovered.
	find func(ctx context.Context) (found []plan.Restoration, unable, err error)
	show func(found []plan.Restoration, complete bool) error
	// ask asks for confirmation. A command without it looks again, while no other run has
	// the hubs.
	ask   func(found []plan.Restoration) error
	write func(ctx context.Context, found *plan.Restoration) error
	done  string // the past tense of the action, for messages
	// after runs once the command has written all inventories. Nil runs nothing.
	after func(ctx context.Context) error

	unable error // from the last find
}

// unrecovered returns the error of a run that couldn't recover everything.
func unrecovered(summary string) error {
	return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: summary}
}

func (r *recovery) perform(ctx context.Context) error {
	c := &session.Change[[]plan.Restoration]{
		Look: func(ctx context.Context) ([]plan.Restoration, []plan.Refusal, error) {
			found, err := r.look(ctx)
			return found, nil, err
		},
		Try:  func(_ context.Context, found []plan.Restoration) error { return cmp.Or(r.shown(found), r.unable) },
		Hubs: hubsOf,
		Do:   r.carryOut,
	}
	if r.ask == nil {
		c.Again = func(ctx context.Context, _ *session.Locks, agreed []plan.Restoration) ([]plan.Restoration, []plan.Refusal, error) {
			found, err := r.again(ctx, agreed)
			return found, nil, err
		}
	} else {
		c.Ask = func(_ context.Context, found []plan.Restoration) ([]plan.Restoration, error) {
			if err := r.shown(found); err != nil {
				return nil, err
			}
			return found, r.ask(found)
		}
	}
	return session.Perform(ctx, r.run, c)
}

// look finds the lost inventories.
func (r *recovery) look(ctx context.Context) (found []plan.Restoration, err error) {
	found, r.unable, err = r.find(ctx)
	if err == nil && len(found) == 0 {
		err = cmp.Or(r.shown(found), r.unable, session.ErrNothing)
	}
	return found, err
}

// again looks once more, while no other run has the hubs. Another run may have restored or
// deleted some inventories meanwhile.
func (r *recovery) again(ctx context.Context, agreed []plan.Restoration) (found []plan.Restoration, err error) {
	if found, r.unable, err = r.find(ctx); err != nil {
		return nil, err
	}
	hubs := hubsOf(agreed)
	found = slices.DeleteFunc(found, func(f plan.Restoration) bool { return !slices.Contains(hubs, f.Node.Full().Hub) })
	return found, r.shown(found)
}

func (r *recovery) shown(found []plan.Restoration) error { return r.show(found, r.unable == nil) }

// hubsOf returns the hubs of inventories, each once.
func hubsOf(found []plan.Restoration) []lynq.HubKey {
	var hubs []lynq.HubKey
	for i := range found {
		if hub := found[i].Node.Full().Hub; !slices.Contains(hubs, hub) {
			hubs = append(hubs, hub)
		}
	}
	return hubs
}

// carryOut writes one inventory after the other.
func (r *recovery) carryOut(ctx context.Context, _ *session.Locks, found []plan.Restoration) error {
	var errs []error
	written := 0
	for i := range found {
		if ctx.Err() != nil {
			break
		}
		err := r.write(ctx, &found[i])
		if errs = append(errs, err); err == nil {
			written++
		}
	}
	r.run.Engine.Notef("%s %s", phrase.Count(written, "inventory"), r.done)
	if cause := context.Cause(ctx); cause != nil {
		errs = []error{cause} // the errors that the interruption caused don't matter
	}
	err := session.Fail(errors.Join(errs...))
	if r.after != nil {
		err = errors.Join(err, r.after(ctx))
	}
	return cmp.Or(err, r.unable)
}
