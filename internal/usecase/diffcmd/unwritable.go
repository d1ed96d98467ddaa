package diffcmd

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A server tries a write only for users who may write. For others, a diffRun compares by
// itself, from the first refusal of a kind on.

// unwritable reports whether the user may not send a write that the server refused. Admission
// refuses with the same status, so unwritable asks for the permissions.
func (t *diffRun) unwritable(ctx context.Context, r lynq.APIResource, namespace, name string, refused error, verbs ...string) bool {
	if !apierrors.IsForbidden(refused) {
		return false
	}
	for _, verb := range verbs {
		if allowed, err := t.allowed(ctx, verb, r.Group, r.Plural, namespace, name); err == nil && !allowed {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.compared[lynq.Ref{Group: r.Group, Kind: r.Kind}.GroupKind()] = true
			return true
		}
	}
	return false
}

// verbs returns the permissions that a write needs. A server-side apply needs a second one to
// create an object.
func (t *diffRun) verbs(ctx context.Context, r lynq.APIResource, w *write.Request) []string {
	switch w.Verb {
	case write.Create:
		return []string{"create"}
	case write.Update:
		return []string{"update"}
	case write.Apply:
		if live, err := t.look(ctx, r, w.Namespace, w.Name); err == nil && live == nil {
			return []string{"patch", "create"}
		}
	}
	return []string{"patch"}
}

// preview returns an object as it would be after a write, without the server.
func (t *diffRun) preview(ctx context.Context, r lynq.APIResource, w *write.Request) (*unstructured.Unstructured, *metav1.PartialObjectMetadata, error) {
	live, err := t.look(ctx, r, w.Namespace, w.Name)
	if err != nil {
		return nil, nil, err
	}
	next, err := previewed(live, w)
	if err != nil {
		return nil, nil, err
	}
	object := &unstructured.Unstructured{Object: next}
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: w.Name, Namespace: w.Namespace, UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(), Generation: object.GetGeneration(),
		Labels: object.GetLabels(), Annotations: object.GetAnnotations(), OwnerReferences: object.GetOwnerReferences(), Finalizers: object.GetFinalizers(),
	}}
	m.APIVersion, m.Kind = r.APIVersion(), r.Kind
	return object, m, nil
}

// previewed is a pure function.
func previewed(live *unstructured.Unstructured, w *write.Request) (map[string]any, error) {
	if w.Verb == write.JSONPatch && live != nil {
		return patched(live, w.Body)
	}
	content := map[string]any{}
	if err := json.Unmarshal(w.Body, &content); err != nil || live == nil {
		return content, err
	}
	return fields.Preview(content, live, w.Verb == write.Apply || w.Verb == write.Update)
}

// patched applies a JSON patch as far as it sets or removes fields, which is all that an
// apply sends.
func patched(live *unstructured.Unstructured, body []byte) (map[string]any, error) {
	var ops []struct {
		Op, Path string
		Value    any
	}
	if err := json.Unmarshal(body, &ops); err != nil {
		return nil, err
	}
	next := live.DeepCopy().Object
	for _, op := range ops {
		path := strings.Split(strings.TrimPrefix(op.Path, "/"), "/")
		for i := range path {
			path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(path[i])
		}
		switch op.Op {
		case "add", "replace":
			_ = unstructured.SetNestedField(next, op.Value, path...) // a path through a list changes nothing that diff shows
		case "remove":
			unstructured.RemoveNestedField(next, path...)
		}
	}
	return next, nil
}

// tellUnwritable says once which kinds the server didn't try.
func (t *diffRun) tellUnwritable(note func(format string, args ...any)) {
	if kinds := slices.Sorted(maps.Keys(t.compared)); len(kinds) > 0 {
		note("warning: you may not write these kinds, so lynqctl compared them without the API server, and its defaults, admission and conflicts don't count: %s",
			strings.Join(kinds, ", "))
	}
}
