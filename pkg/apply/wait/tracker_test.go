package wait

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/test/sites"
)

const testSelector = "lynq.sh/hub=shop"

// script is a watcher whose events a test writes, in orders that no server gives on demand.
type script struct {
	begun chan *scriptWatch
}

type scriptWatch struct {
	Handler
	resource lynq.APIResource
	in       Scope
	end      chan error
	ended    chan struct{}
}

// Seen reports an object.
func (w *scriptWatch) Seen(o *unstructured.Unstructured) { w.Read(o)() }

func (s *script) Watch(ctx context.Context, r lynq.APIResource, in Scope, h Handler) error {
	w := &scriptWatch{Handler: h, resource: r, in: in, end: make(chan error), ended: make(chan struct{})}
	defer close(w.ended)
	s.begun <- w
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-w.end:
		return err
	}
}

// trackerTest is a tracker, and one watch of it.
type trackerTest struct {
	*Tracker
	script *script
	t      *testing.T
}

func newTrackerTest(t *testing.T) *trackerTest {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &script{begun: make(chan *scriptWatch, 20)}
	tr := New(ctx, s)
	t.Cleanup(func() {
		cancel()
		tr.Wait()
	})
	return &trackerTest{Tracker: tr, script: s, t: t}
}

// begin starts a watch of a kind and returns it.
func (tt *trackerTest) begin(r lynq.APIResource) *scriptWatch {
	tt.t.Helper()
	tt.startKind(r, testSelector)
	return <-tt.script.begun
}

// startKind starts a watch of a kind with many awaited objects.
func (tt *trackerTest) startKind(r lynq.APIResource, selector string) {
	ref := lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: "ns", Name: "any"}
	for range fewWatched + 1 {
		tt.Plan(ref)
	}
	tt.Start(r, ref, selector)
}

// is compares the state of an expected object.
func (tt *trackerTest) is(ref lynq.Ref, want ready.State, message string) {
	tt.t.Helper()
	got, ok := tt.State(ref)
	if !ok {
		tt.t.Fatalf("%s is not expected", ref)
	}
	isReadiness(tt.t, got, want, message)
}

func isReadiness(t *testing.T, got ready.Readiness, want ready.State, message string) {
	t.Helper()
	if diff := cmp.Diff([]string{string(want), message}, []string{string(got.State), got.Message}); diff != "" {
		t.Errorf("state and message (-want +got):\n%s", diff)
	}
}

// counter counts notifications.
type counter struct{ n int }

func (c *counter) notify() { c.n++ }

func (c *counter) is(t *testing.T, want int) {
	t.Helper()
	if c.n != want {
		t.Errorf("notified %d times, want %d", c.n, want)
	}
}

func deployments() lynq.APIResource {
	return lynq.APIResource{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true}
}

func deploymentRef(name string) lynq.Ref {
	return lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "ns", Name: name}
}

// deployment returns a Deployment with three replicas.
func deployment(name string, r Revision, available int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{
			"namespace": "ns", "name": name, "uid": string(r.UID),
			"generation": r.Generation, "resourceVersion": r.ResourceVersion,
		},
		"spec": map[string]any{"replicas": int64(3)},
		"status": map[string]any{
			"observedGeneration": r.Generation, "replicas": int64(3), "updatedReplicas": int64(3),
			"availableReplicas": available,
		},
	}}
}

func TestTrackerRemembersWhatCameBefore(t *testing.T) {
	t.Parallel()
	tt := newTrackerTest(t)
	w := tt.begin(deployments())
	if w.resource != deployments() || w.in != (Scope{Namespace: "ns", Labels: testSelector}) {
		t.Errorf("watches %v in %+v", w.resource, w.in)
	}
	w.Synced()
	w.Seen(deployment("web", Revision{"a", 1, "10"}, 1))
	w.Seen(deployment("web", Revision{"a", 1, "12"}, 3))

	var c counter
	got := tt.Expect(deploymentRef("web"), Revision{"a", 1, "10"}, c.notify)
	isReadiness(t, got, ready.StateReady, "")
	tt.is(deploymentRef("web"), ready.StateReady, "")
	c.is(t, 0)
}

