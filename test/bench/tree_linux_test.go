package bench_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
)

// jobRead makes the test binary read the files of a tree.
const jobRead = "read"

// readTree reads the index of a tree, and each file that it lists, once. This is the least
// work of a run that notices every change of a person.
func readTree(dir string) error {
	index, err := os.ReadFile(filepath.Join(dir, index.FileName))
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(index))
	for lines.Scan() {
		// {"path":"...","sha256": ...
		path, _, _ := bytes.Cut(bytes.TrimPrefix(lines.Bytes(), []byte(`{"path":"`)), []byte(`"`))
		if bytes.HasPrefix(path, []byte("{")) {
			continue // the head
		}
		if _, err := os.ReadFile(filepath.Join(dir, string(path))); err != nil {
			return err
		}
	}
	return lines.Err()
}

// BenchmarkTree measures render --output-dir of 10 000 rows with 5 objects each. It
// measures the first run, runs that change nothing, and runs that change one row's objects.
// Runs that change nothing take turns with a process that only reads the tree's files.
func BenchmarkTree(b *testing.B) {
	const rows = 10_000
	p := build(b)
	plain := tenants(rows)
	source := "csv:" + writeRows(b, "csv", plain)
	changed := tenants(rows)
	changed[rows/2][6] = "registry.example.com/app:v2"
	other := "csv:" + writeRows(b, "csv", changed)
	dir := filepath.Join(b.TempDir(), "tree")
	run := func(b *testing.B, args ...string) usage {
		u, err := metered(args)
		if err != nil {
			b.Fatal(err)
		}
		return u
	}
	tree := func(source string) []string { return p.render(source, "--output-dir", dir, "-o", "json") }
	b.Run("first", func(b *testing.B) {
		var t turns
		for b.Loop() {
			if err := os.RemoveAll(dir); err != nil {
				b.Fatal(err)
			}
			t.add(run(b, tree(source)...))
		}
		t.report(b)
	})
	run(b, tree(source)...) // selects sub-benchmarks without the first runs
	wantUnchanged(b, tree(source))
	b.Run("unchanged", func(b *testing.B) {
		var read, ours turns
		for b.Loop() {
			read.add(run(b, asChild(jobRead, dir)...))
			ours.add(run(b, tree(source)...))
		}
		ours.report(b)
		b.ReportMetric(milliseconds(middle(read.wall)), "read-ms")
		b.ReportMetric(float64(middle(ours.wall))/float64(middle(read.wall)), "ours/read")
		b.ReportMetric(float64(ours.processor())/float64(read.processor()), "cpu-ours/read")
	})
	b.Run("one-row", func(b *testing.B) {
		var t turns
		for b.Loop() {
			t.add(run(b, tree(other)...))
			other, source = source, other
		}
		t.report(b)
	})
}

// wantUnchanged fails unless a run has nothing to do and all files exist.
func wantUnchanged(b *testing.B, args []string) {
	b.Helper()
	out, err := exec.Command(args[0], args[1:]...).Output()
	if err != nil {
		b.Fatal(err)
	}
	var report struct {
		Changed bool
		Objects gitops.Counts
	}
	if err := json.Unmarshal(out, &report); err != nil || report.Changed || report.Objects != (gitops.Counts{Unchanged: 50_000}) {
		b.Fatal(err, string(out))
	}
}

// turns are the costs of one program's runs.
type turns struct {
	wall, user, system []time.Duration
	peak               int64
}

func (t *turns) add(u usage) {
	t.wall, t.user, t.system = append(t.wall, u.Wall), append(t.user, u.User), append(t.system, u.System)
	t.peak = max(t.peak, u.Peak)
}

// processor returns the processor time of a run.
func (t *turns) processor() time.Duration { return middle(t.user) + middle(t.system) }

func (t *turns) report(b *testing.B) {
	b.ReportMetric(0, "ns/op") // it would include the meter's own time
	b.ReportMetric(milliseconds(middle(t.wall)), "wall-ms")
	b.ReportMetric(milliseconds(middle(t.user)), "user-ms")
	b.ReportMetric(milliseconds(middle(t.system)), "sys-ms")
	b.ReportMetric(float64(t.peak)/1024, "peak-MiB")
}
