package form_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// TestInputFiles checks that files keep only inputs, unchanged, and nothing of a Secret.
func TestInputFiles(t *testing.T) {
	t.Parallel()
	const hub = "apiVersion: operator.lynq.sh/v1\nkind: LynqHub # here\n"
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: hidden}\n"
	const definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
	for _, c := range []struct {
		name, text, want string
		secrets          string // name:line
		problem          string
	}{
		{"one", hub, hub, "", ""},
		{"before", secret + "---\n" + hub, "---\n" + hub, "db:1", ""},
		{"after", "# a\n---\n" + hub + "--- # b\n" + secret + "---\r\n" + definition, "---\n" + hub + "---\r\n" + definition, "db:6", ""},
		{"others", "---\napiVersion: v1\nkind: ConfigMap\n---\n" + secret, "", "db:5", ""},
		{"JSON", `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}}`, "", "db:1", ""},
		{"list", "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(hub, "\nk", "\n  k"), "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(hub, "\nk", "\n  k"), "", ""},
		{"list of Secrets", "apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {name: a}\n- {kind: Secret, metadata: {name: b}}\n", "", "b:5", ""},
		{"mixed list", "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(hub, "\nk", "\n  k") + "- kind: Secret\n", "", ":6", ":1: hubs or forms are in one list with other objects"},
		{"no mark", hub + "...\n" + secret, "", "", ":4: not YAML: did not find expected <document start>"},
		{"marks in text", hub + "a: |\n  ---\n  b\n", hub + "a: |\n  ---\n  b\n", "", ""},
		{"node", "apiVersion: operator.lynq.sh/v1\nkind: LynqNode\n", "", "", ""},
		{"empty", "# password: hidden\n", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "in.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			files, err := form.InputFiles([]string{file}, false, nil)
			if c.problem == "" && err != nil || c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)) {
				t.Errorf("error is %v, want %q", err, c.problem)
			}
			text, secrets := "", []string{}
			for _, f := range files {
				text += f.Text
				for _, s := range f.Secrets {
					secrets = append(secrets, s.Name+strings.TrimPrefix(s.Pos.String(), file))
				}
			}
			if diff := cmp.Diff(c.want, text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.secrets, strings.Join(secrets, " ")); diff != "" {
				t.Errorf("Secrets (-want +got):\n%s", diff)
			}
		})
	}
	files, err := form.InputFiles([]string{"-"}, false, strings.NewReader(hub))
	if err != nil || len(files) != 1 || files[0].Name != "stdin" || files[0].Text != hub {
		t.Errorf("standard input: %+v, %v", files, err)
	}
}