func TestTrackerTellsOfChanges(t *testing.T) {
	t.Parallel()
	tt := newTrackerTest(t)
	w := tt.begin(deployments())
	var c counter
	isReadiness(t, tt.Expect(deploymentRef("web"), Revision{"a", 1, "10"}, c.notify), ready.StateWaiting, NotSeenYet)
	w.Synced()
	c.is(t, 0)
	w.Seen(deployment("other", Revision{"b", 1, "11"}, 3))
	c.is(t, 0)
	w.Seen(deployment("web", Revision{"a", 1, "12"}, 1))
	c.is(t, 1)
	tt.is(deploymentRef("web"), ready.StateWaiting, "1 of 3 replicas available")
	w.Seen(deployment("web", Revision{"a", 1, "13"}, 1))
	c.is(t, 1)
	w.Seen(deployment("web", Revision{"a", 1, "14"}, 2))
	c.is(t, 2)
	w.Seen(deployment("web", Revision{"a", 1, "13"}, 1)) // an old report
	c.is(t, 2)
	tt.is(deploymentRef("web"), ready.StateWaiting, "2 of 3 replicas available")

	tt.Forget(deploymentRef("web"))
	w.Seen(deployment("web", Revision{"a", 1, "15"}, 3))
	c.is(t, 2)
	if _, ok := tt.State(deploymentRef("web")); ok {
		t.Error("a forgotten object is expected")
	}

	// After a second write, the seen version is older.
	isReadiness(t, tt.Expect(deploymentRef("web"), Revision{"a", 2, "20"}, c.notify), ready.StateWaiting, NotSeenYet)
	w.Seen(deployment("web", Revision{"a", 2, "21"}, 3))
	c.is(t, 3)
	tt.is(deploymentRef("web"), ready.StateReady, "")
}

func TestTrackerCountsOnlyTheWrite(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		written, seen Revision
		want          ready.State
		message       string
	}{
		{"the write", Revision{"a", 2, "20"}, Revision{"a", 2, "20"}, ready.StateReady, ""},
		{"newer", Revision{"a", 2, "99"}, Revision{"a", 2, "100"}, ready.StateReady, ""},
		{"older version", Revision{"a", 2, "100"}, Revision{"a", 2, "99"}, ready.StateWaiting, NotSeenYet},
		{"older generation", Revision{"a", 2, "x"}, Revision{"a", 1, "y"}, ready.StateWaiting, NotSeenYet},
		{"versions that are no numbers", Revision{"a", 2, "x"}, Revision{"a", 2, "y"}, ready.StateReady, ""},
		{"no generation", Revision{"a", 0, "x"}, Revision{"a", 0, "y"}, ready.StateReady, ""},
		{"the one before", Revision{"b", 1, "20"}, Revision{"a", 9, "19"}, ready.StateWaiting, NotSeenYet},
		{"the one after", Revision{"a", 9, "20"}, Revision{"b", 1, "21"}, ready.StateGone, replaced},
		{"another, who knows when", Revision{"a", 1, "x"}, Revision{"b", 9, "y"}, ready.StateWaiting, NotSeenYet},
	}
	for _, test := range tests {
		for _, order := range []string{"expected first", "seen first"} {
			t.Run(test.name+", "+order, func(t *testing.T) {
				t.Parallel()
				tt := newTrackerTest(t)
				w := tt.begin(deployments())
				see := func() { w.Seen(deployment("web", test.seen, 3)) }
				if order == "seen first" {
					see()
				}
				tt.Expect(deploymentRef("web"), test.written, ignore)
				if order == "expected first" {
					see()
				}
				tt.is(deploymentRef("web"), test.want, test.message)
			})
		}
	}
}

func ignore() {}

