package bench_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/bench/floor"
)

// childEnv makes the test binary do a job instead of the tests: it meters a command, or
// renders the usual way.
const childEnv = "LYNQCTL_BENCH_CHILD"

func TestMain(m *testing.M) {
	job := os.Getenv(childEnv)
	if job == "" {
		os.Exit(m.Run())
	}
	if err := child(job, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(job string, args []string) error {
	switch job {
	case "meter":
		return meter(args)
	case nameUsual:
		return usualFile(args[0], args[1], os.Stdout)
	case jobRead:
		return readTree(args[0])
	case jobBareApply:
		return bareApply(args)
	case jobBareLists:
		return bareLists(args)
	case jobBareRun:
		return bareRun(args)
	case jobPostgresFloor:
		return postgresFloor(args[0], args[1], os.Stdout)
	}
	return fmt.Errorf("%s: no job %q", childEnv, job)
}

// usage is the cost of one run of a process.
type usage struct {
	Wall, User, System time.Duration
	Peak               int64 // resident memory, in KiB
}

// meter runs a command, drops its output unless it fails, and prints its usage. It is a
// small process of its own, because Linux counts the memory of a parent as the child's at
// the start. The process with the benchmarks is large.
func meter(args []string) error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	cmd := exec.Command(args[0], args[1:]...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = null, &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v: %w\n%s", args, err, said.Bytes())
	}
	u := usage{Wall: time.Since(start), User: cmd.ProcessState.UserTime(), System: cmd.ProcessState.SystemTime()}
	rusage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("the system does not tell what the process used")
	}
	u.Peak = rusage.Maxrss
	return errors.Join(json.NewEncoder(os.Stdout).Encode(u), null.Close())
}

// asChild returns a command that makes the test binary do a job.
func asChild(job string, args ...string) []string {
	return append([]string{"env", childEnv + "=" + job, os.Args[0]}, args...)
}

func metered(command []string) (usage, error) {
	cmd := exec.Command(os.Args[0], command...)
	cmd.Env = append(os.Environ(), childEnv+"=meter")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return usage{}, err
	}
	var u usage
	return u, json.Unmarshal(out, &u)
}

// programs has the paths of the measured commands.
type programs struct{ lynqctl, floor string }

// build builds the commands into a folder that the benchmark deletes.
func build(b *testing.B) programs {
	b.Helper()
	dir := b.TempDir()
	p := programs{lynqctl: filepath.Join(dir, "lynqctl"), floor: filepath.Join(dir, "floor")}
	for path, pkg := range map[string]string{p.lynqctl: "cmd/lynqctl", p.floor: "test/bench/cmd/floor"} {
		out, err := exec.Command("go", "build", "-o", path, "github.com/lynqctl/lynqctl/"+pkg).CombinedOutput()
		if err != nil {
			b.Fatalf("go build %s: %v\n%s", pkg, err, out)
		}
	}
	return p
}

func (p programs) render(source string, flags ...string) []string {
	return append([]string{p.lynqctl, "render", "-f", inputs, "--source", source}, flags...)
}

// BenchmarkProcess measures whole processes, including their start. They read a file and
// write to /dev/null.
func BenchmarkProcess(b *testing.B) {
	p := build(b)
	for _, kind := range []string{"csv", "sqlite"} {
		b.Run(kind, func(b *testing.B) {
			for _, n := range sizes() {
				rows := tenants(n)
				path := writeRows(b, kind, rows)
				source := kind + ":" + path
				if kind == "sqlite" {
					source += "?table=tenants"
				}
				sameOutput(b, p.render(source), rows)
				compareProcesses(b, n, []command{
					{name: nameFloor, args: []string{p.floor, kind, path}},
					{name: nameLynqctl, args: p.render(source)},
					{name: "lynqctl-stream", args: p.render(source, "--stream")},
					{name: nameUsual, most: usualMost, args: asChild(nameUsual, kind, path)},
				})
			}
		})
	}
}

// BenchmarkStartUp measures processes without work.
func BenchmarkStartUp(b *testing.B) {
	p := build(b)
	empty := writeRows(b, "csv", nil)
	compareProcesses(b, 0, []command{
		{name: nameFloor, args: []string{p.floor, "csv", empty}},
		{name: nameLynqctl, args: []string{p.lynqctl, "version"}},
	})
}

// sameOutput fails unless a command writes the same bytes as the floor.
func sameOutput(b *testing.B, args []string, rows []floor.Row) {
	b.Helper()
	h := sha256.New()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = h, os.Stderr
	if err := cmd.Run(); err != nil {
		b.Fatalf("%v: %v", args, err)
	}
	want := sha256.New()
	for i := range rows {
		_, _ = want.Write(floor.Append(nil, &rows[i])) // a hash never fails
	}
	if !bytes.Equal(h.Sum(nil), want.Sum(nil)) {
		b.Fatalf("%v: the output is not the floor's", args)
	}
}

// command is a contender that runs as a process.
type command struct {
	name string
	most int // its limit of rows, 0 for none
	args []string
}

// compareProcesses works like compare, for processes.
func compareProcesses(b *testing.B, rows int, commands []command) {
	median := medians{}
	for _, c := range commands {
		if c.most > 0 && rows > c.most {
			continue
		}
		b.Run(fmt.Sprintf("rows=%d/%s", rows, c.name), func(b *testing.B) {
			var wall, user, system []time.Duration
			peak := int64(0)
			for b.Loop() {
				u, err := metered(c.args)
				if err != nil {
					b.Fatal(err)
				}
				wall, user, system = append(wall, u.Wall), append(user, u.User), append(system, u.System)
				peak = max(peak, u.Peak)
			}
			median[c.name] = middle(wall)
			b.ReportMetric(0, "ns/op") // it would include the meter's own time
			b.ReportMetric(milliseconds(middle(wall)), "wall-ms")
			b.ReportMetric(milliseconds(middle(user)), "user-ms")
			b.ReportMetric(milliseconds(middle(system)), "sys-ms")
			b.ReportMetric(float64(peak)/1024, "peak-MiB")
			median.report(b, c.name)
		})
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
