package harness_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// recorder is a test that is expected to fail.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// failure runs f as a test and returns its failure, or "".
func failure(t *testing.T, f func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return strings.Join(r.said, "\n")
}

// TestAssertionsFail wants every assertion to fail with a helpful message.
func TestAssertionsFail(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	env.Kubectl(t, configMap, "apply", "--server-side", "--field-manager=one", "-f", "-")
	tests := map[string]struct {
		assert func(testing.TB)
		want   string
	}{
		"Get":              {func(tb testing.TB) { env.Get(tb, "configmap/none") }, "configmap/none does not exist"},
		"Get, no kind":     {func(tb testing.TB) { env.Get(tb, "gadget/none") }, "no matches for"},
		"Get, no name":     {func(tb testing.TB) { env.Get(tb, "configmap") }, "is no reference"},
		"Absent":           {func(tb testing.TB) { env.Absent(tb, "configmap/settings") }, "colour: green"},
		"Absent, no kind":  {func(tb testing.TB) { env.Absent(tb, "gadget/none") }, "no matches for"},
		"Equal":            {func(tb testing.TB) { env.Equal(tb, "configmap/settings", ".data.colour", "red") }, `is "green", want "red"`},
		"Equal, bad path":  {func(tb testing.TB) { env.Equal(tb, "configmap/settings", ".data[", "") }, "JSONPath .data["},
		"Owners":           {func(tb testing.TB) { env.Owners(tb, "configmap/settings", ".data.colour", "two Apply") }, `is owned by ["one Apply"]`},
		"Owners, bad path": {func(tb testing.TB) { env.Owners(tb, "configmap/settings", "data") }, "want a dot or a bracket"},
		"Kubectl":          {func(tb testing.TB) { env.Kubectl(tb, "", "get", "gadgets") }, "the server doesn't have a resource type"},
	}
	for name, tt := range tests {
		if got := failure(t, tt.assert); !strings.Contains(got, tt.want) {
			t.Errorf("%s: failed with %q, want %q in it", name, got, tt.want)
		}
	}
}

func TestWaitGivesUp(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	env.Kubectl(t, configMap, "apply", "-f", "-")
	through, proxy := env.Proxy(t, faultproxy.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	// The deadline passes after the wait saw the object and watches it.
	proxy.SetRules(faultproxy.Rule{Verb: "watch", Before: cancel})
	obj, err := through.WaitContext(ctx, "configmap/settings", harness.PathEquals(".data.colour", "red"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
	if obj == nil || obj.GetName() != "settings" {
		t.Errorf("the object as it was last seen: %v", obj)
	}
	if _, err := env.WaitContext(ctx, "gadget/none", harness.Exists()); err == nil {
		t.Error("an unknown kind is no error")
	}
}

// TestWaitOutlivesItsWatches wants a wait to continue when its watches end. The change
// comes only after two of them ended, so the wait can't be over earlier.
func TestWaitOutlivesItsWatches(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	env.Kubectl(t, configMap, "apply", "-f", "-")
	through, proxy := env.Proxy(t, faultproxy.Options{})
	proxy.SetRules(faultproxy.Rule{Verb: "watch", End: faultproxy.CloseAfter, Times: 2})
	done := make(chan error)
	go func() {
		_, err := through.WaitContext(t.Context(), "configmap/settings", harness.PathEquals(".data.colour", "red"))
		done <- err
	}()
	watches := faultproxy.Key{Verb: "watch", Resource: "configmaps"}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(3 * time.Minute); faultproxy.Count(proxy.Records())[watches] < 3; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("no third watch within a minute")
		}
	}
	env.Kubectl(t, strings.Replace(configMap, "green", "red", 1), "apply", "-f", "-")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestEndedClusterIsTold(t *testing.T) {
	shared := harness.Ended(errors.New("etcd ended: exit status 2"))
	for range 2 { // for every test, not only the first
		got := failure(t, func(tb testing.TB) { shared.Cluster(tb) })
		if !strings.Contains(got, "etcd ended: exit status 2") {
			t.Errorf("failed with %q", got)
		}
	}
}

func TestAdopt(t *testing.T) {
	cache, assets, path := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	t.Setenv("PATH", path)
	if c, err := harness.Adopt("/kubeconfig", cache); err == nil {
		t.Errorf("without kubectl: %+v", c)
	}
	// Later ones in this order take precedence.
	for _, dir := range []string{path, assets, cache} {
		t.Run(dir, func(t *testing.T) {
			want := filepath.Join(dir, "kubectl")
			if err := os.WriteFile(want, nil, 0o700); err != nil {
				t.Fatal(err)
			}
			c, err := harness.Adopt("/kubeconfig", cache)
			if err != nil || c.Kubectl != want || c.Kubeconfig != "/kubeconfig" {
				t.Errorf("got %+v, %v, want %s", c, err, want)
			}
		})
	}
}
