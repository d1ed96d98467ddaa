package inventory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Hub is the record of one hub: what the last run saw of its rows.
type Hub struct {
	Name, Namespace string
	// Rows, Active and Inactive count the rows of the source, Nodes the nodes
	// that the active ones make with all forms.
	Rows, Active, Inactive, Nodes int
	// Columns are those that the source had, in its order.
	Columns []string
	// Namespaces are those that the hub's inventories are in, sorted, beside the
	// hub's own: no others count.
	Namespaces []string
	Time       time.Time // of the run
	// Interrupted is when the run ended before it was done, zero where it was.
	Interrupted time.Time
	// Unrendered are nodes that could not be rendered, as many as there is room for;
	// MoreUnrendered counts the others.
	Unrendered     []Unrendered
	MoreUnrendered int
	// Troubles are what else waits for a person.
	Troubles []Trouble
	// Rollouts are those of its forms that have any.
	Rollouts []Rollout
	// Absent are the forms of its nodes that the inputs did not have.
	Absent []AbsentForm
	// Held are the deletions that the last run held back, nil for none, and Approved is
	// the digest of those that a person approved, "" for none.
	Held     *HeldDeletions
	Approved string
	// Version is that of a lynqctl which renders what is recorded of every node
	// whose record has a version, though that may be another one. "" where none is
	// known.
	Version string
	// NamespaceDefaults is what the hub says is in namespaces by itself: commands
	// that know no hub ask its record.
	NamespaceDefaults []lynq.NamespaceDefault
	// Tombstones are the digests of those whose objects are known to be gone, sorted.
	Tombstones []string
	// Deletions are what a watch deleted lately, for --max-delete.
	Deletions []Deletions
	// Leaving are nodes that are kept for their grace period, as their inventories have it
	// too.
	Leaving []Leaving
	// RowNotes is what the last run on all nodes noted of the rows, "" for nothing: see
	// package evidence.
	RowNotes string
	// Sighted notes which versions of objects the last run on all nodes saw ready, "" for
	// none: see package sighted.
	Sighted string

	// What only the cluster knows: zero before the first save.
	UID, ResourceVersion string
	// Deleting: its deletion was requested, and the finalizer holds it.
	Deleting bool
	// Finalizer: the ConfigMap has the hub's finalizer, or will have it.
	Finalizer bool
	// Others is what others put on the ConfigMap, nil for nothing.
	Others *Others
	// read is the record as it was read or saved, nil where it was neither.
	read *Hub
}

// Key is the hub that the record is of.
func (h *Hub) Key() lynq.HubKey { return lynq.HubKey{Namespace: h.Namespace, Name: h.Name} }

// The keys of a hub's data, beside format.
const (
	keyRows    = "rows"
	keyColumns = "columns"
	keyTime    = "time"
	keyPlaces  = "namespaces"
	// keyRun is left out where the run was done with all, and nothing is to be told.
	keyRun = "lastRun"
	// keyNamespaceDefaults is left out where there are none.
	keyNamespaceDefaults = "namespaceDefaults"
	// keyTombstones is left out where there are none.
	keyTombstones = "tombstones"
	// keyDeletions and keyLeaving are left out where there are none.
	keyDeletions = "deletions"
	keyLeaving   = "leaving"
	// keyRowNotes is left out where there are none.
	keyRowNotes = "rowNotes"
	// keySighted is left out where nothing is noted.
	keySighted = "sighted"
)

// maxTombstones is how many a record has room for. The others are looked at in each run.
const maxTombstones = 40_000

// rows is how counts are written.
type rows struct {
	Rows     int `json:"rows"`
	Active   int `json:"active"`
	Inactive int `json:"inactive"`
	Nodes    int `json:"nodes"`
}

// HubName is the name of the ConfigMap that is a hub's record.
func HubName(hub string) string { return wellknown.HubRecordPrefix + hub }

