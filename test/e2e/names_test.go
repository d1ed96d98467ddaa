package e2e_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/test/harness"
)

// TestNamesOfServer compares which names the server and lynqctl accept, for each kind of
// Kubernetes. lynqctl refuses more for kinds whose controllers make other names of them.
func TestNamesOfServer(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	names := []string{"a.b", "9a", "a_b", "A", "-a", "a-", "a:b", "a/b", "a%b", ".."}
	for _, length := range []int{52, 53, 63, 64, 242, 243, 253, 254} {
		names = append(names, strings.Repeat("a", length))
	}
	compared := 0
	for _, kind := range servedKinds(t, env) {
		for _, name := range names {
			server, known := serverAccepts(t, env, kind, name)
			if !known {
				continue
			}
			compared++
			if ours := lynqctlAccepts(t, kind, name); ours != server && !narrower(kind, name, ours) {
				t.Errorf("%s %.20s (%d characters): the server accepts it: %t, lynqctl: %t", kind.Kind, name, len(name), server, ours)
			}
		}
	}
	if t.Logf("%d names compared", compared); compared < 500 {
		t.Errorf("the server answered for only %d names", compared)
	}
}

// narrower reports whether lynqctl refuses a name on purpose: a controller makes others of
// it, or files and messages of lynqctl have no room for it.
func narrower(kind servedKind, name string, accepted bool) bool {
	if accepted {
		return false
	}
	switch kind.GroupKind().String() {
	case "Deployment.apps", "DaemonSet.apps":
		return len(name) > 242
	case "StatefulSet.apps":
		return len(name) > 52
	case "Job.batch":
		return len(name) > 63 // the server refuses the label of its Pods
	}
	return (kind.Group == "rbac.authorization.k8s.io" || kind.Group == "policy") && len(name) > 253
}

// nameByContent reports whether another field says what the name must be, or the server
// checks the name only if all else is valid.
func nameByContent(kind servedKind) bool {
	return slices.Contains([]string{"APIService", "CertificateSigningRequest", "CustomResourceDefinition", "Endpoints", "Event", "IPAddress"}, kind.Kind)
}

type servedKind struct {
	schema.GroupVersionKind
	plural     string
	namespaced bool
}

// servedKinds returns the kinds of Kubernetes that the server creates.
func servedKinds(t *testing.T, env *harness.Env) []servedKind {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", env.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := client.ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	var all []servedKind
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || !kinds.BuiltIn(gv.Group) {
			continue
		}
		for i := range list.APIResources {
			r := &list.APIResources[i]
			kind := servedKind{gv.WithKind(r.Kind), r.Name, r.Namespaced}
			if slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "create") && !nameByContent(kind) {
				all = append(all, kind)
			}
		}
	}
	return all
}

// serverAccepts asks the server whether a kind can have a name. It is not known if the
// server refuses the object before it looks at the name.
func serverAccepts(t *testing.T, env *harness.Env, kind servedKind, name string) (accepts, known bool) {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind.GroupVersionKind)
	o.SetName(name)
	var client dynamic.ResourceInterface = env.Dynamic.Resource(kind.GroupVersion().WithResource(kind.plural))
	if kind.namespaced {
		client = env.Dynamic.Resource(kind.GroupVersion().WithResource(kind.plural)).Namespace(env.Namespace)
	}
	_, err := client.Create(t.Context(), o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil || apierrors.IsAlreadyExists(err) {
		return true, true
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) || status.ErrStatus.Details == nil {
		return false, false
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		if cause.Field == "metadata.name" {
			return false, true
		}
	}
	return true, true
}

// lynqctlAccepts compiles a form with an object of that name.
func lynqctlAccepts(t *testing.T, kind servedKind, name string) bool {
	t.Helper()
	inputs, err := form.Load([]string{"-"}, false, strings.NewReader(strings.ReplaceAll(formInputs, "HUB", "crm")+fmt.Sprintf(
		"  manifests:\n    - {id: it, nameTemplate: %q, spec: {apiVersion: %s, kind: %s}}\n", name, kind.GroupVersion(), kind.Kind)))
	if err != nil {
		return false
	}
	_, problems := render.Compile(inputs.Forms[0], inputs.Hub(inputs.Forms[0]), render.Options{ClusterScoped: inputs.ClusterScoped})
	return len(problems) == 0
}
