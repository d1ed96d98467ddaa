package harness

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// Env is a test's part of a cluster: a namespace, and a kubeconfig in which that is the
// default.
type Env struct {
	*Cluster
	Namespace  string
	Kubeconfig string

	proxied bool // Kubeconfig leads through a proxy
}

// Env creates a namespace for a test.
func (s *Shared) Env(t testing.TB) *Env {
	t.Helper()
	cluster := s.Cluster(t)
	return cluster.envIn(t, cluster.NewNamespace(t))
}

// EnvNamed works like Env, for a namespace with a given name. It returns false if that
// exists already.
func (s *Shared) EnvNamed(t testing.TB, namespace string) (*Env, bool) {
	t.Helper()
	cluster := s.Cluster(t)
	err := cluster.makeNamespace(t, namespace)
	if apierrors.IsAlreadyExists(err) {
		return nil, false
	}
	if err != nil {
		t.Fatalf("namespace of the test: %v", err)
	}
	return cluster.envIn(t, namespace), true
}

// envIn writes the kubeconfig for a namespace.
func (c *Cluster) envIn(t testing.TB, namespace string) *Env {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := setNamespace(c.Kubeconfig, path, namespace); err != nil {
		t.Fatal(err)
	}
	return &Env{Cluster: c, Namespace: namespace, Kubeconfig: path}
}

// NewNamespace creates a further namespace for a test.
func (c *Cluster) NewNamespace(t testing.TB) string {
	t.Helper()
	name := namespaceName(t.Name(), rand.Text())
	if err := c.makeNamespace(t, name); err != nil {
		t.Fatalf("namespace of the test: %v", err)
	}
	return name
}

// makeNamespace creates a namespace, with the ServiceAccount that its Pods and hooks need. A
// busy controller creates one only after seconds. On a cluster that stays, it deletes the
// namespace when the test ends. Our own cluster ends with the tests. There, the namespace
// controller would only keep the API server busy, above all with namespaces that finalizers
// block.
func (c *Cluster) makeNamespace(t testing.TB, name string) error {
	if _, err := c.namespaces().Create(t.Context(), named("Namespace", name), metav1.CreateOptions{}); err != nil {
		return err
	}
	accounts := c.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}).Namespace(name)
	if _, err := accounts.Create(t.Context(), named("ServiceAccount", "default"), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if c.stays {
		t.Cleanup(func() {
			if err := c.deleteNamespace(name); err != nil {
				t.Logf("namespace %s stays: %v", name, err)
			}
		})
	}
	return nil
}

// named returns an object of the core group with a name alone.
func named(kind, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion("v1")
	obj.SetKind(kind)
	obj.SetName(name)
	return obj
}

func (c *Cluster) namespaces() dynamic.NamespaceableResourceInterface {
	return c.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
}

// deleteNamespace deletes a namespace, after it removed the finalizers of inventories
// there.
func (c *Cluster) deleteNamespace(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTimeout)
	defer cancel()
	configMaps := c.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(name)
	list, err := configMaps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if len(list.Items[i].GetFinalizers()) == 0 {
			continue
		}
		_, err := configMaps.Patch(ctx, list.Items[i].GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return c.namespaces().Delete(ctx, name, metav1.DeleteOptions{})
}

const cleanupTimeout = time.Minute

// namespaceName returns a valid name that shows the test.
func namespaceName(test, random string) string {
	name := regexp.MustCompile("[^a-z0-9]+").ReplaceAllString(strings.ToLower(test), "-")
	name = strings.Trim(name[:min(len(name), 40)], "-")
	return name + "-" + strings.ToLower(random[:6])
}

// setNamespace copies a kubeconfig with one default namespace for all contexts.
func setNamespace(in, out, namespace string) error {
	config, err := clientcmd.LoadFromFile(in)
	if err != nil {
		return err
	}
	for _, c := range config.Contexts {
		c.Namespace = namespace
	}
	return clientcmd.WriteToFile(*config, out)
}

// As writes a kubeconfig for another user, by impersonation, and returns its path. The user
// has only the permissions that the test gives. Choose a name that no other test uses, such
// as one that ends in the namespace.
func (e *Env) As(t testing.TB, user string, groups ...string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(e.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	info := config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo]
	info.Impersonate, info.ImpersonateGroups = user, groups
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Proxy puts a fault proxy before the API server until the test ends. In the returned Env,
// the kubeconfig and Kubectl go through the proxy, but assertions don't.
func (e *Env) Proxy(t testing.TB, o faultproxy.Options) (*Env, *faultproxy.Server) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	server, err := faultproxy.Start(e.Kubeconfig, path, o)
	if err != nil {
		t.Fatalf("fault proxy: %v", err)
	}
	t.Cleanup(server.Close)
	through := *e
	through.Kubeconfig, through.proxied = path, true
	return &through, server
}

// Kubectl runs kubectl with stdin and returns its output. If kubectl fails, it fails the
// test.
func (e *Env) Kubectl(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	out, err := e.TryKubectl(t, stdin, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TryKubectl works like Kubectl, for a test that expects an error. The error contains
// kubectl's standard error.
func (e *Env) TryKubectl(t testing.TB, stdin string, args ...string) (string, error) {
	t.Helper()
	if slices.Contains(args, "-o") && stdin == "" { // without a format, the test may want the table
		if a, known := e.Ask(t.Context(), args...); known && !a.Failed {
			return a.Stdout, nil
		}
	}
	for try := 0; ; try++ {
		out, err := e.anyKubectl(t, stdin, args...)
		if err == nil || try == 2 || !strings.Contains(err.Error(), "stream error: stream ID") {
			return out, err
		}
		t.Logf("a busy server broke off an answer to kubectl: %v", err)
	}
}

// anyKubectl runs kubectl, in a process of its own unless the tests are busy.
func (e *Env) anyKubectl(t testing.TB, stdin string, args ...string) (string, error) {
	t.Helper()
	if !e.busy || stdin != "" {
		return e.tryKubectl(t, stdin, args...)
	}
	a, known, err := e.Do(t.Context(), e.Kubeconfig, ".", args...)
	switch {
	case err != nil:
		return "", err
	case !known:
		return e.tryKubectl(t, stdin, args...)
	case a.Failed:
		return a.Stdout, fmt.Errorf("kubectl %s: it failed\n%s", strings.Join(args, " "), a.Stderr)
	}
	return a.Stdout, nil
}

func (e *Env) tryKubectl(t testing.TB, stdin string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), e.Cluster.Kubectl, args...)
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+e.Kubeconfig, "GOGC=400") // it ends before garbage matters
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return stdout.String(), nil
}
