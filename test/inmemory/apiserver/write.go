package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/uuid"
	problems "k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// write creates, replaces or patches an object.
func (s *Server) write(q *query) ([]byte, error) {
	if err := q.decode(); err != nil {
		return nil, err
	}
	q.store()
	live := s.objects[q.at]
	next, err := s.next(q, live)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.admit(q, live, next), s.bind(q, live, next)); err != nil {
		return nil, err
	}
	if live == nil {
		born(q, next)
	} else {
		kept(next, live)
	}
	if live != nil && same(live.draft, next) {
		return s.one(q, live)
	}
	if q.dryRun {
		return s.one(q, newStored(q.at, next))
	}
	s.put(q.at, live, next)
	written := s.log[len(s.log)-1].object
	s.control(q.at)
	return s.one(q, written)
}

// decode decodes the object or the patch of a request, except a JSON patch.
func (q *query) decode() error {
	if q.content == string(types.JSONPatchType) {
		return nil
	}
	if q.sent == nil {
		body := q.body
		if q.content == string(types.ApplyYAMLPatchType) && (len(body) == 0 || body[0] != '{') {
			var err error
			if body, err = yaml.YAMLToJSON(body); err != nil {
				return apierrors.NewBadRequest(err.Error())
			}
		}
		content := map[string]any{}
		if err := utiljson.Unmarshal(body, &content); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		q.sent = draftOf(content)
	}
	if q.verb == "create" {
		q.at.name = q.sent.GetName()
	}
	return nil
}

// next returns the object that a request would store, with the managers of its fields.
func (s *Server) next(q *query, live *stored) (*draft, error) {
	switch {
	case q.verb == "create" && live != nil:
		return nil, apierrors.NewAlreadyExists(q.resource(), q.at.name)
	case q.verb == "create":
		return s.managed(q, nil, q.sent)
	case q.content == string(types.ApplyYAMLPatchType):
		if live == nil {
			return s.applied(q, nil, q.sent)
		}
		if version := q.sent.GetResourceVersion(); version != "" && version != live.GetResourceVersion() {
			return nil, conflict(q)
		}
		return s.applied(q, live.draft, q.sent)
	case live == nil:
		return nil, apierrors.NewNotFound(q.resource(), q.at.name)
	}
	next, err := q.changed(live.draft)
	if err != nil {
		return nil, err
	}
	if version := next.GetResourceVersion(); version != "" && version != live.GetResourceVersion() {
		return nil, conflict(q)
	}
	if uid := next.GetUID(); uid != "" && uid != live.uid {
		return nil, conflict(q)
	}
	return s.managed(q, live.draft, next)
}

// changed returns an object after a patch or an update.
func (q *query) changed(live *draft) (*draft, error) {
	switch q.content {
	case string(types.JSONPatchType):
		content, err := live.forPatch(q.body)
		if err == nil {
			err = jsonPatch(content, q.body)
		}
		next := draftOf(content)
		if next.fields == nil {
			next.fields = live.fields
		}
		return next, err
	case string(types.MergePatchType), string(types.StrategicMergePatchType):
		next := live.copied()
		merge(next.Object, q.sent.Object)
		if q.sent.fields != nil {
			next.fields = q.sent.fields
		}
		return next, nil
	}
	return q.sent, nil
}

// forPatch returns a copy for a JSON patch, with managed fields if the patch names them.
func (d *draft) forPatch(patch []byte) (map[string]any, error) {
	if !bytes.Contains(patch, []byte("managedFields")) {
		return d.DeepCopy().Object, nil
	}
	var content map[string]any
	all, err := d.whole()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	err = utiljson.Unmarshal(text, &content)
	return content, err
}

func conflict(q *query) error {
	return apierrors.NewConflict(q.resource(), q.at.name, errors.New("the object has been modified"))
}

// admit refuses objects that every server refuses.
func (s *Server) admit(q *query, live *stored, next *draft) error {
	if live == nil && q.at.namespace != "" {
		namespace := s.objects[key{kind: "Namespace", name: q.at.namespace}]
		if namespace == nil {
			return apierrors.NewNotFound(q.resource(), q.at.namespace)
		}
		if namespace.deleting {
			return forbidden(q)
		}
	}
	if live != nil && at(live, "volumeName") != "" && at(live, "volumeName") != at(&stored{draft: next}, "volumeName") {
		return apierrors.NewInvalid(schema.GroupKind{Kind: q.kind.name}, q.at.name, problems.ErrorList{problems.Forbidden(problems.NewPath("spec"), "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims")})
	}
	if live != nil && live.deleting && len(next.GetFinalizers()) > len(live.finalizers) {
		return forbidden(q)
	}
	return nil
}

// at returns a text in the spec of an object.
func at(o *stored, name string) string {
	text, _, _ := unstructured.NestedString(o.Object, "spec", name)
	return text
}

// born sets the fields that a server sets in a new object.
func born(q *query, o *draft) {
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

// encodeStrings converts stringData, like a server.
func encodeStrings(o *draft) {
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

// kept restores the fields that clients can't change.
func kept(next *draft, live *stored) {
	from, _ := live.Object["metadata"].(map[string]any)
	to, is := next.Object["metadata"].(map[string]any)
	if !is {
		to = map[string]any{}
		next.Object["metadata"] = to
	}
	for _, field := range []string{"uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "name", "namespace", "resourceVersion"} {
		if value, is := from[field]; is {
			to[field] = value
		} else {
			delete(to, field)
		}
	}
	next.SetAPIVersion(live.GetAPIVersion())
	next.SetKind(live.GetKind())
	if status, is := live.Object["status"]; is {
		next.Object["status"] = status
	}
	if !equal(next.Object["spec"], live.Object["spec"]) {
		next.SetGeneration(live.GetGeneration() + 1)
	}
}

// same reports whether a write changed nothing except the time of a manager's last write.
func same(live, next *draft) bool {
	if len(live.fields) != len(next.fields) || !equal(live.Object, next.Object) {
		return false
	}
	for i := range live.fields {
		a, b := live.fields[i], next.fields[i]
		a.Time, b.Time = nil, nil
		if !reflect.DeepEqual(a, b) {
			return false
		}
	}
	return true
}

// equal compares two values of JSON.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, is := b.(map[string]any)
		if !is || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			if other, is := b[name]; !is || !equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, is := b.([]any)
		return is && slices.EqualFunc(a, b, equal)
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func set(o *draft, value any, path ...string) {
	// It fails only if a parent isn't a map, but metadata and the like always are.
	_ = unstructured.SetNestedField(o.Object, value, path...)
}

// merge applies a JSON merge patch.
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
