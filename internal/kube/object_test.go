package kube_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// TestWriteWhoseAnswerIsLost wants a write to be sent until an answer comes. It may then
// find its own effect.
func TestWriteWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	lost := func(verb string) faultproxy.Rule {
		return faultproxy.Rule{Verb: verb, Resource: "configmaps", End: faultproxy.CutAfter, Times: 1}
	}
	c.rules(lost("create"))
	_, err := c.Write(t.Context(), configMaps, c.configMap(write.Create, "m", "1"))
	if want := "create configmaps " + c.Namespace + `/m: configmaps "m" already exists`; !apierrors.IsAlreadyExists(err) || err.Error() != want {
		t.Errorf("create: %v, want %s", err, want)
	}
	c.rules(lost("patch"))
	wrote, err := c.Write(t.Context(), configMaps, c.configMap(write.Apply, "n", "1"))
	if err != nil || c.requests("patch", "configmaps") != 2 {
		t.Errorf("apply: %v, %d requests", err, c.requests("patch", "configmaps"))
	}
	stale := write.Request{Verb: write.Update, Namespace: c.Namespace, Name: "n", Body: jsonOf(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "n", "uid": wrote.UID, "resourceVersion": wrote.ResourceVersion}, "data": map[string]any{"key": "2"},
	})}
	c.rules(lost("update"))
	if _, err := c.Write(t.Context(), configMaps, stale); !apierrors.IsConflict(err) {
		t.Errorf("update: %v, want a conflict", err)
	}
	c.Equal(t, "configmap/n", ".data.key", "2")
	c.rules(lost("delete"))
	if _, err := c.DeleteObject(t.Context(), configMaps, c.Namespace, "n", metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("delete: %v, want NotFound", err)
	}
	c.Absent(t, "configmap/n")
}

func TestWriteVerbs(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	w := func(verb write.Verb, body any) write.Request {
		return write.Request{Verb: verb, Namespace: c.Namespace, Name: "m", Body: jsonOf(body)}
	}
	data := func(value string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "m"}, "data": map[string]any{"key": value}}
	}
	var last *metav1.PartialObjectMetadata
	bound := func(body map[string]any) map[string]any {
		metadata, _ := body["metadata"].(map[string]any)
		metadata["uid"], metadata["resourceVersion"] = last.UID, last.ResourceVersion
		return body
	}
	for _, step := range []struct {
		verb write.Verb
		body func() any
		want string
	}{
		{write.Apply, func() any { return data("0") }, "0"},
		{write.MergePatch, func() any {
			return bound(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"a": "b"}}})
		}, "0"},
		{write.Update, func() any { return bound(data("2")) }, "2"},
		{write.MergePatch, func() any { return map[string]any{"data": map[string]any{"key": "3"}} }, "3"},
		{write.StrategicPatch, func() any { return map[string]any{"data": map[string]any{"key": "4"}} }, "4"},
		{write.JSONPatch, func() any { return []any{map[string]any{"op": "replace", "path": "/data/key", "value": "5"}} }, "5"},
	} {
		sent := w(step.verb, step.body())
		dry := sent
		dry.DryRun = true
		before := c.value(t, "m")
		if _, err := c.Write(t.Context(), configMaps, dry); err != nil {
			t.Errorf("dry run of verb %d: %v", step.verb, err)
		}
		if after := c.value(t, "m"); after != before {
			t.Errorf("a dry run of verb %d made %q of %q", step.verb, after, before)
		}
		got, err := c.Write(t.Context(), configMaps, sent)
		if err != nil || got.Name != "m" || got.UID == "" || c.value(t, "m") != step.want {
			t.Errorf("verb %d: %v, %v, value %q", step.verb, got, err, c.value(t, "m"))
		}
		last = got
	}
	c.Owners(t, "configmap/m", ".data.key", "lynq Update")

	c.Kubectl(t, "", "patch", "configmap", "m", "--field-manager=other", "--type=merge", "-p", `{"data":{"key":"7"}}`)
	created := w(write.Create, data("1"))
	created.Name, created.Body = "n", []byte(strings.ReplaceAll(string(created.Body), `"m"`, `"n"`))
	if _, err := c.Write(t.Context(), configMaps, created); err != nil || c.value(t, "n") != "1" {
		t.Errorf("create: %v", err)
	}
	forced := w(write.Apply, data("8"))
	_, err := c.Write(t.Context(), configMaps, forced)
	if !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) || !strings.Contains(err.Error(), `conflict with "other"`) {
		t.Errorf("apply over another manager: %v", err)
	}
	forced.Force = true
	if _, err := c.Write(t.Context(), configMaps, forced); err != nil || c.value(t, "m") != "8" {
		t.Errorf("by force: %v, value %q", err, c.value(t, "m"))
	}
}

