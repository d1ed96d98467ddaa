package inventory

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// format is the version of the data format. Raise it if an older lynqctl would misread new
// data or lose a part.
const format = 1

// These are the keys of a node's data.
const (
	keyFormat    = "format"
	keyResources = "resources"
	keyStatus    = "status"
	keyVersion   = "version" // absent if the inventory has no version
)

const namePrefix = wellknown.NodeRecordPrefix

// Name returns the name of the ConfigMap with a node's inventory.
func Name(node string) string { return namePrefix + node }

// Encode returns the ConfigMap of an inventory. Equal inventories give equal bytes,
// whatever the order of their entries. The error is a *TooLargeError, or names a value
// that can't be stored.
func Encode(inv *Inventory) (*corev1.ConfigMap, error) {
	entries := sorted(slices.Concat(inv.Entries, inv.Hooks))
	resources, err := encodeEntries(entries)
	if err != nil {
		return nil, fmt.Errorf("inventory of node %s/%s: %w", inv.Node.Namespace, inv.Node.Name, err)
	}
	status, err := phrase.JSON(inv.Status)
	if err != nil {
		return nil, fmt.Errorf("inventory of node %s/%s: status: %w", inv.Node.Namespace, inv.Node.Name, err)
	}
	annotations, err := inv.annotations(entries)
	if err != nil {
		return nil, fmt.Errorf("inventory of node %s/%s: %w", inv.Node.Namespace, inv.Node.Name, err)
	}
	uid, _ := naming.UIDLabel(inv.Node.UID)
	name := Name(inv.Node.Name)
	cm := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: inv.Node.Namespace,
			UID: types.UID(inv.UID), ResourceVersion: inv.ResourceVersion,
			Labels: map[string]string{
				wellknown.LabelRecord:     wellknown.RecordNode,
				wellknown.LabelHub:        inv.Node.Hub.Name,
				wellknown.LabelUID:        uid,
				wellknown.LabelTemplate:   inv.Node.Form.Name,
				wellknown.LabelManagedBy:  wellknown.ManagedBy,
				wellknown.LabelApplySetID: ID(inv.Node.Namespace, name),
			},
			Annotations: annotations,
		},
		Data: map[string]string{keyFormat: strconv.Itoa(format), keyResources: resources, keyStatus: status},
	}
	if inv.Version != "" {
		cm.Data[keyVersion] = inv.Version
	}
	if inv.Finalizer {
		cm.Finalizers = []string{wellknown.FinalizerNode}
	}
	if inv.Node.Hub.Namespace != "" {
		cm.Labels[wellknown.LabelHubNamespace] = inv.Node.Hub.Namespace
	}
	inv.Others.addTo(cm)
	if err := checkSize(inv, cm); err != nil {
		return nil, err
	}
	return cm, nil
}

// annotations returns lynqctl's own annotations of an inventory with these entries and
// hooks.
func (inv *Inventory) annotations(entries []Entry) (map[string]string, error) {
	a := map[string]string{
		wellknown.AnnotationHubID:              inv.Node.Hub.Name,
		wellknown.AnnotationApplySetTooling:    applySetTooling,
		wellknown.AnnotationApplySetGroupKinds: groupKinds(entries),
		wellknown.AnnotationApplySetNamespaces: additionalNamespaces(entries, inv.Node.Namespace),
	}
	if _, whole := naming.UIDLabel(inv.Node.UID); !whole {
		a[wellknown.AnnotationUID] = inv.Node.UID
	}
	if inv.Node.Form.Namespace != "" {
		a[wellknown.AnnotationTemplateNamespace] = inv.Node.Form.Namespace
	}
	if inv.Activate != "" {
		a[wellknown.AnnotationActivate] = inv.Activate
	}
	if inv.TemplateGeneration != 0 {
		a[wellknown.AnnotationTemplateGeneration] = strconv.FormatInt(inv.TemplateGeneration, 10)
	}
	if !inv.RolloutStart.IsZero() {
		start, err := encodeTime(inv.RolloutStart)
		if err != nil {
			return nil, fmt.Errorf("start of the rollout: %w", err)
		}
		a[wellknown.AnnotationRolloutUpdateStart] = start
	}
	for key, t := range map[string]time.Time{wellknown.AnnotationExpires: inv.Expires, wellknown.AnnotationLeavingSince: inv.LeavingSince, wellknown.AnnotationLeavingUntil: inv.LeavingUntil} {
		if t.IsZero() {
			continue
		}
		text, err := encodeTime(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", annotation(key), err)
		}
		a[key] = text
	}
	if len(inv.DependForms) > 0 {
		a[wellknown.AnnotationDependForms] = strings.Join(inv.DependForms, ",")
	}
	if inv.Extra != "" {
		a[wellknown.AnnotationExtra] = inv.Extra
	}
	return a, nil
}

