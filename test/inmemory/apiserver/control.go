package apiserver

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// control does what controllers do after a write of an object: what is created is ready at
// once.
func (s *Server) control(at key) {
	if o := s.objects[at]; o != nil && o.GetDeletionTimestamp() == nil {
		if status := s.status(o); status != nil {
			if _, has := o.Object["status"]; !has || at.kind == "StatefulSet" {
				next := o.DeepCopy()
				next.Object["status"] = status
				if !same(o, next) {
					s.put(at, o, next)
				}
			}
		}
		switch at.kind {
		case "StatefulSet":
			s.claims(o)
		case "Namespace":
			s.account(at.name)
		}
	}
	if o := s.objects[at]; o != nil && at.kind == "Namespace" && o.GetDeletionTimestamp() != nil {
		for _, inside := range s.where(func(k key) bool { return k.namespace == at.name }) {
			s.remove(inside)
		}
	}
	s.collect()
}

// status is that of an object that is ready, nil for kinds without one.
func (s *Server) status(o *unstructured.Unstructured) map[string]any {
	now := time.Now().UTC().Format(time.RFC3339)
	switch o.GetKind() {
	case "PersistentVolumeClaim":
		return map[string]any{"phase": "Bound"}
	case "Namespace":
		return map[string]any{"phase": "Active"}
	case "Job":
		return map[string]any{"succeeded": int64(1), "startTime": now, "completionTime": now, "conditions": []any{
			map[string]any{"type": "Complete", "status": "True", "lastTransitionTime": now},
		}}
	case "StatefulSet":
		replicas, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
		return map[string]any{
			"observedGeneration": o.GetGeneration(), "replicas": replicas, "readyReplicas": replicas, "currentReplicas": replicas,
			"updatedReplicas": replicas, "availableReplicas": replicas, "currentRevision": "1", "updateRevision": "1",
		}
	case definitionKind:
		return map[string]any{"conditions": []any{
			map[string]any{"type": "NamesAccepted", "status": "True"}, map[string]any{"type": "Established", "status": "True"},
		}}
	}
	return nil
}

// account creates the ServiceAccount that each namespace has.
func (s *Server) account(namespace string) {
	at := key{"", "ServiceAccount", namespace, "default"}
	if s.objects[at] != nil {
		return
	}
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": at.kind}}
	o.SetName(at.name)
	o.SetNamespace(namespace)
	o.SetUID(uuid.NewUUID())
	s.put(at, nil, o)
}

// claims creates those of a StatefulSet's first replica.
func (s *Server) claims(set *unstructured.Unstructured) {
	templates, _, _ := unstructured.NestedSlice(set.Object, "spec", "volumeClaimTemplates")
	labels, _, _ := unstructured.NestedStringMap(set.Object, "spec", "selector", "matchLabels")
	whenDeleted, _, _ := unstructured.NestedString(set.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	for _, template := range templates {
		content, _ := template.(map[string]any)
		o := (&unstructured.Unstructured{Object: content}).DeepCopy()
		at := key{"", "PersistentVolumeClaim", set.GetNamespace(), o.GetName() + "-" + set.GetName() + "-0"}
		if s.objects[at] != nil {
			continue
		}
		o.SetAPIVersion("v1")
		o.SetKind(at.kind)
		o.SetName(at.name)
		o.SetNamespace(at.namespace)
		o.SetLabels(labels)
		o.SetUID(uuid.NewUUID())
		o.Object["status"] = map[string]any{"phase": "Bound"}
		if whenDeleted == "Delete" {
			_ = unstructured.SetNestedSlice(o.Object, []any{map[string]any{
				"apiVersion": "apps/v1", "kind": "StatefulSet", "name": set.GetName(), "uid": string(set.GetUID()), "controller": true,
			}}, "metadata", "ownerReferences") // metadata is a map
		}
		s.put(at, nil, o)
	}
}
