package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

const (
	// restoring limits how long the old inventory may take to disappear. between is the
	// time between two checks.
	restoring = 30 * time.Second
	between   = 100 * time.Millisecond
)

// Restore creates an inventory again whose deletion our finalizer blocks, with the same
// contents. Before the old ConfigMap disappears, detach detaches the objects that it owns,
// and gets the permit for its deletion. The error is a *ChangedError, that of detach, or
// the server's. The contents survive in any case.
func (s *Store) Restore(ctx context.Context, inv *inventory.Inventory, detach func() (decide.Permit, error)) (*inventory.Inventory, error) {
	copied, err := s.saveCopy(ctx, inv)
	if err != nil {
		return nil, fmt.Errorf("save a copy: %w", err)
	}
	permit, err := detach()
	if err != nil {
		return nil, err
	}
	old := member{permit, wellknown.FinalizerNode, inv.Finalizer, inv.Deleting}
	if err := s.remove(ctx, &old); err != nil {
		return nil, fmt.Errorf("remove the finalizer of the deleted one: %w", err)
	}
	if err := s.gone(ctx, &old); err != nil {
		return nil, err
	}
	next := inv.Clone()
	next.UID, next.ResourceVersion, next.Deleting, next.Finalizer, next.Copy = "", "", false, true, string(copied.UID)
	return s.Save(ctx, next)
}

// saveCopy creates the copy, or updates one of an earlier run.
func (s *Store) saveCopy(ctx context.Context, inv *inventory.Inventory) (*corev1.ConfigMap, error) {
	cm, err := inventory.EncodeCopy(inv)
	if err != nil {
		return nil, err
	}
	saved, err := s.configMaps.Create(ctx, cm)
	for try := 1; apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) && try < copyTries; try++ {
		there, getErr := s.configMaps.Get(ctx, cm.Namespace, cm.Name)
		if getErr != nil {
			return nil, getErr
		}
		if there.Labels[wellknown.LabelRecord] != wellknown.RecordCopy {
			return nil, changed(cm.Namespace, cm.Name, "it is not a copy that lynqctl made (rename or delete it)", nil)
		}
		cm.UID, cm.ResourceVersion = there.UID, there.ResourceVersion
		saved, err = s.configMaps.Update(ctx, cm)
	}
	return saved, err
}

// copyTries limits the attempts to write a copy if other clients write it too.
const copyTries = 5

// gone waits until a deleted ConfigMap has disappeared.
func (s *Store) gone(ctx context.Context, m *member) error {
	ctx, cancel := context.WithTimeoutCause(ctx, restoring, errors.New("other finalizers still block the deletion of the old one (apply again when they are removed)"))
	defer cancel()
	namespace, name := m.at()
	for {
		there, err := s.configMaps.Get(ctx, namespace, name)
		switch {
		case apierrors.IsNotFound(err) || err == nil && there.UID != m.permit.UID():
			return nil
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(between):
		}
	}
}

// forgetCopy deletes the copy of an inventory, if it exists.
func (s *Store) forgetCopy(ctx context.Context, inv *inventory.Inventory) error {
	if inv.Copy == "" {
		return nil
	}
	permit, err := decide.PermitCopy(inv)
	if err != nil {
		return err
	}
	return s.deleteCopy(ctx, inv, permit)
}

func (s *Store) deleteCopy(ctx context.Context, inv *inventory.Inventory, permit decide.Permit) error {
	err := s.configMaps.Delete(ctx, permit)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete the copy of inventory %s/%s: %w", inv.Node.Namespace, inventory.Name(inv.Node.Name), err)
	}
	inv.Copy = ""
	return nil
}
