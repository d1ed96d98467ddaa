package apiserver

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// control does the work of controllers after a write of an object: a new object is ready at
// once.
func (s *Server) control(at key) {
	if o := s.objects[at]; o != nil && !o.deleting {
		if status := status(o); status != nil {
			if _, has := o.Object["status"]; !has || at.kind == "StatefulSet" {
				next := o.copied()
				next.Object["status"] = status
				if !same(o.draft, next) {
					s.put(at, o, next)
				}
			}
		}
		s.fill(at)
		switch at.kind {
		case "StatefulSet":
			s.claims(o)
		case "Namespace":
			s.account(at.name)
		}
	}
	if o := s.objects[at]; o != nil && at.kind == "Namespace" && o.deleting {
		for _, inside := range s.where(func(o *stored) bool { return o.at.namespace == at.name }) {
			s.remove(inside)
		}
	}
	s.collect()
}

// fill sets the fields that controllers own, whatever the manifest says: the volume of a
// claim, and the host of a Widget.
func (s *Server) fill(at key) {
	field, value := "", ""
	switch at.kind {
	case "PersistentVolumeClaim":
		field, value = "volumeName", "volume-"+at.name
	case "Widget":
		field, value = "host", at.name+".example.com"
	}
	o := s.objects[at]
	if now, _, _ := unstructured.NestedString(o.Object, "spec", field); field == "" || now != "" {
		return
	}
	next := &draft{o.DeepCopy(), o.fields}
	set(next, value, "spec", field)
	if at.kind == "Widget" { // whoever writes the status is its controller
		set(next, value, "status", field)
	}
	for _, k := range s.kinds() {
		if k.group != at.group || k.name != at.kind {
			continue
		}
		if filled, err := s.managed(&query{kind: k, manager: managerOf(at.kind)}, o.draft, next); err == nil {
			s.put(at, o, filled)
		}
		return
	}
}

func managerOf(kind string) string {
	if kind == "Widget" {
		return "widgets"
	}
	return "kube-controller-manager"
}

// status returns the status of a ready object, or nil for kinds without one.
func status(o *stored) map[string]any {
	now := time.Now().UTC().Format(time.RFC3339)
	switch o.at.kind {
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

// account creates the ServiceAccount of a namespace.
func (s *Server) account(namespace string) {
	at := key{"", "ServiceAccount", namespace, "default"}
	if s.objects[at] == nil {
		s.made(at, map[string]any{})
	}
}

// made creates an object like a controller.
func (s *Server) made(at key, content map[string]any) {
	d := draftOf(content)
	d.SetAPIVersion("v1")
	d.SetKind(at.kind)
	d.SetName(at.name)
	d.SetNamespace(at.namespace)
	d.SetUID(uuid.NewUUID())
	s.put(at, nil, d)
}

// claims creates the claims of a StatefulSet's first replica.
func (s *Server) claims(set *stored) {
	templates, _, _ := unstructured.NestedSlice(set.Object, "spec", "volumeClaimTemplates")
	labels, _, _ := unstructured.NestedStringMap(set.Object, "spec", "selector", "matchLabels")
	whenDeleted, _, _ := unstructured.NestedString(set.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	for _, template := range templates {
		content, _ := template.(map[string]any) // NestedSlice copies
		o := &unstructured.Unstructured{Object: content}
		at := key{"", "PersistentVolumeClaim", set.at.namespace, o.GetName() + "-" + set.at.name + "-0"}
		if s.objects[at] != nil {
			continue
		}
		o.SetLabels(labels)
		o.Object["status"] = map[string]any{"phase": "Bound"}
		if whenDeleted == "Delete" {
			owner := metav1.NewControllerRef(set, set.GroupVersionKind())
			owner.BlockOwnerDeletion = nil
			o.SetOwnerReferences([]metav1.OwnerReference{*owner})
		}
		s.made(at, content)
	}
}
