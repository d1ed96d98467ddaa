package robust_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
	"github.com/lynqctl/lynqctl/test/robust/model"
)

// faulty is a run with a fault.
type faulty struct {
	*world
	verb string
	kill func()          // ends the run
	gone <-chan struct{} // closes when it has ended
	e    *execution
}

// rules returns the rules of a fault:
//
//   - kill:N kills the process before its Nth write
//   - lost:N drops the answer of that write
//   - mark:N:TOOL:REF lets another tool take an object before that write, or before its own
//     deletion if N is 0
//   - swap:N:REF lets a person replace an object before that write, or before its own
//     deletion if N is 0
//   - pause:N pauses the process before that write, until another run has its Leases
//   - deny:KIND forbids it a kind
//   - blind:RESOURCE forbids it the watches of a resource
//   - as:KIND:VERB runs it as a user without this permission
//
// These count all requests, including reads, except renewals of Leases:
//
//   - before:N kills the process before the Nth request
//   - after:N kills it after the server has carried that request out
//   - cut:N drops the answer of that request
//   - code:N:STATUS answers that request with an error
//   - twice:N does so for the Nth request and the next one
//   - slow:N delays that request past the timeout of the command
//   - short:N ends that watch without an event
//   - swapped:N:REF is swap, before the Nth request of all
//   - marked:N:TOOL:REF is mark, before the Nth request of all. The tools label and owner add
//     a label and an owner, and take nothing
//   - gone:N:REF lets a person delete an object before the Nth request
//   - pair:N:STATUS:STATUS answers that request with an error, and so the next one
//   - swappair:N:STATUS:REF is swapped, and answers the next request with an error
//
// Only a server in memory knows these:
//
//   - behind:N:K lets the Nth request, if it is a read, miss the latest K changes
//   - travel:N:K does so for every other read from there on, as if two servers had different
//     states
//   - tardy:RESOURCE:DURATION delays each event of the watches of a resource
func (f *faulty) rules(t *testing.T, fault string) []faultproxy.Rule {
	t.Helper()
	what, value, _ := strings.Cut(fault, ":")
	number, value, _ := strings.Cut(value, ":")
	nth, _ := strconv.Atoi(number)
	write := faultproxy.Rule{Match: faultproxy.Request.IsWrite, Skip: nth - 1, Times: 1}
	request := faultproxy.Rule{Match: counted(f.verb), Skip: nth - 1, Times: 1, Before: func() { f.e.met = true }}
	from := faultproxy.Rule{Match: counted(f.verb), Skip: nth - 1, Before: f.end, End: faultproxy.CutBefore}
	switch what {
	case "", "as":
		return nil
	case "blind":
		return []faultproxy.Rule{{Verb: "watch", Resource: number, Status: http.StatusForbidden}}
	case "deny":
		return []faultproxy.Rule{{Resource: f.plural(number), Status: http.StatusForbidden}}
	case "kill":
		from.Match = faultproxy.Request.IsWrite
		return []faultproxy.Rule{from} // the first write triggers it, and others wait, too
	case "lost":
		write.End = faultproxy.CutAfter
	case "mark":
		tool, ref, _ := strings.Cut(value, ":")
		if nth == 0 {
			write = f.deletionOf(ref)
		}
		write.Before = f.marks(t, tool, ref)
	case "swap":
		if nth == 0 {
			write = f.deletionOf(value)
		}
		write.Before = f.swaps(t, value)
	case "pause":
		return []faultproxy.Rule{f.paused(t, nth)}
	case "pair":
		first, second, _ := strings.Cut(value, ":")
		next := request
		request.Status, _ = strconv.Atoi(first)
		next.Status, _ = strconv.Atoi(second) // it doesn't see the request before
		return []faultproxy.Rule{request, next}
	case "swappair":
		status, ref, _ := strings.Cut(value, ":")
		next := request
		request.Before = f.swaps(t, ref)
		next.Skip++
		next.Status, _ = strconv.Atoi(status)
		return []faultproxy.Rule{request, next}
	case "behind", "travel", "tardy":
		return []faultproxy.Rule{f.lagging(what, number, value, request)}
	case "before":
		return []faultproxy.Rule{request, from}
	case "after":
		request.End = faultproxy.CutAfter
		from.Skip++
		return []faultproxy.Rule{request, from}
	case "cut":
		request.End = faultproxy.CutAfter
		return []faultproxy.Rule{request}
	case "code":
		request.Status, _ = strconv.Atoi(value)
		return []faultproxy.Rule{request}
	default:
		return []faultproxy.Rule{f.late(t, what, value, request)}
	}
	return []faultproxy.Rule{write}
}

// counted returns a filter for the requests of a command that count. Renewals of Leases
// don't, because their number depends on the time of a run.
func counted(verb string) func(faultproxy.Request) bool {
	return func(r faultproxy.Request) bool {
		keeps := verb == "watch" && r.Verb == "update" && r.Resource == "leases.coordination.k8s.io"
		return !r.Renews && !keeps
	}
}

// late returns rules for faults that cause no error for lynqctl, or several.
func (f *faulty) late(t *testing.T, what, value string, request faultproxy.Rule) faultproxy.Rule {
	switch what {
	case "twice":
		request.Status, request.Times = http.StatusInternalServerError, 2
	case "slow":
		request.Delay = lateBy
	case "short":
		request.Verb, request.End = "watch", faultproxy.CloseAfter
	case "swapped":
		request.Before = f.swaps(t, value)
	case "marked":
		tool, ref, _ := strings.Cut(value, ":")
		request.Before = f.marks(t, tool, ref)
	case "gone":
		request.Before = func() { f.e.met, f.e.erased = true, f.erased(t, model.ParseRef(value)) }
	default:
		t.Fatalf("unknown fault %q", what)
	}
	return request
}