func TestTrackerOfDeletions(t *testing.T) {
	t.Parallel()
	written := Revision{"a", 1, "10"}
	tests := []struct {
		name    string
		events  func(w *scriptWatch)
		want    ready.State
		message string
	}{
		{"being deleted", func(w *scriptWatch) {
			o := deployment("web", Revision{"a", 2, "11"}, 3)
			o.SetDeletionTimestamp(&metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
			w.Seen(o)
		}, ready.StateDeleting, "is being deleted since 2026-01-01T00:00:00Z"},
		{"gone", func(w *scriptWatch) { w.Gone("ns", "web", "a") }, ready.StateGone, Deleted},
		{"another went", func(w *scriptWatch) { w.Gone("ns", "web", "b") }, ready.StateWaiting, NotSeenYet},
		{"another went before", func(w *scriptWatch) {
			w.Seen(deployment("web", Revision{"b", 7, "9"}, 3))
			w.Gone("ns", "web", "b")
			w.Seen(deployment("web", written, 3))
		}, ready.StateReady, ""},
		{"gone, and another came", func(w *scriptWatch) {
			w.Seen(deployment("web", written, 3))
			w.Gone("ns", "web", "a")
			w.Seen(deployment("web", Revision{"b", 1, "12"}, 3))
		}, ready.StateGone, Deleted},
		{"lost its label and got it again", func(w *scriptWatch) {
			w.Seen(deployment("web", written, 1))
			w.Gone("ns", "web", "a")
			w.Seen(deployment("web", Revision{"a", 1, "13"}, 3))
		}, ready.StateReady, ""},
		{"there after the watch was interrupted", func(w *scriptWatch) {
			w.Seen(deployment("web", written, 1))
			w.Synced()
			w.Seen(deployment("web", written, 1))
			w.Synced()
		}, ready.StateWaiting, "1 of 3 replicas available"},
		{"not there yet when the watch began", func(w *scriptWatch) { w.Synced() }, ready.StateWaiting, NotSeenYet},
	}
	for _, test := range tests {
		for _, order := range []string{"expected first", "expected last"} {
			t.Run(test.name+", "+order, func(t *testing.T) {
				t.Parallel()
				tt := newTrackerTest(t)
				w := tt.begin(deployments())
				if order == "expected first" {
					tt.Expect(deploymentRef("web"), written, ignore)
				}
				test.events(w)
				if order == "expected last" {
					tt.Expect(deploymentRef("web"), written, ignore)
				}
				tt.is(deploymentRef("web"), test.want, test.message)
			})
		}
	}
}

func TestTrackerOfWhatIsToGo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		events  func(w *scriptWatch)
		want    ready.State
		message string
	}{
		{"nothing known", func(*scriptWatch) {}, ready.StateWaiting, NotSeenYet},
		{"was gone when the watch had begun", func(w *scriptWatch) { w.Synced() }, ready.StateGone, Deleted},
		{"still there", func(w *scriptWatch) { w.Seen(deployment("web", Revision{"a", 1, "10"}, 3)); w.Synced() }, ready.StateReady, ""},
		{"held", func(w *scriptWatch) {
			o := deployment("web", Revision{"a", 2, "11"}, 3)
			o.SetDeletionTimestamp(&metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
			o.SetFinalizers([]string{"example.com/hold"})
			w.Seen(o)
			w.Synced()
		}, ready.StateDeleting, "is being deleted since 2026-01-01T00:00:00Z; finalizer example.com/hold holds it"},
		{"went", func(w *scriptWatch) {
			w.Seen(deployment("web", Revision{"a", 1, "10"}, 3))
			w.Synced()
			w.Gone("ns", "web", "a")
		}, ready.StateGone, Deleted},
		{"somebody made it anew", func(w *scriptWatch) { w.Seen(deployment("web", Revision{"b", 1, "12"}, 0)); w.Synced() }, ready.StateGone, Deleted},
		{"somebody made it anew, early", func(w *scriptWatch) { w.Seen(deployment("web", Revision{"b", 1, "12"}, 0)) }, ready.StateWaiting, NotSeenYet},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tt := newTrackerTest(t)
			w := tt.begin(deployments())
			tt.ExpectGone(deploymentRef("web"), "a", ignore)
			test.events(w)
			tt.is(deploymentRef("web"), test.want, test.message)
		})
	}
}

