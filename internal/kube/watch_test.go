package kube_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// watched notes the calls of a handler, once the test has read them.
type watched struct {
	t      *testing.T
	in     wait.Scope
	now    map[string]string // name to value
	uids   map[string]types.UID
	synced int
	told   chan func() // a call of the handler, for the test to read

	onFirstSync sync.Once
	firstSync   func()
}

func newWatched(t *testing.T) *watched {
	return &watched{t: t, now: map[string]string{}, uids: map[string]types.UID{}, told: make(chan func()), firstSync: func() {}}
}

// Read implements wait.Handler.
func (w *watched) Read(o *unstructured.Unstructured) (note func()) {
	if o.GetManagedFields() != nil || o.GetKind() == "" || o.GetAPIVersion() == "" {
		w.t.Errorf("seen: %v", o.Object)
	}
	data, _ := o.Object["data"].(map[string]any)
	value, _ := data["key"].(string)
	name, uid := o.GetName(), o.GetUID()
	return func() { w.told <- func() { w.now[name], w.uids[name] = value, uid } }
}

// Gone implements wait.Handler.
func (w *watched) Gone(_, name string, uid types.UID) {
	w.told <- func() {
		if w.uids[name] != uid {
			w.t.Errorf("%s with uid %s is gone, seen was %s", name, uid, w.uids[name])
		}
		delete(w.now, name)
	}
}

// Synced implements wait.Handler.
func (w *watched) Synced() {
	w.onFirstSync.Do(w.firstSync)
	w.told <- func() { w.synced++ }
}

// until waits until the handler has been called as expected.
func (w *watched) until(done func() bool) {
	w.t.Helper()
	late := time.After(3 * time.Minute)
	for !done() {
		select {
		case tell := <-w.told:
			tell()
		case <-late:
			w.t.Fatalf("seen are %v after %d times synced", w.now, w.synced)
		}
	}
}

// start watches until the test stops it.
func (w *watched) start(c *through) (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	if w.in == (wait.Scope{}) {
		w.in = wait.Scope{Namespace: c.Namespace, Labels: "app=a"}
	}
	go func() { ended <- c.Watch(ctx, configMaps, w.in, w) }()
	return func() {
		w.t.Helper()
		cancel()
		for {
			select {
			case <-w.told: // of a call in progress
			case err := <-ended:
				if err != nil {
					w.t.Errorf("the watch ended with %v", err)
				}
				return
			}
		}
	}
}

func (c *through) set(t *testing.T, name, value string) {
	t.Helper()
	if _, err := c.Write(t.Context(), configMaps, c.configMap(write.Apply, name, value)); err != nil {
		t.Fatal(err)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		rules []faultproxy.Rule
	}{
		{"quiet", nil},
		{"dropped at each event", []faultproxy.Rule{{Verb: "watch", End: faultproxy.CutAfter, Events: 4, Times: 3}, {Verb: "watch", End: faultproxy.CutAfter, Events: 1, Times: 3}}},
		{"closed at each event", []faultproxy.Rule{{Verb: "watch", End: faultproxy.CloseAfter, Events: 3, Times: 1}, {Verb: "watch", End: faultproxy.CloseAfter, Events: 1, Times: 3}}},
		{"cut before it begins", []faultproxy.Rule{{Verb: "watch", End: faultproxy.CutBefore, Times: 2}}},
		{"expires", []faultproxy.Rule{{Verb: "watch", End: faultproxy.CutAfter, Events: 3, Times: 1}, {Verb: "watch", Status: 410, Times: 2}}},
		{"busy", []faultproxy.Rule{{Verb: "watch", Status: 429, RetryAfter: 1, Times: 1}}},
		{"a server that lists no objects in watches", []faultproxy.Rule{{Verb: "watch", Status: 422, Times: 1}}},
		{"the same, and pages expire", []faultproxy.Rule{{Verb: "watch", Status: 422, Times: 1}, {Verb: "list", Continue: true, Status: 410, Times: 1}}},
		{"the same, and lists break", []faultproxy.Rule{{Verb: "watch", Status: 422}, {Verb: "list", End: faultproxy.CutAfter, Times: 1}, {Verb: "list", Status: 503, Times: 8}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newThrough(t, faultproxy.Options{})
			c.set(t, "a", "1")
			c.set(t, "b", "1")
			c.Kubectl(t, "", "create", "configmap", "other")
			if strings.HasSuffix(test.name, "lists break") {
				test.rules[0].Times = 2 // the watch list of both tries
			}
			c.rules(test.rules...)
			c.Client = c.WithPageSize(1)
			w := newWatched(t)
			stop := w.start(c)
			w.until(func() bool { return w.synced > 0 })
			c.set(t, "a", "2")
			c.set(t, "c", "1")
			w.until(func() bool { return cmp.Equal(w.now, map[string]string{"a": "2", "b": "1", "c": "1"}) })
			c.Kubectl(t, "", "label", "configmap", "c", "app-")
			c.Kubectl(t, "", "delete", "configmap", "b")
			w.until(func() bool { return cmp.Equal(w.now, map[string]string{"a": "2"}) })
			stop()
		})
	}
}

