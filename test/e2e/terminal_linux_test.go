package e2e_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// terminal is a lynqctl on a terminal, whose questions the test answers.
type terminal struct {
	*running
	keyboard *os.File // it also has the size
	read     int      // of the output
}

// atTerminal runs lynqctl on its own terminal, with 80 columns.
func atTerminal(t *testing.T, env *harness.Env, bin string, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), "CI=", "TERM=xterm", "NO_COLOR=1", "KUBECONFIG="+env.Kubeconfig)
	return onTerminal(t, cmd)
}

// answered runs a shell script of a test script on a terminal, and answers its question.
func answered(ts *testscript.TestScript, t *testing.T, script, answer string) (shown string, code int) {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "KUBECONFIG", "HOME", "TMPDIR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	x := onTerminal(t, cmd)
	x.asks(t, "? [") // a progress bar also has brackets
	x.types(t, answer+"\n")
	<-x.done
	return x.stderr.String(), x.code
}

// onTerminal runs a program on its own terminal.
func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	upper, lower := openTerminal(t)
	r := &running{cmd: cmd, done: make(chan struct{})}
	r.stderr.wrote = make(chan struct{}, 1)
	r.cmd.Env = append([]string{"TERM=xterm", "NO_COLOR=1"}, r.cmd.Env...)
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = lower, lower, lower
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = lower.Close() // the process has its own
	go func() {
		defer close(r.done)
		_, _ = io.Copy(&r.stderr, upper) // ends with an error when nobody has the terminal
		_ = r.cmd.Wait()                 // the exit code shows the result
		r.code = r.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // it has ended, unless the test failed
		<-r.done
		_ = upper.Close()
	})
	return &terminal{running: r, keyboard: upper}
}

// openTerminal creates a pseudo terminal. Each end reads what the other writes, and keys
// become signals.
func openTerminal(t *testing.T) (upper, lower *os.File) {
	t.Helper()
	upper, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var number, locked uint32
	control(t, upper, syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	control(t, upper, syscall.TIOCGPTN, unsafe.Pointer(&number))
	resize(t, upper, 24, 80)
	lower, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return upper, lower
}

// resize changes the size of a terminal.
func resize(t *testing.T, upper *os.File, rows, columns uint16) {
	t.Helper()
	size := [4]uint16{rows, columns}
	control(t, upper, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
}

func control(t *testing.T, f *os.File, request uintptr, argument unsafe.Pointer) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(argument)); errno != 0 {
		t.Fatal(errno)
	}
}

// asks waits for a new text.
func (x *terminal) asks(t *testing.T, text string) {
	t.Helper()
	x.draws(t, regexp.MustCompile(regexp.QuoteMeta(text)))
}

// draws works like asks, for a pattern.
func (x *terminal) draws(t *testing.T, pattern *regexp.Regexp) {
	t.Helper()
	for {
		shown := x.stderr.String()
		if at := pattern.FindStringIndex(shown[x.read:]); at != nil {
			x.read += at[1]
			return
		}
		select {
		case <-x.stderr.wrote:
		case <-x.done:
			if !pattern.MatchString(x.stderr.String()[x.read:]) {
				t.Fatalf("it ended with code %d, and never showed %q:\n%s", x.code, pattern, x.stderr.String())
			}
		case <-time.After(3 * time.Minute):
			t.Fatalf("it never showed %q:\n%s", pattern, shown)
		}
	}
}

func (x *terminal) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := io.WriteString(x.keyboard, keys); err != nil {
		t.Fatal(err)
	}
}

const ctrlC = "\x03"

