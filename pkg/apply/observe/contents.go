package observe

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Contents lists the objects of some kinds in a namespace, or in all with "". It returns
// the objects for which meant is true, in the order of the kinds, and then in the server's.
// Several goroutines may call meant.
func Contents(ctx context.Context, c Reader, kinds []lynq.APIResource, namespace string, meant func(lynq.APIResource, *metav1.PartialObjectMetadata) bool) ([]lynq.Ref, error) {
	found := make([][]lynq.Ref, len(kinds))
	err := inParallel(len(kinds), func(i int) error {
		r := kinds[i]
		return c.List(ctx, r, namespace, "", func(m *metav1.PartialObjectMetadata) func() {
			if !meant(r, m) {
				return nil
			}
			ref := refOf(r, m)
			return func() { found[i] = append(found[i], ref) }
		})
	})
	return slices.Concat(found...), err
}

func refOf(r lynq.APIResource, m *metav1.PartialObjectMetadata) lynq.Ref {
	return lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: m.Namespace, Name: m.Name}
}
