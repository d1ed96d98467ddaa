package apiserver

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/yaml"
)

// write creates, replaces or patches an object.
func (s *Server) write(q *query) ([]byte, error) {
	sent, err := q.sent()
	if err != nil {
		return nil, err
	}
	live := s.objects[q.at]
	next, err := s.next(q, live, sent)
	if err != nil {
		return nil, err
	}
	if err := s.admit(q, live, next); err != nil {
		return nil, err
	}
	if live == nil {
		s.born(q, next)
	} else {
		kept(next, live)
	}
	if live != nil && same(live, next) {
		return s.encoded(live)
	}
	if !q.dryRun {
		s.put(q.at, live, next)
		s.control(q.at)
	}
	return next.MarshalJSON()
}

// sent is the object or the patch of a request, nil for a JSON patch.
func (q *query) sent() (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if q.content == string(types.JSONPatchType) {
		return nil, nil
	}
	body := q.body
	if q.content == string(types.ApplyYAMLPatchType) {
		var err error
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	if err := utiljson.Unmarshal(body, &o.Object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if q.verb == "create" {
		q.at.name = o.GetName()
	}
	return o, nil
}

// next is the object as a request would have it, with what manages its fields.
func (s *Server) next(q *query, live, sent *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	switch {
	case q.verb == "create" && live != nil:
		return nil, apierrors.NewAlreadyExists(q.resource(), q.at.name)
	case q.verb == "create":
		return s.managed(q, nil, sent)
	case q.content == string(types.ApplyYAMLPatchType):
		if version := sent.GetResourceVersion(); live != nil && version != "" && version != live.GetResourceVersion() {
			return nil, conflict(q)
		}
		return s.applied(q, live, sent)
	case live == nil:
		return nil, apierrors.NewNotFound(q.resource(), q.at.name)
	}
	next := live.DeepCopy()
	switch q.content {
	case string(types.JSONPatchType):
		if err := jsonPatch(next.Object, q.body); err != nil {
			return nil, err
		}
	case string(types.MergePatchType), string(types.StrategicMergePatchType):
		merge(next.Object, sent.Object)
	default:
		next = sent
	}
	if version := next.GetResourceVersion(); version != "" && version != live.GetResourceVersion() {
		return nil, conflict(q)
	}
	if uid := next.GetUID(); uid != "" && uid != live.GetUID() {
		return nil, conflict(q)
	}
	return s.managed(q, live, next)
}

func conflict(q *query) error {
	return apierrors.NewConflict(q.resource(), q.at.name, errors.New("the object has been modified"))
}

// admit refuses what no server takes.
func (s *Server) admit(q *query, live, next *unstructured.Unstructured) error {
	if live == nil && q.at.namespace != "" {
		namespace := s.objects[key{kind: "Namespace", name: q.at.namespace}]
		if namespace == nil {
			return apierrors.NewNotFound(q.resource(), q.at.namespace)
		}
		if namespace.GetDeletionTimestamp() != nil {
			return forbidden(q)
		}
	}
	if live != nil && live.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) > len(live.GetFinalizers()) {
		return forbidden(q)
	}
	return nil
}

// born sets what a server sets in a new object.
func (s *Server) born(q *query, o *unstructured.Unstructured) {
	o.SetAPIVersion(q.kind.apiVersion())
	o.SetKind(q.kind.name)
	o.SetName(q.at.name)
	o.SetNamespace(q.at.namespace)
	o.SetUID(uuid.NewUUID())
	o.SetGeneration(1)
	set(o, time.Now().UTC().Format(time.RFC3339), "metadata", "creationTimestamp")
	if q.kind.name == "Secret" {
		encodeStrings(o)
	}
}

// encodeStrings does what a server does with stringData.
func encodeStrings(o *unstructured.Unstructured) {
	given, is, _ := unstructured.NestedStringMap(o.Object, "stringData")
	if !is {
		return
	}
	data, _, _ := unstructured.NestedMap(o.Object, "data")
	if data == nil {
		data = map[string]any{}
	}
	for name, value := range given {
		if b, err := json.Marshal([]byte(value)); err == nil {
			data[name] = string(b[1 : len(b)-1])
		}
	}
	delete(o.Object, "stringData")
	set(o, data, "data")
}

// kept keeps what no client changes.
func kept(next, live *unstructured.Unstructured) {
	for _, field := range []string{"uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "name", "namespace", "resourceVersion"} {
		value, is, _ := unstructured.NestedFieldCopy(live.Object, "metadata", field)
		if is {
			set(next, value, "metadata", field)
		} else {
			unstructured.RemoveNestedField(next.Object, "metadata", field)
		}
	}
	next.SetAPIVersion(live.GetAPIVersion())
	next.SetKind(live.GetKind())
	if status, is := live.Object["status"]; is {
		next.Object["status"] = status
	}
	if !reflect.DeepEqual(next.Object["spec"], live.Object["spec"]) {
		next.SetGeneration(live.GetGeneration() + 1)
	}
}

// same tells whether a write changed nothing.
func same(live, next *unstructured.Unstructured) bool {
	a, b := live.DeepCopy(), next.DeepCopy()
	for _, o := range []*unstructured.Unstructured{a, b} {
		entries := o.GetManagedFields()
		for i := range entries {
			entries[i].Time = nil
		}
		o.SetManagedFields(entries)
	}
	return reflect.DeepEqual(a.Object, b.Object)
}

// put stores an object. One that is being deleted and has no finalizer left is gone.
func (s *Server) put(at key, live, next *unstructured.Unstructured) {
	s.version++
	next.SetResourceVersion(strconv.Itoa(s.version))
	what := "MODIFIED"
	if live == nil {
		what = "ADDED"
	}
	delete(s.texts, live)
	s.objects[at] = next
	if next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 {
		what = "DELETED"
		delete(s.objects, at)
	}
	s.log = append(s.log, event{s.version, what, at, live, next})
	s.changed.Broadcast()
}

func set(o *unstructured.Unstructured, value any, path ...string) {
	// It fails only where a parent is no map, which metadata and the like are.
	_ = unstructured.SetNestedField(o.Object, value, path...)
}

// merge is a JSON merge patch.
func merge(into, patch map[string]any) {
	for field, value := range patch {
		change, nested := value.(map[string]any)
		if value == nil {
			delete(into, field)
			continue
		}
		if !nested {
			into[field] = value
			continue
		}
		inner, is := into[field].(map[string]any)
		if !is {
			inner = map[string]any{}
		}
		inner = maps.Clone(inner)
		merge(inner, change)
		into[field] = inner
	}
}
