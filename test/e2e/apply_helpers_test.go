package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
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

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// shopInputs is a hub and a form with three objects: one is retained, and one depends on
// another. Their Deployments run nothing, so that hundreds of them cost the control plane
// little.
const shopInputs = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: HUB}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
  extraValueMappings: {plan: plan}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: app}
spec:
  hubId: HUB
  configMaps:
    - id: settings
      nameTemplate: "{{ .uid }}-settings"
      spec: {apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}"}}
  services:
    - id: web
      nameTemplate: "{{ .uid }}-web"
      deletionPolicy: Retain
      annotationsTemplate: {plan: "{{ .plan }}"}
      spec:
        apiVersion: v1
        kind: Service
        spec: {clusterIP: None, selector: {app: "{{ .uid }}"}, ports: [{name: http, port: 80}]}
  deployments:
    - id: server
      nameTemplate: "{{ .uid }}-server"
      dependIds: [settings]
      spec:
        apiVersion: apps/v1
        kind: Deployment
        spec:
          replicas: 0
          selector: {matchLabels: {app: "{{ .uid }}"}}
          template:
            metadata: {labels: {app: "{{ .uid }}", plan: "{{ .plan }}"}}
            spec: {containers: [{name: server, image: example.com/server}]}
`

// shopKinds returns the kinds of a shop's objects as resources.
func shopKinds() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Group: "apps", Version: "v1", Resource: "deployments"},
		{Version: "v1", Resource: "services"},
		{Version: "v1", Resource: "configmaps"}, // the last, because records are among them
	}
}

func leaseKind() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
}

// shop is a test's own hub: the rows and the form, the namespace with the same name, and a
// lynqctl behind a fault proxy.
type shop struct {
	*harness.Env
	bin   string
	dir   string
	rows  map[string]string // the plan of each row, by uid
	forms []string          // the forms other than app
	proxy *faultproxy.Server
}

// newShop creates a hub with that many rows. It applies nothing.
func newShop(t *testing.T, inputs string, rows int, o faultproxy.Options) *shop {
	t.Helper()
	s := newShopIn(t, cluster.Env(t), inputs, rows, o)
	s.writeRows(t)
	return s
}

// newShopIn works like newShop, in an existing namespace. It doesn't write the rows.
func newShopIn(t *testing.T, env *harness.Env, inputs string, rows int, o faultproxy.Options) *shop {
	t.Helper()
	through, proxy := env.Proxy(t, o)
	s := &shop{Env: through, bin: lynqctl(t), dir: t.TempDir(), rows: map[string]string{}, proxy: proxy}
	for i := range rows {
		s.rows[fmt.Sprintf("t%03d", i)] = "free"
	}
	s.write(t, "inputs.yaml", s.inputs(inputs))
	return s
}

func (s *shop) hub() string { return s.Namespace }

// formInputs is the start of inputs with one form: the shop's hub, and the form up to its
// resources.
const formInputs = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: HUB}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: app}
spec:
  hubId: HUB
`

// inputs returns forms with the name of the shop's hub.
func (s *shop) inputs(text string) string { return strings.ReplaceAll(text, "HUB", s.hub()) }

func (s *shop) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeRows replaces the rows of the hub in one step, so that a watch never reads half of
// them.
func (s *shop) writeRows(t *testing.T) {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,active,plan\n")
	for _, uid := range slices.Sorted(maps.Keys(s.rows)) {
		fmt.Fprintf(&b, "%s,1,%s\n", uid, s.rows[uid])
	}
	next := filepath.Join(t.TempDir(), "rows.csv")
	if err := errors.Join(os.WriteFile(next, []byte(b.String()), 0o600), os.Rename(next, filepath.Join(s.dir, "rows.csv"))); err != nil {
		t.Fatal(err)
	}
}

// running is a started lynqctl.
type running struct {
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr transcript
	done   chan struct{} // closes when it has ended
	code   int           // valid from then on; -1 if a signal ended it
}

