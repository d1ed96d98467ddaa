package harness

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What the black-box tests see of the inside.
var (
	NamespaceName = namespaceName
	CacheDir      = cacheDir
	ModuleRoot    = moduleRoot
	Evaluate      = evaluate
	Render        = render
	Adopt         = adopt
)

// Choose is choose with its answer spread out.
func Choose(getenv func(string) string, cache string, built bool) (kubeconfig string, run []string, skip string) {
	c := choose(getenv, cache, built)
	return c.kubeconfig, c.run, c.skip
}

// WaitContext is Env.Wait with a deadline of the test's own, through the Env's
// kubeconfig, and with the error.
func (e *Env) WaitContext(ctx context.Context, ref string, c Condition) (*unstructured.Unstructured, error) {
	access, err := newAccess(e.Kubeconfig)
	if err != nil {
		return nil, err
	}
	return access.wait(ctx, e.Namespace, ref, c.met)
}

// Ended is a shared cluster that has ended with err.
func Ended(err error) *Shared {
	s := &Shared{cluster: &Cluster{ended: make(chan error, 1)}}
	s.once.Do(func() {})
	s.cluster.ended <- err
	return s
}

// RunKubectl is TryKubectl, by kubectl's own process in any case.
func (e *Env) RunKubectl(t testing.TB, args ...string) (string, error) {
	return e.tryKubectl(t, "", args...)
}
