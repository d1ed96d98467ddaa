package observe

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Tombstones reads the objects that tombstones name, with one request for each. It reads
// metadata, and whole StatefulSets. Kinds that the server doesn't serve cost none.
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
	if t.GroupKind() == lynq.StatefulSet {
		return wholeTombstone(ctx, c, r, t)
	}
	m, err := c.Metadata(ctx, r, t.Namespace, t.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	l := tracking.LiveOf(t.Ref, m)
	l.Change(func(r *tracking.Rare) { r.Labels = m.Labels })
	t.Live = &l
	return nil
}

// wholeTombstone reads the whole object, because metadata doesn't say whether Kubernetes
// deletes its volume claims too.
func wholeTombstone(ctx context.Context, c Reader, r lynq.APIResource, t *plan.Tombstone) error {
	o, err := c.Get(ctx, r, t.Namespace, t.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	l, err := tracking.LiveOfObject(t.Ref, o)
	if err != nil {
		return err
	}
	l.Change(func(r *tracking.Rare) { r.Labels = o.GetLabels() })
	t.Live, t.TakesClaims = l, lynq.TakesClaims(t.Ref, o.Object)
	return nil
}
