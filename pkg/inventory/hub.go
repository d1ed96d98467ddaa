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

// Hub is the record of one hub, with the results of the last run.
type Hub struct {
	Name, Namespace string
	// Rows, Active and Inactive count the rows of the source. Nodes counts the nodes of
	// the active rows with all forms.
	Rows, Active, Inactive, Nodes int
	// Columns are the source's columns in their order.
	Columns []string
	// Namespaces are the namespaces of the hub's inventories, sorted, beside the hub's
	// own. Inventories elsewhere don't count.
	Namespaces []string
	Time       time.Time // of the last run
	// Interrupted is when the run was interrupted. It is zero if the run finished.
	Interrupted time.Time
	// Unrendered are nodes that failed to render, as many as fit. MoreUnrendered counts
	// the rest.
	Unrendered     []Unrendered
	MoreUnrendered int
	// Troubles are other problems that a user must fix.
	Troubles []Trouble
	// Rollouts are the rollouts of the hub's forms.
	Rollouts []Rollout
	// Absent are forms of existing nodes that the files lacked.
	Absent []AbsentForm
	// Held are the deletions that the last run held, or nil. Approved is the digest of the
	// deletions that a user approved, or "".
	Held     *HeldDeletions
	Approved string
	// Version is the version of a lynqctl that renders the recorded state of every node
	// with a version. Such a node may record another version. It is "" if unknown.
	Version string
	// NamespaceDefaults come from the hub, so that commands without the hub's file can
	// read them here.
	NamespaceDefaults []lynq.NamespaceDefault
	// Tombstones are the sorted digests of tombstones whose objects are gone.
	Tombstones []string
	// Deletions are recent deletions of a watch, for --max-delete.
	Deletions []Deletions
	// Leaving are nodes in their grace period. Their inventories record this too.
	Leaving []Leaving
	// RowNotes are the last full run's notes about the rows, or "". See package evidence.
	RowNotes string
	// Sighted names the versions of objects that the last full run saw ready, or is "".
	// See ready.Notes.
	Sighted string

	// These fields come from the cluster. They are zero before the first save.
	UID, ResourceVersion string
	// Deleting is set if somebody deleted the record and the finalizer blocks that.
	Deleting bool
	// Finalizer is set if the ConfigMap has the hub's finalizer, or will get it.
	Finalizer bool
	// Others has fields of other clients, or is nil.
	Others *Others
	// read is the record as last read or saved, or nil.
	read *Hub
}

// Key returns the record's hub.
func (h *Hub) Key() lynq.HubKey { return lynq.HubKey{Namespace: h.Namespace, Name: h.Name} }

// These are the keys of a hub's data, in addition to format.
const (
	keyRows    = "rows"
	keyColumns = "columns"
	keyTime    = "time"
	keyPlaces  = "namespaces"
	// keyRun is absent if the run completed and has nothing to report.
	keyRun = "lastRun"
	// keyNamespaceDefaults is absent if there are none.
	keyNamespaceDefaults = "namespaceDefaults"
	// keyTombstones is absent if there are none.
	keyTombstones = "tombstones"
	// keyDeletions and keyLeaving are absent if there are none.
	keyDeletions = "deletions"
	keyLeaving   = "leaving"
	// keyRowNotes is absent if there are none.
	keyRowNotes = "rowNotes"
	// keySighted is absent if there are none.
	keySighted = "sighted"
)

// maxTombstones limits the tombstones in a record. Each run checks the others again.
const maxTombstones = 40_000

// rows is the JSON form of the counts.
type rows struct {
	Rows     int `json:"rows"`
	Active   int `json:"active"`
	Inactive int `json:"inactive"`
	Nodes    int `json:"nodes"`
}

// HubName returns the name of the ConfigMap with a hub's record.
func HubName(hub string) string { return wellknown.HubRecordPrefix + hub }

// EncodeHub returns the ConfigMap of a hub record.
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

// encodeLists writes the lists that aren't empty.
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

// lists reads the lists of encodeLists.
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

// DecodeHub reads a hub record from its ConfigMap. The error is a *UnreadableError.
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

// hubKeys returns lynqctl's own keys in the ConfigMap of a hub.
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

// EqualHubs reports whether two hub records encode to the same data.
func EqualHubs(a, b *Hub) bool {
	return a.Name == b.Name && a.Namespace == b.Namespace && a.Rows == b.Rows && a.Active == b.Active &&
		a.Inactive == b.Inactive && a.Nodes == b.Nodes && slices.Equal(a.Columns, b.Columns) &&
		slices.Equal(a.Namespaces, b.Namespaces) && slices.Equal(a.NamespaceDefaults, b.NamespaceDefaults) && slices.Equal(a.Tombstones, b.Tombstones) && a.Time.Equal(b.Time) && a.Version == b.Version && a.Finalizer == b.Finalizer &&
		a.Interrupted.Equal(b.Interrupted) && slices.Equal(a.Unrendered, b.Unrendered) && a.MoreUnrendered == b.MoreUnrendered && slices.Equal(a.Troubles, b.Troubles) && slices.Equal(a.Rollouts, b.Rollouts) && slices.Equal(a.Absent, b.Absent) &&
		a.Held.equal(b.Held) && a.Approved == b.Approved && a.RowNotes == b.RowNotes && a.Sighted == b.Sighted && slices.EqualFunc(a.Deletions, b.Deletions, Deletions.equal) && EqualLeaving(a.Leaving, b.Leaving)
}

// Saved returns the record with the server's fields after its ConfigMap was written.
func (h *Hub) Saved(cm *corev1.ConfigMap) *Hub {
	next := *h
	next.UID, next.ResourceVersion = string(cm.UID), cm.ResourceVersion
	next.Deleting = cm.DeletionTimestamp != nil
	next.Others = othersOf(cm, hubKeys())
	next.remember()
	return &next
}
