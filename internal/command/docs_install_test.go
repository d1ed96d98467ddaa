package command

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsInstall wants the recipes to install a release only if its checksum is right. The
// release has the names of goreleaser, and the test serves it itself.
func TestDocsInstall(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := regexp.MustCompile(`(?m)^( +)curl -fsSL --output-dir(?:.*\n)(?:[ ]{6,}.*\n)*?.*tar -xzf .*\n(?: +echo .*\n)?`).FindAllString(string(text), -1)
	if len(steps) != 1 {
		t.Fatalf("%d recipes install a release, want 1", len(steps))
	}
	archive := releaseArchive(t, "lynqctl", "lynqctl-chart")
	for i, step := range steps {
		for _, changed := range []bool{false, true} {
			sum := fmt.Sprintf("%x", sha256.Sum256(archive))
			if changed {
				sum = strings.Repeat("0", len(sum))
			}
			dir := t.TempDir()
			said, err := installFrom(t, step, dir, map[string][]byte{
				"/v0.1.0/lynqctl_0.1.0_linux_amd64.tar.gz": archive,
				"/v0.1.0/checksums.txt":                    []byte(sum + "  lynqctl_0.1.0_linux_amd64.tar.gz\n" + sum + "  lynqctl_0.1.0_darwin_arm64.tar.gz\n"),
			})
			_, missing := os.Stat(filepath.Join(dir, "lynqctl"))
			_, noHelper := os.Stat(filepath.Join(dir, "lynqctl-chart"))
			if (err == nil) == changed || (missing == nil) == changed || (noHelper == nil) == changed {
				t.Errorf("recipe %d, an archive that was changed: %t: %v, %v\n%s", i, changed, err, missing, said)
			}
		}
	}
}

// releaseArchive returns an archive like that of a release, with programs.
func releaseArchive(t *testing.T, programs ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	const program = "#!/bin/sh\n"
	for _, name := range programs {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(program))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(program)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []interface{ Close() error }{w, compressed} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// installFrom runs a step of a recipe. A test server replaces GitHub, and a folder replaces
// the machine's.
func installFrom(t *testing.T, step, dir string, files map[string][]byte) (string, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, found := files[r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	defer server.Close()
	step = strings.NewReplacer("https://github.com/lynqctl/lynqctl/releases/download", server.URL, "/usr/local/bin", dir, "/tmp", dir).Replace(step)
	cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", step)
	cmd.Env = append(os.Environ(), "VERSION=0.1.0", "RUNNER_TEMP="+dir, "GITHUB_PATH="+filepath.Join(dir, "path"),
		"RUNNER_OS=Linux", "RUNNER_ARCH=X64", "CI_PROJECT_DIR="+dir)
	said, err := cmd.CombinedOutput()
	return string(said), err
}