// value reads one key of a ConfigMap, or returns "" if it doesn't exist.
func (c *through) value(t *testing.T, name string) string {
	t.Helper()
	obj, err := c.Client.Get(t.Context(), configMaps, c.Namespace, name)
	if apierrors.IsNotFound(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	data, _ := obj.Object["data"].(map[string]any)
	value, _ := data["key"].(string)
	return value
}

// TestGetNumbers wants the number types of unstructured objects.
func TestGetNumbers(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	body := jsonOf(map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "s"}, "spec": map[string]any{"ports": []any{map[string]any{"port": 80}}}})
	r := lynq.APIResource{Version: "v1", Kind: "Service", Plural: "services", Namespaced: true}
	if _, err := c.Write(t.Context(), r, write.Request{Verb: write.Create, Namespace: c.Namespace, Name: "s", Body: body}); err != nil {
		t.Fatal(err)
	}
	obj, err := c.Client.Get(t.Context(), r, c.Namespace, "s")
	if err != nil {
		t.Fatal(err)
	}
	ports, _, err := unstructured.NestedSlice(obj.Object, "spec", "ports")
	if err != nil || len(ports) != 1 {
		t.Fatalf("%v, %v", ports, err)
	}
	if port, ok := ports[0].(map[string]any); !ok || port["port"] != int64(80) {
		t.Errorf("%#v", ports)
	}
}

func TestDeletePreconditions(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	wrote, err := c.Write(t.Context(), configMaps, c.configMap(write.Create, "m", "1"))
	if err != nil {
		t.Fatal(err)
	}
	other, same := wrote.UID+"x", wrote.UID
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}
	if _, err := c.DeleteObject(t.Context(), configMaps, c.Namespace, "m", options); !apierrors.IsConflict(err) {
		t.Errorf("another uid: %v, want a conflict", err)
	}
	options.Preconditions.UID, options.DryRun = &same, []string{metav1.DryRunAll}
	if _, err := c.DeleteObject(t.Context(), configMaps, c.Namespace, "m", options); err != nil || c.value(t, "m") != "1" {
		t.Errorf("dry run: %v", err)
	}
	options.DryRun = nil
	if _, err := c.DeleteObject(t.Context(), configMaps, c.Namespace, "m", options); err != nil {
		t.Error(err)
	}
	c.Absent(t, "configmap/m")
}

// deleted returns the error of a deletion.
func deleted(_ bool, err error) error { return err }

