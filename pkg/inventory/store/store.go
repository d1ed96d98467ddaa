package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// ConfigMaps reads and writes ConfigMaps for a Store. Server errors are those of
// k8s.io/apimachinery/pkg/api/errors. Without an error, a result is complete. A method may
// repeat a request whose answer was lost, so a write may find its own effect.
// Implementations are safe for concurrent use.
type ConfigMaps interface {
	// List reads all that a label selector matches, in one namespace, or in all with "". It
	// calls the notes after the whole list has come. It may read one again and then drop its
	// earlier note, which may be nil.
	List(ctx context.Context, namespace, selector string, read func(*corev1.ConfigMap) (note func())) error
	Get(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	Create(ctx context.Context, cm *corev1.ConfigMap) (*corev1.ConfigMap, error)
	// Update replaces a ConfigMap with this uid and resource version. Otherwise it returns
	// a conflict.
	Update(ctx context.Context, cm *corev1.ConfigMap) (*corev1.ConfigMap, error)
	// Delete deletes the permit's ConfigMap if it has the permit's uid and version. An
	// empty version always matches. Otherwise it returns a conflict.
	Delete(ctx context.Context, permit decide.Permit) error
	// Patch sends a JSON patch (RFC 6902). A failed test in the patch is an error with
	// reason Invalid.
	Patch(ctx context.Context, namespace, name string, patch []byte) (*corev1.ConfigMap, error)
}

// Store loads and saves inventories and hub records. It is safe for concurrent use.
type Store struct{ configMaps ConfigMaps }

// New returns a Store.
func New(c ConfigMaps) *Store { return &Store{configMaps: c} }

// ChangedError means that another client changed a ConfigMap since lynqctl read it.
// lynqctl wrote nothing.
type ChangedError struct {
	// Namespace and Name identify the ConfigMap.
	Namespace, Name string
	// What describes the change.
	What string
	Err  error // from the server
}

// Error implements error.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("ConfigMap %s/%s: %s", e.Namespace, e.Name, e.What)
}

// Unwrap returns the server's error.
func (e *ChangedError) Unwrap() error { return e.Err }

// ImmutableError means that another client made a ConfigMap immutable. Kubernetes never
// takes that back. lynqctl wrote nothing.
//
// The type doesn't wrap the server's error, because that tells people to change the form.
type ImmutableError struct {
	// Namespace and Name identify the ConfigMap.
	Namespace, Name string
	// Fix says how to get a new one.
	Fix string
}

// Error implements error.
func (e *ImmutableError) Error() string {
	return fmt.Sprintf("ConfigMap %s/%s: another client made it immutable, and Kubernetes never takes that back (%s)", e.Namespace, e.Name, e.Fix)
}

// Nodes returns the inventories of a hub's nodes, sorted by namespace and node. It
// excludes hubs with this name in other namespaces. With a *inventory.BrokenError, it
// returns the readable ones. The caller must then not treat other nodes as absent.
func (s *Store) Nodes(ctx context.Context, hub lynq.HubKey) ([]*inventory.Inventory, error) {
	if hub.Name == "" || !naming.IsLabelValue(hub.Name) {
		return nil, fmt.Errorf("%q is not a valid name of a hub", hub.Name)
	}
	inventories, err := s.nodes(ctx, "", ","+wellknown.LabelHub+"="+hub.Name, func(cm *corev1.ConfigMap) bool {
		said := inventory.HubNamespaceOf(cm)
		return said == "" || said == hub.Namespace
	})
	if err != nil && inventories == nil {
		return nil, fmt.Errorf("list the inventories of hub %s: %w", hub, err)
	}
	return inventories, err
}

// AllNodes is Nodes for all hubs, in one namespace, or in all with "".
func (s *Store) AllNodes(ctx context.Context, namespace string) ([]*inventory.Inventory, error) {
	return s.SelectedNodes(ctx, namespace, "")
}

// SelectedNodes is AllNodes with a label selector, or "" for all.
func (s *Store) SelectedNodes(ctx context.Context, namespace, selector string) ([]*inventory.Inventory, error) {
	if selector != "" {
		selector = "," + selector
	}
	inventories, err := s.nodes(ctx, namespace, selector, func(*corev1.ConfigMap) bool { return true })
	if err != nil && inventories == nil {
		return nil, fmt.Errorf("list the inventories of all hubs: %w", err)
	}
	return inventories, err
}

