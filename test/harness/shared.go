package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Shared is the one cluster of a test binary. The zero value is ready; the
// cluster starts when the first test asks for it.
type Shared struct {
	once    sync.Once
	cluster *Cluster
	skip    string
	err     error
}

// Cluster is a cluster that tests can use.
type Cluster struct {
	// Kubeconfig is the path of a file whose current context is an
	// administrator's. A cluster of test/cluster also has the contexts editor,
	// viewer and restricted, whose users have no rights but what tests give them.
	Kubeconfig string `json:"kubeconfig"`
	// Kubectl is the path of the program.
	Kubectl string `json:"kubectl"`
	// Logs is the directory with the logs of the control plane and its audit
	// log; "" where another client runs the cluster.
	Logs string `json:"logs"`

	*access
	lifeline io.WriteCloser // the cluster ends when this closes; keeps it from the garbage collector
	says     *json.Decoder  // what the cluster command prints
	ended    chan error     // how a cluster of ours ended
}

// Cluster returns the cluster. Where there can be none it skips the test, or
// fails it if it must not be skipped.
func (s *Shared) Cluster(t testing.TB) *Cluster {
	t.Helper()
	s.once.Do(func() { s.cluster, s.skip, s.err = obtain() })
	if s.err != nil {
		t.Fatalf("no cluster: %v", s.err)
	}
	if s.skip != "" {
		t.Skip(s.skip)
	}
	select {
	case err := <-s.cluster.ended:
		s.cluster.ended <- err // for the next test
		t.Fatalf("the cluster has ended: %v", err)
	default:
	}
	return s.cluster
}

// Stop ends the cluster, if it was started here: for a test that has one of its
// own, and fills it. Other clusters, and none, are left alone.
func (s *Shared) Stop() {
	if s.cluster == nil || s.cluster.lifeline == nil {
		return
	}
	_ = s.cluster.lifeline.Close() // it has none to lose
	s.cluster.ended <- <-s.cluster.ended
}

// RestartAPIServer kills the API server of a cluster that was started here, has it start
// again, and returns when it answers: for a test that has a cluster of its own.
func (c *Cluster) RestartAPIServer(t testing.TB) {
	t.Helper()
	if c.lifeline == nil {
		t.Fatal("the API server of a cluster that was not started here cannot be restarted")
	}
	const what = "restart kube-apiserver"
	if _, err := fmt.Fprintln(c.lifeline, what); err != nil {
		t.Fatal(err)
	}
	var answer struct{ Done string }
	if err := c.says.Decode(&answer); err != nil || answer.Done != what {
		t.Fatalf("%s: %v; it answered %+v", what, err, answer)
	}
}

// obtain starts a cluster or finds the one that the environment names. It
// gives a reason to skip where there is none.
func obtain() (cluster *Cluster, skip string, err error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, "", err
	}
	cache, built, err := cacheDir(root)
	if err != nil {
		return nil, "", err
	}
	choice := choose(os.Getenv, cache, built)
	switch {
	case choice.skip != "":
		return nil, choice.skip, nil
	case choice.kubeconfig != "":
		cluster, err = adopt(choice.kubeconfig, cache)
	default:
		cluster, err = start(root, choice.run)
	}
	if err != nil {
		return nil, "", err
	}
	cluster.access, err = newAccess(cluster.Kubeconfig)
	return cluster, "", err
}

// adopt uses a cluster that another client runs.
func adopt(kubeconfig, cache string) (*Cluster, error) {
	for _, candidate := range []string{filepath.Join(cache, "kubectl"), filepath.Join(os.Getenv(envAssets), "kubectl"), "kubectl"} {
		if path, err := exec.LookPath(candidate); err == nil {
			return &Cluster{Kubeconfig: kubeconfig, Kubectl: path}, nil
		}
	}
	return nil, errors.New("kubectl is neither built nor in PATH; build it with go -C test/cluster run . build")
}

// start runs the cluster command. It ends when our end of its standard input
// closes, which the kernel does if no one else does.
func start(root string, args []string) (*Cluster, error) {
	cmd := exec.Command("go", append([]string{"-C", filepath.Join(root, "test", "cluster"), "run", "."}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	cluster := &Cluster{lifeline: lifeline, says: json.NewDecoder(stdout), ended: make(chan error, 1)}
	decodeErr := cluster.says.Decode(cluster)
	go func() {
		_ = cmd.Wait() // ProcessState says it too
		cluster.ended <- fmt.Errorf("%s\n%s", cmd.ProcessState, said.Bytes())
	}()
	if decodeErr != nil {
		// It ended without a word on stdout, so what it said is on stderr.
		return nil, fmt.Errorf("the cluster did not start: %w", <-cluster.ended)
	}
	return cluster, nil
}

// cacheDir is where test/cluster keeps what it builds, which its package
// binaries computes likewise, and whether that is there.
func cacheDir(root string) (dir string, built bool, err error) {
	goSum, err := os.ReadFile(filepath.Join(root, "test", "cluster", "go.sum"))
	if err != nil {
		return "", false, err
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", false, err
	}
	sum := sha256.Sum256(goSum)
	dir = filepath.Join(user, "lynqctl", "cluster", hex.EncodeToString(sum[:8]))
	_, err = os.Stat(dir)
	return dir, err == nil, nil
}

// moduleRoot is the directory of lynqctl's go.mod, above the directory of the
// package under test.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "test", "cluster", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("not in the source tree of lynqctl")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}
