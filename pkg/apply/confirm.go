package apply

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/progress"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// BehindError means that the server's reads lacked an object that refers to an inventory.
// The garbage collector would delete the object with that inventory.
type BehindError struct {
	// Object and Inventory are the two, as kind/namespace/name and namespace/name.
	Object, Inventory string
}

// Error implements error.
func (e *BehindError) Error() string {
	return fmt.Sprintf("%s belongs to inventory %s, which must not go yet: the API server's answers are older than the object (run again)", e.Object, e.Inventory)
}

// unreferred checks that no object of some entries refers to the saved inventory. A server
// that lags may answer a read without an object, or with its earlier owners. It answers a
// write from its latest state, so lynqctl asks with one that changes nothing.
// No answer is quoted, because the run may not know the secret values of the object.
func (r *record) unreferred(entries []*inventory.Entry) error {
	ctx := redact.HideMessages(r.requests.ctx)
	for _, e := range entries {
		s := progress.Step{Step: &plan.Step{Entry: e}}
		resource, err := r.requests.resourceOf(&s)
		if unfit := (*plan.ScopeError)(nil); errors.As(err, &unfit) || meta.IsNoMatchError(err) {
			continue // no such object exists, or a person gave it up
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.Ref, err)
		}
		m, err := r.requests.cluster.Write(ctx, resource, write.Request{
			Verb: write.MergePatch, Namespace: e.Namespace, Name: e.Name, Body: []byte("{}"), DryRun: true,
		})
		switch {
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		case err != nil:
			return fmt.Errorf("check the owners of %s: %w", e.Ref, err)
		case refersTo(m, types.UID(r.saved.UID)):
			return &BehindError{e.Full(), r.saved.Node.Namespace + "/" + inventory.Name(r.saved.Node.Name)}
		}
	}
	return nil
}

func refersTo(m *metav1.PartialObjectMetadata, owner types.UID) bool {
	return slices.ContainsFunc(m.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == owner })
}
