package watchcmd_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/watchcmd"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/test/harness"
)

const heldInputs = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: held}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
  extraValueMappings: {plan: plan}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: held
  configMaps:
    - {id: settings, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}"}}}
    - {id: extra, nameTemplate: "{{ .uid }}-extra", includeWhen: '{{ ne .plan "free" }}', spec: {apiVersion: v1, kind: ConfigMap}}
`

// holding is a hub whose rows a test writes.
type holding struct {
	*harness.Env
	t       *testing.T
	options applycmd.Options
	dir     string
	hub     lynq.HubKey
	version string // of lynqctl
}

func newHolding(t *testing.T) *holding {
	t.Helper()
	h := &holding{Env: cluster.Env(t), t: t, dir: t.TempDir(), version: "v1"}
	h.hub = lynq.HubKey{Namespace: h.Namespace, Name: "held"}
	h.write("inputs.yaml", heldInputs)
	h.options = applycmd.Options{
		RenderOptions: load.RenderOptions{Inputs: load.InputOptions{Paths: []string{h.dir}}, Access: kube.Access{Kubeconfig: h.Kubeconfig}, Nothing: "nothing changed"},
		RunOptions:    session.DefaultRunOptions(), Limits: decide.Limits{MaxDelete: limits.DefaultMaxDelete()}, Wait: true,
	}
	return h
}

func (h *holding) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *holding) engine(w *watcher) *session.Engine {
	return &session.Engine{Stdin: strings.NewReader(""), Getenv: func(string) string { return "" }, Version: h.version, View: w}
}

// round carries out one round with these rows, and returns the changes.
func (h *holding) round(rows string) []string {
	h.t.Helper()
	h.write("rows.csv", "id,active,plan\n"+rows)
	w := &watcher{}
	if err := watchcmd.ApplyHolding(h.t.Context(), h.engine(w), &h.options); err != nil {
		h.t.Fatalf("%v; %q", err, w.notes)
	}
	return w.outcomes()
}

// record returns the hub record.
func (h *holding) record() *inventory.Hub {
	h.t.Helper()
	client, err := h.options.Access.Client(kube.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	record, err := store.New(client.ConfigMaps()).LoadHub(h.t.Context(), h.hub.Namespace, h.hub.Name)
	if err != nil || record == nil {
		h.t.Fatal(record, err)
	}
	return record
}

func (h *holding) approve(asking func()) (*watcher, error) {
	w := &watcher{asking: asking}
	return w, watchcmd.Approve(h.t.Context(), h.engine(w), &watchcmd.ApproveOptions{HubOptions: watchcmd.HubOptions{Access: h.options.Access, Hub: h.hub}})
}

func (h *holding) did(what string, got []string, want ...string) {
	h.t.Helper()
	if !slices.Equal(got, want) {
		h.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// versions returns the versions of objects, which show whether anybody wrote them.
func (h *holding) versions(refs ...string) string {
	h.t.Helper()
	var all []string
	for _, ref := range refs {
		all = append(all, ref+" "+h.Get(h.t, ref).GetResourceVersion())
	}
	return strings.Join(all, ", ")
}

// TestHeldDeletions wants a guard to hold deletions while everything else continues. Nobody
// touches the held nodes. The approved deletions happen once, and no others.
func TestHeldDeletions(t *testing.T) {
	t.Parallel()
	h := newHolding(t)
	h.round("acme,1,gold\nbolt,1,gold\ncoil,1,gold\ndyno,1,gold\n")
	staying := []string{"configmap/acme", "configmap/acme-extra", "configmap/bolt", "configmap/lynqnode-acme-web", "configmap/lynqnode-bolt-web", "configmap/coil-extra"}
	before := h.versions(staying...)

	h.version = "v2"
	const lost = "coil,1,free\ndyno,1,silver\necho,1,free\n" // coil loses an object, too
	h.did("held", h.round(lost), "ConfigMap/coil update", "ConfigMap/dyno update", "ConfigMap/echo create")
	if got := h.versions(staying...); got != before {
		t.Errorf("before %s\nnow    %s", before, got)
	}
	first := h.record().Held
	if first == nil || first.Guard != "max-delete" || !slices.Equal(first.Nodes, []string{h.Namespace + "/acme-web", h.Namespace + "/bolt-web"}) ||
		!slices.Equal(first.Partly, []string{h.Namespace + "/coil-web"}) || first.Deleted != 5 {
		t.Fatalf("held: %+v", first)
	}
	h.Wait(t, "event/"+h.event("DeletionsHeld"), harness.PathEquals(".involvedObject.name", "lynqhub-held"))
	if version := h.record().Version; version != "" {
		t.Errorf("held, and all is as version %s has it", version)
	}
	h.did("held still", h.round(lost))
	if again := h.record().Held; again.Digest != first.Digest || !again.Since.Equal(first.Since) {
		t.Errorf("held: %+v, before %+v", again, first)
	}
	before = h.versions(append(staying, "configmap/coil", "configmap/dyno", "configmap/lynqnode-coil-web", "configmap/lynqnode-dyno-web")...)

	// Another row disappears while a person decides.
	w, err := h.approve(func() { h.round("coil,1,free\necho,1,free\n") })
	var known *session.Error
	if !errors.As(err, &known) || known.Outcome != session.Refused || !strings.Contains(err.Error(), "watch now holds other deletions") || len(w.asked) != 1 {
		t.Errorf("other deletions: %v, asked %q", err, w.asked)
	}
	if got := h.versions(append(staying, "configmap/coil", "configmap/dyno", "configmap/lynqnode-coil-web", "configmap/lynqnode-dyno-web")...); got != before {
		t.Errorf("before %s\nnow    %s", before, got)
	}
	// A round saves the hub record while a person decides, with the same deletions. The
	// approval still counts.
	h.round(lost)
	if w, err = h.approve(func() { h.round(lost) }); err != nil {
		t.Fatalf("%v; %q", err, w.notes)
	}
	if shown := strings.Join(w.notes, "\n"); !strings.Contains(shown, "  would go: "+h.Namespace+"/acme-web, "+h.Namespace+"/bolt-web") || !strings.Contains(shown, "  would lose objects: "+h.Namespace+"/coil-web") {
		t.Errorf("shown: %s", shown)
	}
	if w, err = h.approve(nil); err != nil || len(w.asked) != 0 {
		t.Errorf("approved twice: %v, asked %q", err, w.asked)
	}
	// The approved deletions aren't the ones that are due now.
	h.did("others", h.round("coil,1,free\necho,1,free\n"))
	if r := h.record(); r.Approved != "" || r.Held == nil {
		t.Errorf("approved %q, held %+v", r.Approved, r.Held)
	}
	h.did("not approved any more", h.round(lost))
	if _, err = h.approve(nil); err != nil {
		t.Fatal(err)
	}
	h.did("approved", h.round(lost), "ConfigMap/acme delete", "ConfigMap/acme-extra delete", "ConfigMap/bolt delete", "ConfigMap/bolt-extra delete", "ConfigMap/coil-extra delete")
	h.Get(t, "event/"+h.event("DeletionsApproved"))
	h.Absent(t, "configmap/lynqnode-acme-web")
	if r := h.record(); r.Approved != "" || r.Held != nil || r.Version != "v2" {
		t.Errorf("approved %q, held %+v, version %q", r.Approved, r.Held, r.Version)
	}
	if _, err = h.approve(nil); !errors.As(err, &known) || known.Outcome != session.BadInput || !strings.Contains(err.Error(), "there is nothing to approve") {
		t.Errorf("nothing is held: %v", err)
	}
}

// event returns the name of an event with this reason. lynqctl sends events in the
// background.
func (h *holding) event(reason string) string {
	h.t.Helper()
	return strings.TrimSpace(h.Kubectl(h.t, "", "get", "events", "--field-selector", "reason="+reason, "-o", "jsonpath={.items[0].metadata.name}"))
}

// TestHeldHandover wants a leaving node to keep an object that another node wants. When it
// leaves, it hands the object over.
func TestHeldHandover(t *testing.T) {
	t.Parallel()
	h := newHolding(t)
	h.write("inputs.yaml", heldInputs+`    - {id: pool, nameTemplate: "pool-{{ .plan }}", spec: {apiVersion: v1, kind: ConfigMap}}
