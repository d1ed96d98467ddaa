package applycmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// lookAtNamespaces finds terminating namespaces of hubs and forms. Objects there look right
// for some seconds, and then as if people had deleted them. A hub in such a namespace is an
// error, and nodes there fail. A node without a row may still leave.
func lookAtNamespaces(ctx context.Context, r *Rendered) error {
	terminating, err := terminatingNamespaces(ctx, r.Job)
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range r.Hubs {
		if err := terminating[h.Key.Namespace]; err != nil {
			errs = append(errs, fmt.Errorf("hub %s: %w", h.Key.Name, err))
		}
		for _, n := range r.Nodes[h.Key] {
			if n.Failed == nil {
				n.Failed = terminating[n.Namespace]
			}
		}
	}
	return errors.Join(errs...)
}

// namespacesAtOnce limits the namespaces that lynqctl reads at once.
const namespacesAtOnce = 8

// terminatingNamespaces reads the namespaces of hubs and forms. It returns a
// *write.NamespaceError for each one that terminates.
func terminatingNamespaces(ctx context.Context, j *Job) (map[string]error, error) {
	ofHubs, all := map[string]bool{}, map[string]bool{}
	for _, h := range j.Hubs {
		ofHubs[h.Key.Namespace], all[h.Key.Namespace] = true, true
		for _, ns := range h.Namespaces() {
			all[ns] = true
		}
	}
	names := slices.Sorted(maps.Keys(all))
	read, errs := make([]*metav1.PartialObjectMetadata, len(names)), make([]error, len(names))
	var reading errgroup.Group
	reading.SetLimit(namespacesAtOnce)
	for i, name := range names {
		reading.Go(func() error {
			read[i], errs[i] = j.Client.Metadata(ctx, namespaces(), "", name)
			return nil
		})
	}
	_ = reading.Wait() // errs has the errors in order
	terminating := make(map[string]error, len(names))
	for i, name := range names {
		var err error
		if terminating[name], err = terminates(ctx, j, name, ofHubs[name], read[i], errs[i]); err != nil {
			return nil, err
		}
	}
	return terminating, nil
}

// terminates returns a *write.NamespaceError for a terminating namespace. It ignores
// missing namespaces and permissions, because a later write reports those. A dry run writes
// nothing, so it warns if a hub's namespace is missing.
func terminates(ctx context.Context, j *Job, name string, hubs bool, m *metav1.PartialObjectMetadata, err error) (terminating, unread error) {
	switch {
	case apierrors.IsNotFound(err) && j.RunOptions.Mode == session.ModeClient && hubs:
		j.Engine.Notef("warning: namespace %s does not exist, so apply would be refused: create it with kubectl create namespace %[1]s, or %s", name, write.OrAnotherNamespace)
		return nil, nil
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case m.DeletionTimestamp != nil:
		return &write.NamespaceError{Namespace: name, Terminating: true, Why: j.WhyTerminating(ctx, name)}, nil
	}
	return nil, nil
}

func namespaces() lynq.APIResource {
	return lynq.APIResource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}
}