// Decode reads an inventory from its ConfigMap. The error is a *UnreadableError.
func Decode(cm *corev1.ConfigMap) (*Inventory, error) {
	d := decoder{cm: cm}
	node, ok := strings.CutPrefix(cm.Name, namePrefix)
	if !ok || node == "" {
		return nil, d.fail("metadata.name", "the inventory of a node is named %sNODE", namePrefix)
	}
	d.node = node
	if err := d.format(); err != nil {
		return nil, err
	}
	inv := &Inventory{
		Node: d.said(),
		UID:  string(cm.UID), ResourceVersion: cm.ResourceVersion,
		Created:   cm.CreationTimestamp.Time,
		Deleting:  cm.DeletionTimestamp != nil,
		Finalizer: slices.Contains(cm.Finalizers, wellknown.FinalizerNode),
		Activate:  lynq.Shared(cm.Annotations[wellknown.AnnotationActivate]),
		Extra:     cm.Annotations[wellknown.AnnotationExtra],
		Version:   lynq.Shared(cm.Data[keyVersion]),
		Others:    othersOf(cm, nodeKeys()),
	}
	if err := d.identity(inv); err != nil {
		return nil, err
	}
	inv.DependForms = dependForms(cm)
	inv.Expires, inv.LeavingSince, inv.LeavingUntil = timeIn(cm, wellknown.AnnotationExpires), timeIn(cm, wellknown.AnnotationLeavingSince), timeIn(cm, wellknown.AnnotationLeavingUntil)
	if err := d.rollout(inv); err != nil {
		return nil, err
	}
	var err error
	if inv.Entries, err = d.entries(); err != nil {
		return nil, err
	}
	inv.Entries, inv.Hooks = withoutHooks(inv.Entries)
	if inv.Status, err = d.status(); err != nil {
		return nil, err
	}
	return inv, nil
}

// timeIn returns the time in an annotation, or zero. lynqctl didn't write any other text,
// so that counts as absent, and a grace period starts again.
func timeIn(cm *corev1.ConfigMap, key string) time.Time {
	t, err := decodeTime(cm.Annotations[key])
	if err != nil {
		return time.Time{}
	}
	return t
}

// dependForms returns the forms that the node's form depends on.
func dependForms(cm *corev1.ConfigMap) []string {
	if text := cm.Annotations[wellknown.AnnotationDependForms]; text != "" {
		return strings.Split(text, ",")
	}
	return nil
}

// Identify reads from the metadata of an inventory, or of its copy, which node it belongs
// to. It returns the namespaces and names of node, hub and form, and the row. The error is
// a *UnreadableError with the readable parts.
func Identify(m *metav1.ObjectMeta) (*Inventory, error) {
	d := decoder{cm: &corev1.ConfigMap{ObjectMeta: *m}}
	prefix := namePrefix
	if m.Labels[wellknown.LabelRecord] == wellknown.RecordCopy {
		prefix = copyPrefix
	}
	var ok bool
	if d.node, ok = strings.CutPrefix(m.Name, prefix); !ok || d.node == "" {
		return nil, d.fail("metadata.name", "the inventory of a node is named %sNODE", prefix)
	}
	inv := &Inventory{Node: d.said()}
	if err := d.identity(inv); err != nil {
		return nil, err
	}
	return inv, nil
}

// decoder reads one ConfigMap.
type decoder struct {
	cm   *corev1.ConfigMap
	node string
}

func (d *decoder) fail(where, format string, args ...any) error {
	return d.failed(where, fmt.Errorf(format, args...))
}

func (d *decoder) failed(where string, err error) error {
	return &UnreadableError{
		Node: d.said(), Name: d.cm.Name, Where: where, Err: err,
		UIDLabel: d.cm.Labels[wellknown.LabelUID], DependForms: dependForms(d.cm),
		Deleting: d.cm.DeletionTimestamp != nil,
	}
}

func label(key string) string      { return "label " + key }
func annotation(key string) string { return "annotation " + key }
func data(key string) string       { return "data." + key }

// format refuses a format that this version can't read completely.
func (d *decoder) format() error {
	text, said := d.cm.Data[keyFormat]
	if !said {
		return d.fail(data(keyFormat), "it is missing")
	}
	version, err := strconv.Atoi(text)
	switch {
	case err != nil || version < 1:
		return d.fail(data(keyFormat), "%q is not a version", text)
	case version > format:
		return d.failed(data(keyFormat), &NewerFormatError{Format: version})
	}
	return nil
}

// HubNamespaceOf returns the namespace of the hub that an inventory names, or "".
func HubNamespaceOf(cm *corev1.ConfigMap) string { return cm.Labels[wellknown.LabelHubNamespace] }

// said returns the node from labels and annotations, without its row. Some parts may be
// missing.
func (d *decoder) said() lynq.NodeID {
	return lynq.NodeID{
		Hub:       lynq.HubKey{Namespace: lynq.Shared(HubNamespaceOf(d.cm)), Name: lynq.Shared(d.cm.Labels[wellknown.LabelHub])},
		Form:      lynq.FormKey{Namespace: lynq.Shared(d.cm.Annotations[wellknown.AnnotationTemplateNamespace]), Name: lynq.Shared(d.cm.Labels[wellknown.LabelTemplate])},
		Namespace: lynq.Shared(d.cm.Namespace), Name: d.node,
	}
}

