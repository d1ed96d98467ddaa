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

// Shared is the only cluster of a test binary. The zero value is ready. The cluster starts
// when the first test asks for it.
type Shared struct {
	// Own is for tests that other test binaries would disturb, or that would disturb them.
	Own bool
	// Busy is for tests that run kubectl so often that one process for all of that pays.
	Busy bool

	once    sync.Once
	cluster *Cluster
	skip    string
	err     error
}

// Cluster is a cluster that tests can use.
type Cluster struct {
	// Kubeconfig is the path of a file whose current context is an administrator's. For a
	// cluster of test/cluster, it also has the contexts editor, viewer and restricted.
	// Their users have only the permissions that tests give them.
	Kubeconfig string `json:"kubeconfig"`
	// Kubectl is the path of the program.
	Kubectl string `json:"kubectl"`
	// Logs is the directory with the logs of the control plane and its audit log. It is ""
	// if someone else runs the cluster.
	Logs string `json:"logs"`

	*access
	kubectls kubectls
	busy     bool           // see Shared
	stays    bool           // the cluster goes on when the tests have ended
	lifeline io.WriteCloser // the cluster ends when this closes; the field keeps it from the garbage collector
	says     *json.Decoder  // the output of the cluster command
	ended    chan error     // the end of our own cluster
}

// Cluster returns the cluster. If none is available, it skips the test, or fails it if
// tests must not be skipped.
func (s *Shared) Cluster(t testing.TB) *Cluster {
	t.Helper()
	s.once.Do(func() { s.cluster, s.skip, s.err = s.obtain() })
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

// Stop ends the cluster if this binary started it, for a test that fills its own cluster.
// It ignores other clusters, and none.
func (s *Shared) Stop() {
	if s.cluster == nil || s.cluster.lifeline == nil {
		return
	}
	_ = s.cluster.lifeline.Close() // a failure changes nothing
	s.cluster.ended <- <-s.cluster.ended
}

// RestartAPIServer kills the API server of a cluster that this binary started, restarts it,
// and returns when it answers. It is for a test with its own cluster.
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

// obtain starts a cluster, or uses the one that the environment names. Without any, skip
// says why.
func (s *Shared) obtain() (cluster *Cluster, skip string, err error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, "", err
	}
	cache, built, err := cacheDir(root)
	if err != nil {
		return nil, "", err
	}
	choice := choose(os.Getenv, s.Own, cache, built)
	switch {
	case choice.skip != "":
		return nil, choice.skip, nil
	case choice.shared != "":
		cluster, err = join(choice.shared)
	case choice.kubeconfig != "":
		cluster, err = adopt(choice.kubeconfig, cache)
	default:
		cluster, err = start(root, choice.run)
	}
	if err != nil {
		return nil, "", err
	}
	cluster.busy = s.Busy
	cluster.access, err = newAccess(cluster.Kubeconfig)
	return cluster, "", err
}

// join uses a cluster that the cluster command started for several test binaries.
func join(file string) (*Cluster, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	cluster := &Cluster{}
	return cluster, json.Unmarshal(text, cluster)
}

// adopt uses a cluster that someone else runs.
func adopt(kubeconfig, cache string) (*Cluster, error) {
	for _, candidate := range []string{filepath.Join(cache, "kubectl"), filepath.Join(os.Getenv(envAssets), "kubectl"), "kubectl"} {
		if path, err := exec.LookPath(candidate); err == nil {
			return &Cluster{Kubeconfig: kubeconfig, Kubectl: path, stays: true}, nil
		}
	}
	return nil, errors.New("kubectl is neither built nor in PATH; build it with go -C test/cluster run . build")
}

// start runs the cluster command. The command ends when its standard input closes. The
// kernel closes that if nobody else does.
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
		_ = cmd.Wait() // ProcessState contains it, too
		cluster.ended <- fmt.Errorf("%s\n%s", cmd.ProcessState, said.Bytes())
	}()
	if decodeErr != nil {
		// The command ended without a line on stdout, so its message is on stderr.
		return nil, fmt.Errorf("the cluster did not start: %w", <-cluster.ended)
	}
	return cluster, nil
}

// cacheDir returns the cache of test/cluster, and whether it exists. Its package binaries
// computes the same path.
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

// moduleRoot returns the directory of lynqctl's go.mod, above the directory of the tested
// package.
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