// EncodeHub makes the ConfigMap of a hub's record.
func EncodeHub(h *Hub) (*corev1.ConfigMap, error) {
	counts, err := phrase.JSON(rows{h.Rows, h.Active, h.Inactive, h.Nodes})
	if err != nil {
		return nil, fmt.Errorf("record of hub %s/%s: %w", h.Namespace, h.Name, err)
	}
	columns, err := phrase.JSON(append([]string{}, h.Columns...))
	if err != nil {
		return nil, fmt.Errorf("record of hub %s/%s: columns: %w", h.Namespace, h.Name, err)
	}
	namespaces, err := phrase.JSON(append([]string{}, h.Namespaces...))
	if err != nil {
		return nil, fmt.Errorf("record of hub %s/%s: namespaces: %w", h.Namespace, h.Name, err)
	}
	at, err := encodeTime(h.Time)
	if err != nil {
		return nil, fmt.Errorf("record of hub %s/%s: time: %w", h.Namespace, h.Name, err)
	}
	cm := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: HubName(h.Name), Namespace: h.Namespace,
			UID: types.UID(h.UID), ResourceVersion: h.ResourceVersion,
			Labels: map[string]string{
				wellknown.LabelRecord:    wellknown.RecordHub,
				wellknown.LabelHub:       h.Name,
				wellknown.LabelManagedBy: wellknown.ManagedBy,
			},
			Annotations: h.annotations(),
		},
		Data: map[string]string{keyFormat: strconv.Itoa(format), keyRows: counts, keyColumns: columns, keyTime: at, keyPlaces: namespaces},
	}
	if h.Version != "" {
		cm.Data[keyVersion] = h.Version
	}
	if err := h.encodeRun(cm.Data); err != nil {
		return nil, fmt.Errorf("record of hub %s/%s: %w", h.Namespace, h.Name, err)
	}
	if err := h.encodeLists(cm.Data); err != nil {
		return nil, fmt.Errorf("record of hub %s/%s: %w", h.Namespace, h.Name, err)
	}
	if len(h.Tombstones) > 0 {
		cm.Data[keyTombstones] = strings.Join(h.Tombstones[:min(len(h.Tombstones), maxTombstones)], " ")
	}
	if h.RowNotes != "" {
		cm.Data[keyRowNotes] = h.RowNotes
	}
	if h.Sighted != "" {
		cm.Data[keySighted] = h.Sighted
	}
	if h.Finalizer {
		cm.Finalizers = []string{wellknown.FinalizerHub}
	}
	h.Others.addTo(cm)
	return cm, nil
}

// encodeLists writes the lists that are left out where they are empty.
func (h *Hub) encodeLists(to map[string]string) error {
	for _, list := range []struct {
		key string
		n   int
		of  any
	}{{keyNamespaceDefaults, len(h.NamespaceDefaults), h.NamespaceDefaults}, {keyDeletions, len(h.Deletions), h.Deletions}, {keyLeaving, len(h.Leaving), h.Leaving}} {
		if list.n == 0 {
			continue
		}
		text, err := phrase.JSON(list.of)
		if err != nil {
			return fmt.Errorf("%s: %w", list.key, err)
		}
		to[list.key] = text
	}
	return nil
}

// lists reads what encodeLists writes.
func (d *decoder) lists(h *Hub) error {
	for key, list := range map[string]any{keyNamespaceDefaults: &h.NamespaceDefaults, keyDeletions: &h.Deletions, keyLeaving: &h.Leaving} {
		if _, said := d.cm.Data[key]; !said {
			continue
		}
		if err := d.json(key, list); err != nil {
			return err
		}
	}
	return nil
}