// deletionOf returns a rule for the deletion of an object.
func (f *faulty) deletionOf(object string) faultproxy.Rule {
	ref := model.ParseRef(object)
	return faultproxy.Rule{Verb: "delete", Namespace: f.namespaces[ref.Namespace], Name: f.wide(ref.Kind, ref.Name), Times: 1}
}

// travels is the number of reads that a server behind the others answers.
const travels = 8

// lagging returns a rule for a server that lags.
func (*faulty) lagging(what, number, value string, request faultproxy.Rule) faultproxy.Rule {
	switch what {
	case "tardy":
		return faultproxy.Rule{Verb: "watch", Resource: number, Header: map[string]string{apiserver.Late: value}}
	case "travel":
		var reads atomic.Int64
		counts := request.Match
		request.Times = travels
		request.Match = func(r faultproxy.Request) bool { return counts(r) && !r.IsWrite() && reads.Add(1)%2 == 0 }
	}
	request.Header = map[string]string{apiserver.Behind: value}
	return request
}

// lags reports whether a fault makes the server lag. What a run says then is about the past.
func lags(fault string) bool {
	what, _, _ := strings.Cut(fault, ":")
	return what == "behind" || what == "travel"
}

// marks lets another tool take an object.
func (f *faulty) marks(t *testing.T, tool, ref string) func() {
	return func() { f.e.met, f.e.marked = true, f.taken(t, tool, model.ParseRef(ref)) }
}

// swaps lets a person replace an object.
func (f *faulty) swaps(t *testing.T, ref string) func() {
	return func() {
		f.e.met = true
		f.e.erased, f.e.marked = f.swapped(t, model.ParseRef(ref))
	}
}

// end kills the run.
func (f *faulty) end() {
	f.kill()
	<-f.gone
}

// lateBy is longer than a command waits for anything.
const lateBy = 45 * time.Second

// pauseOf is longer than a Lease lasts.
const pauseOf = 2 * time.Minute

// paused stops all requests from a write on. When they continue, another run has the
// Leases.
func (f *faulty) paused(t *testing.T, nth int) faultproxy.Rule {
	var writes atomic.Int64
	woken := make(chan struct{})
	return faultproxy.Rule{Before: func() {
		if writes.Load() >= int64(nth) {
			<-woken
		}
	}, Match: func(r faultproxy.Request) bool {
		if r.IsWrite() && writes.Add(1) == int64(nth) {
			go func() {
				<-time.After(pauseOf)
				if f.loseLeases(t) {
					f.e.woken = time.Now()
				}
				close(woken)
			}()
		}
		return true
	}}
}

func leases() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
}

// loseLeases gives all Leases to another run. It reports whether there are any, because
// pruning takes none.
func (f *faulty) loseLeases(t *testing.T) bool {
	client := f.Dynamic.Resource(leases()).Namespace(f.Namespace)
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Error(err) // the test's own goroutine waits for the command
		return false
	}
	for i := range list.Items {
		l := &list.Items[i]
		now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
		for field, value := range map[string]string{"holderIdentity": "another run", "renewTime": now, "acquireTime": now} {
			if err := unstructured.SetNestedField(l.Object, value, "spec", field); err != nil {
				t.Error(err)
			}
		}
		if _, err := client.Update(t.Context(), l, metav1.UpdateOptions{}); err != nil {
			t.Error(err)
		}
	}
	return len(list.Items) > 0
}

// unleased names the writes of a run that woke up without its Leases. It ignores writes
// that were already in progress.
func (w *world) unleased(woken time.Time) []string {
	if woken.IsZero() {
		return nil
	}
	var wrong []string
	for _, r := range w.proxy.Records() {
		if !r.Began.Before(woken) && written(r) {
			wrong = append(wrong, "lynqctl wrote after another run had its Lease: "+r.Verb+" "+r.Resource+" "+r.Name)
		}
	}
	return wrong
}

// written reports whether a request changed an object, or an inventory. Each run renews
// Leases and hub records, and orphans prune adds to histories without a Lease.
func written(r faultproxy.Record) bool {
	kind, _, _ := strings.Cut(r.Resource, ".")
	ofRun := kind == "leases" || kind == "events" || kind == "selfsubjectaccessreviews" || strings.HasPrefix(r.Name, "lynqhub-") || strings.HasPrefix(r.Name, "lynqhistory-")
	return r.IsWrite() && !r.DryRun && r.Status/100 == 2 && !ofRun
}

// erased lets a person delete an object during a command, and returns its uid.
func (w *world) erased(t *testing.T, ref model.Ref) string {
	name := w.wide(ref.Kind, ref.Name)
	old, err := w.client(ref).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return "" // the object doesn't exist
	}
	if err := w.client(ref).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		return "" // lynqctl was faster
	}
	return string(old.GetUID())
}

// swapped lets a person replace an object during a command. The person owns the new one.
func (w *world) swapped(t *testing.T, ref model.Ref) (erased string, made []model.Object) {
	name := w.wide(ref.Kind, ref.Name)
	old, err := w.client(ref).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || len(old.GetFinalizers()) > 0 {
		return "", nil // the object doesn't exist
	}
	if erased = w.erased(t, ref); erased == "" {
		return "", nil
	}
	next := fresh(old)
	next.SetLabels(nil)
	next.SetAnnotations(nil)
	next.SetOwnerReferences(nil)
	o, err := w.client(ref).Create(t.Context(), next, metav1.CreateOptions{})
	if err != nil {
		return erased, nil // lynqctl was faster
	}
	object, err := w.objectOf(o, ref.Namespace)
	if err != nil {
		t.Error(err) // the test's own goroutine waits for the command
		return erased, nil
	}
	object.Strange = true
	return erased, []model.Object{object}
}