// nodes lists inventories, and decodes those that meant accepts. With a
// *inventory.BrokenError, it also returns the readable ones.
func (s *Store) nodes(ctx context.Context, namespace, selector string, meant func(*corev1.ConfigMap) bool) ([]*inventory.Inventory, error) {
	inventories := []*inventory.Inventory{}
	var broken inventory.BrokenError
	err := s.configMaps.List(ctx, namespace, wellknown.LabelRecord+" in ("+wellknown.RecordNode+","+wellknown.RecordCopy+")"+selector, func(cm *corev1.ConfigMap) func() {
		if !meant(cm) {
			return nil
		}
		inv, err := inventory.DecodeNode(cm)
		if wrong := (*inventory.UnreadableError)(nil); errors.As(err, &wrong) {
			return func() { broken.Inventories = append(broken.Inventories, wrong) }
		}
		return func() { inventories = append(inventories, inv) }
	})
	if err != nil {
		return nil, err
	}
	inventories = inventory.WithoutCopies(inventories)
	if len(broken.Inventories) == 0 {
		return inventories, nil
	}
	slices.SortFunc(broken.Inventories, func(a, b *inventory.UnreadableError) int {
		return strings.Compare(a.Node.Namespace+"/"+a.Name, b.Node.Namespace+"/"+b.Name)
	})
	return inventories, &broken
}

// Hubs returns the records of all hubs in one namespace, or in all with "". It sorts them
// by namespace and name. With a *inventory.BrokenError, it returns the readable ones.
func (s *Store) Hubs(ctx context.Context, namespace string) ([]*inventory.Hub, error) {
	hubs := []*inventory.Hub{}
	var broken inventory.BrokenError
	err := s.configMaps.List(ctx, namespace, wellknown.LabelRecord+"="+wellknown.RecordHub, func(cm *corev1.ConfigMap) func() {
		h, err := inventory.DecodeHub(cm)
		if wrong := (*inventory.UnreadableError)(nil); errors.As(err, &wrong) {
			return func() { broken.Inventories = append(broken.Inventories, wrong) }
		}
		return func() { hubs = append(hubs, h) }
	})
	if err != nil {
		return nil, fmt.Errorf("list the records of hubs: %w", err)
	}
	slices.SortFunc(hubs, func(a, b *inventory.Hub) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	if len(broken.Inventories) > 0 {
		return hubs, &broken
	}
	return hubs, nil
}

// Save creates the ConfigMap of an inventory without a UID, and updates any other. An
// update fails if another client changed it. It returns the inventory with the server's
// fields. The error is a *TooLargeError, a *ChangedError, an *ImmutableError, or the
// server's.
func (s *Store) Save(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error) {
	cm, err := inventory.Encode(inv)
	if err != nil {
		return nil, err
	}
	saved, err := s.put(ctx, cm, func(there *corev1.ConfigMap) error {
		if there.Labels[wellknown.LabelRecord] != wellknown.RecordNode {
			return errNoInventory
		}
		got, err := inventory.Decode(there)
		switch {
		case err != nil:
			return unreadable(err)
		case !inventory.SameNode(got, inv):
			return fmt.Errorf("hub %s already has a node with this name, of form %s and row %q (rename form %s or row %q, or use another namespace)",
				got.Node.Hub, got.Node.Form, got.Node.UID, inv.Node.Form, inv.Node.UID)
		case !inventory.Equal(got, inv):
			return errRecorded
		}
		return nil
	})
	if err != nil {
		err = s.explain(ctx, cm, err, renewInventory(inv))
		return nil, fmt.Errorf("save the inventory of node %s/%s: %w", inv.Node.Namespace, inv.Node.Name, err)
	}
	next := inv.Saved(saved)
	return next, s.forgetCopy(ctx, next)
}

// Reread reads an inventory after a write that failed because another client changed the
// ConfigMap. It returns read with the fields of other clients as they are now. The error is
// a *ChangedError if lynqctl's own fields changed, too, or the server's.
func (s *Store) Reread(ctx context.Context, read *inventory.Inventory) (*inventory.Inventory, error) {
	namespace, name := read.Node.Namespace, inventory.Name(read.Node.Name)
	there, err := s.configMaps.Get(ctx, namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, changed(namespace, name, "another client deleted it meanwhile (run again)", err)
	case err != nil:
		return nil, fmt.Errorf("read the inventory of node %s/%s: %w", namespace, read.Node.Name, err)
	}
	got, err := inventory.Decode(there)
	if err != nil {
		return nil, changed(namespace, name, unreadable(err).Error(), err)
	}
	if got.UID != read.UID || got.Deleting != read.Deleting || !inventory.Equal(got, read) {
		return nil, changed(namespace, name, "another client changed it meanwhile (run again)", nil)
	}
	return read.On(got), nil
}

// Check checks that the ConfigMap still exists, and that nobody has deleted it since the
// read. The error is a *ChangedError, or the server's.
func (s *Store) Check(ctx context.Context, inv *inventory.Inventory) error {
	namespace, name := inv.Node.Namespace, inventory.Name(inv.Node.Name)
	there, err := s.configMaps.Get(ctx, namespace, name)
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("read the inventory of node %s/%s: %w", namespace, inv.Node.Name, err)
	case err != nil, string(there.UID) != inv.UID, there.DeletionTimestamp != nil && !inv.Deleting:
		return changed(namespace, name, "another client deleted it meanwhile, so lynqctl gives it no object (run again)", err)
	}
	return nil
}

