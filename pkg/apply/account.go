package apply

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Object returns the object of a hook. recorded comes from Read. The error names a manifest
// that differs from the recorded digest, or a ServiceAccount that doesn't exist.
func (m *Manifests) Object(of *plan.Plan, me plan.Owner, e *inventory.Entry, recorded map[string][]byte) (*plan.Object, error) {
	o, err := decide.ReadHook(of, me, e, recorded[e.Digest])
	if err != nil {
		return nil, fmt.Errorf("%s must run before lynqctl deletes the node, and its manifest in Secret %s: %w (apply while the row is active records it; %s)",
			e.Ref, inventory.HooksName(m.Node.Name), err, decide.WithoutHook(me, e.Ref))
	}
	return o, m.checkAccount(of, me, o)
}

// checkAccount refuses a hook if its ServiceAccount doesn't exist and only a record names
// the hook. A ServiceAccount that somebody creates later under that name may belong to
// anyone.
func (m *Manifests) checkAccount(of *plan.Plan, me plan.Owner, o *plan.Object) error {
	name, err := decide.Account(of, me, o)
	if err != nil || name == "" {
		return err
	}
	r, err := m.Cluster.Resource(m.Ctx, "", "v1", "ServiceAccount")
	if err == nil {
		_, err = m.Cluster.Get(m.Ctx, r, o.Namespace, name)
	}
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s must run before lynqctl deletes the node, and namespace %s has no ServiceAccount %s (create it, or pass -f with the hub and the form of the node; %s)",
			o.Ref, o.Namespace, name, decide.WithoutHook(me, o.Ref))
	case err != nil:
		return fmt.Errorf("read ServiceAccount %s/%s of hook %s: %w (the hook must run before lynqctl deletes the node. To run it without this check, pass -f with the hub and the form of the node)", o.Namespace, name, o.Ref, err)
	}
	return nil
}

// InNamespace explains an error of a hook's write if its namespace is the cause. If the
// namespace is deleted with the tenant, waiting doesn't help.
func InNamespace(ref lynq.Ref, me plan.Owner, err error) error {
	ending := (*write.NamespaceError)(nil)
	if !errors.As(write.InNamespace(ref.Namespace, "", err), &ending) {
		return err
	}
	what := "does not exist"
	if ending.Terminating {
		what = "is terminating"
	}
	return fmt.Errorf("namespace %s %s: lynqctl can't run the node's hooks in it (%s)", ending.Namespace, what, decide.WithoutHook(me, ref))
}
