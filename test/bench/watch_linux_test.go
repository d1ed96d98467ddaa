package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"github.com/lynqctl/lynqctl/test/bench/floor"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// BenchmarkWatch measures lynqctl watch while nothing happens, and while another client
// edits its objects.
func BenchmarkWatch(b *testing.B) {
	l := &lab{tb: b, lynqctl: build(b).lynqctl, cluster: cluster.Cluster(b)}
	five := []string{"configmaps", "deployments.apps", "ingresses.networking.k8s.io", "persistentvolumeclaims", "services"}
	sizes := []int{100, 1000}
	if os.Getenv("LYNQCTL_BENCH_LARGE") == "1" {
		b.Run("nodes=10000/objects=1", func(b *testing.B) { l.watched(b, l.single(10_000), five[:1]) })
	}
	for _, nodes := range sizes {
		b.Run(fmt.Sprintf("nodes=%d/objects=5", nodes), func(b *testing.B) { l.watched(b, l.place(nodes), five) })
	}
}

// pollEvery is the interval at which watch reads the rows.
const pollEvery = 10 * time.Second

// poll sets the hub's syncInterval.
func (p *place) poll(b *testing.B, every time.Duration) {
	b.Helper()
	text, err := os.ReadFile(p.inputs)
	if err != nil {
		b.Fatal(err)
	}
	text = bytes.Replace(text, []byte("    type: csv\n"), fmt.Appendf(nil, "    type: csv\n    syncInterval: %s\n", every), 1)
	if err := os.WriteFile(p.inputs, text, 0o600); err != nil {
		b.Fatal(err)
	}
}

// single returns a place. Each of its nodes has one ConfigMap.
func (l *lab) single(nodes int) *place {
	l.tb.Helper()
	p := l.place(1)
	p.rows = writeRows(l.tb, "csv", idle(nodes))
	text, err := os.ReadFile(p.inputs)
	if err != nil {
		l.tb.Fatal(err)
	}
	kept, _, _ := bytes.Cut(text, []byte("  persistentVolumeClaims:\n"))
	if err := os.WriteFile(p.inputs, kept, 0o600); err != nil {
		l.tb.Fatal(err)
	}
	return p
}

// idleFor is the time without changes.
func idleFor(b *testing.B) time.Duration {
	b.Helper()
	text := os.Getenv("LYNQCTL_BENCH_IDLE")
	if text == "" {
		return time.Minute
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// watched measures lynqctl watch of a place that has objects of these resources.
func (l *lab) watched(b *testing.B, p *place, resources []string) {
	b.Helper()
	p.poll(b, pollEvery)
	new(samples).measure(b, p.apply())
	for b.Loop() {
		env, proxy := p.env.Proxy(b, faultproxy.Options{})
		behind := *p
		behind.kubeconfig = env.Kubeconfig
		w := behind.watch(b)
		poll(b, 5*time.Minute, quiet(proxy, resources))
		d := idleFor(b)
		proxy.Reset()
		used := w.processor(b)
		<-time.After(d) // the benchmark measures this time without changes
		b.ReportMetric(float64(len(proxy.Records()))/d.Seconds(), "idle-requests/s")
		b.ReportMetric(100*(w.processor(b)-used).Seconds()/d.Seconds(), "idle-cpu-%")
		b.ReportMetric(float64(w.memory(b, "VmHWM"))/1024, "peak-MiB")
		b.ReportMetric(float64(w.memory(b, "VmRSS"))/1024, "idle-MiB")
		proxy.Reset()
		healed := p.edit(b, 100)
		b.ReportMetric(middle(healed).Seconds(), "healed-s")
		b.ReportMetric(slices.Max(healed).Seconds(), "last-healed-s")
		b.ReportMetric(float64(len(proxy.Records()))/float64(len(healed)), "requests/edit")
		b.ReportMetric(max(0, p.change(b, 20)-pollEvery).Seconds(), "rows-after-poll-s")
		w.stop(b)
	}
	b.ReportMetric(0, "ns/op")
}

// quiet returns a function that reports whether watch watches all resources, and has only
// renewed its Lease for a while.
func quiet(proxy *faultproxy.Server, resources []string) func() bool {
	const while = 15 * time.Second
	before, since := 0, time.Now()
	return func() bool {
		watched := map[string]bool{}
		n := 0
		for _, r := range proxy.Records() {
			if r.Verb == "watch" {
				watched[r.Resource] = true
			}
			if r.Resource != "leases.coordination.k8s.io" {
				n++
			}
		}
		if n != before {
			before, since = n, time.Now()
		}
		return len(watched) >= len(resources) && time.Since(since) > while
	}
}

// poll waits until a condition is met.
func poll(b *testing.B, most time.Duration, met func() bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), most)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for !met() {
		select {
		case <-ctx.Done():
			b.Fatal("it did not come to that in ", most)
		case <-look.C:
		}
	}
}

// process is a running lynqctl watch.
type process struct {
	cmd *exec.Cmd
	log *os.File
}

