package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// ApproveOptions say which held deletions are approved.
type ApproveOptions struct {
	Access  kube.Access
	Timeout time.Duration // 0 is none
	Hub     lynq.HubKey
	Yes     bool // do not ask
}

// Approve lets the deletions through that guards hold of a hub: exactly those that its
// record has, by their digest. It writes nothing but an annotation on the record; the
// instance that holds them carries them out.
func (e *Engine) Approve(ctx context.Context, o *ApproveOptions) error {
	ctx, cancel := Deadline(ctx, o.Timeout)
	defer cancel()
	client, _, err := e.connect(&o.Access)
	if err != nil {
		return err
	}
	j := approval{Engine: e, o: o, store: store.New(client.ConfigMaps())}
	record, err := j.heldRecord(ctx)
	if err != nil {
		return untouched(ctx, err)
	}
	if record.Approved == record.Held.Digest {
		e.notef("hub %s: these deletions are approved already, and go with the next round", o.Hub)
		return nil
	}
	j.show(record.Held)
	if err := e.confirm(ctx, o.Yes, "Let these deletions through?"); err != nil {
		return err
	}
	return j.approve(ctx, record.Held.Digest)
}

// approval is one run of Approve.
type approval struct {
	*Engine
	o     *ApproveOptions
	store *store.Store
}

// heldRecord is the record of the hub, of which deletions are held.
func (j *approval) heldRecord(ctx context.Context) (*inventory.Hub, error) {
	record, err := j.store.LoadHub(ctx, j.o.Hub.Namespace, j.o.Hub.Name)
	switch {
	case err != nil:
		return nil, err
	case record == nil:
		return nil, j.noHub(ctx)
	case record.Held == nil:
		return nil, fmt.Errorf("no deletions of hub %s are held: there is nothing to approve (lynqctl status hub %s -n %s tells what its last run saw)", j.o.Hub, j.o.Hub.Name, j.o.Hub.Namespace)
	}
	return record, nil
}

// noHub is that there is no such hub, with those that there are.
func (j *approval) noHub(ctx context.Context) error {
	var near []string
	hubs, _ := j.store.Hubs(ctx, j.o.Hub.Namespace) // it is but a hint
	for _, h := range hubs {
		near = append(near, h.Name)
	}
	return notFound("there is no hub %q in namespace %s%s", j.o.Hub.Name, j.o.Hub.Namespace, hint(j.o.Hub.Name, near))
}

// show tells what is held, before it is asked for.
func (j *approval) show(h *inventory.HeldDeletions) {
	j.notef("hub %s: deletions are held since %s (%s): %s", j.o.Hub, h.Since.UTC().Format(time.RFC3339), h.Guard, h.Message)
	j.notef("%s", stakeOf(h))
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
	j.notef("  %s: %s", what, strings.Join(names, ", "))
}

// approvals is how often an approval is written that another client comes before.
const approvals = 5

// approve writes the approval, as long as these deletions are what is held. The record
// may have been saved since it was shown.
func (j *approval) approve(ctx context.Context, digest string) error {
	var err error
	for range approvals {
		var record *inventory.Hub
		if record, err = j.heldRecord(ctx); err != nil {
			return untouched(ctx, fmt.Errorf("what is held changed meanwhile: %w", err))
		}
		if record.Held.Digest != digest {
			return &Error{
				Outcome: Refused, Err: fmt.Errorf("hub %s: other deletions are held by now than those that were shown: %s (look at them, and approve again)", j.o.Hub, stakeOf(record.Held)),
				Summary: "nothing was touched",
			}
		}
		record.Approved = digest
		saved, saveErr := j.store.SaveHub(ctx, record)
		if saveErr == nil && saved.Approved != digest {
			saveErr = fmt.Errorf("another client writes approvals to the record of hub %s, too", j.o.Hub)
		}
		if err = saveErr; err == nil {
			j.notef("hub %s: approved: %s, with the next round", j.o.Hub, stakeOf(record.Held))
			return nil
		}
		if changed := (*store.ChangedError)(nil); !errors.As(err, &changed) {
			break
		}
	}
	return untouched(ctx, err)
}