// A custom resource whose rule asks for an end is complete, also if it is deleted at once.
// After a change, it may work again.
func TestTrackerOfWorkThatEnds(t *testing.T) {
	t.Parallel()
	tt := newTrackerTest(t)
	w := tt.begin(deployments())
	task := func(at Revision, phase string) *unstructured.Unstructured {
		o := deployment("web", at, 3)
		o.SetAnnotations(map[string]string{"lynq.sh/status-hint": "values={.metadata.labels.phase}=Completed"})
		o.SetLabels(map[string]string{"phase": phase})
		return o
	}
	w.Seen(task(Revision{"a", 1, "10"}, "Completed"))
	tt.Expect(deploymentRef("web"), Revision{"a", 1, "10"}, ignore)
	tt.is(deploymentRef("web"), ready.StateReady, "")
	w.Seen(task(Revision{"a", 2, "11"}, "Running"))
	tt.is(deploymentRef("web"), ready.StateWaiting, "{.metadata.labels.phase} is Running, not Completed")
	w.Seen(task(Revision{"a", 2, "12"}, "Completed"))
	ending := task(Revision{"a", 2, "13"}, "Completed")
	ending.SetDeletionTimestamp(&metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	w.Seen(ending)
	w.Gone("ns", "web", "a")
	tt.is(deploymentRef("web"), ready.StateReady, "")
}

// An object that a watch by label reports as gone may only have lost the label. Then a
// watch by name reports it, or a watch of the whole kind if many objects have their own
// watch.
func TestTrackerOfWhatLostItsLabel(t *testing.T) {
	t.Parallel()
	tt := newTrackerTest(t)
	w := tt.begin(deployments())
	ending := func(name string) *unstructured.Unstructured {
		o := deployment(name, Revision{"a", 2, "11"}, 3)
		o.SetDeletionTimestamp(&metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
		return o
	}
	const message = "is being deleted since 2026-01-01T00:00:00Z"
	var refs []lynq.Ref
	for i := range fewWatched + 2 {
		refs = append(refs, deploymentRef("d"+strconv.Itoa(i)))
		tt.ExpectGone(refs[i], "a", ignore)
		w.Seen(ending(refs[i].Name))
	}
	w.Synced()
	for i, ref := range refs {
		w.Gone("ns", ref.Name, "a")
		if i > fewWatched { // the watch of the kind has begun, and reported it
			tt.is(ref, ready.StateDeleting, message)
			tt.StartAll(deployments(), ref)
			break
		}
		tt.is(ref, ready.StateGone, Deleted)
		tt.Doubt(ref)
		tt.is(ref, ready.StateDeleting, message)
		tt.StartAll(deployments(), ref)
		again := <-tt.script.begun
		want := Scope{Namespace: "ns", Name: ref.Name}
		if i == fewWatched {
			want = Scope{Namespace: "ns"}
		}
		if again.in != want {
			t.Errorf("watches %+v, want %+v", again.in, want)
		}
		tt.is(ref, ready.StateWaiting, NotSeenYet)
		again.Seen(ending(ref.Name))
		if i == fewWatched {
			again.Seen(ending(refs[i+1].Name))
		}
		again.Synced()
		tt.is(ref, ready.StateDeleting, message)
		if i != fewWatched {
			again.Gone("ns", ref.Name, "a")
			tt.is(ref, ready.StateGone, Deleted)
		}
	}
	if more := len(tt.script.begun); more > 0 {
		t.Errorf("%d more watches, want none", more)
	}
}

// A few objects have their own watch by name, until they are forgotten.
func TestTrackerByName(t *testing.T) {
	t.Parallel()
	tt := newTrackerTest(t)
	web := deploymentRef("web")
	tt.Plan(web)
	tt.Start(deployments(), web, testSelector)
	tt.Start(deployments(), web, testSelector)
	w := <-tt.script.begun
	if want := (Scope{Namespace: "ns", Name: "web"}); w.in != want {
		t.Errorf("watches %+v, want %+v", w.in, want)
	}
	var c counter
	tt.Expect(web, Revision{"a", 1, "1"}, c.notify)
	w.Seen(deployment("other", Revision{"b", 1, "1"}, 3)) // from a server that ignores the name
	if _, known := tt.State(deploymentRef("other")); known {
		t.Error("another object is known")
	}
	w.Seen(deployment("web", Revision{"a", 1, "1"}, 3))
	c.is(t, 1)
	tt.is(web, ready.StateReady, "")
	tt.Forget(web)
	<-w.ended
	tt.Forget(web)

	// lynqctl deletes it, and it has its own watch again.
	tt.Start(deployments(), web, testSelector)
	w = <-tt.script.begun
	tt.ExpectGone(web, "a", ignore)
	tt.is(web, ready.StateWaiting, NotSeenYet)
	w.Synced()
	tt.is(web, ready.StateGone, Deleted)
}

// If many objects are awaited, one watch covers all of them, even if more come than
// planned.
func TestTrackerOfMany(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ planned, started, byName, ofKind int }{
		{fewWatched, fewWatched, fewWatched, 0},
		{fewWatched + 1, fewWatched + 1, 0, 1},
		{1, fewWatched + 3, fewWatched, 1},
	} {
		tt := newTrackerTest(t)
		for range test.planned {
			tt.Plan(deploymentRef("any"))
		}
		for i := range test.started {
			tt.Start(deployments(), deploymentRef("d"+strconv.Itoa(i)), testSelector)
		}
		byName, ofKind := 0, 0
		for range test.byName + test.ofKind {
			if w := <-tt.script.begun; w.in == (Scope{Namespace: "ns", Labels: testSelector}) {
				ofKind++
			} else {
				byName++
			}
		}
		if byName != test.byName || ofKind != test.ofKind || len(tt.script.begun) > 0 {
			t.Errorf("%+v: %d watches by name, %d of the kind, and %d more", test, byName, ofKind, len(tt.script.begun))
		}
	}
}

// A kind is watched in the namespaces of its awaited objects. If these are few, each has
// its own watch, so that permissions there are enough. Otherwise one watch covers all.
func TestTrackerWatchesNamespaces(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		planned, started int // the number of namespaces
		want             []string
	}{
		{1, 1, []string{"ns0"}},
		{kinds.NamespacesApart, kinds.NamespacesApart, []string{"ns0", "ns1", "ns2", "ns3"}},
		{kinds.NamespacesApart + 1, kinds.NamespacesApart + 1, []string{""}},
		// Nobody planned the wait for deleted objects.
		{1, 2, []string{"ns0", "ns1"}},
		{kinds.NamespacesApart, kinds.NamespacesApart + 2, []string{"", "ns0", "ns1", "ns2", "ns3"}},
	} {
		tt := newTrackerTest(t)
		in := func(i, object int) lynq.Ref {
			ref := deploymentRef("d" + strconv.Itoa(object))
			ref.Namespace = "ns" + strconv.Itoa(i)
			return ref
		}
		for i := range test.planned {
			for object := range fewWatched + 1 {
				tt.Plan(in(i, object))
			}
		}
		for i := range test.started {
			for object := range fewWatched + 1 {
				tt.Start(deployments(), in(i, object), testSelector)
			}
		}
		var got []string
		for range test.want {
			got = append(got, (<-tt.script.begun).in.Namespace)
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) || len(tt.script.begun) > 0 {
			t.Errorf("%d planned, %d started: watches %q and %d more, want %q", test.planned, test.started, got, len(tt.script.begun), test.want)
		}
	}
}