// TestDeleteTellsWhatIsGone wants delete to distinguish objects that are gone from those
// that a finalizer or a grace period keeps.
func TestDeleteTellsWhatIsGone(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	kind := func(group, kind, plural string) lynq.APIResource {
		return lynq.APIResource{Group: group, Version: "v1", Kind: kind, Plural: plural, Namespaced: true}
	}
	held := map[string]any{"finalizers": []any{"example.com/held"}}
	pod := map[string]any{
		"nodeName":   "no-such-node", // nobody acknowledges the end of a pod on this node
		"containers": []any{map[string]any{"name": "app", "image": "example.com/app"}},
	}
	foreground := metav1.DeletePropagationForeground
	for name, test := range map[string]struct {
		kind     lynq.APIResource
		metadata map[string]any
		spec     any
		options  metav1.DeleteOptions
		gone     bool
	}{
		"config-map":       {kind: configMaps, gone: true},
		"account":          {kind: kind("", "ServiceAccount", "serviceaccounts"), gone: true}, // the answer is the object itself
		"service":          {kind: kind("", "Service", "services"), spec: map[string]any{"clusterIP": "None"}, gone: true},
		"role":             {kind: kind("rbac.authorization.k8s.io", "Role", "roles"), gone: true},
		"held":             {kind: configMaps, metadata: held},
		"held-account":     {kind: kind("", "ServiceAccount", "serviceaccounts"), metadata: held},
		"foreground":       {kind: configMaps, options: metav1.DeleteOptions{PropagationPolicy: &foreground}},
		"graceful-pod":     {kind: kind("", "Pod", "pods"), spec: pod},
		"dry-run-of-a-map": {kind: configMaps, options: metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, gone: true},
	} {
		body := map[string]any{"apiVersion": test.kind.APIVersion(), "kind": test.kind.Kind, "metadata": map[string]any{"name": name}}
		if test.metadata != nil {
			body["metadata"] = map[string]any{"name": name, "finalizers": test.metadata["finalizers"]}
		}
		if test.spec != nil {
			body["spec"] = test.spec
		}
		if _, err := c.Write(t.Context(), test.kind, write.Request{Verb: write.Create, Namespace: c.Namespace, Name: name, Body: jsonOf(body)}); err != nil {
			t.Fatal(name, err)
		}
		tries := 2
		if name == "foreground" {
			tries = 1 // the garbage collector has nothing to wait for, and may be faster than the second try
		}
		for try := range tries {
			gone, err := c.DeleteObject(t.Context(), test.kind, c.Namespace, name, test.options)
			if test.gone && try == 1 && len(test.options.DryRun) == 0 {
				if !apierrors.IsNotFound(err) {
					t.Errorf("%s, once more: %v, want NotFound", name, err)
				}
				continue
			}
			if err != nil || gone != test.gone {
				t.Errorf("%s: gone is %t, %v, want %t", name, gone, err, test.gone)
			}
		}
	}
	c.Kubectl(t, "", "patch", "configmap/held", "serviceaccount/held-account", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	c.Kubectl(t, "", "delete", "pod", "graceful-pod", "--force", "--grace-period=0")
}

// TestRequestsThatAreNotSent wants the client to refuse a request with another meaning than
// its caller intended.
func TestRequestsThatAreNotSent(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	check := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	check("delete all", "there is no name", deleted(c.DeleteObject(t.Context(), configMaps, c.Namespace, "", metav1.DeleteOptions{})))
	check("no namespace", "there is none", deleted(c.DeleteObject(t.Context(), configMaps, "", "m", metav1.DeleteOptions{})))
	check("a namespace too much", "has no namespaces", deleted(c.DeleteObject(t.Context(), namespaces, "x", "y", metav1.DeleteOptions{})))
	check("path", "invalid", deleted(c.DeleteObject(t.Context(), configMaps, c.Namespace, "../secrets", metav1.DeleteOptions{})))
	_, err := c.Metadata(t.Context(), configMaps, "..", "m")
	check("path of a namespace", "invalid", err)
	check("watch", "has no namespaces", c.Watch(t.Context(), namespaces, wait.Scope{Namespace: "x"}, newWatched(t)))
	if n := len(c.proxy.Records()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestWhile wants no write without permission: neither the first try nor a later one, nor
// if the permission ends during the write. Reads and dry runs need none.
func TestWhile(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	// The reason for the lost lock may look like a failure that passes.
	gone := fmt.Errorf("the lock is lost: %w", io.ErrUnexpectedEOF)
	var asked, leave atomic.Int64
	guarded := c.While(func() error {
		if asked.Add(1) > leave.Load() {
			return gone
		}
		return nil
	})
	leaves := func(n int64) { asked.Store(0); leave.Store(n) }
	always := int64(math.MaxInt64)
	refused := func(what string, err error, text string) {
		t.Helper()
		if want := text + " configmaps " + c.Namespace + "/m: the lock is lost: unexpected EOF"; !errors.Is(err, gone) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", what, err, want)
		}
	}

	leaves(always)
	c.rules(faultproxy.Rule{Verb: "create", Resource: "configmaps", Status: 503, Times: 1, Before: func() { leaves(0) }})
	_, err := guarded.Write(t.Context(), configMaps, c.configMap(write.Create, "m", "1"))
	refused("a later try", err, "create")
	if n := c.requests("create", "configmaps"); n != 1 {
		t.Errorf("%d requests, want the first alone", n)
	}
	for n := range int64(3) {
		leaves(n)
		_, err := guarded.Write(t.Context(), configMaps, c.configMap(write.Create, "m", "1"))
		refused(fmt.Sprintf("after %d questions", n), err, "create")
	}
	c.Absent(t, "configmap/m")
	leaves(0)
	_, err = guarded.DeleteObject(t.Context(), configMaps, c.Namespace, "m", metav1.DeleteOptions{})
	refused("delete", err, "delete")
	_, err = guarded.ConfigMaps().Patch(t.Context(), c.Namespace, "m", []byte("[]"))
	refused("patch of a record", err, "patch")
	if n := c.requests("delete", "configmaps") + c.requests("patch", "configmaps"); n != 0 {
		t.Errorf("%d requests, want none", n)
	}

	leaves(0)
	dry := c.configMap(write.Create, "m", "1")
	dry.DryRun = true
	if _, err := guarded.Write(t.Context(), configMaps, dry); err != nil {
		t.Errorf("dry run: %v", err)
	}
	if _, err := guarded.DeleteObject(t.Context(), configMaps, c.Namespace, "m", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}); !apierrors.IsNotFound(err) {
		t.Errorf("dry run of a delete: %v", err)
	}
	c.Wait(t, "configmap/kube-root-ca.crt", harness.Exists()) // a controller creates it
	if _, err := guarded.Metadata(t.Context(), configMaps, c.Namespace, "kube-root-ca.crt"); err != nil {
		t.Errorf("read: %v", err)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("asked %d times for what writes nothing", n)
	}
	leaves(always)
	if _, err := guarded.Write(t.Context(), configMaps, c.configMap(write.Create, "m", "1")); err != nil {
		t.Errorf("with leave: %v", err)
	}
}
