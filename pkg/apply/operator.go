package apply

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// OperatorNodes counts the LynqNode resources of a hub: those that the Lynq
// operator manages. One that is being deleted without the operator's finalizer, as
// adopt-operator leaves it to the garbage collector, is nobody's any more.
func OperatorNodes(ctx context.Context, c Cluster, hub string) (int, error) {
	r, err := c.Resource(ctx, lynq.Group, "", lynq.KindNode)
	if meta.IsNoMatchError(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n := 0
	err = c.List(ctx, r, "", lynq.LabelHub+"="+hub, func(m *metav1.PartialObjectMetadata) {
		if m.DeletionTimestamp == nil || slices.Contains(m.Finalizers, lynq.FinalizerNode) {
			n++
		}
	})
	if meta.IsNoMatchError(err) {
		return 0, nil // the operator is gone since the server was asked for its kinds
	}
	if err != nil {
		return 0, fmt.Errorf("look whether the operator manages hub %q: %w", hub, err)
	}
	return n, nil
}
