package e2e_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

const (
	prunedNodes = 100
	prunedTimes = 6
	// mostDeletions limits the deletions of a killed run, without those in progress at the
	// kill. All killed runs together must leave some to the last run.
	mostDeletions = 15
	// savedEach is the number of orphans that other clients change during a run.
	savedEach = 4
)

// TestPruneKilled ends runs of orphans prune with SIGKILL while they delete the orphans of
// many nodes and people adopt some. The next undisturbed run must delete the rest. Objects
// that weren't orphans, or no longer were, must be unchanged.
func TestPruneKilled(t *testing.T) {
	t.Parallel()
	p := &pruning{
		shop: newShop(t, shopInputs, 0, faultproxy.Options{}), random: newRandom(t),
		saved: map[string]string{},
	}
	p.leave(t)
	fates := []faultproxy.Rule{
		{Delay: time.Hour},                    // later requests never arrive
		{End: faultproxy.CutAfter},            // it takes effect, but lynqctl gets no answer
		{Delay: time.Hour, Skip: mostUnknown}, // this moment is unknown, but the run isn't done yet
	}
	for killed := range prunedTimes {
		moment, fate := p.random.IntN(mostDeletions), fates[p.random.IntN(len(fates))]
		p.round(t, moment, fate)
		complain(t, p.wrong(t))
		if t.Failed() {
			t.Fatalf("after %d runs; the last ended with deletion %d, %+v", killed+1, moment, fate)
		}
	}
	left := p.marked(t)
	t.Logf("%d of %d orphans are left for the last run; %d deletions came after somebody took the orphan back", len(left), 2*prunedNodes, p.late)
	if len(left) == 0 {
		t.Error("the killed runs left nothing to be healed")
	}
	p.proxy.SetRules()
	p.prune(t).want(t, 0, fmt.Sprintf("%d deleted", len(left)))
	complain(t, p.wrong(t))
	if left = p.marked(t); len(left) > 0 {
		t.Errorf("orphans are left: %v", left)
	}
}

// pruning has orphans, and other objects.
type pruning struct {
	*shop
	random *rand.Rand

	mu sync.Mutex
	// saved has the objects that must stay unchanged, as uid and version.
	saved map[string]string
	// late counts the deletions that came after a person changed the object.
	late int
}

func prunedKinds() map[string]schema.GroupVersionResource {
	return map[string]schema.GroupVersionResource{
		"ConfigMap": {Version: "v1", Resource: "configmaps"},
		"Secret":    {Version: "v1", Resource: "secrets"},
	}
}

// leave creates two orphans for each of many nodes, and objects that only look like
// orphans.
func (p *pruning) leave(t *testing.T) {
	t.Helper()
	for kind, resource := range prunedKinds() {
		createAll(t, p.Env, resource, p.Namespace, prunedNodes, func(i int) *unstructured.Unstructured {
			o := newObject("v1", kind, fmt.Sprintf("t%03d", i))
			o.SetLabels(map[string]string{wellknown.LabelOrphaned: "true"})
			o.SetAnnotations(map[string]string{
				wellknown.AnnotationOrphanedReason: wellknown.ReasonNodeDeleted,
				wellknown.AnnotationOrphanedFrom:   fmt.Sprintf("%s/%s/t%03d-app/%s", p.hub(), p.Namespace, i, strings.ToLower(kind)),
			})
			return o
		})
		createAll(t, p.Env, resource, p.Namespace, prunedNodes/10, func(i int) *unstructured.Unstructured {
			o := newObject("v1", kind, fmt.Sprintf("t%03d-other", i))
			o.SetLabels(map[string]string{wellknown.LabelOrphaned: "false", wellknown.LabelHub: p.hub()})
			return o
		})
	}
	for name, o := range p.all(t) {
		if o.GetLabels()[wellknown.LabelOrphaned] == "false" {
			p.saved[name] = versionOf(o)
		}
	}
}

func versionOf(o *unstructured.Unstructured) string {
	return string(o.GetUID()) + " " + o.GetResourceVersion()
}

