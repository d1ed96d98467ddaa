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

// lookAtNamespaces finds out which namespaces of hubs and forms are terminating: what is
// in them looks as it is to be for some seconds, and then as if people had deleted it. A
// hub in one of them is an error, and nodes there fail; those whose row is gone may go.
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

// namespaceError is an *write.NamespaceError for a namespace that is terminating. Who
// may not look, and what is not there, is told when something is written. A dry run writes
// nothing, so that it warns of the missing namespace of a hub.
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
