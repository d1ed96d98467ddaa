package observe

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Tombstones reads the metadata of the objects that tombstones name, one request
// for each, none for kinds that are not served.
func Tombstones(ctx context.Context, c Reader, stones []plan.Tombstone) error {
	return inParallel(len(stones), func(i int) error {
		err := tombstone(ctx, c, &stones[i])
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		stones[i].Unknown = err
		return nil
	})
}

func tombstone(ctx context.Context, c Reader, t *plan.Tombstone) error {
	group, version := lynq.SplitAPIVersion(t.APIVersion)
	r, err := served(ctx, c, group, version, t.Kind)
	switch {
	case meta.IsNoMatchError(err):
		t.Unserved = true
		return nil
	case err != nil:
		return err
	case r.Namespaced != (t.Namespace != ""):
		return fmt.Errorf("%s: %s has a namespace: %v, and the tombstone says %q (correct its namespace)", t.Pos, t.Kind, r.Namespaced, t.Namespace)
	}
	m, err := c.Metadata(ctx, r, t.Namespace, t.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	l := plan.LiveOf(t.Ref, m)
	l.Labels = m.Labels
	t.Live = &l
	return nil
}