// transcript collects the output of a running process.
type transcript struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{} // has room for one
}

// Write implements io.Writer.
func (w *transcript) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.wrote <- struct{}{}:
	default:
	}
	return w.text.Write(p)
}

// String returns the output so far.
func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// start runs lynqctl.
func (s *shop) start(t *testing.T, args ...string) *running {
	t.Helper()
	return s.startIn(t, nil, args...)
}

// startIn runs lynqctl with additional environment variables.
func (s *shop) startIn(t *testing.T, environment []string, args ...string) *running {
	t.Helper()
	r := &running{cmd: exec.Command(s.bin, args...), done: make(chan struct{})}
	r.stderr.wrote = make(chan struct{}, 1)
	r.cmd.Env = append(append(os.Environ(), "KUBECONFIG="+s.Kubeconfig), environment...)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		_ = r.cmd.Wait() // the exit code shows the result
		r.code = r.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // it has ended, unless the test failed
		<-r.done
	})
	return r
}

// startApply runs lynqctl apply on the shop's inputs.
func (s *shop) startApply(t *testing.T, flags ...string) *running {
	t.Helper()
	return s.start(t, append([]string{"apply", "-f", s.dir, "--max-change=100%"}, flags...)...)
}

// apply runs lynqctl apply and waits for its end.
func (s *shop) apply(t *testing.T, flags ...string) *running {
	t.Helper()
	r := s.startApply(t, flags...)
	<-r.done
	return r
}

// said waits for a text on stderr. It fails the test if the process ends without it, or
// doesn't say it in time.
func (r *running) said(t *testing.T, text string) {
	t.Helper()
	for late := time.After(settleWithin); !strings.Contains(r.stderr.String(), text); {
		select {
		case <-r.stderr.wrote:
		case <-r.done:
			if strings.Contains(r.stderr.String(), text) {
				return
			}
			t.Fatalf("it ended with code %d, and never said %q:\n%s", r.code, text, r.stderr.String())
		case <-late:
			t.Fatalf("it didn't say %q:\n%s", text, r.stderr.String())
		}
	}
}

// hears waits until a process says that it was interrupted, or has ended.
func (r *running) hears() {
	for !strings.Contains(r.stderr.String(), "interrupted: lynqctl finishes and records its current work") {
		select {
		case <-r.stderr.wrote:
		case <-r.done:
			return
		}
	}
}

// killedBefore runs lynqctl and kills it before its nth write. It returns false if the run
// sent fewer writes. Then the run must succeed.
func (s *shop) killedBefore(t *testing.T, write int, args ...string) bool {
	t.Helper()
	met, gone := make(chan struct{}), make(chan struct{})
	defer close(gone)
	// The proxy cuts the write, because it may notice later that its client is gone.
	s.proxy.SetRules(faultproxy.Rule{Match: faultproxy.Request.IsWrite, Skip: write - 1, Times: 1, End: faultproxy.CutBefore, Before: func() {
		close(met)
		<-gone
	}})
	r := s.start(t, args...)
	killed := false
	select {
	case <-met:
		killed = true
		kill(t, r, syscall.SIGKILL) // it is still running, because it waits for an answer
	case <-r.done:
		r.want(t, 0)
	}
	<-r.done
	s.proxy.SetRules()
	return killed
}

// want compares the end of a process.
func (r *running) want(t *testing.T, code int, says ...string) {
	t.Helper()
	<-r.done
	if r.code != code {
		t.Errorf("exit code %d, want %d:\n%s", r.code, code, r.stderr.String())
	}
	for _, text := range says {
		if !strings.Contains(r.stderr.String(), text) {
			t.Errorf("%q is not in what it says:\n%s", text, r.stderr.String())
		}
	}
}

