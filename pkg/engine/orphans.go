package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// findOrphans looks for orphans among all kinds, and tells what may be missing.
func (r *clusterRun) findOrphans(ctx context.Context, q orphan.Query) ([]orphan.Orphan, error) {
	r.warnings.look(true)
	defer r.warnings.look(false)
	found, err := r.lookForOrphans(ctx, r.client, r.warnings, q)
	if err != nil {
		return nil, unread(ctx, err)
	}
	for _, w := range found.Warnings() {
		r.warnOnce(w)
	}
	return found.Orphans, nil
}

// lookForOrphans looks for orphans, which may take its time on a cluster with many
// kinds.
func (e *Engine) lookForOrphans(ctx context.Context, client *kube.Client, warnings *serverWarnings, q orphan.Query) (*orphan.Found, error) {
	counting, ended := e.countingRequests(warnings, "listing kinds")
	defer ended()
	q.Progress = counting.Reached
	return orphan.Find(ctx, client, q)
}

// namespaceOf is the one namespace that all named objects are in, "" where there
// is none such: who may look into that one only need not look into others.
func namespaceOf(named map[lynq.Ref]bool) string {
	namespace, first := "", true
	for ref := range named {
		if !first && ref.Namespace != namespace {
			return ""
		}
		namespace, first = ref.Namespace, false
	}
	return namespace
}

// noSuchOrphan is why a name is not that of an orphan.
func noSuchOrphan(ref lynq.Ref, hint string) error {
	return fmt.Errorf("there is no such orphan: %s (%s)", ref.Full(), hint)
}

// OrphanOptions say which orphans are meant, and in which cluster.
type OrphanOptions struct {
	Access  kube.Access
	Timeout time.Duration // 0 is none
	Query   orphan.Query
	// Stranded: also what no inventory has an entry for, and entries without objects.
	Stranded bool
}

// Orphans finds what nodes left behind.
func (e *Engine) Orphans(ctx context.Context, o *OrphanOptions) (*orphan.Found, error) {
	client, warnings, err := e.connect(&o.Access)
	if err != nil {
		return nil, err
	}
	warnings.look(true)
	q := o.Query
	if o.Stranded {
		q.Stranded = store.New(client.ConfigMaps())
	}
	ctx, cancel := Deadline(ctx, o.Timeout)
	defer cancel()
	found, err := e.lookForOrphans(ctx, client, warnings, q)
	if err != nil {
		return nil, unread(ctx, err)
	}
	return found, nil
}
