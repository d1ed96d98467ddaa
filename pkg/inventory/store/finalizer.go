package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
)

// lynqctl first requests the deletion of an inventory or record, and removes the finalizer
// last. If a run is killed in between, the remaining ConfigMap shows that the deletion
// must continue.

// finalizerTries limits how often lynqctl looks up the finalizer's position again.
const finalizerTries = 5

// member is a ConfigMap to delete.
type member struct {
	permit    decide.Permit
	finalizer string
	held      bool // by the finalizer
	deleting  bool
}

// at returns the ConfigMap's namespace and name.
func (m *member) at() (namespace, name string) { return m.permit.Ref().Namespace, m.permit.Ref().Name }

// remove deletes the permit's ConfigMap, and removes our finalizer.
func (s *Store) remove(ctx context.Context, m *member) error {
	if err := m.permit.Check(false); err != nil {
		return err
	}
	if !m.deleting {
		err := s.configMaps.Delete(ctx, m.permit)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case apierrors.IsConflict(err):
			return s.deletedBefore(ctx, m, err)
		case err != nil:
			return err
		}
	}
	if !m.held {
		return nil
	}
	return s.takeOff(ctx, m)
}

// deletedBefore checks whether an earlier attempt of the same deletion caused a conflict,
// because its answer was lost.
func (s *Store) deletedBefore(ctx context.Context, m *member, conflict error) error {
	namespace, name := m.at()
	there, err := s.configMaps.Get(ctx, namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return errors.Join(conflict, err)
	case there.UID != m.permit.UID():
		return nil // ours is gone, and this is another one
	case there.DeletionTimestamp == nil:
		return changed(namespace, name, "another client changed it meanwhile, so lynqctl didn't delete it (run again)", conflict)
	}
	return s.takeOff(ctx, m)
}

// takeOff removes the finalizer with a JSON patch that tests it. So the patch changes
// nothing else, whatever other clients do (seed: finalizers).
func (s *Store) takeOff(ctx context.Context, m *member) error {
	at := 0 // lynqctl adds it first, and others follow
	namespace, name := m.at()
	for try := 1; ; try++ {
		patch, err := withoutFinalizer(string(m.permit.UID()), m.finalizer, at)
		if err != nil {
			return err
		}
		_, err = s.configMaps.Patch(ctx, namespace, name, patch)
		switch {
		case err == nil || apierrors.IsNotFound(err):
			return nil
		case !apierrors.IsInvalid(err) || try == finalizerTries:
			return err
		}
		there, getErr := s.configMaps.Get(ctx, namespace, name)
		switch {
		case apierrors.IsNotFound(getErr):
			return nil
		case getErr != nil:
			return errors.Join(err, getErr)
		case there.UID != m.permit.UID():
			return nil // ours is gone, and this is another one
		}
		if at = finalizerAt(there, m.finalizer); at < 0 {
			return nil // already removed
		}
	}
}

func finalizerAt(cm *corev1.ConfigMap, finalizer string) int {
	return slices.Index(cm.Finalizers, finalizer)
}

// withoutFinalizer returns a JSON patch that removes the finalizer at a position.
func withoutFinalizer(uid, finalizer string, at int) ([]byte, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value,omitempty"`
	}
	path := "/metadata/finalizers/" + strconv.Itoa(at)
	return json.Marshal([]operation{
		{"test", "/metadata/uid", uid},
		{"test", path, finalizer},
		{Op: "remove", Path: path},
	})
}