// look takes a snapshot, without the proxy.
func (s *shop) look(t *testing.T) *snapshot {
	t.Helper()
	shot := &snapshot{hub: s.hub(), objects: map[string]*unstructured.Unstructured{}}
	for _, kind := range shopKinds() {
		list, err := s.Dynamic.Resource(kind).Namespace(s.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			switch o.GetLabels()[wellknown.LabelRecord] {
			case wellknown.RecordNode:
				shot.nodes = append(shot.nodes, o)
			case wellknown.RecordCopy:
				shot.copies = append(shot.copies, o)
			case wellknown.RecordHub:
				shot.record = o
			case wellknown.RecordHistory: // nothing depends on it
			default:
				shot.objects[refOf(o)] = o
			}
		}
	}
	delete(shot.objects, "ConfigMap/"+s.Namespace+"/kube-root-ca.crt") // every namespace has it
	lease, err := s.Dynamic.Resource(leaseKind()).Namespace(s.Namespace).Get(t.Context(), s.leaseName(), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	if err == nil {
		shot.lease = lease
	}
	return shot
}

func (s *shop) leaseName() string { return "lynqctl-" + s.hub() }

// deleteLease deletes the Lease of a holder that the test knows to be dead.
func (s *shop) deleteLease(t *testing.T) {
	t.Helper()
	err := s.Dynamic.Resource(leaseKind()).Namespace(s.Namespace).Delete(t.Context(), s.leaseName(), metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// desired returns the objects and nodes that rows and form render, from lynqctl render.
func (s *shop) desired(t *testing.T) (objects []*unstructured.Unstructured, nodes []string) {
	t.Helper()
	r := s.start(t, "render", "-f", s.dir, "-o", "json")
	r.want(t, 0)
	for decoder := json.NewDecoder(&r.stdout); decoder.More(); {
		line := json.RawMessage{}
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(line); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	for uid := range s.rows {
		for _, form := range append([]string{"app"}, s.forms...) {
			nodes = append(nodes, uid+"-"+form)
		}
	}
	return objects, nodes
}

// settled fails the test unless the cluster matches rows and form, the inventories match
// the cluster, and another apply writes nothing.
func (s *shop) settled(t *testing.T) {
	t.Helper()
	objects, nodes := s.desired(t)
	before := s.look(t)
	complain(t, before.unsettled(objects, nodes))
	s.proxy.SetRules()
	s.apply(t, "--wait=false").want(t, 0)
	if before, after := before.versions(), s.look(t).versions(); !maps.Equal(before, after) {
		t.Errorf("a further apply changed %v", differing(before, after))
	}
}

// versions returns the uid of each object and inventory, and the version or generation that
// only a writer of its content changes.
func (s *snapshot) versions() map[string]string {
	versions := map[string]string{}
	for _, o := range slices.Concat(slices.Collect(maps.Values(s.objects)), s.nodes) {
		version := o.GetResourceVersion()
		if o.GetKind() == "Deployment" { // its controller writes its status
			version = fmt.Sprint(o.GetGeneration())
		}
		versions[refOf(o)] = string(o.GetUID()) + " " + version
	}
	return versions
}

func differing(a, b map[string]string) []string {
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if a[k] != b[k] {
			keys = append(keys, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if _, known := a[k]; !known {
			keys = append(keys, k)
		}
	}
	return keys
}

// complain fails the test with the first problems.
func complain(t *testing.T, wrong []string) {
	t.Helper()
	const most = 10
	if len(wrong) > most {
		wrong = append(wrong[:most:most], fmt.Sprintf("and %d more", len(wrong)-most))
	}
	if len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
}

// until waits until the proxy has seen something. It returns false if the process ends
// first.
func (s *shop) until(t *testing.T, r *running, seen func([]faultproxy.Record) bool) bool {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.done:
			return false
		case <-t.Context().Done():
			t.Fatal(errors.New("the test has ended"))
		case <-tick.C:
			if seen(s.proxy.Records()) {
				return true
			}
		}
	}
}
