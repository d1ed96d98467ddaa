package harness

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Internals for the black-box tests.
var (
	NamespaceName = namespaceName
	CacheDir      = cacheDir
	ModuleRoot    = moduleRoot
	Evaluate      = evaluate
	Render        = render
	Adopt         = adopt
)

// Choose is choose with its result as separate values.
func Choose(getenv func(string) string, own bool, cache string, built bool) (kubeconfig, shared string, run []string, skip string) {
	c := choose(getenv, own, cache, built)
	return c.kubeconfig, c.shared, c.run, c.skip
}

// WaitContext works like Env.Wait with the test's own deadline. It uses the Env's
// kubeconfig, and returns the error.
func (e *Env) WaitContext(ctx context.Context, ref string, c Condition) (*unstructured.Unstructured, error) {
	access, err := newAccess(e.Kubeconfig)
	if err != nil {
		return nil, err
	}
	return access.wait(ctx, e.Namespace, ref, c.met)
}

// Ended returns a shared cluster that has ended with err.
func Ended(err error) *Shared {
	s := &Shared{cluster: &Cluster{ended: make(chan error, 1)}}
	s.once.Do(func() {})
	s.cluster.ended <- err
	return s
}

// RunKubectl works like TryKubectl, always with a process of kubectl.
func (e *Env) RunKubectl(t testing.TB, args ...string) (string, error) {
	return e.tryKubectl(t, "", args...)
}
