package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A ConfigMap whose deletion was asked for cannot be kept: a new one takes its
// place when it is gone. In between, a copy under another name keeps what it had
// recorded, so that a run that is killed then loses nothing.

const copyPrefix = lynq.NodeCopyPrefix

// CopyName is the name of the copy of a node's inventory.
func CopyName(node string) string { return copyPrefix + node }

const (
	// restoring is how long an inventory may take to go, and between is how often it
	// is looked for.
	restoring = 30 * time.Second
	between   = 100 * time.Millisecond
)

// Restore makes the inventory of a node again whose deletion our finalizer holds,
// with what it had recorded. Before the old ConfigMap goes, detach takes off all
// that belongs to it. It gives the new one. The error is a *ChangedError, that of
// detach, or the server's; what was recorded is kept in any case.
func (s *Store) Restore(ctx context.Context, inv *Inventory, detach func() error) (*Inventory, error) {
	copied, err := s.saveCopy(ctx, inv)
	if err != nil {
		return nil, fmt.Errorf("save a copy: %w", err)
	}
	if err := detach(); err != nil {
		return nil, err
	}
	old := member{inv.Namespace, Name(inv.Node), inv.UID, inv.ResourceVersion, lynq.FinalizerNode, inv.Finalizer, inv.Deleting}
	if err := s.remove(ctx, &old); err != nil {
		return nil, fmt.Errorf("take the finalizer off the deleted one: %w", err)
	}
	if err := s.gone(ctx, &old); err != nil {
		return nil, err
	}
	next := inv.Clone()
	next.UID, next.ResourceVersion, next.Deleting, next.Finalizer, next.Copy = "", "", false, true, string(copied.UID)
	return s.Save(ctx, next)
}

// saveCopy makes the copy, or brings one up to date that an earlier run left.
func (s *Store) saveCopy(ctx context.Context, inv *Inventory) (*corev1.ConfigMap, error) {
	cm, err := Encode(inv)
	if err != nil {
		return nil, err
	}
	cm.Name, cm.UID, cm.ResourceVersion, cm.Finalizers, cm.OwnerReferences = CopyName(inv.Node), "", "", nil, nil
	cm.Labels[lynq.LabelRecord] = lynq.RecordCopy
	delete(cm.Labels, lynq.LabelApplySetID) // there is one parent of an ApplySet
	saved, err := s.configMaps.Create(ctx, cm)
	if !apierrors.IsAlreadyExists(err) {
		return saved, err
	}
	there, err := s.configMaps.Get(ctx, cm.Namespace, cm.Name)
	if err != nil {
		return nil, err
	}
	if there.Labels[lynq.LabelRecord] != lynq.RecordCopy {
		return nil, changed(cm.Namespace, cm.Name, "it is not a copy that lynqctl made (rename or delete it)", nil)
	}
	cm.UID, cm.ResourceVersion = there.UID, there.ResourceVersion
	return s.configMaps.Update(ctx, cm)
}

// gone waits until a ConfigMap is gone that is being deleted.
func (s *Store) gone(ctx context.Context, m *member) error {
	ctx, cancel := context.WithTimeoutCause(ctx, restoring, errors.New("other finalizers still hold the deleted one (apply again when they are gone)"))
	defer cancel()
	for {
		there, err := s.configMaps.Get(ctx, m.namespace, m.name)
		switch {
		case apierrors.IsNotFound(err) || err == nil && string(there.UID) != m.uid:
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

// forgetCopy deletes the copy of an inventory, if there is one.
func (s *Store) forgetCopy(ctx context.Context, inv *Inventory) error {
	if inv.Copy == "" {
		return nil
	}
	err := s.configMaps.Delete(ctx, inv.Namespace, CopyName(inv.Node), types.UID(inv.Copy), "")
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete the copy of inventory %s/%s: %w", inv.Namespace, Name(inv.Node), err)
	}
	inv.Copy = ""
	return nil
}

// decodeNode reads an inventory or a copy of one.
func decodeNode(cm *corev1.ConfigMap) (*Inventory, error) {
	node, copied := strings.CutPrefix(cm.Name, copyPrefix)
	if !copied || cm.Labels[lynq.LabelRecord] != lynq.RecordCopy {
		return Decode(cm)
	}
	original := cm.DeepCopy()
	original.Name = Name(node)
	inv, err := Decode(original)
	if err != nil {
		return nil, err
	}
	inv.Copy, inv.UID, inv.ResourceVersion, inv.Finalizer, inv.Deleting = inv.UID, "", "", true, false
	return inv, nil
}

// withoutCopies sorts inventories by namespace and node, and leaves out copies of
// those that are there.
func withoutCopies(inventories []*Inventory) []*Inventory {
	slices.SortFunc(inventories, func(a, b *Inventory) int {
		if order := strings.Compare(a.Namespace+"/"+a.Node, b.Namespace+"/"+b.Node); order != 0 {
			return order
		}
		return strings.Compare(a.Copy, b.Copy) // "", that of the inventory itself, first
	})
	kept := inventories[:0]
	for _, inv := range inventories {
		if last := len(kept) - 1; last >= 0 && inv.Copy != "" && kept[last].Namespace == inv.Namespace && kept[last].Node == inv.Node {
			kept[last].Copy = inv.Copy
			continue
		}
		kept = append(kept, inv)
	}
	return kept
}