// identity checks the node that the inventory names, and reads its row.
func (d *decoder) identity(inv *Inventory) error {
	labels, annotations := d.cm.Labels, d.cm.Annotations
	if inv.Node.Hub.Name == "" {
		return d.fail(label(wellknown.LabelHub), "it is missing")
	}
	if said, ok := annotations[wellknown.AnnotationHubID]; ok && said != inv.Node.Hub.Name {
		return d.fail(label(wellknown.LabelHub), "it says %q, and annotation %s %q", inv.Node.Hub.Name, wellknown.AnnotationHubID, said)
	}
	if inv.Node.Form.Name == "" {
		return d.fail(label(wellknown.LabelTemplate), "it is missing")
	}
	uid := labels[wellknown.LabelUID]
	if uid == "" {
		return d.fail(label(wellknown.LabelUID), "it is missing")
	}
	inv.Node.UID = uid
	if raw, ok := annotations[wellknown.AnnotationUID]; ok {
		if made, _ := naming.UIDLabel(raw); made != uid {
			return d.fail(label(wellknown.LabelUID), "it says %q, and annotation %s %q, which gives %q", uid, wellknown.AnnotationUID, raw, made)
		}
		inv.Node.UID = raw
	}
	return d.named(&inv.Node)
}

// named checks that row and form give the node its name. Objects prove the name, and not
// the labels. With the labels of another node, this node would seem to have no row, or
// another grace period.
func (d *decoder) named(n *lynq.NodeID) error {
	if naming.Named(n.Name, n.UID, n.Form.Name) {
		return nil
	}
	return d.fail("metadata.labels", "row %q and form %s make node %s, not %s", n.UID, n.Form.Name, naming.NodeName(n.UID, n.Form.Name), n.Name)
}

// rollout reads from which form and when lynqctl last rendered the node.
func (d *decoder) rollout(inv *Inventory) error {
	var err error
	if text, ok := d.cm.Annotations[wellknown.AnnotationTemplateGeneration]; ok {
		if inv.TemplateGeneration, err = strconv.ParseInt(text, 10, 64); err != nil {
			return d.fail(annotation(wellknown.AnnotationTemplateGeneration), "%q is not a number", text)
		}
	}
	if text, ok := d.cm.Annotations[wellknown.AnnotationRolloutUpdateStart]; ok {
		if inv.RolloutStart, err = decodeTime(text); err != nil {
			return d.failed(annotation(wellknown.AnnotationRolloutUpdateStart), err)
		}
	}
	return nil
}

func (d *decoder) entries() ([]Entry, error) {
	text, said := d.cm.Data[keyResources]
	if !said {
		return nil, d.fail(data(keyResources), "it is missing")
	}
	entries, line, err := decodeEntries(text)
	if err != nil {
		return nil, d.failed(fmt.Sprintf("%s line %d", data(keyResources), line), err)
	}
	return entries, nil
}

func (d *decoder) status() (Status, error) {
	text, said := d.cm.Data[keyStatus]
	if !said {
		return Status{}, d.fail(data(keyStatus), "it is missing")
	}
	var s Status
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return Status{}, d.failed(data(keyStatus), err)
	}
	s.compact()
	return s, nil
}

// nodeKeys returns lynqctl's own keys in the ConfigMap of a node.
func nodeKeys() *ownKeys {
	return &ownKeys{
		finalizer: wellknown.FinalizerNode,
		labels: func(key string) bool {
			switch key {
			case wellknown.LabelRecord, wellknown.LabelHub, wellknown.LabelHubNamespace, wellknown.LabelUID, wellknown.LabelTemplate, wellknown.LabelManagedBy, wellknown.LabelApplySetID:
				return true
			}
			return false
		},
		annotations: func(key string) bool {
			switch key {
			case wellknown.AnnotationHubID, wellknown.AnnotationTemplateNamespace, wellknown.AnnotationUID, wellknown.AnnotationActivate, wellknown.AnnotationTemplateGeneration,
				wellknown.AnnotationRolloutUpdateStart, wellknown.AnnotationExtra, wellknown.AnnotationDependForms, wellknown.AnnotationExpires, wellknown.AnnotationLeavingSince, wellknown.AnnotationLeavingUntil, wellknown.AnnotationApplySetTooling,
				wellknown.AnnotationApplySetGroupKinds, wellknown.AnnotationApplySetNamespaces:
				return true
			}
			return false
		},
		data: func(key string) bool {
			return key == keyFormat || key == keyResources || key == keyStatus || key == keyVersion
		},
	}
}

// encodeTime formats a time as RFC 3339, with as many digits as it needs.
func encodeTime(t time.Time) (string, error) {
	b, err := t.UTC().MarshalText()
	return string(b), err
}

func decodeTime(text string) (time.Time, error) {
	var t time.Time
	if err := t.UnmarshalText([]byte(text)); err != nil {
		return t, fmt.Errorf("%q is not an RFC 3339 time", text)
	}
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return t, errors.New("the year is out of range")
	}
	return t, nil
}
