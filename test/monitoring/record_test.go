package monitoring

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/harness"
)

var (
	update  = flag.Bool("update", false, "record the run again, and write what is made of deploy/monitoring")
	cluster harness.Shared
)

// root is the root of the source tree.
var root = filepath.Join("..", "..")

// perNode is the file that a manual run with --metrics-per-node wrote.
var perNode = filepath.Join("testdata", "per-node.prom")

const (
	scrapeEvery = 3 * time.Second
	columns     = "id,active,plan,replicas,broken\n"
	rowsWell    = columns + "acme,1,pro,1,no\nbolt,1,pro,1,no\ncoil,1,basic,1,no\ndune,1,basic,1,no\neast,1,basic,1,no\nfern,1,pro,1,no\nold,0,basic,1,no\n"
	// Helm owns gale's settings, the server refuses hill's Deployment, and iris' is never
	// ready.
	rowsBroken   = rowsWell + "gale,1,pro,1,no\nhill,1,pro,-1,no\niris,1,pro,1,true\n"
	rowsRepaired = rowsWell + "gale,1,pro,1,no\nhill,1,pro,1,no\niris,1,pro,1,no\n"
	// jade's Deployment makes a manual run wait.
	rowsSlow = rowsRepaired + "jade,1,pro,1,true\n"
	helms    = `apiVersion: v1
kind: ConfigMap
metadata:
  name: gale-settings
  labels: {app.kubernetes.io/managed-by: Helm}
  annotations: {meta.helm.sh/release-name: gale, meta.helm.sh/release-namespace: shop}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: kate-settings
  labels: {app.kubernetes.io/managed-by: Helm}
  annotations: {meta.helm.sh/release-name: kate, meta.helm.sh/release-namespace: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: old-settings, labels: {app: old}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other-settings, labels: {app: new}}
`
)

// recorder runs lynqctl on a real cluster, and scrapes it.
type recorder struct {
	env       *harness.Env
	program   string
	dir       string
	addresses []string // of the instances' metrics
	began     time.Time
	run       recording
	phase     string
}

// TestRecorded compares the recorded run with lynqctl's current metrics. With -update, it
// records the whole story, which takes six minutes.
func TestRecorded(t *testing.T) {
	r := newRecorder(t)
	if !*update {
		r.scrapes(t, 1, nil)
		r.write(t, "in/rows.csv", rowsBroken)
		r.until(t, 0, "lynqctl_nodes_backing_off", "3")
		r.scrapes(t, 1, nil)
		r.current(t)
		return
	}
	r.story(t)
	if err := os.WriteFile(recordedRun, r.run.format(), 0o600); err != nil {
		t.Fatal(err)
	}
	r.write(t, "in/rows.csv", rowsBroken+"kate,1,pro,1,no\n")
	r.lynqctl(t, false, "apply", "-f", "in", "--lock-timeout=60s", "--yes", "--tombstones=stones.yaml", "--metrics-file=per-node.prom", "--metrics-per-node")
	text, err := os.ReadFile(filepath.Join(r.dir, "per-node.prom"))
	if err == nil {
		err = os.WriteFile(perNode, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// story breaks what each alert is about, phase by phase, and repairs it.
func (r *recorder) story(t *testing.T) {
	r.during(t, "well", 8, nil)

	r.write(t, "in/rows.csv", rowsBroken)
	edits := 0
	r.during(t, "broken", 24, func() {
		edits++
		r.env.Kubectl(t, "", "patch", "configmap", "acme-settings", "--type=merge", "-p", fmt.Sprintf(`{"data":{"plan":"edit %d"}}`, edits))
	})

	r.env.Kubectl(t, "", "delete", "configmap", "gale-settings")
	r.write(t, "in/rows.csv", rowsRepaired)
	r.during(t, "repaired", 8, nil)

	r.write(t, "in/rows.csv", columns+"acme,1,pro,1,no\n")
	r.write(t, "in/more.yaml", "kind: [\n")
	r.during(t, "held", 12, nil)

	r.remove(t, "in/rows.csv")
	r.during(t, "unreadable", 22, nil)

	r.remove(t, "in/more.yaml")
	r.write(t, "in/rows.csv", rowsRepaired)
	r.during(t, "readable", 5, nil)

	r.env.Kubectl(t, "", "delete", "configmap", "lynqhub-crm", "--wait=false")
	r.write(t, "in/rows.csv", strings.Replace(rowsRepaired, "acme,1,pro", "acme,1,max", 1))
	r.during(t, "refused", 7, nil)
	r.env.Kubectl(t, "", "patch", "configmap", "lynqhub-crm", "--type=json", "-p", `[{"op":"remove","path":"/metadata/finalizers"}]`)

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.lynqctl(t, false, "apply", "-f", "hand", "--yes", "--lock-timeout=60s")
	}()
	r.during(t, "by-hand", 13, nil)
	<-ended
	r.during(t, "end", 6, nil)
}

// namespace creates a namespace. For a recording, it has a fixed name, because the
// recording shows it.
func namespace(t *testing.T) (env *harness.Env, made bool) {
	t.Helper()
	if *update {
		return cluster.EnvNamed(t, "shop")
	}
	return cluster.Env(t), true
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	env, made := namespace(t)
	if !made {
		t.Fatal("there is a namespace shop in the cluster: record on another one")
	}
	r := &recorder{env: env, dir: t.TempDir(), phase: "start"}
	r.program = filepath.Join(t.TempDir(), "lynqctl")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", r.program, "./cmd/lynqctl")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"in/hub.yaml", "in/web.yaml", "stones.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		own := strings.ReplaceAll(string(text), "namespace: shop", "namespace: "+env.Namespace)
		r.write(t, name, own)
		if folder, file := filepath.Split(name); folder != "" {
			r.write(t, "hand/"+file, strings.Replace(own, "timeoutSeconds: 5", "timeoutSeconds: 36", 1))
		}
	}
	r.write(t, "in/rows.csv", rowsWell)
	r.write(t, "hand/rows.csv", rowsSlow)
	env.Kubectl(t, helms, "apply", "-f", "-")
	for i, leading := range []string{"1", "0"} {
		r.watch(t)
		r.until(t, i, "lynqctl_leading", leading)
	}
	env.Wait(t, "deployment/fern-app", harness.ConditionTrue("Available"))
	r.began = time.Now()
	r.run.began = r.began
	return r
}

// watch starts an instance, which ends with the test.
func (r *recorder) watch(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := r.command(ctx, "watch", "-f", "in", "--tombstones=stones.yaml", "--listen=127.0.0.1:0")
	says, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		t.Fatal(err)
	}
	var log bytes.Buffer
	address, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		readLog(io.TeeReader(says, &log), address)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 || t.Failed() {
			t.Errorf("lynqctl watch: %v\n%s", err, log.Bytes())
		}
	})
	select {
	case at := <-address:
		r.addresses = append(r.addresses, at)
	case <-ended:
		t.Fatal("lynqctl watch ended, and did not say where it has its metrics")
	}
}