// watch starts lynqctl watch.
func (p *place) watch(b *testing.B) *process {
	b.Helper()
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(p.lynqctl, p.command("watch", "--kubeconfig", p.kubeconfig)...)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w := &process{cmd, log}
	b.Cleanup(func() { w.stop(b) })
	return w
}

func (w *process) stop(b *testing.B) {
	b.Helper()
	if w.cmd.ProcessState != nil {
		return
	}
	_ = w.cmd.Process.Signal(syscall.SIGTERM) // its result shows whether it had ended before
	if err := w.cmd.Wait(); w.cmd.ProcessState.ExitCode() != 130 {
		text, _ := os.ReadFile(w.log.Name())
		b.Errorf("lynqctl watch: %v\n%s", err, text)
	}
	_ = w.log.Close()
}

// processor returns the processor time of the process.
func (w *process) processor(b *testing.B) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):]))
	const user, tick = 12, 10 * time.Millisecond // fields 14 and 15 of proc(5), in clock ticks
	var used time.Duration
	for _, field := range fields[user : user+2] {
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		used += time.Duration(n) * tick
	}
	return used
}

// memory returns a value of /proc/PID/status, in KiB.
func (w *process) memory(b *testing.B, name string) int {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), name+":")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// change changes n rows at once, and returns the time until the last object is right.
func (p *place) change(b *testing.B, n int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(p.rows)
	if err != nil {
		b.Fatal(err)
	}
	lines, region := bytes.Split(text, []byte("\n")), slices.Index(floor.Columns(), "region")
	for i := range n {
		cells := bytes.Split(lines[1+i], []byte(","))
		cells[region] = []byte("moved")
		lines[1+i] = bytes.Join(cells, []byte(","))
	}
	client := p.client(b)
	next := p.rows + ".next"
	if err := os.WriteFile(next, bytes.Join(lines, []byte("\n")), 0o600); err != nil {
		b.Fatal(err)
	}
	since := time.Now()
	if err := os.Rename(next, p.rows); err != nil { // a read finds either the old rows or the new ones
		b.Fatal(err)
	}
	poll(b, time.Minute, func() bool {
		all, err := client.List(b.Context(), metav1.ListOptions{LabelSelector: "lynq.sh/hub=" + p.hub + ",!lynq.sh/record"})
		moved := 0
		for i := range all.Items {
			if r, _, _ := unstructured.NestedString(all.Items[i].Object, "data", "region"); r == "moved" {
				moved++
			}
		}
		return err == nil && moved == n
	})
	return time.Since(since)
}

// client returns a client for the place's ConfigMaps.
func (p *place) client(b *testing.B) dynamic.ResourceInterface {
	b.Helper()
	config, err := bareConfig(p.env.Kubeconfig)
	if err != nil {
		b.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	return client.Resource(kinds()["ConfigMap"]).Namespace(p.env.Namespace)
}

// edit edits n ConfigMaps, one after the other, and returns the time until each is
// restored.
func (p *place) edit(b *testing.B, n int) []time.Duration {
	b.Helper()
	maps := p.client(b)
	all, err := maps.List(b.Context(), metav1.ListOptions{LabelSelector: "lynq.sh/hub=" + p.hub + ",!lynq.sh/record"})
	if err != nil || len(all.Items) < n {
		b.Fatalf("%d ConfigMaps: %v", len(all.Items), err)
	}
	changes, err := toolswatch.NewRetryWatcherWithContext(b.Context(), all.GetResourceVersion(), &cache.ListWatch{WatchFuncWithContext: maps.Watch})
	if err != nil {
		b.Fatal(err)
	}
	defer changes.Stop()
	edited, healed := make(chan edit, n), []time.Duration{}
	go func() {
		for i := range n {
			name := all.Items[i*len(all.Items)/n].GetName()
			_, err := maps.Patch(b.Context(), name, types.MergePatchType, []byte(`{"data":{"region":"edited"}}`), metav1.PatchOptions{})
			edited <- edit{name, time.Now(), err}
		}
	}()
	seen := map[string]time.Time{} // when each was restored after its edit
	begun := map[string]time.Time{}
	for len(healed) < n {
		select {
		case e := <-edited:
			if e.err != nil {
				b.Fatal(e.err)
			}
			begun[e.name] = e.at
		case change := <-changes.ResultChan():
			o, ok := change.Object.(*unstructured.Unstructured)
			if !ok {
				b.Fatalf("the watch ended: %v", change)
			}
			if region, _, _ := unstructured.NestedString(o.Object, "data", "region"); region != "" && region != "edited" {
				seen[o.GetName()] = time.Now()
			}
		case <-time.After(time.Minute):
			b.Fatalf("%d of %d edits were not taken back in a minute", n-len(healed), n)
		}
		for name, at := range begun {
			if back, is := seen[name]; is {
				healed = append(healed, max(0, back.Sub(at)))
				delete(begun, name)
			}
		}
	}
	return healed
}

// edit is one edit of a ConfigMap, with the time of the answer.
type edit struct {
	name string
	at   time.Time
	err  error
}