// TestPruneAtTerminal lets a person choose orphans. lynqctl must say what it would delete,
// and accept a no or an interruption.
func TestPruneAtTerminal(t *testing.T) {
	t.Parallel()
	env, bin := cluster.Env(t), lynqctl(t)
	createAll(t, env, prunedKinds()["ConfigMap"], env.Namespace, 4, func(i int) *unstructured.Unstructured {
		o := newObject("v1", "ConfigMap", fmt.Sprintf("c%d", i+1))
		o.SetLabels(map[string]string{wellknown.LabelOrphaned: "true"})
		return o
	})
	env.Kubectl(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, labels: {lynq.sh/orphaned: "true"}},
		spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`, "create", "-n", env.Namespace, "-f", "-")
	prune := func(args ...string) *terminal {
		return atTerminal(t, env, bin, append([]string{"orphans", "prune", "-n", env.Namespace}, args...)...)
	}
	left := func(want ...string) {
		t.Helper()
		got := strings.Fields(env.Kubectl(t, "", "get", "configmap,pvc", "-n", env.Namespace, "-l", "lynq.sh/orphaned=true", "-o", "jsonpath={.items[*].metadata.name}"))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("orphans are %q, want %q", got, want)
		}
	}

	for _, no := range []struct {
		keys string
		code int
		says string
	}{
		{"\n", 3, "not confirmed; nothing changed"},
		{ctrlC, 130, "nothing changed"},
		{"2,3\nn\n", 3, "not confirmed; nothing changed"},
		{"all\n" + ctrlC, 130, "nothing changed"},
	} {
		x := prune()
		x.asks(t, "skipped: PersistentVolumeClaim/"+env.Namespace+"/data: it holds data")
		x.asks(t, "#  KIND")
		first, second, more := strings.Cut(no.keys, "\n")
		x.asks(t, "Delete which of them? [numbers such as 1,3-5, all, or nothing for none] ")
		if !more {
			x.types(t, first)
		} else {
			x.types(t, first+"\n")
		}
		if second != "" {
			x.asks(t, " for good? [y/N] ")
			x.types(t, second)
		}
		x.want(t, no.code, no.says)
		left("c1", "c2", "c3", "c4", "data")
	}

	x := prune("--include-data")
	x.asks(t, "Delete which of them?")
	x.types(t, "9\n")
	x.asks(t, `"9" is none of 1 to 5`)
	x.asks(t, "Delete which of them?")
	x.types(t, "2-3,5\n")
	x.asks(t, "Data that will be deleted: 1 PersistentVolumeClaim, with all that is in them")
	x.asks(t, "Delete 3 orphans in namespace "+env.Namespace+" for good? [y/N] ")
	x.types(t, "y\n")
	x.want(t, 0, "3 objects: 3 deleted")
	left("c1", "c4")

	// lynqctl shows named orphans, without a choice.
	x = prune("ConfigMap/"+env.Namespace+"/c1", "--backup-dir", t.TempDir())
	x.asks(t, "KIND ")
	x.asks(t, "Delete 1 orphan in namespace "+env.Namespace+" for good, once their manifests are in ")
	x.types(t, "y\n")
	x.want(t, 0, "1 object: 1 deleted")
	x = prune("--all")
	x.asks(t, "Delete 1 orphan in namespace "+env.Namespace+" for good? [y/N] ")
	x.types(t, "yes\n")
	x.want(t, 0, "1 object: 1 deleted")
	left()
	prune().want(t, 0, "there is no orphan to prune")
}

// TestApplyAtTerminal wants a run that deletes to show its plan and ask, except with --yes,
// or in a CI job with a terminal. Other runs don't ask.
func TestApplyAtTerminal(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 3, faultproxy.Options{})
	run := func(args ...string) *terminal {
		return atTerminal(t, s.Env, s.bin, append([]string{"apply", "-f", s.dir, "--wait=false"}, args...)...)
	}
	run().want(t, 0, "3 nodes: 3 changed")
	delete(s.rows, "t002")
	s.writeRows(t)
	for _, answer := range []struct {
		keys string
		code int
		says string
	}{
		{"\n", 3, "not confirmed; nothing changed"},
		{ctrlC, 130, "nothing changed"},
		{"y\n", 0, "3 nodes: 2 unchanged, 1 changed"},
	} {
		x := run()
		x.asks(t, "- delete")
		x.asks(t, "1 of 3 nodes to change: 2 to delete, 1 to orphan")
		x.asks(t, "Apply this, with 2 objects to delete, 1 object to leave behind as orphans? [y/N] ")
		x.types(t, answer.keys)
		x.want(t, answer.code, answer.says)
	}
	delete(s.rows, "t001")
	s.writeRows(t)
	run("--yes").want(t, 0, "2 nodes: 1 unchanged, 1 changed")
	s.rows["t001"] = "free"
	s.writeRows(t)
	run().want(t, 0, "2 nodes: 1 unchanged, 1 changed")
	delete(s.rows, "t001")
	s.writeRows(t)
	cmd := exec.Command(s.bin, "apply", "-f", s.dir, "--wait=false")
	cmd.Env = append(os.Environ(), "CI=true", "KUBECONFIG="+s.Kubeconfig)
	onTerminal(t, cmd).want(t, 0, "2 nodes: 1 unchanged, 1 changed")
	s.settled(t)
}

// TestRebuildAtTerminal wants rebuild to show inventories before it writes them.
func TestRebuildAtTerminal(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 2, faultproxy.Options{})
	s.apply(t, "--wait=false").want(t, 0)
	s.Kubectl(t, "", "patch", "configmap", "lynqnode-t000-app", "-n", s.Namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	s.Kubectl(t, "", "delete", "configmap", "lynqnode-t000-app", "-n", s.Namespace, "--cascade=orphan")
	for _, answer := range []struct {
		keys string
		code int
		says string
	}{
		{"\n", 3, "not confirmed; nothing changed"},
		{ctrlC, 130, "nothing changed"},
		{"y\n", 0, "1 inventory written"},
	} {
		x := atTerminal(t, s.Env, s.bin, "inventory", "rebuild", "-f", s.dir)
		x.asks(t, "t000-app")
		x.asks(t, "Write 1 new inventory, with 3 objects that no inventory has an entry for? [y/N] ")
		x.types(t, answer.keys)
		x.want(t, answer.code, answer.says)
	}
	s.apply(t, "--wait=false").want(t, 0, "2 nodes: 2 unchanged")
	s.settled(t)
}