// readLog reads a watch's log, and sends the address of its metrics.
func readLog(log io.Reader, address chan<- string) {
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "metrics and health at http://"); ok {
			at, _, _ := strings.Cut(rest, `"`)
			address <- at
		}
	}
	_, _ = io.Copy(io.Discard, log) // a line may be too long, and the process must not wait
}

// command returns a call of lynqctl, which is interrupted when the context ends.
func (r *recorder) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+r.env.Kubeconfig)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	return cmd
}

func (r *recorder) lynqctl(t *testing.T, well bool, args ...string) {
	t.Helper()
	if out, err := r.command(t.Context(), args...).CombinedOutput(); (err == nil) != well {
		t.Errorf("lynqctl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// until waits until an instance reports a value for the hub.
func (r *recorder) until(t *testing.T, instance int, metric, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		series, err := r.scrape(ctx, r.addresses[instance])
		got := series[metric+`{hub="crm",namespace="`+r.env.Namespace+`"}`]
		if err == nil && got == want {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("instance %d says %s %q, not %q (%v)", instance, metric, got, want, err)
		case <-tick.C:
		}
	}
}

func (r *recorder) scrape(ctx context.Context, address string) (map[string]string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close() // it was only read
	if err != nil {
		return nil, err
	}
	series, err := parseScrape(text)
	maps.DeleteFunc(series, func(name, _ string) bool { // every process written in Go has these
		return strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_")
	})
	return series, err
}

// during scrapes some times, in a phase of the story, and calls between after each scrape.
func (r *recorder) during(t *testing.T, phase string, times int, between func()) {
	t.Helper()
	r.phase = phase
	r.scrapes(t, times, between)
}

func (r *recorder) scrapes(t *testing.T, times int, between func()) {
	t.Helper()
	tick := time.NewTicker(scrapeEvery)
	defer tick.Stop()
	for range times {
		<-tick.C
		for i, address := range r.addresses {
			series, err := r.scrape(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			r.run.scrapes = append(r.run.scrapes, scrape{time.Since(r.began).Round(10 * time.Millisecond), fmt.Sprintf("lynqctl-%d", i), r.phase, series})
		}
		if between != nil {
			between()
		}
	}
}

// current wants every current series in the recorded run, by name and labels.
func (r *recorder) current(t *testing.T) {
	t.Helper()
	recorded := labelNames(t, readRun(t))
	for name, labels := range labelNames(t, &r.run) {
		for label := range labels {
			if !recorded[name][label] {
				t.Errorf("%s with label %q is not in %s: record it again (go test -run '^TestRecorded$' -update)", name, label, recordedRun)
			}
		}
	}
}

func (r *recorder) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(r.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (r *recorder) remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
		t.Fatal(err)
	}
}
