package observe

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// OtherNames reads names that may be other names of objects that a plan deletes (see
// decide.OtherNames). An object of a kind that the server doesn't serve doesn't exist.
func OtherNames(ctx context.Context, c Reader, refs []lynq.Ref) (*plan.Observed, error) {
	wanted := make(map[lynq.Ref]string, len(refs))
	for _, ref := range refs {
		wanted[ref] = ""
	}
	o, all := newObserver(c, ""), kindsOf(wanted)
	err := inParallel(len(all), func(i int) error {
		k := &all[i]
		r, err := c.Resource(ctx, k.group, "", k.kind)
		var unavailable *lynq.GroupUnavailableError
		switch {
		case meta.IsNoMatchError(err):
			return nil
		case errors.As(err, &unavailable):
			o.unknown(k.refs, err)
			return nil
		case err != nil:
			return err
		}
		o.misplaced(r, k.refs)
		return o.missing(ctx, r, k.refs, true)
	})
	return &o.seen, err
}

// NamespaceUID returns the uid of a Namespace, or "" if it doesn't exist.
func NamespaceUID(ctx context.Context, c Reader, name string) (types.UID, error) {
	m, err := c.Metadata(ctx, lynq.APIResource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}, "", name)
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	}
	return m.UID, nil
}
