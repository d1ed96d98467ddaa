package watchcmd_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/delete"
	"github.com/lynqctl/lynqctl/internal/usecase/inventorycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/statuscmd"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/test/harness"
)

var cluster harness.Shared

// watcher is a View that keeps everything that it shows. It answers every question with
// yes.
type watcher struct {
	mu      sync.Mutex
	notes   []string
	asked   []string
	events  []report.Event
	refused []plan.Refusal
	asking  func() // called at the first question
}

func (w *watcher) Note(line string) { w.notes = append(w.notes, line) }
func (*watcher) CanAsk() bool       { return true }
func (w *watcher) Confirm(question string) (bool, error) {
	w.asked = append(w.asked, question)
	if asking := w.asking; asking != nil {
		w.asking = nil
		asking()
	}
	return true, nil
}
func (w *watcher) ConfirmName(question, _ string) (bool, error) { return w.Confirm(question) }
func (*watcher) Attended() bool                                 { return true }
func (*watcher) Preview([]plan.Plan) error                      { return nil }
func (*watcher) Count(string) session.Counter                   { return nil }
func (w *watcher) Printer(session.Mode) session.Printer         { return w }
func (w *watcher) Reporter(session.Mode) session.Reporter       { return w }
func (*watcher) Plan([]plan.Plan) error                         { return nil }
func (*watcher) Result(*report.Result) error                    { return nil }
func (*watcher) Close() error                                   { return nil }
func (w *watcher) Refuse(refusals []plan.Refusal) error         { w.refused = refusals; return nil }
func (w *watcher) Report(e report.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// outcomes returns the outcomes of objects as "KIND/NAME outcome", sorted.
func (w *watcher) outcomes() []string {
	var all []string
	for _, e := range w.events {
		if e.Type == report.EventObject && e.Outcome == report.OutcomeDone {
			all = append(all, e.Object.Kind+"/"+e.Object.Name+" "+string(e.Action))
		}
	}
	slices.Sort(all)
	return all
}

const inputs = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: engine}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: engine
  configMaps:
    - {id: settings, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ConfigMap, data: {plan: gold}}}
`

// TestLifecycle takes a node through its life with this package alone, without a command
// line or a terminal.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("inputs.yaml", inputs)
	write("rows.csv", "id,active\nacme,1\nbolt,1\n")
	access := kube.Access{Kubeconfig: env.Kubeconfig}
	options := applycmd.Options{
		RenderOptions: load.RenderOptions{Inputs: load.InputOptions{Paths: []string{dir}}, Access: access, Nothing: "nothing changed"},
		RunOptions:    session.DefaultRunOptions(), Limits: decide.Limits{MaxDelete: limits.DefaultMaxDelete()}, Wait: true,
	}
	asking := func() {}
	run := func(what string, do func(*session.Engine) error) *watcher {
		t.Helper()
		w := &watcher{asking: asking}
		e := &session.Engine{Stdin: strings.NewReader(""), Getenv: func(string) string { return "" }, Version: "test", View: w}
		if err := do(e); err != nil {
			t.Fatalf("%s: %v; %q", what, err, w.notes)
		}
		return w
	}
	applied := run("apply", func(e *session.Engine) error { return applycmd.Run(t.Context(), e, &options) })
	if got := applied.outcomes(); !slices.Equal(got, []string{"ConfigMap/acme create", "ConfigMap/bolt create"}) {
		t.Errorf("apply: %q", got)
	}
	again := run("apply again", func(e *session.Engine) error { return applycmd.Run(t.Context(), e, &options) })
	if got := again.outcomes(); len(got) > 0 {
		t.Errorf("apply again: %q", got)
	}
	chosen := session.InventoryOptions{Access: access, Namespace: env.Namespace, Nodes: []string{"acme-web"}}
	run("status", func(e *session.Engine) error {
		s, err := statuscmd.List(t.Context(), e, &statuscmd.Options{InventoryOptions: chosen})
		if err == nil && (len(s.Nodes) != 1 || !s.Nodes[0].Well) {
			t.Errorf("status: %+v", s.Nodes)
		}
		return err
	})
	run("verify", func(e *session.Engine) error {
		v, err := inventorycmd.Verify(t.Context(), e, &inventorycmd.VerifyOptions{InventoryOptions: chosen, RecordedOnly: true})
		if err == nil && (v.Nodes != 1 || v.Objects != 1 || len(v.Findings) != 0) {
			t.Errorf("verify: %+v", v)
		}
		return err
	})
	deleted := run("delete", func(e *session.Engine) error {
		return delete.Run(t.Context(), e, &delete.Options{
			RemoveOptions: delete.RemoveOptions{Run: session.DefaultRunOptions(), Access: access},
			Targets:       []delete.Target{{What: "node", Name: "acme-web", Namespace: env.Namespace}}, Cascade: plan.CascadeOrdered,
		})
	})
	if got := deleted.outcomes(); !slices.Equal(got, []string{"ConfigMap/acme delete"}) || len(deleted.asked) != 1 {
		t.Errorf("delete: %q, asked %q", got, deleted.asked)
	}
	env.Absent(t, "configmap/acme")
	env.Absent(t, "configmap/lynqnode-acme-web")
	env.Get(t, "configmap/bolt")

	write("rows.csv", "id,active\nacme,0\nbolt,0\n")
	w := &watcher{}
	e := &session.Engine{Stdin: strings.NewReader(""), Getenv: func(string) string { return "" }, Version: "test", View: w}
	var known *session.Error
	if err := applycmd.Run(t.Context(), e, &options); !errors.As(err, &known) || known.Outcome != session.Refused || len(w.refused) != 1 || w.refused[0].Guard != plan.GuardEmpty {
		t.Errorf("without an active row: %v %+v", err, w.refused)
	}

	// Another run creates a node while a person decides. lynqctl still deletes the whole
	// hub, after a question that counts the node.
	asking = func() {
		asking = func() {}
		write("rows.csv", "id,active\nbolt,1\ncoil,1\n")
		run("apply meanwhile", func(e *session.Engine) error { return applycmd.Run(t.Context(), e, &options) })
	}
	whole := run("delete hub", func(e *session.Engine) error {
		return delete.Run(t.Context(), e, &delete.Options{
			RemoveOptions: delete.RemoveOptions{Run: session.DefaultRunOptions(), Access: access},
			Targets:       []delete.Target{{What: "hub", Name: "engine", Namespace: env.Namespace}}, Cascade: plan.CascadeOrdered,
		})
	})
	if got := whole.outcomes(); !slices.Equal(got, []string{"ConfigMap/bolt delete", "ConfigMap/coil delete"}) ||
		len(whole.asked) != 2 || !strings.Contains(whole.asked[0], "1 node") || !strings.Contains(whole.asked[1], "2 nodes") {
		t.Errorf("delete hub: %q, asked %q", got, whole.asked)
	}
	env.Absent(t, "configmap/lynqhub-engine")
}
