package doctest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestJobs wants the jobs of CI to be make check and the parts of make test, so that side by
// side they run what .ci/run runs.
func TestJobs(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct{ Target []string }
			}
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(readFile(t, ".github/workflows/ci.yml"), &workflow); err != nil {
		t.Fatal(err)
	}
	// The target has no commands of its own: an empty line ends it.
	parts := regexp.MustCompile(`(?m)^test: (.+)\n\n`).FindSubmatch(readFile(t, "Makefile"))
	if parts == nil {
		t.Fatal("the Makefile's target test isn't the sum of other targets")
	}
	job := workflow.Jobs["run"]
	if want := append([]string{"check"}, strings.Fields(string(parts[1]))...); len(workflow.Jobs) != 1 || !slices.Equal(job.Strategy.Matrix.Target, want) {
		t.Errorf("CI runs %d jobs of %q, want one of %q", len(workflow.Jobs), job.Strategy.Matrix.Target, want)
	}
	if last := job.Steps[len(job.Steps)-1].Run; last != ".ci/run ${{ matrix.target }}" {
		t.Errorf("a job runs %q", last)
	}
}

// TestCalculate wants each test that make test runs without the race detector to exist,
// because under another name it would have the detector again.
func TestCalculate(t *testing.T) {
	makefile := readFile(t, "Makefile")
	packages := regexp.MustCompile(`(?m)^BOTH +:= (.+)$`).FindSubmatch(makefile)
	names := regexp.MustCompile(`(?m)^CALCULATE +:= \^Test\((.+)\)\$\$$`).FindSubmatch(makefile)
	if packages == nil || names == nil {
		t.Fatal("the Makefile has no BOTH or no CALCULATE")
	}
	var tests []string
	for _, dir := range strings.Fields(string(packages[1])) {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has %d files of tests, %v", dir, len(files), err)
		}
		for _, file := range files {
			for _, m := range regexp.MustCompile(`(?m)^func Test(\w+)\(`).FindAllSubmatch(readFile(t, file[len("../../"):]), -1) {
				tests = append(tests, string(m[1]))
			}
		}
	}
	for _, name := range strings.Split(string(names[1]), "|") {
		if !slices.Contains(tests, name) {
			t.Errorf("no package of %s has Test%s, which CALCULATE in the Makefile names", packages[1], name)
		}
	}
}

// readFile returns a file of the repository.
func readFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