// DecodeHub reads the record that a ConfigMap is. The error is a *UnreadableError.
func DecodeHub(cm *corev1.ConfigMap) (*Hub, error) {
	d := decoder{cm: cm}
	if err := d.format(); err != nil {
		return nil, err
	}
	h := &Hub{
		Name: cm.Labels[wellknown.LabelHub], Namespace: cm.Namespace,
		UID: string(cm.UID), ResourceVersion: cm.ResourceVersion,
		Deleting:  cm.DeletionTimestamp != nil,
		Finalizer: slices.Contains(cm.Finalizers, wellknown.FinalizerHub),
		Version:   cm.Data[keyVersion],
		Approved:  cm.Annotations[wellknown.AnnotationApproved],
		RowNotes:  cm.Data[keyRowNotes],
		Sighted:   cm.Data[keySighted],
		Others:    othersOf(cm, hubKeys()),
	}
	if h.Name == "" || cm.Name != HubName(h.Name) || cm.Labels[wellknown.LabelRecord] != wellknown.RecordHub {
		return nil, d.fail("metadata.labels", "they are not those of this hub's record")
	}
	if text := cm.Data[keyTombstones]; text != "" {
		h.Tombstones = strings.Fields(text)
	}
	var counts rows
	if err := d.json(keyRows, &counts); err != nil {
		return nil, err
	}
	h.Rows, h.Active, h.Inactive, h.Nodes = counts.Rows, counts.Active, counts.Inactive, counts.Nodes
	if err := d.json(keyColumns, &h.Columns); err != nil {
		return nil, err
	}
	if len(h.Columns) == 0 {
		h.Columns = nil
	}
	if err := d.json(keyPlaces, &h.Namespaces); err != nil {
		return nil, err
	}
	if len(h.Namespaces) == 0 {
		h.Namespaces = nil
	}
	if err := d.lists(h); err != nil {
		return nil, err
	}
	var err error
	if h.Time, err = decodeTime(cm.Data[keyTime]); err != nil {
		return nil, d.failed(data(keyTime), err)
	}
	if err := d.run(h); err != nil {
		return nil, err
	}
	h.remember()
	return h, nil
}

// json reads one value of data.
func (d *decoder) json(key string, v any) error {
	text, said := d.cm.Data[key]
	if !said {
		return d.fail(data(key), "it is missing")
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return d.failed(data(key), err)
	}
	return nil
}

// hubKeys are ours on the ConfigMap of a hub.
func hubKeys() *ownKeys {
	return &ownKeys{
		finalizer: wellknown.FinalizerHub,
		labels: func(key string) bool {
			return key == wellknown.LabelRecord || key == wellknown.LabelHub || key == wellknown.LabelManagedBy
		},
		annotations: func(key string) bool { return key == wellknown.AnnotationApproved },
		data: func(key string) bool {
			return key == keyFormat || key == keyRows || key == keyColumns || key == keyTime || key == keyVersion || key == keyPlaces || key == keyRun || key == keyNamespaceDefaults || key == keyTombstones || key == keyDeletions || key == keyLeaving || key == keyRowNotes || key == keySighted
		},
	}
}

// EqualHubs tells whether two records of a hub are written alike.
func EqualHubs(a, b *Hub) bool {
	return a.Name == b.Name && a.Namespace == b.Namespace && a.Rows == b.Rows && a.Active == b.Active &&
		a.Inactive == b.Inactive && a.Nodes == b.Nodes && slices.Equal(a.Columns, b.Columns) &&
		slices.Equal(a.Namespaces, b.Namespaces) && slices.Equal(a.NamespaceDefaults, b.NamespaceDefaults) && slices.Equal(a.Tombstones, b.Tombstones) && a.Time.Equal(b.Time) && a.Version == b.Version && a.Finalizer == b.Finalizer &&
		a.Interrupted.Equal(b.Interrupted) && slices.Equal(a.Unrendered, b.Unrendered) && a.MoreUnrendered == b.MoreUnrendered && slices.Equal(a.Troubles, b.Troubles) && slices.Equal(a.Rollouts, b.Rollouts) && slices.Equal(a.Absent, b.Absent) &&
		a.Held.equal(b.Held) && a.Approved == b.Approved && a.RowNotes == b.RowNotes && a.Sighted == b.Sighted && slices.EqualFunc(a.Deletions, b.Deletions, Deletions.equal) && EqualLeaving(a.Leaving, b.Leaving)
}

// Saved is the record with what the server says of it: its ConfigMap was written.
func (h *Hub) Saved(cm *corev1.ConfigMap) *Hub {
	next := *h
	next.UID, next.ResourceVersion = string(cm.UID), cm.ResourceVersion
	next.Deleting = cm.DeletionTimestamp != nil
	next.Others = othersOf(cm, hubKeys())
	next.remember()
	return &next
}