// An object that was deleted before the watch of the whole kind began is gone.
func TestTrackerOfWhatWentUnseen(t *testing.T) {
	t.Parallel()
	tt := newTrackerTest(t)
	w := tt.begin(deployments())
	ref := deploymentRef("web")
	tt.ExpectGone(ref, "a", ignore)
	w.Seen(deployment("web", Revision{"a", 2, "11"}, 3))
	w.Synced()
	w.Gone("ns", "web", "a")
	tt.Doubt(ref)
	tt.StartAll(deployments(), ref)
	whole := <-tt.script.begun
	tt.is(ref, ready.StateWaiting, NotSeenYet)
	whole.Synced()
	tt.is(ref, ready.StateGone, Deleted)
}

func jobObject(t *testing.T, version, fields string) *unstructured.Unstructured {
	t.Helper()
	return sites.Parsed(t, `
apiVersion: batch/v1
kind: Job
metadata: {namespace: ns, name: migrate, uid: j, resourceVersion: "`+version+`"`+fields)
}

// A job that deletes itself was ready, although it is gone.
func TestTrackerOfJobsThatEnd(t *testing.T) {
	t.Parallel()
	tt := newTrackerTest(t)
	w := tt.begin(lynq.APIResource{Group: "batch", Version: "v1", Kind: "Job", Plural: "jobs", Namespaced: true})
	ref := lynq.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "migrate"}
	var c counter
	w.Synced()
	w.Seen(jobObject(t, "10", "}"))
	w.Seen(jobObject(t, "11", "}\nstatus: {conditions: [{type: Complete, status: 'True'}]}"))
	w.Seen(jobObject(t, "12", `, deletionTimestamp: "2026-01-01T00:00:00Z"}`))
	isReadiness(t, tt.Expect(ref, Revision{"j", 1, "10"}, c.notify), ready.StateReady, "")
	w.Gone("ns", "migrate", "j")
	c.is(t, 0)
	tt.is(ref, ready.StateReady, "")
	isReadiness(t, tt.ExpectGone(ref, "j", c.notify), ready.StateGone, Deleted)

	// A job with the same name is another one.
	o := jobObject(t, "20", "}")
	o.SetUID("k")
	w.Seen(o)
	isReadiness(t, tt.Expect(ref, Revision{"k", 1, "20"}, c.notify), ready.StateWaiting, "0 pods succeeded")
}

