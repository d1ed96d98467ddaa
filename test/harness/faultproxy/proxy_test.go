package faultproxy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

var cluster harness.Shared

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// through is a client whose requests go through a proxy.
type through struct {
	*harness.Env
	proxy   *faultproxy.Server
	config  *rest.Config
	client  dynamic.ResourceInterface
	dynamic dynamic.Interface
}

// newThrough returns a client that retries only as client-go always does.
func newThrough(t *testing.T, o faultproxy.Options) *through {
	t.Helper()
	env, proxy := cluster.Env(t).Proxy(t, o)
	config, err := clientcmd.BuildConfigFromFlags("", env.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &through{
		Env: env, proxy: proxy, config: config, dynamic: client,
		client: client.Resource(configMaps).Namespace(env.Namespace),
	}
}

func configMap(name, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name},
		"data":     map[string]any{"key": value},
	}}
}

func (c *through) create(ctx context.Context, name string) error {
	_, err := c.client.Create(ctx, configMap(name, "1"), metav1.CreateOptions{})
	return err
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	tests := []struct {
		status int
		reason string
		is     func(error) bool
	}{
		{status: 401, is: apierrors.IsUnauthorized},
		{status: 403, is: apierrors.IsForbidden},
		{status: 404, is: apierrors.IsNotFound},
		{status: 409, is: apierrors.IsConflict},
		{status: 409, reason: "AlreadyExists", is: apierrors.IsAlreadyExists},
		{status: 410, is: apierrors.IsResourceExpired},
		{status: 422, is: apierrors.IsInvalid},
		{status: 429, is: apierrors.IsTooManyRequests},
		{status: 500, is: apierrors.IsInternalError},
		{status: 503, is: apierrors.IsServiceUnavailable},
		{status: 504, is: apierrors.IsTimeout},
		{status: 418, is: func(err error) bool { return apierrors.ReasonForError(err) == metav1.StatusReasonUnknown }},
	}
	for _, tt := range tests {
		name := fmt.Sprintf("s%d%d", tt.status, len(tt.reason))
		c.proxy.SetRules(faultproxy.Rule{Verb: "create", Resource: "configmaps", Status: tt.status, Reason: tt.reason, Times: 1})
		if err := c.create(t.Context(), name); !tt.is(err) {
			t.Errorf("%d %s: got %v", tt.status, tt.reason, err)
		}
		c.Absent(t, "configmap/"+name)
		if err := c.create(t.Context(), name); err != nil {
			t.Errorf("%d %s: after the fault: %v", tt.status, tt.reason, err)
		}
	}
}

