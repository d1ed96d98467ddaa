package form_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
)

const (
	aHub  = "apiVersion: operator.lynq.sh/v1\nkind: LynqHub\nmetadata: {name: h}\nspec: {source: {type: json, json: {path: rows.json}}, valueMappings: {uid: id, activate: on_}}\n"
	aForm = "apiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: f}\nspec: {hubId: h, configMaps: [{id: c, nameTemplate: x, spec: {apiVersion: v1, kind: ConfigMap}}]}\n"
)

// tree writes files into a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func good(t *testing.T, paths ...string) {
	t.Helper()
	in, err := form.Load(paths, false, strings.NewReader(""))
	if err != nil || len(in.Forms) != 1 || len(in.Hubs) != 1 || len(in.Warnings) != 0 {
		t.Errorf("%v: %d forms, %d hubs, %v, %v", paths, len(in.Forms), len(in.Hubs), in.Warnings, err)
	}
}

// TestBesideInputs reads directories with files other than hubs and forms.
func TestBesideInputs(t *testing.T) {
	dir := tree(t, map[string]string{
		"d/hub.yaml": aHub, "d/form.yml": aForm, "d/rows.json": `[{"id": 1}]`, "d/.#form.yml": "not yaml: [", "d/README.md": "x",
	})
	d := filepath.Join(dir, "d")
	good(t, d)
	// An editor's lock is a link without a target.
	if err := os.Symlink("user@host.1234", filepath.Join(d, ".#hub.yaml")); err != nil {
		t.Fatal(err)
	}
	good(t, d)
	// A link to a directory, and the same files by two names.
	link := filepath.Join(dir, "link")
	if err := os.Symlink("d", link); err != nil {
		t.Fatal(err)
	}
	good(t, link)
	good(t, d, link, filepath.Join(d, "form.yml"), d+"/../d/hub.yaml")
}

// TestUnreadable checks that unreadable files are reported with all other problems.
func TestUnreadable(t *testing.T) {
	dir := tree(t, map[string]string{"hub.yaml": aHub, "form.yaml": strings.Replace(aForm, "hubId", "hubid", 1)})
	if err := os.Symlink("nowhere", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop.yaml")
	if err := os.Symlink("loop.yaml", loop); err != nil {
		t.Fatal(err)
	}
	_, err := form.Load([]string{dir, filepath.Join(dir, "gone")}, false, strings.NewReader(""))
	if err == nil {
		t.Fatal("no error")
	}
	want := `DIR/form.yaml:4: form "f": spec.hubId is missing (add it)
DIR/form.yaml:4: form "f": unknown field "spec.hubid" (did you mean "hubId"?)
DIR/gone: no such file or directory (check the path)
DIR/link.yaml: cannot be read: no such file or directory (leave it out, or fix it)
DIR/loop.yaml: cannot be read: too many levels of symbolic links (leave it out, or fix it)`
	if diff := cmp.Diff(want, strings.ReplaceAll(err.Error(), dir, "DIR")); diff != "" {
		t.Error(diff)
	}
}

// TestOtherKeys accepts labels under lynq.sh/ that the operator's users add, and selectors
// for labels that Lynq writes.
func TestOtherKeys(t *testing.T) {
	text := aHub + "---\n" + strings.Replace(aForm, "spec: {apiVersion: v1, kind: ConfigMap}",
		`labelsTemplate: {lynq.sh/tenant: x}, annotationsTemplate: {lynq.sh/uid: x}, spec: {apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {matchLabels: {lynq.sh/node: x}}, egress: [{to: [{namespaceSelector: {matchLabels: {lynq.sh/hub: h}}}]}]}}`, 1)
	text = strings.Replace(text, "configMaps", "networkPolicies", 1)
	if _, err := form.Load([]string{"-"}, false, strings.NewReader(text)); err != nil {
		t.Error(err)
	}
}

// TestBounded checks that Load doesn't read endless input.
func TestBounded(t *testing.T) {
	for path, want := range map[string]string{
		os.DevNull: os.DevNull + ": cannot be read: it is a device or a socket, and no file (leave it out, or fix it)",
		"-":        "stdin: cannot be read: it has more than 64 MiB (leave it out, or fix it)",
	} {
		t.Run(path, func(t *testing.T) {
			_, err := form.Load([]string{path}, false, endless{})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", path, err)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "large.yaml")
	large, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(large.Truncate(64<<20+1), large.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := form.Load([]string{path}, false, nil); err == nil || !strings.Contains(err.Error(), path+": cannot be read: it has more than 64 MiB") {
		t.Error(err)
	}
}

// endless is a reader without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	return len(p), nil
}
