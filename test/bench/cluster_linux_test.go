package bench_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/bench/floor"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

var cluster harness.Shared

// BenchmarkCluster measures whole processes on a real cluster. It compares lynqctl apply
// with kubectl, and with a bare client that sends the same writes or lists. Their objects
// stay until the end, so that no clean-up disturbs a measurement.
func BenchmarkCluster(b *testing.B) {
	l := &lab{tb: b, lynqctl: build(b).lynqctl, cluster: cluster.Cluster(b)}
	b.Run("first/rtt=0", func(b *testing.B) { l.first(b, 200, 16, 0) })
	b.Run("first/rtt=20ms", func(b *testing.B) { l.first(b, 200, 32, 20*time.Millisecond) })
	sizes := []int{200, 1000}
	if os.Getenv("LYNQCTL_BENCH_LARGE") == "1" {
		sizes = append(sizes, 10_000)
	}
	for _, nodes := range sizes {
		b.Run(fmt.Sprintf("unchanged/objects=%d", 5*nodes), func(b *testing.B) { l.unchanged(b, nodes) })
	}
	b.Run("planned/objects=50000", func(b *testing.B) { l.planned(b, 10_000) })
	b.Run("waited/objects=10000", func(b *testing.B) { l.waited(b, 100, 100) })
}

// lab is the place of the measurements.
type lab struct {
	tb      testing.TB // of all measurements
	lynqctl string     // path
	cluster *harness.Cluster
}

// first compares a first apply with the bare client. With a delay, a proxy delays each
// request.
func (l *lab) first(b *testing.B, nodes, workers int, delay time.Duration) {
	var bare, ours samples
	for b.Loop() {
		p := l.place(nodes).through(b, delay)
		bare.measure(b, asChild(jobBareApply, p.kubeconfig, p.env.Namespace, p.manifests, strconv.Itoa(workers)))
		p.settle(b)
		p = l.place(nodes).through(b, delay)
		ours.measure(b, p.apply())
		p.settle(b)
	}
	b.ReportMetric(0, "ns/op") // it would include the preparations
	bare.report(b, "bare")
	ours.report(b, "ours")
	b.ReportMetric(ours.median()/bare.median(), "ours/bare")
}

// unchanged measures an apply that changes nothing.
func (l *lab) unchanged(b *testing.B, nodes int) {
	// Each applies its own objects, so that they don't conflict.
	p, theirs := l.place(nodes), l.place(nodes)
	byKubectl := []string{l.cluster.Kubectl, "--kubeconfig", theirs.kubeconfig, "apply", "--server-side", "-f", theirs.manifests}
	new(samples).measure(b, p.apply())
	p.settle(b)
	withKubectl := nodes <= 200 // its time per object stays the same
	if withKubectl {
		new(samples).measure(b, byKubectl)
		theirs.settle(b)
	}
	var lists, least, ours, kubectl samples
	for b.Loop() {
		for range 3 {
			lists.measureApart(b, asChild(jobBareLists, p.kubeconfig, p.hub))
			least.measureApart(b, asChild(jobBareRun, p.kubeconfig, p.hub))
			ours.measureApart(b, p.apply())
		}
		if withKubectl {
			kubectl.measure(b, byKubectl)
		}
	}
	b.ReportMetric(0, "ns/op")
	lists.report(b, "lists")
	least.report(b, "least")
	ours.report(b, "ours")
	b.ReportMetric(ours.median()/lists.median(), "ours/lists")
	b.ReportMetric(ours.median()/least.median(), "ours/least")
	if withKubectl {
		kubectl.report(b, "kubectl")
		b.ReportMetric(kubectl.median()/ours.median(), "kubectl/ours")
	}
}

// planned measures a run that plans new nodes and writes nothing.
func (l *lab) planned(b *testing.B, nodes int) {
	p := l.place(nodes)
	var ours samples
	for b.Loop() {
		ours.measure(b, p.apply("--dry-run=client"))
	}
	b.ReportMetric(0, "ns/op")
	ours.report(b, "ours")
}

// waited measures a run that waits for all of its objects. Each node has some custom
// resources of 1 KB that don't get ready.
func (l *lab) waited(b *testing.B, nodes, each int) {
	var ours samples
	for b.Loop() {
		env := cluster.Env(l.tb)
		env.Kubectl(b, waitedKind, "apply", "-f", "-")
		env.Kubectl(b, "", "wait", "crd/gauges.bench.example.com", "--for=condition=Established", "--timeout=1m")
		inputs := filepath.Join(b.TempDir(), "inputs.yaml")
		if err := os.WriteFile(inputs, []byte(waitedInputs(env.Namespace, each)), 0o600); err != nil {
			b.Fatal(err)
		}
		apply := []string{l.lynqctl, "apply", "--kubeconfig", env.Kubeconfig, "-f", inputs, "--source", "csv:" + writeRows(b, "csv", tenants(nodes)), "-o", "name"}
		// The exit code is 1 if objects don't get ready in time.
		ours.measure(b, append([]string{"sh", "-c", `"$@" 2>/dev/null || test $? = 1`, "sh"}, apply...))
	}
	b.ReportMetric(0, "ns/op")
	ours.report(b, "ours")
}

