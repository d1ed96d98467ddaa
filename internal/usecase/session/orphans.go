package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// FindOrphans looks for orphans among all kinds, and notes what it couldn't read.
func (r *Run) FindOrphans(ctx context.Context, q orphan.Query) (*orphan.Found, error) {
	if len(q.Within) > 0 {
		r.WarnOnce("--namespaces leaves out orphans elsewhere, and those without a namespace")
	}
	r.Warnings.Look(true)
	defer r.Warnings.Look(false)
	found, err := r.Engine.LookForOrphans(ctx, r.Client, r.Warnings, q)
	if err != nil {
		return nil, Unread(ctx, err)
	}
	for _, w := range found.Warnings() {
		r.WarnOnce(w)
	}
	return found, nil
}

// LookForOrphans looks for orphans and shows progress, because a cluster with many kinds
// takes a while.
func (e *Engine) LookForOrphans(ctx context.Context, client *kube.Client, warnings *ServerWarnings, q orphan.Query) (*orphan.Found, error) {
	counting, ended := e.CountingRequests(warnings, "listing kinds")
	defer ended()
	q.Progress = counting.Reached
	return orphan.Find(ctx, client, q)
}

// NamespaceOf returns the namespace that all named objects share, or "". A user who may
// read only that namespace then needs no other.
func NamespaceOf(named map[lynq.Ref]bool) string {
	namespace, first := "", true
	for ref := range named {
		if !first && ref.Namespace != namespace {
			return ""
		}
		namespace, first = ref.Namespace, false
	}
	return namespace
}

// NoSuchOrphan returns the error for a name that no orphan has, as far as the kinds could
// be listed.
func NoSuchOrphan(ref lynq.Ref, found *orphan.Found, hint string) error {
	if slices.Contains(found.Unlisted(), ref.GroupKind()) {
		return fmt.Errorf("%s may be an orphan, but its kind can't be listed (see the warning above, and run again when the kind can be read)", ref.Full())
	}
	return fmt.Errorf("no such orphan: %s (%s)", ref.Full(), hint)
}