// If an object moves to another hub, one watch reports that it is gone, and the other that
// it exists, in any order.
func TestTrackerOfSelectors(t *testing.T) {
	t.Parallel()
	for _, seenFirst := range []bool{true, false} {
		t.Run(strconv.FormatBool(seenFirst), func(t *testing.T) {
			t.Parallel()
			tt := newTrackerTest(t)
			one := tt.begin(deployments())
			tt.startKind(deployments(), "lynq.sh/hub=other")
			two := <-tt.script.begun
			one.Seen(deployment("web", Revision{"a", 1, "10"}, 3))
			one.Synced()
			tt.ExpectGone(deploymentRef("gone"), "g", ignore)
			tt.is(deploymentRef("gone"), ready.StateWaiting, NotSeenYet)
			two.Synced()
			tt.is(deploymentRef("gone"), ready.StateGone, Deleted)

			tt.Expect(deploymentRef("web"), Revision{"a", 2, "11"}, ignore)
			if seenFirst {
				two.Seen(deployment("web", Revision{"a", 2, "11"}, 3))
			}
			one.Gone("ns", "web", "a")
			if !seenFirst {
				two.Seen(deployment("web", Revision{"a", 2, "11"}, 3))
			}
			tt.is(deploymentRef("web"), ready.StateReady, "")
		})
	}
}

