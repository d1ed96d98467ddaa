package gitops

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/lynqctl/lynqctl/test/harness"
)

var cluster harness.Shared

// lynqctl builds the program of this source tree once, like a release, so that the build
// cache usually has the result.
var lynqctl = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lynqctl-gitops-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "lynqctl")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/lynqctl")
	cmd.Dir, cmd.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return program, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if program, err := lynqctl(); err == nil {
		_ = os.RemoveAll(filepath.Dir(program)) // it is a temporary directory
	}
	os.Exit(code)
}

// repository is a folder like a Git repository, with forms, rows, and the rendered tree.
type repository struct {
	dir       string
	namespace string
}

func newRepository(t *testing.T, namespace string) *repository {
	t.Helper()
	r := &repository{dir: t.TempDir(), namespace: namespace}
	forms, err := os.ReadFile(filepath.Join("testdata", "tenants.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r.write(t, "forms.yaml", string(forms))
	return r
}

func (r *repository) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree returns the folder of the tree.
func (r *repository) tree() string { return filepath.Join(r.dir, "tree") }

// rows writes the rows for the next render, as "id,active,plan,image".
func (r *repository) rows(t *testing.T, rows ...string) {
	t.Helper()
	r.write(t, "rows.csv", "id,active,plan,image\n"+strings.Join(rows, "\n")+"\n")
}

// render renders with some flags, and returns standard output.
func (r *repository) render(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := r.run(t, args...)
	if code != 0 {
		t.Fatalf("lynqctl %s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// refused renders with some flags, and wants a guard's refusal.
func (r *repository) refused(t *testing.T, want string, args ...string) {
	t.Helper()
	if _, stderr, code := r.run(t, args...); code != 3 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
}

func (r *repository) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	program, err := lynqctl()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"render", "-f", filepath.Join(r.dir, "forms.yaml"), "-n", r.namespace}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// fails renders with some flags, and wants an exit code. It returns standard error.
func (r *repository) fails(t *testing.T, code int, args ...string) string {
	t.Helper()
	program, err := lynqctl()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"render", "-f", filepath.Join(r.dir, "forms.yaml"), "-n", r.namespace}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if exit, failed := errors.AsType[*exec.ExitError](cmd.Run()); !failed || exit.ExitCode() != code {
		t.Fatalf("lynqctl %s: not exit code %d\n%s", strings.Join(args, " "), code, stderr.Bytes())
	}
	return stderr.String()
}

// renderTree renders into the tree. The Secrets of these tests contain no real secret.
func (r *repository) renderTree(t *testing.T, args ...string) {
	t.Helper()
	r.render(t, append([]string{"--output-dir", r.tree(), "--plain-secrets", "--max-delete=100%"}, args...)...)
}

// apps returns the objects that point a target at the tree, by name.
func (r *repository) apps(t *testing.T, kind string) map[string]*unstructured.Unstructured {
	t.Helper()
	all := map[string]*unstructured.Unstructured{}
	for _, file := range files(t, filepath.Join(r.tree(), "apps")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects(t, text) {
			if o.GetKind() == kind {
				all[o.GetName()] = o
			}
		}
	}
	return all
}

// files returns all files below a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// objects decodes a YAML stream.
func objects(t *testing.T, text []byte) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		o := &unstructured.Unstructured{}
		switch err := decoder.Decode(&o.Object); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		case len(o.Object) > 0:
			all = append(all, o)
		}
	}
}

// output runs a program, and returns all of its output.
func output(t *testing.T, program string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	text, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}
