package watchcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
)

// ApproveOptions select the held deletions to approve.
type ApproveOptions struct {
	HubOptions
	Yes bool // don't ask
}

// Approve approves the deletions that guards hold of a hub: exactly those in its hub
// record, by their digest. It writes only an annotation on the hub record. The process that
// holds the deletions carries them out.
func Approve(ctx context.Context, e *session.Engine, o *ApproveOptions) error {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, _, err := e.Connect(&o.Access)
	if err != nil {
		return err
	}
	r := e.NewRun(&session.RunOptions{}, client, nil)
	j := approval{Engine: e, o: o, store: r.Store, run: &r}
	record, err := j.heldRecord(ctx)
	if err != nil {
		return session.Untouched(ctx, err)
	}
	if record.Approved == record.Held.Digest {
		e.Notef("hub %s: these deletions are approved already, and the next round carries them out", o.Hub)
		return nil
	}
	j.show(record.Held)
	if err := e.Confirm(ctx, o.Yes, "Approve these deletions?"); err != nil {
		return err
	}
	return j.approve(ctx, record.Held.Digest)
}

// approval is one run of Approve.
type approval struct {
	*session.Engine
	o     *ApproveOptions
	store *store.Store
	run   *session.Run
}

// heldRecord returns the hub record. It returns an error if no deletion is held.
func (j *approval) heldRecord(ctx context.Context) (*inventory.Hub, error) {
	record, err := j.store.LoadHub(ctx, j.o.Hub.Namespace, j.o.Hub.Name)
	switch {
	case err != nil:
		return nil, err
	case record == nil:
		return nil, j.noHub(ctx)
	case record.Held == nil:
		return nil, fmt.Errorf("no deletions of hub %s are held: there is nothing to approve (lynqctl status hub %s -n %s shows what its last run saw)", j.o.Hub, j.o.Hub.Name, j.o.Hub.Namespace)
	}
	return record, nil
}

// noHub returns an error for an unknown hub, with suggestions.
func (j *approval) noHub(ctx context.Context) error {
	var near []string
	hubs, _ := j.store.Hubs(ctx, j.o.Hub.Namespace) // without the list, the error has no suggestion
	for _, h := range hubs {
		near = append(near, h.Name)
	}
	return fmt.Errorf("there is no hub %q in namespace %s%s", j.o.Hub.Name, j.o.Hub.Namespace, session.Hint(j.o.Hub.Name, near))
}

// show shows the held deletions before it asks.
func (j *approval) show(h *inventory.HeldDeletions) {
	j.Notef("hub %s: deletions are held since %s (%s): %s", j.o.Hub, h.Since.UTC().Format(time.RFC3339), h.Guard, h.Message)
	j.Notef("%s", heldSummary(h))
	j.list("would go", h.Nodes, h.MoreNodes)
	j.list("would lose objects", h.Partly, h.MorePartly)
}

func (j *approval) list(what string, nodes []string, more int) {
	if len(nodes) == 0 {
		return
	}
	names := slices.Clone(nodes)
	if more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	j.Notef("  %s: %s", what, strings.Join(names, ", "))
}

// approvals limits how often approve tries again after another client's write.
const approvals = 5

// approve writes the approval if these deletions are still held. Another client may have
// saved the hub record since show.
func (j *approval) approve(ctx context.Context, digest string) error {
	var err error
	for range approvals {
		var record *inventory.Hub
		if record, err = j.heldRecord(ctx); err != nil {
			return session.Untouched(ctx, fmt.Errorf("the held deletions changed meanwhile: %w", err))
		}
		if record.Held.Digest != digest {
			return &session.Error{
				Outcome: session.Refused, Err: fmt.Errorf("hub %s: watch now holds other deletions than those shown: %s (check them, then approve again)", j.o.Hub, heldSummary(record.Held)),
				Summary: "nothing changed",
			}
		}
		record.Approved = digest
		saved, saveErr := j.store.SaveHub(ctx, record)
		if saveErr == nil && saved.Approved != digest {
			saveErr = fmt.Errorf("another client also writes approvals to the record of hub %s", j.o.Hub)
		}
		if err = saveErr; err == nil {
			j.Notef("hub %s: approved: %s, with the next round", j.o.Hub, heldSummary(record.Held))
			j.run.RememberApproval(ctx, j.o.Hub, digest)
			return nil
		}
		if changed := (*store.ChangedError)(nil); !errors.As(err, &changed) {
			break
		}
	}
	return session.Untouched(ctx, err)
}