const waitedKind = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gauges.bench.example.com}, spec: {
  group: bench.example.com, scope: Namespaced, names: {plural: gauges, singular: gauge, kind: Gauge, listKind: GaugeList},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {
    spec: {type: object, x-kubernetes-preserve-unknown-fields: true},
    status: {type: object, x-kubernetes-preserve-unknown-fields: true, default: {conditions: [{type: Ready, status: "False", reason: Waiting, message: not yet}]}}}}}}]}}`

// waitedInputs returns a hub, and a form with some resources.
func waitedInputs(name string, each int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{apiVersion: operator.lynq.sh/v1, kind: LynqHub, metadata: {name: %[1]s, namespace: %[1]s}, spec: {
  source: {type: csv, csv: {path: rows.csv}}, valueMappings: {uid: %[2]s, activate: %[3]s}}}
---
{apiVersion: operator.lynq.sh/v1, kind: LynqForm, metadata: {name: gauges, namespace: %[1]s}, spec: {hubId: %[1]s, manifests: [
`, name, floor.Columns()[0], floor.Columns()[1])
	for i := range each {
		fmt.Fprintf(&b, `  {id: g%[1]d, nameTemplate: "{{ .uid }}-%[1]d", timeoutSeconds: 20, spec: {apiVersion: bench.example.com/v1, kind: Gauge,
    spec: {text: %[2]s}}},
`, i, strings.Repeat("x", 1000))
	}
	return b.String() + "]}}\n"
}

// place is a namespace with its own hub, and the inputs for it.
type place struct {
	env             *harness.Env
	lynqctl         string
	kubeconfig, hub string
	inputs, rows    string // paths
	manifests       string // path of the rendered manifests
}

// place creates a place, which stays until the end of all measurements.
func (l *lab) place(nodes int) *place {
	l.tb.Helper()
	env, dir := cluster.Env(l.tb), l.tb.TempDir()
	p := &place{
		env: env, lynqctl: l.lynqctl, kubeconfig: env.Kubeconfig, hub: env.Namespace,
		inputs: filepath.Join(dir, "inputs.yaml"), manifests: filepath.Join(dir, "manifests.json"),
		rows: writeRows(l.tb, "csv", idle(nodes)),
	}
	if err := p.write(); err != nil {
		l.tb.Fatal(err)
	}
	return p
}

// idle returns rows whose objects give controllers little work: no pods, and unused claims.
func idle(n int) []floor.Row {
	rows := tenants(n)
	for i := range rows {
		rows[i][slices.Index(floor.Columns(), "replicas")] = "0"
		rows[i][slices.Index(floor.Columns(), "tier")] = "wait"
	}
	return rows
}

// write writes the benchmark's hub and form under another name, and their manifests.
func (p *place) write() error {
	var text []byte
	for _, name := range []string{"hub.yaml", "form.yaml"} {
		doc, err := os.ReadFile(filepath.Join(inputs, name))
		if err != nil {
			return err
		}
		text = append(append(text, "---\n"...), doc...)
	}
	renamed := strings.NewReplacer("namespace: tenants", "namespace: "+p.env.Namespace, "name: crm", "name: "+p.hub, "hubId: crm", "hubId: "+p.hub)
	if err := os.WriteFile(p.inputs, []byte(renamed.Replace(string(text))), 0o600); err != nil {
		return err
	}
	manifests, err := exec.Command(p.lynqctl, p.command("render", "-o", "json")...).Output()
	if err != nil {
		return fmt.Errorf("lynqctl render: %w", err)
	}
	return os.WriteFile(p.manifests, manifests, 0o600)
}

// command returns the arguments of a lynqctl command for this place.
func (p *place) command(name string, flags ...string) []string {
	return append([]string{name, "-f", p.inputs, "--source", "csv:" + p.rows}, flags...)
}

// apply returns a lynqctl apply that waits for no object.
func (p *place) apply(flags ...string) []string {
	command := append([]string{p.lynqctl}, p.command("apply", "--kubeconfig", p.kubeconfig, "--wait=false", "-o", "name")...)
	return append(command, flags...)
}

// through puts a proxy before the server that delays each request.
func (p *place) through(b *testing.B, delay time.Duration) *place {
	b.Helper()
	if delay == 0 {
		return p
	}
	env, proxy := p.env.Proxy(b, faultproxy.Options{})
	proxy.SetRules(faultproxy.Rule{Delay: delay})
	behind := *p
	behind.kubeconfig = env.Kubeconfig
	return &behind
}

// settle waits until controllers have processed the objects. One list a second costs the
// server less than kubectl wait, which lists and watches each object.
func (p *place) settle(b *testing.B) {
	b.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Minute); time.Now().Before(deadline); <-tick.C {
		seen := p.env.Kubectl(b, "", "get", "deployments", "-o", `jsonpath={range .items[*]}{.status.observedGeneration}{"\n"}{end}`)
		if !strings.Contains("\n"+seen, "\n\n") {
			return
		}
	}
	b.Fatal("controllers did not see all Deployments within 20 minutes")
}

// samples are the costs of several runs of one command.
type samples struct {
	times []time.Duration
	peak  int64 // KiB
}

func (s *samples) measure(b *testing.B, command []string) {
	b.Helper()
	u, err := metered(command)
	if err != nil {
		b.Fatal(err)
	}
	s.times = append(s.times, u.Wall)
	s.peak = max(s.peak, u.Peak)
}

// measureApart waits before it measures. An API server asks etcd for the progress of a kind
// once in 100 ms at most, so a list soon after another one waits longer than a single one.
func (s *samples) measureApart(b *testing.B, command []string) {
	b.Helper()
	<-time.After(200 * time.Millisecond)
	s.measure(b, command)
}

// median returns seconds.
func (s *samples) median() float64 { return middle(s.times).Seconds() }

func (s *samples) report(b *testing.B, name string) {
	b.ReportMetric(s.median(), name+"-s")
	b.ReportMetric(float64(s.peak)/1024, name+"-MiB")
}