// TestTimes wants a request that follows an answer to begin after it, so that tests can
// order requests.
func TestTimes(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	c.proxy.SetRules(faultproxy.Rule{Verb: "create", End: faultproxy.CutBefore, Skip: 2, Times: 1})
	began := time.Now()
	for _, name := range []string{"a", "b", "cut"} {
		if err := c.create(t.Context(), name); (err != nil) != (name == "cut") {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for i, r := range c.proxy.Records() {
		if r.Began.Before(began) || r.Answered.Before(r.Began) || time.Now().Before(r.Answered) {
			t.Errorf("request %d came at %s after the one before had its answer at %s; it had its own at %s", i, r.Began, began, r.Answered)
		}
		began = r.Answered
	}
}

// TestDisconnect wants a watch to end with all connections, and later connections to work.
func TestDisconnect(t *testing.T) {
	t.Parallel()
	for _, o := range []faultproxy.Options{{}, {HTTP1: true}} {
		c := newThrough(t, o)
		events, err := c.client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		c.proxy.Disconnect()
		for range events.ResultChan() { // until it is closed
			continue
		}
		if err := c.create(t.Context(), "after"); err != nil {
			t.Error(err)
		}
	}
}

// TestRetryAfter wants client-go to repeat requests after 429 and Retry-After.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	c.proxy.SetRules(faultproxy.Rule{Verb: "create", Status: 429, RetryAfter: 1, Times: 2})
	if err := c.create(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	var statuses []int
	for _, r := range c.proxy.Records() {
		statuses = append(statuses, r.Status)
	}
	if diff := cmp.Diff([]int{429, 429, 201}, statuses); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, o := range []faultproxy.Options{{}, {HTTP1: true}} {
		for _, end := range []faultproxy.End{faultproxy.CutBefore, faultproxy.CutAfter} {
			t.Run(fmt.Sprintf("%s,HTTP1=%v", end, o.HTTP1), func(t *testing.T) {
				t.Parallel()
				c := newThrough(t, o)
				c.proxy.SetRules(faultproxy.Rule{Verb: "create", End: end, Times: 1})
				err := c.create(t.Context(), "a")
				var status *apierrors.StatusError
				if err == nil || errors.As(err, &status) {
					t.Errorf("the client got %v, want a broken connection", err)
				}
				if end == faultproxy.CutBefore {
					c.Absent(t, "configmap/a")
				} else {
					c.Get(t, "configmap/a")
				}
				if err := c.create(t.Context(), "b"); err != nil {
					t.Errorf("the request after the cut: %v", err)
				}
			})
		}
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	c.proxy.SetRules(faultproxy.Rule{Delay: 50 * time.Millisecond})
	begin := time.Now()
	if err := c.create(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 50*time.Millisecond {
		t.Errorf("took %s, want at least the delay", took)
	}
	// If the client gives up meanwhile, the API server gets no request.
	c.proxy.SetRules(faultproxy.Rule{Delay: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.create(ctx, "b"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the client's own deadline", err)
	}
	c.Absent(t, "configmap/b")
}

func TestBefore(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	var calls []string
	call := func(name string) func() { return func() { calls = append(calls, name) } }
	c.proxy.SetRules(
		faultproxy.Rule{Verb: "create", Times: 1, Before: func() {
			c.Absent(t, "configmap/a") // the API server hasn't got the request yet
			calls = append(calls, "first")
		}},
		faultproxy.Rule{Verb: "create", Times: 1, Before: call("second")},
		faultproxy.Rule{Verb: "create", Skip: 1, Before: call("failing"), Status: http.StatusForbidden},
	)
	if err := c.create(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := c.create(t.Context(), "b"); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want the answer of the rule", err)
	}
	if diff := cmp.Diff([]string{"first", "second", "failing"}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestExpiredContinue(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	for i := range 3 {
		if err := c.create(t.Context(), fmt.Sprint("c", i)); err != nil {
			t.Fatal(err)
		}
	}
	c.proxy.SetRules(faultproxy.Rule{Verb: "list", Continue: true, Status: http.StatusGone, Times: 1})
	page, err := c.client.List(t.Context(), metav1.ListOptions{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	next := metav1.ListOptions{Limit: 2, Continue: page.GetContinue()}
	if _, err := c.client.List(t.Context(), next); !apierrors.IsResourceExpired(err) {
		t.Errorf("the second page: %v, want expired", err)
	}
	if _, err := c.client.List(t.Context(), next); err != nil {
		t.Errorf("the second page again: %v", err)
	}
}

func TestWatches(t *testing.T) {
	t.Parallel()
	for _, end := range []faultproxy.End{faultproxy.CutAfter, faultproxy.CloseAfter} {
		for _, events := range []int{0, 2} {
			t.Run(fmt.Sprint(end, events), func(t *testing.T) {
				t.Parallel()
				c := newThrough(t, faultproxy.Options{})
				c.proxy.SetRules(faultproxy.Rule{Verb: "watch", End: end, Events: events, Times: 1})
				if got := c.watchJSON(t); got != events {
					t.Errorf("JSON: %d events came, want %d", got, events)
				}
				c.proxy.SetRules(faultproxy.Rule{Verb: "watch", End: end, Events: events, Times: 1})
				if got := c.watchProtobuf(t); got != events {
					t.Errorf("protobuf: %d events came, want %d", got, events)
				}
			})
		}
	}
}

// watchJSON counts the events of a watch until it ends. Without a rule, there would be
// three.
func (c *through) watchJSON(t *testing.T) int {
	t.Helper()
	watch, err := c.client.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	c.change(t, "json")
	n := 0
	for event := range watch.ResultChan() {
		if event.Type != "ERROR" { // client-go makes this of a cut
			n++
		}
	}
	return n
}

// watchProtobuf works like watchJSON, with the metadata client, which uses protobuf.
func (c *through) watchProtobuf(t *testing.T) int {
	t.Helper()
	client, err := metadata.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.Resource(configMaps).Namespace(c.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := client.Resource(configMaps).Namespace(c.Namespace).Watch(t.Context(),
		metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	c.change(t, "protobuf")
	n := 0
	for event := range watch.ResultChan() {
		if event.Type != "ERROR" {
			n++
		}
	}
	return n
}

// change causes three events, not through the proxy.
func (c *through) change(t *testing.T, prefix string) {
	t.Helper()
	client := c.Dynamic.Resource(configMaps).Namespace(c.Namespace)
	for i := range 3 {
		if _, err := client.Create(t.Context(), configMap(fmt.Sprint(prefix, i), "1"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	ctx := t.Context()
	for _, name := range []string{"a", "b"} {
		if err := c.create(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	patch := []byte(`{"data":{"key":"2"}}`)
	_, patchErr := c.client.Patch(ctx, "a", types.MergePatchType, patch, metav1.PatchOptions{})
	_, dryErr := c.client.Patch(ctx, "b", types.MergePatchType, patch, metav1.PatchOptions{DryRun: []string{"All"}})
	_, listErr := c.client.List(ctx, metav1.ListOptions{})
	deleteErr := c.client.Delete(ctx, "b", metav1.DeleteOptions{})
	if err := errors.Join(patchErr, dryErr, listErr, deleteErr); err != nil {
		t.Fatal(err)
	}
	records := c.proxy.Records()
	want := map[faultproxy.Key]int{
		{Verb: "create", Resource: "configmaps"}: 2,
		{Verb: "patch", Resource: "configmaps"}:  2,
		{Verb: "list", Resource: "configmaps"}:   1,
		{Verb: "delete", Resource: "configmaps"}: 1,
	}
	if diff := cmp.Diff(want, faultproxy.Count(records)); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	writes := 0
	for _, r := range records {
		if r.IsWrite() {
			writes++
		}
		if r.Namespace != c.Namespace || r.Faulted || r.Status/100 != 2 {
			t.Errorf("record %+v", r)
		}
	}
	if writes != 4 {
		t.Errorf("%d writes, want 4: the dry run is none", writes)
	}
	c.Equal(t, "configmap/a", ".data.key", "2")

	c.proxy.Reset()
	if left := c.proxy.Records(); len(left) != 0 {
		t.Errorf("after Reset there are %v", left)
	}
}

// TestKubeconfigKeepsUsers wants the proxy to forward each user's requests as that user's.
func TestKubeconfigKeepsUsers(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	as := *env
	as.Kubeconfig = env.As(t, "nobody-"+env.Namespace)
	throughProxy, _ := as.Proxy(t, faultproxy.Options{})
	if out, err := throughProxy.TryKubectl(t, "", "get", "configmaps"); err == nil {
		t.Errorf("a user without rights got: %s", out)
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := faultproxy.Start(filepath.Join(dir, "absent"), filepath.Join(dir, "out"), faultproxy.Options{}); err == nil {
		t.Error("no kubeconfig is no error")
	}
}
