package apply

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// referring returns the objects of some entries that refer to the saved inventory. A server
// that lags may answer a read without an object, or with its earlier owners. It answers a
// write from its latest state, so lynqctl asks with one that changes nothing. lynqctl quotes
// no answer, because the run may not know the secret values of the object.
func (r *record) referring(entries []*inventory.Entry) (refs []lynq.Ref, err error) {
	ctx, me := redact.HideMessages(r.requests.ctx), r.owner()
	for _, e := range entries {
		s := newStep(&plan.Step{Entry: e})
		resource, err := r.requests.resourceOf(&s)
		if unfit := (*plan.ScopeError)(nil); errors.As(err, &unfit) || meta.IsNoMatchError(err) {
			continue // no such object exists, or a person gave it up
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Ref, err)
		}
		m, err := r.requests.cluster.Write(ctx, resource, write.Request{
			Verb: write.MergePatch, Namespace: e.Namespace, Name: e.Name, Body: []byte("{}"), DryRun: true,
		})
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("check the owners of %s: %w", e.Ref, err)
		}
		if l := tracking.LiveOf(e.Ref, m); me.Owns(&l) {
			refs = append(refs, e.Ref)
		}
	}
	return refs, nil
}
