package doctest_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestJobs wants the jobs of CI to be make check and the parts of make test, so that side by
// side they run what .ci/run runs.
func TestJobs(t *testing.T) {
	read := func(name string) []byte {
		content, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	var workflow struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct{ Target []string }
			}
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(read(".github/workflows/ci.yml"), &workflow); err != nil {
		t.Fatal(err)
	}
	// The target has no commands of its own: an empty line ends it.
	parts := regexp.MustCompile(`(?m)^test: (.+)\n\n`).FindSubmatch(read("Makefile"))
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