// all returns all objects, without the proxy.
func (p *pruning) all(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	all := map[string]*unstructured.Unstructured{}
	for kind, resource := range prunedKinds() {
		list, err := p.Dynamic.Resource(resource).Namespace(p.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			all[kind+"/"+list.Items[i].GetName()] = &list.Items[i]
		}
	}
	return all
}

// marked returns the current orphans.
func (p *pruning) marked(t *testing.T) []string {
	t.Helper()
	var names []string
	for name, o := range p.all(t) {
		if o.GetLabels()[wellknown.LabelOrphaned] == "true" && p.saved[name] == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (p *pruning) prune(t *testing.T) *running {
	t.Helper()
	return p.start(t, "orphans", "prune", "--all", "--include-data", "--yes", "-n", p.Namespace, "--concurrency=8")
}

// round kills a run after that many deletions, while people adopt orphans.
func (p *pruning) round(t *testing.T, moment int, fate faultproxy.Rule) {
	t.Helper()
	fate.Verb, fate.Skip = "delete", fate.Skip+moment
	p.proxy.SetRules(fate)
	p.proxy.Reset()
	targets := p.next(t)
	r := p.prune(t)
	if !p.until(t, r, func(records []faultproxy.Record) bool { return deletions(records) > 0 }) {
		t.Fatalf("it ended with code %d and deleted nothing:\n%s", r.code, r.stderr.String())
	}
	ways := []string{
		`{"metadata":{"labels":{"lynq.sh/orphaned":null}}}`,
		`{"metadata":{"labels":{"lynq.sh/orphaned":null,"lynq.sh/hub":"x","lynq.sh/node":"x-app","lynq.sh/node-namespace":"x"}}}`,
		`{"metadata":{"labels":{"kustomize.toolkit.fluxcd.io/name":"apps"}}}`,
		`{"metadata":{"annotations":{"lynq.sh/mode":"unmanaged"}}}`,
	}
	var saving sync.WaitGroup
	for i, name := range targets {
		saving.Go(func() { p.save(t, name, ways[i%len(ways)]) })
	}
	if !p.until(t, r, func(records []faultproxy.Record) bool { return deletions(records) > moment }) {
		t.Fatalf("it ended with code %d before deletion %d:\n%s", r.code, moment, r.stderr.String())
	}
	kill(t, r, syscall.SIGKILL)
	<-r.done
	saving.Wait()
	for _, r := range p.proxy.Records() {
		if r.Verb == "delete" && r.Status == http.StatusConflict {
			p.late++
		}
	}
}

// next returns some of the orphans that the run deletes soon.
func (p *pruning) next(t *testing.T) []string {
	t.Helper()
	names := p.marked(t)
	slices.SortFunc(names, func(a, b string) int {
		_, first, _ := strings.Cut(a, "/")
		_, second, _ := strings.Cut(b, "/")
		return strings.Compare(first, second) // a run processes nodes in this order
	})
	names = names[:min(2*mostDeletions, len(names))]
	p.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:min(savedEach, len(names))]
}

func deletions(records []faultproxy.Record) int {
	n := 0
	for _, r := range records {
		if r.Verb == "delete" {
			n++
		}
	}
	return n
}

// save adopts an orphan, unless it is gone.
func (p *pruning) save(t *testing.T, name, patch string) {
	kind, object, _ := strings.Cut(name, "/")
	o, err := p.Dynamic.Resource(prunedKinds()[kind]).Namespace(p.Namespace).
		Patch(t.Context(), object, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saved[name] = versionOf(o)
}

// wrong returns the objects that should be unchanged and aren't.
func (p *pruning) wrong(t *testing.T) []string {
	t.Helper()
	all := p.all(t)
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(p.saved)) {
		switch o := all[name]; {
		case o == nil:
			wrong = append(wrong, name+" is no orphan, and was deleted")
		case versionOf(o) != p.saved[name]:
			wrong = append(wrong, name+" is no orphan, and was written to")
		}
	}
	return wrong
}