// TestWatchOne wants a watch of one object to report no other. It needs only a Role that
// names the object.
func TestWatchOne(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		rules []faultproxy.Rule
	}{
		{"streamed", nil},
		{"listed", []faultproxy.Rule{{Verb: "watch", Status: 422, Times: 1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newThrough(t, faultproxy.Options{})
			user := "one-" + c.Namespace
			c.Kubectl(t, "", "create", "role", "one", "--verb=list,watch", "--resource=configmaps", "--resource-name=a")
			c.Kubectl(t, "", "create", "rolebinding", "one", "--role=one", "--user="+user)
			c.set(t, "b", "1")
			c.rules(test.rules...)
			w := newWatched(t)
			w.in = wait.Scope{Namespace: c.Namespace, Name: "a"}
			behind := *c
			behind.Client = newClient(t, c.As(t, user))
			stop := w.start(&behind)
			w.until(func() bool { return w.synced > 0 })
			c.set(t, "b", "2")
			c.set(t, "a", "1")
			w.until(func() bool { return cmp.Equal(w.now, map[string]string{"a": "1"}) })
			c.Kubectl(t, "", "label", "configmap", "a", "app-") // the watch no longer selects it
			c.set(t, "a", "2")
			w.until(func() bool { return cmp.Equal(w.now, map[string]string{"a": "2"}) })
			c.Kubectl(t, "", "delete", "configmap", "a", "b")
			w.until(func() bool { return len(w.now) == 0 })
			stop()

			w = newWatched(t)
			err := behind.Watch(t.Context(), configMaps, wait.Scope{Namespace: c.Namespace, Name: "b"}, w)
			if !apierrors.IsForbidden(err) {
				t.Errorf("another object: %v", err)
			}
		})
	}
}

// TestWatchFindsWhatWentMeanwhile deletes and replaces objects while the watch is broken.
func TestWatchFindsWhatWentMeanwhile(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	c.set(t, "a", "1")
	c.set(t, "b", "1")
	// The first watch breaks after its list, and can't continue from there.
	c.rules(faultproxy.Rule{Verb: "watch", End: faultproxy.CutAfter, Events: 3, Times: 1}, faultproxy.Rule{Verb: "watch", Status: 410, Times: 1})
	w := newWatched(t)
	w.firstSync = func() {
		if _, err := c.TryKubectl(t, "", "delete", "configmap", "a", "b"); err != nil {
			t.Error(err)
		}
		if _, err := c.Write(t.Context(), configMaps, c.configMap(write.Create, "b", "2")); err != nil {
			t.Error(err)
		}
	}
	stop := w.start(c)
	w.until(func() bool { return w.synced == 2 })
	if diff := cmp.Diff(map[string]string{"b": "2"}, w.now); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	stop()
}

// TestWatchRefused wants errors that won't pass to end a watch.
func TestWatchRefused(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	nobody := newClient(t, c.As(t, "nobody-"+c.Namespace))
	if err := nobody.Watch(t.Context(), configMaps, wait.Scope{Namespace: c.Namespace}, newWatched(t)); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "watch") {
		t.Errorf("nobody: %v", err)
	}
	// Permission to list doesn't include permission to watch.
	c.Kubectl(t, "", "create", "role", "lister", "--verb=list", "--resource=configmaps")
	c.Kubectl(t, "", "create", "rolebinding", "lister", "--role=lister", "--user=lister-"+c.Namespace)
	lister := newClient(t, c.As(t, "lister-"+c.Namespace))
	if err := lister.Watch(t.Context(), configMaps, wait.Scope{Namespace: c.Namespace}, newWatched(t)); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "watch") {
		t.Errorf("lister: %v", err)
	}
	unserved := lynq.APIResource{Group: "nope.example", Version: "v1", Kind: "Nope", Plural: "nopes"}
	if err := c.Watch(t.Context(), unserved, wait.Scope{}, newWatched(t)); !meta.IsNoMatchError(err) {
		t.Errorf("no such kind: %v", err)
	}
	c.rules(faultproxy.Rule{Verb: "watch", Status: 422}, faultproxy.Rule{Verb: "list", Status: 401})
	if err := c.Watch(t.Context(), configMaps, wait.Scope{Namespace: c.Namespace}, newWatched(t)); !apierrors.IsUnauthorized(err) {
		t.Errorf("a token that has expired: %v", err)
	}
}

// metadataSeen is a handler for metadata that notes its calls.
type metadataSeen struct{ told chan string }

// ReadMetadata implements wait.MetadataHandler.
func (m metadataSeen) ReadMetadata(o *metav1.PartialObjectMetadata) (note func()) {
	text := fmt.Sprintf("%s, %d managers", o.Name, len(o.ManagedFields))
	return func() { m.told <- text }
}

// Gone implements wait.MetadataHandler.
func (m metadataSeen) Gone(_, name string, _ types.UID) { m.told <- name + " gone" }

// Synced implements wait.MetadataHandler.
func (m metadataSeen) Synced() { m.told <- "synced" }

// TestWatchMetadata wants a watch of metadata to report only that, with its managers, even
// from an older server.
func TestWatchMetadata(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		rules []faultproxy.Rule
	}{
		{"streamed", nil},
		{"listed", []faultproxy.Rule{{Verb: "watch", Status: 422, Times: 1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newThrough(t, faultproxy.Options{})
			c.set(t, "a", "1")
			c.rules(test.rules...)
			seen := metadataSeen{make(chan string)}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- c.WatchMetadata(ctx, configMaps, wait.Scope{Namespace: c.Namespace, Labels: "app=a"}, seen)
			}()
			next := func() string {
				select {
				case text := <-seen.told:
					return text
				case err := <-ended:
					t.Fatalf("the watch ended with %v", err)
				case <-time.After(3 * time.Minute):
					t.Fatal("nothing is told")
				}
				return ""
			}
			got := []string{next(), next()}
			c.set(t, "b", "1")
			got = append(got, next())
			c.Kubectl(t, "", "delete", "configmap", "a")
			got = append(got, next())
			want := []string{"a, 1 managers", "synced", "b, 1 managers", "a gone"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			stop()
			if err := <-ended; err != nil {
				t.Errorf("the watch ended with %v", err)
			}
		})
	}
}
