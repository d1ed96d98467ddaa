package observe

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// OperatorNodes counts the LynqNode resources of a hub by namespace, because the Lynq
// operator manages them. It ignores a LynqNode that is being deleted without the operator's
// finalizer. adopt-operator leaves these to the garbage collector. OperatorNodes lists them in
// within or, without it, in all namespaces.
func OperatorNodes(ctx context.Context, c Reader, hub string, within []string) (map[string]int, error) {
	r, err := c.Resource(ctx, wellknown.Group, "", wellknown.KindNode)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n := map[string]int{}
	err = listIn(ctx, c, r, "", within, wellknown.LabelHub+"="+hub, func(m *metav1.PartialObjectMetadata) func() {
		if m.DeletionTimestamp != nil && !slices.Contains(m.Finalizers, wellknown.FinalizerNode) {
			return nil
		}
		namespace := m.Namespace
		return func() { n[namespace]++ }
	})
	if meta.IsNoMatchError(err) {
		return nil, nil // somebody removed the operator since the server listed its kinds
	}
	if err != nil {
		return nil, fmt.Errorf("check whether the operator manages hub %q: %w", hub, err)
	}
	return n, nil
}
