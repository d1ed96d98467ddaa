package session

import (
	"context"
	"fmt"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// FindOrphans looks for orphans among all kinds, and tells what may be missing.
func (r *Run) FindOrphans(ctx context.Context, q orphan.Query) ([]orphan.Orphan, error) {
	r.Warnings.Look(true)
	defer r.Warnings.Look(false)
	found, err := r.Engine.LookForOrphans(ctx, r.Client, r.Warnings, q)
	if err != nil {
		return nil, Unread(ctx, err)
	}
	for _, w := range found.Warnings() {
		r.WarnOnce(w)
	}
	return found.Orphans, nil
}

// LookForOrphans looks for orphans, which may take its time on a cluster with many
// kinds.
func (e *Engine) LookForOrphans(ctx context.Context, client *kube.Client, warnings *ServerWarnings, q orphan.Query) (*orphan.Found, error) {
	counting, ended := e.CountingRequests(warnings, "listing kinds")
	defer ended()
	q.Progress = counting.Reached
	return orphan.Find(ctx, client, q)
}

// NamespaceOf is the one namespace that all named objects are in, "" where there
// is none such: who may look into that one only need not look into others.
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

// NoSuchOrphan is why a name is not that of an orphan.
func NoSuchOrphan(ref lynq.Ref, hint string) error {
	return fmt.Errorf("no such orphan: %s (%s)", ref.Full(), hint)
}