func TestTrackerStartsOnce(t *testing.T) {
	t.Parallel()
	tt := newTrackerTest(t)
	w := tt.begin(deployments())
	tt.startKind(deployments(), testSelector)
	tt.Expect(deploymentRef("web"), Revision{"a", 1, "1"}, ignore)
	w.Seen(deployment("web", Revision{"a", 1, "1"}, 3))
	tt.is(deploymentRef("web"), ready.StateReady, "")
	tt.began(t, 1)
}

// began compares the number of watches so far.
func (tt *trackerTest) began(t *testing.T, want int) {
	t.Helper()
	if got := len(tt.started); got != want {
		t.Errorf("%d watches, want %d", got, want)
	}
}

func TestTrackerOfUnwatchedKinds(t *testing.T) {
	t.Parallel()
	tt := newTrackerTest(t)
	ref := lynq.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "ns", Name: "db"}
	isReadiness(t, tt.Expect(ref, Revision{"a", 1, "1"}, ignore), ready.StateFailed, "there is no watch of StatefulSet.apps")
	if r, ok := tt.State(ref); ok || r.State != ready.StateFailed {
		t.Errorf("state is %v, %t", r, ok)
	}
	tt.Forget(ref)
}

func TestTrackerOfWatchesThatFail(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "",
		errors.New(`User "eve" cannot watch resource "deployments" in API group "apps" at the cluster scope`))
	tests := []struct {
		err  error
		want string
	}{
		{forbidden, `cannot watch deployments.apps: deployments.apps is forbidden: User "eve" cannot watch resource ` +
			`"deployments" in API group "apps" at the cluster scope (allow list and watch in namespace ns, or set waitForReady: false)`},
		{errors.New("no such kind"), "cannot watch deployments.apps: no such kind"},
		{nil, "cannot watch deployments.apps: the watch ended"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.err), func(t *testing.T) {
			t.Parallel()
			tt := newTrackerTest(t)
			w := tt.begin(deployments())
			w.Seen(deployment("fine", Revision{"a", 1, "1"}, 3))
			w.Seen(deployment("old", Revision{"c", 1, "3"}, 3))
			told := make(chan string, 9)
			tt.Expect(deploymentRef("fine"), Revision{"a", 1, "1"}, func() { told <- "fine" })
			tt.Expect(deploymentRef("web"), Revision{"b", 1, "2"}, func() { told <- "web" })
			tt.ExpectGone(deploymentRef("old"), "c", func() { told <- "old" })
			w.end <- test.err
			first, second := <-told, <-told
			if first == second || first == "fine" || second == "fine" {
				t.Errorf("told %s and %s", first, second)
			}
			tt.is(deploymentRef("fine"), ready.StateReady, "")
			tt.is(deploymentRef("web"), ready.StateFailed, test.want)
			tt.is(deploymentRef("old"), ready.StateFailed, test.want)
			isReadiness(t, tt.Expect(deploymentRef("late"), Revision{"d", 1, "4"}, ignore), ready.StateFailed, test.want)
		})
	}
}

func TestTrackerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &script{begun: make(chan *scriptWatch, 1)}
	tr := New(ctx, s)
	tr.Start(deployments(), deploymentRef("web"), testSelector)
	tr.Expect(deploymentRef("web"), Revision{"a", 1, "1"}, func() { t.Error("told of an end that is no failure") })
	cancel()
	tr.Wait()
	if r, _ := tr.State(deploymentRef("web")); r.State != ready.StateWaiting {
		t.Errorf("state is %v", r)
	}
}

