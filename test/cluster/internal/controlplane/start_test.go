package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/cluster/internal/binaries"
	"github.com/lynqctl/lynqctl/test/cluster/internal/controlplane"
	"github.com/lynqctl/lynqctl/test/cluster/internal/process"
)

// reaperEnv turns this test binary into a reaper.
const reaperEnv = "CONTROLPLANE_TEST_REAPER"

func TestMain(m *testing.M) {
	if os.Getenv(reaperEnv) == "" {
		os.Exit(m.Run())
	}
	if err := process.Reap(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// options returns options for a cluster of built programs. If some are missing, it skips
// the test, unless tests must not be skipped.
func options(t *testing.T) controlplane.Options {
	t.Helper()
	goSum, err := os.ReadFile(filepath.Join("..", "..", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := binaries.CacheDir(cache, goSum)
	required := os.Getenv("CI") == "true" || os.Getenv("LYNQCTL_TEST_CLUSTER") == "1"
	if required {
		if err := binaries.Build(t.Context(), filepath.Join("..", ".."), dir, os.Stderr); err != nil {
			t.Fatal(err)
		}
	}
	set, err := binaries.Find(dir)
	if missing := new(binaries.MissingError); errors.As(err, &missing) && !required {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(reaperEnv, "1")
	return controlplane.Options{
		Dir: filepath.Join(t.TempDir(), "cluster"), Programs: set, Reaper: []string{self},
	}
}

func TestStartStop(t *testing.T) {
	o := options(t)
	o.Remove = true
	cluster, err := controlplane.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{cluster.Kubeconfig(), filepath.Join(cluster.Logs(), "kube-apiserver.log")} {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, or empty", path, err)
		}
	}
	if err := cluster.Stop(); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Stop the directory exists: %v", err)
	}
}

func TestStartGivesUp(t *testing.T) {
	o := options(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("somebody said stop"))
	_, err := controlplane.Start(ctx, o)
	if err == nil {
		t.Fatal("a start that was told to stop is no error")
	}
	for _, want := range []string{"kube-apiserver is not ready", "somebody said stop", "the end of its log"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestStartNamesAnAbsentProgram(t *testing.T) {
	o := options(t)
	o.Programs[binaries.Etcd] = filepath.Join(t.TempDir(), "absent")
	_, err := controlplane.Start(t.Context(), o)
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "etcd: ") {
		t.Errorf("got %v", err)
	}
}