`)
	h.options.Limits.MaxDelete = limits.MaxDelete{} // no node may leave
	h.round("acme,1,one\nbolt,1,two\n")
	uid := h.Get(t, "configmap/pool-one").GetUID()
	before := h.versions("configmap/acme", "configmap/pool-one", "configmap/lynqnode-acme-web")
	const moved = "bolt,1,two\necho,1,one\n"
	h.did("held", h.round(moved), "ConfigMap/echo create", "ConfigMap/echo-extra create")
	if got := h.versions("configmap/acme", "configmap/pool-one", "configmap/lynqnode-acme-web"); got != before {
		t.Errorf("before %s\nnow    %s", before, got)
	}
	h.did("held still", h.round(moved))
	if _, err := h.approve(nil); err != nil {
		t.Fatal(err)
	}
	h.did("approved", h.round(moved), "ConfigMap/acme delete", "ConfigMap/acme-extra delete", "ConfigMap/pool-one release", "ConfigMap/pool-one update")
	if pool := h.Get(t, "configmap/pool-one"); pool.GetUID() != uid {
		t.Error("it was made again")
	}
	h.did("all is well", h.round(moved))
}

// TestHeldWithoutRows wants a source that yields nothing to delete no node. A manual run
// without refusals ends the hold.
func TestHeldWithoutRows(t *testing.T) {
	t.Parallel()
	h := newHolding(t)
	h.round("acme,1,gold\n")
	h.did("no rows", h.round(""))
	first := h.record()
	if first.Held == nil || first.Held.Guard != "allow-empty" {
		t.Fatalf("held: %+v", first.Held)
	}
	if _, err := h.approve(nil); err != nil {
		t.Fatal(err)
	}
	// The row comes back. The approved deletions are no longer due, now or later.
	h.did("the row is back", h.round("acme,1,gold\n"))
	if r := h.record(); r.Held != nil || r.Approved != "" {
		t.Errorf("approved %q, held %+v", r.Approved, r.Held)
	}
	h.did("no rows again", h.round(""))
	if again := h.record(); again.Held == nil || again.Held.Digest != first.Held.Digest || again.Held.Since.Before(first.Held.Since) {
		t.Errorf("held %+v, before %+v", again.Held, first.Held)
	}
	o := h.options
	o.Limits.AllowEmpty = true
	w := &watcher{}
	if err := applycmd.Run(t.Context(), h.engine(w), &o); err != nil {
		t.Fatal(err)
	}
	h.did("by hand", w.outcomes(), "ConfigMap/acme delete", "ConfigMap/acme-extra delete")
	if r := h.record(); r.Held != nil {
		t.Errorf("held %+v", r.Held)
	}
}

// TestApproveWithout approves a hub that doesn't exist.
func TestApproveWithout(t *testing.T) {
	t.Parallel()
	h := newHolding(t)
	h.round("acme,1,gold\n")
	h.hub.Name = "helt"
	var known *session.Error
	_, err := h.approve(nil)
	if !errors.As(err, &known) || known.Outcome != session.BadInput || !strings.Contains(err.Error(), `there is no hub "helt" in namespace `+h.Namespace+` (did you mean "held"?)`) {
		t.Errorf("got %v", err)
	}
}
