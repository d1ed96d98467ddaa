package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// TestOrphansCost wants one list for each kind, and another page only if a kind has more
// orphans than a page holds. It lists the objects of the whole cluster, and other tests'
// kinds would change the counts. So the test has its own cluster.
func TestOrphansCost(t *testing.T) {
	t.Parallel()
	const (
		kinds   = 40
		objects = 1000
		orphans = 501 // ConfigMaps, on two pages
	)
	bin := lynqctl(t)
	own := harness.Shared{Own: true}
	t.Cleanup(own.Stop)
	env, proxy := own.Env(t).Proxy(t, faultproxy.Options{})
	group := env.Namespace + ".test"
	fill(t, env, group, kinds, objects, orphans)
	want := listable(t, env, group, kinds)
	want[faultproxy.Key{Verb: "get", Resource: "/api"}]++
	want[faultproxy.Key{Verb: "get", Resource: "/apis"}]++
	want[faultproxy.Key{Verb: "list", Resource: "configmaps"}]++ // the second page

	// A server answers "later" to the first request for a new kind.
	listOrphans(t, env, bin)

	// The first lists wait for each other, which proves that they are parallel.
	meeting := newMeeting(orphan.DefaultAtOnce)
	proxy.SetRules(faultproxy.Rule{Verb: "list", Times: orphan.DefaultAtOnce, Before: meeting.join})
	proxy.Reset()
	names := listOrphans(t, env, bin)
	if got := strings.Count(names, "\n"); got != orphans+1 {
		t.Errorf("%d orphans were listed, want %d", got, orphans+1)
	}
	if !strings.HasPrefix(names, "ConfigMap/") || !strings.Contains(names, "\nKind007."+group+"/"+env.Namespace+"/orphan\n") {
		t.Errorf("the custom resource is not listed:\n%.200s", names)
	}
	if meeting.late.Load() {
		t.Errorf("%d lists were never under way at the same time", orphan.DefaultAtOnce)
	}
	sameCounts(t, want, proxy)

	// A search for stranded objects needs another list of each kind, and one of the
	// inventories.
	proxy.SetRules()
	proxy.Reset()
	listOrphans(t, env, bin, "--stranded")
	for key := range want {
		if key.Verb == "list" {
			want[key]++
		}
	}
	want[faultproxy.Key{Verb: "list", Resource: "configmaps"}]++
	sameCounts(t, want, proxy)
}

func sameCounts(t *testing.T, want map[faultproxy.Key]int, proxy *faultproxy.Server) {
	t.Helper()
	if diff := cmp.Diff(want, faultproxy.Count(proxy.Records())); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// listOrphans runs orphans list in all namespaces.
func listOrphans(t *testing.T, env *harness.Env, bin string, flags ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bin, append([]string{"orphans", "list", "-A", "-o", "name"}, flags...)...)
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+env.Kubeconfig)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("orphans list %q: %v\n%s", flags, err, stderr.Bytes())
	}
	t.Logf("orphans list %q: %s", flags, time.Since(start).Round(time.Millisecond))
	return stdout.String()
}

// meeting lets that many wait for each other. After too long a wait, it is late.
type meeting struct {
	mu      sync.Mutex
	missing int
	all     chan struct{}
	late    atomic.Bool
}

func newMeeting(n int) *meeting { return &meeting{missing: n, all: make(chan struct{})} }

func (m *meeting) join() {
	m.mu.Lock()
	if m.missing--; m.missing == 0 {
		close(m.all)
	}
	m.mu.Unlock()
	select {
	case <-m.all:
	case <-time.After(3 * time.Minute):
		m.late.Store(true)
	}
}

// listable returns one list for each kind that the server can list, from kubectl. A server
// takes a moment to serve new kinds.
func listable(t *testing.T, env *harness.Env, group string, kinds int) map[faultproxy.Key]int {
	t.Helper()
	for {
		want, custom := map[faultproxy.Key]int{}, 0
		for _, name := range strings.Fields(env.Kubectl(t, "", "api-resources", "--verbs=list", "-o", "name", "--cached=false")) {
			want[faultproxy.Key{Verb: "list", Resource: name}]++
			if strings.HasSuffix(name, "."+group) {
				custom++
			}
		}
		if custom == kinds {
			return want
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the test has ended")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// fill creates kinds in a group, and ConfigMaps of which the first are orphans. It also
// creates an orphan of one of the kinds.
func fill(t *testing.T, env *harness.Env, group string, kinds, objects, orphans int) {
	t.Helper()
	start := time.Now()
	t.Cleanup(func() { undefine(t, env, group) })
	making := sync.WaitGroup{}
	making.Go(func() {
		createAll(t, env, definitions(), "", kinds, func(i int) *unstructured.Unstructured { return tinyKind(group, i) })
	})
	configMaps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	createAll(t, env, configMaps, env.Namespace, objects, func(i int) *unstructured.Unstructured {
		o := newObject("v1", "ConfigMap", fmt.Sprintf("c%05d", i))
		if i < orphans {
			o.SetLabels(map[string]string{wellknown.LabelOrphaned: "true"})
		}
		return o
	})
	making.Wait()
	custom := newObject(group+"/v1", "Kind007", "orphan")
	custom.SetLabels(map[string]string{wellknown.LabelOrphaned: "true"})
	env.Kubectl(t, "", "wait", "crd", "kind007."+group, "--for=condition=Established", "--timeout=180s")
	createAll(t, env, schema.GroupVersionResource{Group: group, Version: "v1", Resource: "kind007"}, env.Namespace, 1,
		func(int) *unstructured.Unstructured { return custom })
	t.Logf("%d kinds and %d objects: %s", kinds, objects, time.Since(start).Round(time.Millisecond))
}

// undefine deletes a group's kinds, on a cluster that stays.
func undefine(t *testing.T, env *harness.Env, group string) {
	if env.Logs != "" {
		return // the cluster is the test's own, and ends with it
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	err := env.Dynamic.Resource(definitions()).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "group=" + group})
	if err != nil {
		t.Logf("kinds of group %s stay: %v", group, err)
	}
}

func definitions() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

// createAll creates objects, many at a time.
func createAll(t *testing.T, env *harness.Env, kind schema.GroupVersionResource, namespace string, n int, object func(i int) *unstructured.Unstructured) {
	t.Helper()
	const atOnce = 32
	client := env.Dynamic.Resource(kind).Namespace(namespace)
	var making sync.WaitGroup
	for first := range atOnce {
		making.Go(func() {
			for i := first; i < n && !t.Failed(); i += atOnce {
				if _, err := client.Create(t.Context(), object(i), metav1.CreateOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	making.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func newObject(apiVersion, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	return o
}

// tinyKind returns a definition of a kind without required fields.
func tinyKind(group string, i int) *unstructured.Unstructured {
	plural := fmt.Sprintf("kind%03d", i)
	o := newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", plural+"."+group)
	o.SetLabels(map[string]string{"group": group})
	o.Object["spec"] = map[string]any{
		"group": group, "scope": "Namespaced",
		"names": map[string]any{"kind": fmt.Sprintf("Kind%03d", i), "plural": plural},
		"versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
		}},
	}
	return o
}
