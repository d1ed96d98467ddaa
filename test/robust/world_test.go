package robust_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
	"github.com/lynqctl/lynqctl/test/robust/model"
)

var (
	cluster harness.Shared
	built   program
)

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(built.dir) // a temporary directory
	os.Exit(code)
}

// program is lynqctl of this tree.
type program struct {
	once sync.Once
	dir  string
	err  error
}

// path builds the program at its first call.
func (p *program) path(t *testing.T) string {
	t.Helper()
	p.once.Do(func() { p.err = p.build() })
	if p.err != nil {
		t.Fatalf("building lynqctl: %v", p.err)
	}
	return filepath.Join(p.dir, "lynqctl")
}

func (p *program) build() error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp("", "lynqctl-robust-*"); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(p.dir, "lynqctl"), "./cmd/lynqctl")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// world is what one history changes: two namespaces, a kind of its own, and files.
type world struct {
	*harness.Env
	namespaces map[string]string // by their names in the model
	group      string            // of Widgets
	served     bool              // Widgets are
	direct     string            // a kubeconfig that goes past the proxy
	proxy      *faultproxy.Server
	bin, dir   string
	inputs     model.Inputs
	last       *model.Cluster
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := cluster.Env(t)
	through, proxy := env.Proxy(t, faultproxy.Options{})
	w := &world{
		Env: through, direct: env.Kubeconfig, proxy: proxy, bin: built.path(t), dir: t.TempDir(),
		namespaces: map[string]string{model.Near: env.Namespace, model.Far: env.NewNamespace(t)},
		group:      env.Namespace + ".example.com", inputs: firstInputs(),
	}
	definition := fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
`, w.group)
	w.Kubectl(t, definition, "create", "-f", "-")
	t.Cleanup(func() {
		// Hundreds of kinds make each further one slow, and nobody may have the forged rights.
		for _, object := range []string{"crd/" + w.definition(), "clusterrolebinding/" + w.binding()} {
			_, _ = exec.Command(w.Cluster.Kubectl, "--kubeconfig", w.direct, "delete", object, "--wait=false", "--ignore-not-found").CombinedOutput()
		}
	})
	w.awaitServed(t, true)
	w.last = w.look(t)
	return w
}

func (w *world) definition() string { return "widgets." + w.group }

func (w *world) crd() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

// awaitServed waits until the server serves Widgets, or doesn't.
func (w *world) awaitServed(t *testing.T, served bool) {
	t.Helper()
	w.await(t, fmt.Sprintf("Widgets to be served: %t", served), func() (bool, error) {
		_, err := w.Dynamic.Resource(w.widgets()).Namespace(w.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		return (err == nil) == served && w.discovered(t) == served, nil
	})
	w.served = served
}

// discovered tells whether the server names Widgets to clients.
func (w *world) discovered(t *testing.T) bool {
	out, err := w.TryKubectl(t, "", "get", "--raw", "/apis/"+w.group+"/v1")
	return err == nil && strings.Contains(out, "widgets")
}

// write writes the inputs, and nothing else is in their directory.
func (w *world) write() error {
	if err := os.RemoveAll(w.dir); err != nil {
		return err
	}
	for name, text := range files(w.inputs, w.group, w.namespaces) {
		path := filepath.Join(w.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return nil
}
