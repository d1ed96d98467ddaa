package gitops

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/pkg/ssa"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// carrier carries out the forms and rows of its repository, as far as possible: lynqctl
// apply, or a target with the tree that lynqctl renders for it.
type carrier interface {
	carry(t *testing.T)
	rows(t *testing.T, rows ...string)
	// told returns what render reported about a policy of a resource, or of a form.
	told(id, policy string) string
	write(t *testing.T, name, text string)
}

// patience is the time for which Flux waits, even for objects that never become ready.
const patience = 15 * time.Second

// listener keeps the losses that render reports.
type listener struct{ all []loss }

type loss struct{ Form, Resource, Policy, Instead string }

func (l *listener) told(id, policy string) string {
	var instead []string
	for _, a := range l.all {
		if a.Policy == policy && (a.Resource == id || a.Resource == "" && a.Form == id) {
			instead = append(instead, a.Instead)
		}
	}
	return strings.Join(instead, "; ")
}

// tell renders the tree for a column, and keeps the reported losses.
func (l *listener) tell(t *testing.T, r *repository, c column) {
	t.Helper()
	flags := []string{"--output-dir", r.tree(), "--plain-secrets", "--max-delete=100%", "-o", "json", "--target=" + c.target}
	if c.apps != "" {
		flags = append(flags, "--emit-apps="+c.apps, "--repo-url=https://git.example/x", "--repo-path=tree")
	}
	var report struct{ Losses []loss }
	if err := json.Unmarshal([]byte(r.render(t, flags...)), &report); err != nil {
		t.Fatal(err)
	}
	for _, a := range report.Losses {
		if !slices.Contains(l.all, a) {
			l.all = append(l.all, a)
		}
	}
}

// folders returns the nodes of a tree.
func (r *repository) folders(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.tree(), "*", "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	nodes := make([]string, len(files))
	for i, f := range files {
		nodes[i] = filepath.Base(filepath.Dir(f))
	}
	return nodes
}

// applier is lynqctl apply.
type applier struct {
	*repository
	listener
	kubeconfig string
	flags      []string // in addition to those of all runs
}

func (a *applier) carry(t *testing.T) {
	t.Helper()
	program, err := lynqctl()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"apply", "-f", filepath.Join(a.dir, "forms.yaml"), "-n", a.namespace, "--kubeconfig", a.kubeconfig, "--yes", "--max-delete=100%"}
	if out, code := output(t, program, append(args, a.flags...)...); code > 1 && len(a.flags) == 0 {
		t.Fatalf("apply: exit code %d: %s", code, out)
	}
}

// syncer is Argo CD.
type syncer struct {
	*argo
	listener
	column column
}

// steps is more than any sync takes whose objects are ready at once.
const steps = 8

func (s *syncer) carry(t *testing.T) {
	t.Helper()
	s.tell(t, s.repository, s.column)
	for _, node := range s.folders(t) {
		if app := s.application(t, node); s.outOfSync(t, node, app) {
			s.try(t, node, app, steps)
		}
	}
}

// application returns the Application of a node: from the tree, from the ApplicationSet, or
// as a person would write it.
func (s *syncer) application(t *testing.T, node string) *unstructured.Unstructured {
	t.Helper()
	switch s.column.apps {
	case "applications":
		return s.apps(t, "Application")[node]
	case "applicationset":
		spec, _, err := unstructured.NestedMap(s.apps(t, "ApplicationSet")["lynqctl"].Object, "spec", "template", "spec")
		if err != nil {
			t.Fatal(err)
		}
		app := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		if err := unstructured.SetNestedField(spec, "tree/"+node, "source", "path"); err != nil {
			t.Fatal(err)
		}
		return app
	}
	return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"source": map[string]any{"path": "tree/" + node}}}}
}

// reconciler is Flux.
type reconciler struct {
	*flux
	listener
	column column
}

func (r *reconciler) carry(t *testing.T) {
	t.Helper()
	r.tell(t, r.repository, r.column)
	wanted := map[string]*unstructured.Unstructured{}
	if r.column.apps != "" {
		wanted = r.apps(t, "Kustomization")
	} else {
		for _, node := range r.folders(t) {
			wanted[node] = r.kustomizationOf(node)
		}
	}
	done, ready := map[string]ssa.Action{}, map[string]bool{}
	for name, had := range r.inventory {
		if wanted[name] == nil {
			r.prune(t, name, had, done)
			delete(r.inventory, name)
		}
	}
	for progress := true; progress; {
		waits := map[string]func() error{}
		progress = false
		for name, k := range maps.Clone(wanted) {
			if !dependenciesIn(ready, k) {
				continue
			}
			progress = true
			delete(wanted, name)
			if wait, err := r.try(t, name, k, patience, done); err == nil {
				waits[name] = wait
			}
		}
		maps.Copy(ready, waited(waits))
	}
}

