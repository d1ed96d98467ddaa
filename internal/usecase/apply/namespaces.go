package apply

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// lookAtNamespaces finds terminating namespaces of hubs and forms. Objects there look right
// for some seconds, and then as if people had deleted them. A hub in such a namespace is an
// error, and nodes there fail. A node without a row may still leave.
func lookAtNamespaces(ctx context.Context, j *Job) error {
	terminating := map[string]error{}
	var errs []error
	for _, h := range j.Hubs {
		for _, ns := range append(h.Namespaces(), h.Key.Namespace) {
			if _, looked := terminating[ns]; looked {
				continue
			}
			err := namespaceError(ctx, j, ns, ns == h.Key.Namespace)
			if other := (*write.NamespaceError)(nil); err != nil && !errors.As(err, &other) {
				return err
			}
			terminating[ns] = err
		}
		if err := terminating[h.Key.Namespace]; err != nil {
			errs = append(errs, fmt.Errorf("hub %s: %w", h.Key.Name, err))
		}
		for _, n := range j.Nodes[h.Key] {
			if n.Failed == nil {
				n.Failed = terminating[n.Namespace]
			}
		}
	}
	return errors.Join(errs...)
}

// namespaceError returns a *write.NamespaceError for a terminating namespace. It ignores
// missing namespaces and permissions, because a later write reports those. A dry run writes
// nothing, so it warns if a hub's namespace is missing.
func namespaceError(ctx context.Context, j *Job, name string, hubs bool) error {
	m, err := j.Client.Metadata(ctx, lynq.APIResource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}, "", name)
	switch {
	case apierrors.IsNotFound(err) && j.RunOptions.Mode == session.ModeClient && hubs:
		j.Engine.Notef("warning: namespace %s does not exist, so apply would be refused: create it with kubectl create namespace %[1]s, or %s", name, write.OrAnotherNamespace)
		return nil
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case m.DeletionTimestamp != nil:
		return &write.NamespaceError{Namespace: name, Terminating: true}
	}
	return nil
}
