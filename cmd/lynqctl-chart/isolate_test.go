package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// asHelper is the variable by which the test binary acts as lynqctl-chart.
const asHelper = "LYNQCTL_TEST_CHART"

func TestMain(m *testing.M) {
	out := os.Stdout
	switch os.Getenv(asHelper) {
	case "":
		os.Exit(m.Run())
	case "serves":
		os.Exit(run([]string{"serve"}, os.Stdin, os.Stdout, os.Stderr))
	case "looks":
		isolate()
	}
	git, _ := exec.LookPath("git") // "" if there is none
	_, _ = fmt.Fprint(out, git)
}

// TestIsolated wants no library to reach the network or a program, even where the check of
// kustomizations doesn't see what they name.
func TestIsolated(t *testing.T) {
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer server.Close()
	dir, tools := t.TempDir(), t.TempDir()
	ran := filepath.Join(tools, "ran")
	for name, text := range map[string]string{
		filepath.Join(tools, "git"):              "#!/bin/sh\necho git >>" + ran + "\nexit 1\n",
		filepath.Join(dir, "kustomization.yaml"): "resources: [app.yaml]\ntransformers: [patch.yaml]\n",
		filepath.Join(dir, "app.yaml"):           "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n",
		filepath.Join(dir, "patch.yaml"):         "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: " + server.URL + "/patch.yaml\n",
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		})
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{asHelper + "=serves", "PATH=" + tools, "HTTP_PROXY=" + server.URL}
	var requests strings.Builder
	write := json.NewEncoder(&requests)
	// The check doesn't read what a kustomization has inline.
	inline := "transformers:\n- |\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: t}\n  path: " + server.URL + "/inline.yaml\nresources: [app.yaml]\n"
	for i, b := range []wire.Build{
		{Dir: dir, Base: "."},
		{Dir: dir, Base: ".", Texts: map[string][]byte{"kustomization.yaml": []byte(inline), "app.yaml": []byte("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n")}},
	} {
		t.Run(b.Dir, func(t *testing.T) {
			if err := write.Encode(wire.Request{ID: i + 1, Build: &b}); err != nil {
				t.Fatal(err)
			}
		})
	}
	cmd.Stdin = strings.NewReader(requests.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := json.NewDecoder(strings.NewReader(string(out)))
	var hello wire.Hello
	if err := answers.Decode(&hello); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var r wire.Response
		if err := answers.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].What, errNetwork.Error()) || !strings.Contains(r.Problems[0].Fix, "copy the files beside the form") {
			t.Errorf("%d: %v", r.ID, r.Problems)
		}
	}
	if _, err := os.Stat(ran); err == nil || len(asked) > 0 {
		t.Errorf("a library ran git (%v), or asked for %d files", err == nil, len(asked))
	}
}

// TestNoPrograms wants the process to find no program after it isolated itself.
func TestNoPrograms(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for role, want := range map[string]string{"looks before": filepath.Join(dir, "git"), "looks": ""} {
		t.Run(role, func(t *testing.T) {
			cmd := exec.Command(self)
			cmd.Env = []string{asHelper + "=" + role, "PATH=" + dir}
			if out, err := cmd.Output(); err != nil || string(out) != want {
				t.Errorf("it %s, and finds %q, %v", role, out, err)
			}
		})
	}
}