// waited waits for Kustomizations in parallel, and returns which became ready.
func waited(waits map[string]func() error) map[string]bool {
	var group sync.WaitGroup
	names := slices.Sorted(maps.Keys(waits))
	failed := make([]error, len(names))
	for i, name := range names {
		group.Go(func() { failed[i] = waits[name]() })
	}
	group.Wait()
	ready := map[string]bool{}
	for i, name := range names {
		ready[name] = failed[i] == nil
	}
	return ready
}

// story says what happens to some resources of a form, with the outcome for each. The
// outcome under lynqctl apply is the meaning of a policy.
type story struct {
	name, form string
	cells      []cell
	tell       func(t *testing.T, w *world) map[string]string // by id
}

// cell is a policy of a resource: in the table of the page, and in reports.
type cell struct{ id, row, policy string }

// world is a namespace of a cluster, with a carrier for forms.
type world struct {
	carrier
	env   *harness.Env
	asked *faultproxy.Server
}

// carriedBy returns the columns in which each story runs. The last one is lynqctl apply.
func carriedBy() []column { return append(columns(), column{"apply", ""}) }

func newWorld(t *testing.T, c column, form string) *world {
	t.Helper()
	env := cluster.Env(t)
	through, server := env.Proxy(t, faultproxy.Options{})
	w := &world{env: env, asked: server}
	var r *repository
	switch c.target {
	case "argo":
		a := newArgo(t, through)
		w.carrier, r = &syncer{argo: a, column: c}, a.repository
	case "flux":
		f := newFlux(t, through)
		w.carrier, r = &reconciler{flux: f, column: c}, f.repository
	default:
		r = newRepository(t, env.Namespace)
		w.carrier = &applier{repository: r, kubeconfig: through.Kubeconfig}
	}
	r.write(t, "forms.yaml", cellsHub+form)
	return w
}

const cellsHub = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: cells}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
  extraValueMappings: {plan: plan, image: image}
---
`

// TestCells wants reports to name a loss exactly if a target's outcome differs from lynqctl
// apply's. The page's table must say the same.
func TestCells(t *testing.T) {
	t.Parallel()
	page := newPage(t)
	t.Cleanup(func() { page.checkLosses(t) })
	for _, s := range slices.Concat(writeStories(), orderStories(), lifeStories()) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			becomes, worlds := make([]map[string]string, len(carriedBy())), make([]*world, len(carriedBy()))
			for i, c := range carriedBy() {
				t.Run(c.target+c.apps, func(t *testing.T) {
					t.Parallel()
					worlds[i] = newWorld(t, c, s.form)
					becomes[i] = s.tell(t, worlds[i])
				})
			}
			t.Cleanup(func() { // after all of them
				for i, c := range columns() {
					if !t.Failed() {
						page.check(t, c, claims(s, worlds[i], becomes[i], becomes[len(columns())]))
					}
				}
			})
		})
	}
}

// claim is a reported loss of a policy, with the outcomes of its resources.
type claim struct {
	row, told string
	differs   bool   // an outcome differs from apply's
	outcomes  string // for people
}

// claims returns the claims of a story. Resources with the same report share one.
func claims(s story, w *world, becomes, means map[string]string) []claim {
	var all []claim
	for _, cell := range s.cells {
		told := w.told(cell.id, cell.policy)
		i := slices.IndexFunc(all, func(c claim) bool { return c.row == cell.row && c.told == told })
		if i < 0 {
			i, all = len(all), append(all, claim{row: cell.row, told: told})
		}
		if becomes[cell.id] != means[cell.id] {
			all[i].differs = true
		}
		all[i].outcomes += fmt.Sprintf("\n%s becomes %s, and under apply %s", cell.id, becomes[cell.id], means[cell.id])
	}
	return all
}

// objects returns the client for a kind in the namespace.
func (w *world) objects(resource string) dynamic.ResourceInterface {
	group := map[string]string{"deployments": "apps", "jobs": "batch"}[resource]
	return w.env.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}).Namespace(w.env.Namespace)
}

// value returns some fields of an object, or "gone".
func (w *world) value(t *testing.T, resource, name string, paths ...string) string {
	t.Helper()
	o, err := w.objects(resource).Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "gone"
	}
	if err != nil {
		t.Fatal(err)
	}
	values := make([]string, len(paths))
	for i, p := range paths {
		v, _, err := unstructured.NestedFieldNoCopy(o.Object, strings.Split(p, ".")...)
		if err != nil {
			t.Fatal(err)
		}
		values[i] = string(encode(t, v))
	}
	return fmt.Sprint(values)
}

// create creates an object like another client.
func (w *world) create(t *testing.T, manager, resource, text string) {
	t.Helper()
	for _, o := range objects(t, []byte(text)) {
		if _, err := w.objects(resource).Create(t.Context(), o, metav1.CreateOptions{FieldManager: manager}); err != nil {
			t.Fatal(err)
		}
	}
}

// patch changes an object like another client.
func (w *world) patch(t *testing.T, manager, resource, name string, kind types.PatchType, patch string) {
	t.Helper()
	if _, err := w.objects(resource).Patch(t.Context(), name, kind, []byte(patch), metav1.PatchOptions{FieldManager: manager}); err != nil {
		t.Fatal(err)
	}
}