// Remove deletes the ConfigMap of an inventory if no other client changed it, and removes
// the finalizer. A missing ConfigMap is no error. The error is a *ChangedError, or the
// server's.
func (s *Store) Remove(ctx context.Context, inv *inventory.Inventory, permit decide.Permit) error {
	if inv.UID == "" { // a killed run left only the copy
		return s.deleteCopy(ctx, inv, permit)
	}
	m := member{permit, wellknown.FinalizerNode, inv.Finalizer, inv.Deleting}
	if err := s.remove(ctx, &m); err != nil {
		return fmt.Errorf("remove the inventory of node %s/%s: %w", inv.Node.Namespace, inv.Node.Name, err)
	}
	return s.forgetCopy(ctx, inv)
}

// RemoveHub is Remove for a hub record.
func (s *Store) RemoveHub(ctx context.Context, h *inventory.Hub, permit decide.Permit) error {
	m := member{permit, wellknown.FinalizerHub, h.Finalizer, h.Deleting}
	if err := s.remove(ctx, &m); err != nil {
		return fmt.Errorf("remove the record of hub %s/%s: %w", h.Namespace, h.Name, err)
	}
	return nil
}

// CompleteHub completes the deletion of a hub record that somebody began, and waits until
// the record is gone. So the caller can create a new one.
func (s *Store) CompleteHub(ctx context.Context, h *inventory.Hub, permit decide.Permit) error {
	if err := s.RemoveHub(ctx, h, permit); err != nil {
		return err
	}
	if err := s.gone(ctx, &member{permit: permit}); err != nil {
		return fmt.Errorf("remove the record of hub %s/%s: %w", h.Namespace, h.Name, err)
	}
	return nil
}

// LoadHub returns the record of a hub, or nil.
func (s *Store) LoadHub(ctx context.Context, namespace, hub string) (*inventory.Hub, error) {
	cm, err := s.configMaps.Get(ctx, namespace, inventory.HubName(hub))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the record of hub %s/%s: %w", namespace, hub, err)
	}
	return inventory.DecodeHub(cm)
}

// SaveHub saves a hub record like Save. It keeps an approval that arrived since the read.
func (s *Store) SaveHub(ctx context.Context, h *inventory.Hub) (*inventory.Hub, error) {
	saved, err := s.saveHub(ctx, h)
	if was := (*ChangedError)(nil); !errors.As(err, &was) {
		return saved, err
	}
	there, getErr := s.LoadHub(ctx, h.Namespace, h.Name)
	if getErr != nil {
		return nil, err
	}
	if next := h.ApprovedMeanwhile(there); next != nil {
		return s.saveHub(ctx, next)
	}
	return nil, err
}

