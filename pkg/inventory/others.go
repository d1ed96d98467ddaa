package inventory

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Others has the fields of other clients in a ConfigMap. Saving keeps them. Callers must
// not change it.
type Others struct {
	Labels, Annotations map[string]string
	Finalizers          []string
	Owners              []metav1.OwnerReference
	Data                map[string]string
	BinaryData          map[string][]byte
}

// addTo adds these fields to a ConfigMap with our fields.
func (o *Others) addTo(cm *corev1.ConfigMap) {
	if o == nil {
		return
	}
	cm.Labels = merge(cm.Labels, o.Labels)
	cm.Annotations = merge(cm.Annotations, o.Annotations)
	cm.Data = merge(cm.Data, o.Data)
	cm.Finalizers = append(cm.Finalizers, o.Finalizers...)
	cm.OwnerReferences = slices.Clone(o.Owners)
	cm.BinaryData = o.BinaryData
}

// merge adds the values of other clients, but keeps ours.
func merge(ours, others map[string]string) map[string]string {
	merged := maps.Clone(others)
	if merged == nil {
		merged = make(map[string]string, len(ours))
	}
	maps.Copy(merged, ours)
	return merged
}

// othersOf returns the fields of a ConfigMap that aren't ours, or nil. own names all
// fields that could be ours.
func othersOf(cm *corev1.ConfigMap, own *ownKeys) *Others {
	o := Others{
		Labels:      without(cm.Labels, own.labels),
		Annotations: without(cm.Annotations, own.annotations),
		Data:        without(cm.Data, own.data),
		Owners:      cm.OwnerReferences,
	}
	for _, f := range cm.Finalizers {
		if f != own.finalizer {
			o.Finalizers = append(o.Finalizers, f)
		}
	}
	if len(cm.BinaryData) > 0 {
		o.BinaryData = cm.BinaryData
	}
	if o.Labels == nil && o.Annotations == nil && o.Data == nil && o.BinaryData == nil &&
		len(o.Finalizers) == 0 && len(o.Owners) == 0 {
		return nil
	}
	return &o
}

// ownKeys names lynqctl's own keys and finalizer in a ConfigMap.
type ownKeys struct {
	labels, annotations, data func(string) bool
	finalizer                 string
}

// without returns the map without our keys, or nil if it is empty.
func without(m map[string]string, ours func(string) bool) map[string]string {
	var rest map[string]string
	for k, v := range m {
		if ours(k) {
			continue
		}
		if rest == nil {
			rest = map[string]string{}
		}
		rest[k] = v
	}
	return rest
}
