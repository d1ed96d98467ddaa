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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	lynqform "github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
	"github.com/lynqctl/lynqctl/test/robust/model"
)

var (
	cluster  harness.Shared
	managers = sync.OnceValues(apiserver.NewManagers)
)

// world has everything that one history changes: two namespaces, its own kind, and files.
type world struct {
	paper
	real           *harness.Env                         // nil in memory
	memory         *apiserver.Server                    // nil on a real control plane
	known, earlier map[*unstructured.Unstructured]known // objects of the last picture and of the previous one
	Namespace      string
	Dynamic        dynamic.Interface
	served         bool // the server serves Widgets
	proxy          *faultproxy.Proxy
	program        program
	dir            string
	inputs         model.Inputs
	written        map[string]string // their files
	last           *model.Cluster
	gone           model.Gone
	ended          model.Ended
	frozen         model.Frozen // the plan file
	// strangers has the uids of objects that other people created, and no inventory has
	// recorded since.
	strangers map[string]bool
}

// known is what a picture has of an object: nothing, an inventory, or an object of the model.
type known struct {
	uid       string
	object    *model.Object
	inventory *model.Inventory
}

// newWorld creates a world on a real control plane.
func newWorld(t *testing.T) *world {
	t.Helper()
	env := cluster.Env(t)
	through, proxy := env.Proxy(t, faultproxy.Options{})
	w := &world{real: env, Namespace: env.Namespace, Dynamic: env.Dynamic, proxy: proxy.Proxy, program: process{built.path(t), through.Kubeconfig}}
	w.begin(t, env.NewNamespace(t))
	t.Cleanup(func() {
		// Hundreds of kinds make each further one slow, and nobody may keep the forged
		// permissions.
		leftovers := []string{"crd/" + w.definition(), "clusterrolebinding/" + w.binding()}
		for _, o := range w.last.Objects {
			if o.Kind == model.Kind {
				leftovers = append(leftovers, "crd/"+w.wide(o.Kind, o.Name))
			}
		}
		args := append([]string{"--kubeconfig", env.Kubeconfig, "delete", "--wait=false", "--ignore-not-found"}, leftovers...)
		_, _ = exec.Command(env.Cluster.Kubectl, args...).CombinedOutput()
	})
	return w
}

// newMemoryWorld creates a world in memory, where commands run in this process.
func newMemoryWorld(t *testing.T) *world {
	t.Helper()
	shared, err := managers()
	if err != nil {
		t.Fatal(err)
	}
	server := apiserver.New(shared)
	w := &world{Namespace: "near", memory: server}
	server.Allowed = w.allowed
	server.ServeView(&apiserver.View{
		Group: "events.k8s.io", Version: "v1", Kind: "Event", Plural: "events", OfKind: "Event",
		Fields: map[string]string{"regarding": "involvedObject", "note": "message", "reportingController": "reportingComponent"},
	})
	server.ServeView(&apiserver.View{Group: "project.openshift.io", Version: "v1", Kind: "Project", Plural: "projects", OfKind: "Namespace"})
	proxy := faultproxy.NewWithin(server)
	w.proxy, w.program = proxy.Proxy, inProcess{proxy, memoryKubeconfig(t), &lynqform.Memory{}}
	if w.Dynamic, err = dynamic.NewForConfig(&rest.Config{Host: "http://memory", Transport: server, QPS: -1}); err != nil {
		t.Fatal(err)
	}
	w.createAll(t, "{apiVersion: v1, kind: Namespace, metadata: {name: near}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: far}}")
	w.begin(t, "far")
	return w
}

// begin creates the first state of every history.
func (w *world) begin(t *testing.T, far string) {
	t.Helper()
	w.dir, w.inputs, w.gone, w.strangers = t.TempDir(), firstInputs(), model.Gone{}, map[string]bool{}
	w.ended = model.Ended{}
	w.paper = paper{group: w.Namespace + ".example.com", namespaces: map[string]string{model.Near: w.Namespace, model.Far: far}, views: w.memory != nil}
	w.createAll(t, fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
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
`, w.group))
	if w.real != nil {
		w.giveRights(t)
	}
	w.awaitServed(t, true)
	w.last = w.look(t)
	w.frozen.Cluster = w.last
}

// createAll creates objects without a namespace.
func (w *world) createAll(t *testing.T, manifests string) {
	t.Helper()
	for _, text := range strings.Split(manifests, "---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Dynamic.Resource(resourceOf(o.GetKind())).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
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
		return (err == nil) == served && (w.real == nil || w.discovered(t) == served), nil
	})
	w.served = served
}

// discovered reports whether the server's discovery names Widgets.
func (w *world) discovered(t *testing.T) bool {
	out, err := w.real.TryKubectl(t, "", "get", "--raw", "/apis/"+w.group+"/v1")
	return err == nil && strings.Contains(out, "widgets")
}

// write writes the inputs, and removes other files from their directory. It keeps unchanged
// files, because creating them takes longer than much of a history.
func (w *world) write() error {
	files := w.files(w.inputs)
	for name := range w.written {
		if _, is := files[name]; !is {
			if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
				return err
			}
		}
	}
	for name, text := range files {
		if w.written[name] == text {
			continue
		}
		path := filepath.Join(w.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	w.written = files
	return nil
}