func claims() lynq.APIResource {
	return lynq.APIResource{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims", Namespaced: true}
}

func storageClass(t *testing.T, name, mode string) *unstructured.Unstructured {
	t.Helper()
	return sites.Parsed(t, "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: "+name+"}\nvolumeBindingMode: "+mode)
}

// beginClaims begins the two watches that claims need.
func (tt *trackerTest) beginClaims() (claim, class *scriptWatch) {
	tt.t.Helper()
	tt.startKind(claims(), testSelector)
	for range 2 {
		if w := <-tt.script.begun; w.resource == claims() {
			claim = w
		} else {
			class = w
		}
	}
	if class.resource != ready.ClassResource() || class.in != (Scope{}) {
		tt.t.Fatalf("watches %v in %+v", class.resource, class.in)
	}
	return claim, class
}

func TestTrackerOfClaims(t *testing.T) {
	t.Parallel()
	const pending = `not bound; how storage class "wait" binds is not known`
	tt := newTrackerTest(t)
	claim, class := tt.beginClaims()
	tt.startKind(claims(), "lynq.sh/hub=other") // the classes are watched already
	<-tt.script.begun
	tt.began(t, 3)
	claim.Seen(sites.Parsed(t, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: ns, name: data, uid: a, resourceVersion: "1"}
spec: {storageClassName: wait}
status: {phase: Pending}
`))
	var c counter
	ref := lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "ns", Name: "data"}
	isReadiness(t, tt.Expect(ref, Revision{"a", 0, "1"}, c.notify), ready.StateWaiting, pending+" yet")
	class.Seen(storageClass(t, "standard", "Immediate"))
	c.is(t, 0)
	class.Synced()
	c.is(t, 1)
	tt.is(ref, ready.StateWaiting, `not bound: storage class "wait" doesn't exist`)
	class.Seen(storageClass(t, "wait", "WaitForFirstConsumer"))
	c.is(t, 2)
	tt.is(ref, ready.StateReady, "waiting for the first consumer")
	class.Gone("", "wait", "u")
	c.is(t, 3)
	class.Seen(storageClass(t, "wait", "Immediate"))
	c.is(t, 4)
	tt.is(ref, ready.StateWaiting, `not bound: storage class "wait" has given no volume yet`)
}

func TestTrackerOfClaimsWithoutClasses(t *testing.T) {
	t.Parallel()
	tt := newTrackerTest(t)
	claim, class := tt.beginClaims()
	claim.Seen(sites.Parsed(t, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: ns, name: data, uid: a, resourceVersion: "1"}
spec: {storageClassName: wait}
status: {phase: Pending}
`))
	told := make(chan struct{}, 9)
	ref := lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "ns", Name: "data"}
	tt.Expect(ref, Revision{"a", 0, "1"}, func() { told <- struct{}{} })
	class.end <- errors.New("gone fishing")
	<-told
	tt.is(ref, ready.StateWaiting, `not bound; how storage class "wait" binds is not known: cannot watch storageclasses.storage.k8s.io: gone fishing`)
	claim.Seen(sites.Parsed(t, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: ns, name: data, uid: a, resourceVersion: "2"}
spec: {storageClassName: wait, volumeName: v}
status: {phase: Bound}
`))
	tt.is(ref, ready.StateReady, "")
}

// Each node waits on its own goroutine while the watch reports all objects.
func TestTrackerServesManyNodes(t *testing.T) {
	t.Parallel()
	const nodes = 200
	tt := newTrackerTest(t)
	w := tt.begin(deployments())
	var running sync.WaitGroup
	for i := range nodes {
		running.Go(func() {
			wakeUp := make(chan struct{}, 1)
			ref := deploymentRef(strconv.Itoa(i))
			r := tt.Expect(ref, Revision{types.UID(ref.Name), 1, "10"}, func() {
				if _, ok := tt.State(ref); !ok {
					t.Error("told, and not expected") // this would hang while a lock is held
				}
				select {
				case wakeUp <- struct{}{}:
				default:
				}
			})
			for r.State != ready.StateReady {
				<-wakeUp
				r, _ = tt.State(ref)
			}
		})
	}
	for available := range int64(4) {
		for i := range nodes {
			name := strconv.Itoa(i)
			w.Seen(deployment(name, Revision{types.UID(name), 1, strconv.Itoa(10 + int(available))}, available))
		}
	}
	running.Wait()
}