func (s *Store) saveHub(ctx context.Context, h *inventory.Hub) (*inventory.Hub, error) {
	cm, err := inventory.EncodeHub(h)
	if err != nil {
		return nil, err
	}
	saved, err := s.put(ctx, cm, func(there *corev1.ConfigMap) error {
		got, err := inventory.DecodeHub(there)
		switch {
		case err != nil:
			return unreadable(err)
		case !inventory.EqualHubs(got, h):
			return errRecorded
		}
		return nil
	})
	if err != nil {
		err = s.explain(ctx, cm, err, "remove its finalizers and delete it: the next apply creates it again")
		return nil, fmt.Errorf("save the record of hub %s/%s: %w", h.Namespace, h.Name, err)
	}
	return h.Saved(saved), nil
}

var (
	// errRecorded means that another run wrote the ConfigMap meanwhile.
	errRecorded = errors.New("another run created it meanwhile (run again)")
	// errNoInventory means that lists of inventories don't contain the ConfigMap.
	errNoInventory = fmt.Errorf("it exists, and isn't an inventory, because its label %s isn't %q (%s)", wellknown.LabelRecord, wellknown.RecordNode, notOurs)
)

// notOurs is the fix for a ConfigMap that is neither an inventory nor a record.
const notOurs = "restore its labels, or delete it if lynqctl didn't create it"

// unreadable says why lynqctl can't read a ConfigMap that exists under the name of a new one.
func unreadable(err error) error {
	if wrong, ok := errors.AsType[*inventory.UnreadableError](err); ok {
		err = fmt.Errorf("%s: %w", wrong.Where, wrong.Err)
	}
	return fmt.Errorf("it exists, and lynqctl can't read it: %w (%s)", err, notOurs)
}

// put creates or updates a ConfigMap, and returns the result. If an answer is lost, the
// repeated write finds the earlier one. differs then says how the existing ConfigMap
// differs from the intended one, or returns nil.
func (s *Store) put(ctx context.Context, cm *corev1.ConfigMap, differs func(*corev1.ConfigMap) error) (*corev1.ConfigMap, error) {
	write := s.configMaps.Update
	if cm.UID == "" {
		write = s.configMaps.Create
	}
	saved, err := write(ctx, cm)
	switch {
	case err == nil:
		return saved, nil
	case cm.UID != "" && apierrors.IsNotFound(err):
		return nil, changed(cm.Namespace, cm.Name, "another client deleted it meanwhile (run again)", err)
	case !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err):
		return nil, err
	}
	there, getErr := s.configMaps.Get(ctx, cm.Namespace, cm.Name)
	if apierrors.IsNotFound(getErr) {
		return nil, changed(cm.Namespace, cm.Name, "another client deleted it meanwhile (run again)", err)
	}
	if getErr != nil {
		return nil, fmt.Errorf("%w; and it can't be read: %w", err, getErr)
	}
	why := differs(there)
	switch {
	case why == nil && (cm.UID == "" || cm.UID == there.UID):
		return there, nil
	case cm.UID == "":
		return nil, changed(cm.Namespace, cm.Name, why.Error(), err)
	}
	return nil, changed(cm.Namespace, cm.Name, "another client changed it meanwhile (run again)", err)
}

// renewInventory says how to get a new ConfigMap for an inventory, with the same objects.
func renewInventory(inv *inventory.Inventory) string {
	name, namespace := inventory.Name(inv.Node.Name), inv.Node.Namespace
	if inv.Finalizer {
		return fmt.Sprintf("kubectl delete configmap %s -n %s --wait=false, then lynqctl inventory restore %s -n %s",
			name, namespace, inv.Node.Name, namespace)
	}
	// Without a finalizer, Kubernetes would delete the objects too.
	return fmt.Sprintf("kubectl delete configmap %s -n %s --cascade=orphan, then lynqctl inventory rebuild with -f", name, namespace)
}

// explain replaces the server's error by an *ImmutableError if that is the cause.
func (s *Store) explain(ctx context.Context, cm *corev1.ConfigMap, err error, fix string) error {
	if !apierrors.IsInvalid(err) {
		return err
	}
	there, getErr := s.configMaps.Get(ctx, cm.Namespace, cm.Name)
	if getErr != nil || there.Immutable == nil || !*there.Immutable {
		return err
	}
	return &ImmutableError{Namespace: cm.Namespace, Name: cm.Name, Fix: fix}
}

func changed(namespace, name, what string, err error) error {
	return &ChangedError{Namespace: namespace, Name: name, What: what, Err: err}
}
