package command

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestInstall wants install.sh to install a release whose checksum and signature are right,
// and no other. A test server replaces GitHub, and a script replaces cosign.
func TestInstall(t *testing.T) {
	t.Parallel()
	archive, earlier := releaseArchive(t, "lynqctl", "lynqctl-chart"), releaseArchive(t, "lynqctl")
	right, rightEarlier := fmt.Sprintf("%x", sha256.Sum256(archive)), fmt.Sprintf("%x", sha256.Sum256(earlier))
	name := "lynqctl_0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	for title, tt := range map[string]struct {
		sums    string
		cosign  string // "" means that the machine has none
		version string
		want    string // in the messages
		fails   bool
	}{
		"right":               {right + "  " + name, "exit 0", "0.1.0", "installed lynqctl 0.1.0", false},
		"the newest":          {right + "  " + name, "exit 0", "", "installed lynqctl 0.1.0", false},
		"without cosign":      {right + "  " + name, "", "v0.1.0", "only the checksum", false},
		"a wrong checksum":    {strings.Repeat("0", len(right)) + "  " + name, "exit 0", "0.1.0", "checksum of " + name + " is wrong", true},
		"another archive":     {right + "  other_" + name, "exit 0", "0.1.0", "doesn't list " + name, true},
		"a wrong signature":   {right + "  " + name, "exit 1", "0.1.0", "signature of checksums.txt is wrong", true},
		"an unknown version":  {right + "  " + name, "exit 0", "0.2.0", "can't download", true},
		"an earlier release":  {rightEarlier + "  " + name, "exit 0", "0.1.0", "installed lynqctl 0.1.0", false},
		"cosign gets its own": {right + "  " + name, `test -s "$2" && test -s "$4" && test "$1" = verify-blob`, "0.1.0", "installed lynqctl 0.1.0", false},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			files, content := http.NewServeMux(), archive
			if strings.HasPrefix(tt.sums, rightEarlier) {
				content = earlier
			}
			for file, content := range map[string]string{name: string(content), "checksums.txt": tt.sums + "\n", "checksums.txt.sigstore.json": "{}"} {
				files.HandleFunc("/download/v0.1.0/"+file, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(content)) })
			}
			files.Handle("/latest", http.RedirectHandler("/tag/v0.1.0", http.StatusFound))
			files.HandleFunc("/tag/v0.1.0", func(http.ResponseWriter, *http.Request) {})
			server := httptest.NewServer(files)
			defer server.Close()

			dir, tools := t.TempDir(), t.TempDir()
			for _, tool := range []string{"sh", "uname", "curl", "sha256sum", "mktemp", "rm", "grep", "tar", "gzip", "mkdir", "mv"} {
				path, err := exec.LookPath(tool)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(path, filepath.Join(tools, tool)); err != nil {
					t.Fatal(err)
				}
			}
			if tt.cosign != "" {
				if err := os.WriteFile(filepath.Join(tools, "cosign"), []byte("#!/bin/sh\n"+tt.cosign+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			script, err := os.ReadFile(filepath.Join(sourceTree, "install.sh"))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "sh")
			cmd.Stdin = bytes.NewReader(script) // as curl passes it
			cmd.Env = []string{"PATH=" + tools, "HOME=" + dir, "BINDIR=" + filepath.Join(dir, "bin"), "VERSION=" + tt.version, "RELEASES=" + server.URL}
			said, err := cmd.CombinedOutput()
			_, missing := os.Stat(filepath.Join(dir, "bin", "lynqctl"))
			_, noHelper := os.Stat(filepath.Join(dir, "bin", "lynqctl-chart"))
			if (err != nil) != tt.fails || (missing != nil) != tt.fails || (noHelper != nil) != (tt.fails || bytes.Equal(content, earlier)) || !strings.Contains(string(said), tt.want) {
				t.Errorf("%v, %v\n%s", err, missing, said)
			}
		})
	}
}
