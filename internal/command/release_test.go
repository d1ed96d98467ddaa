package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/cli"
)

// release holds the parts of goreleaser.yaml that this test can compare with the tree.
// `make release-check` runs goreleaser itself, which takes minutes to build.
type release struct {
	Before struct{ Hooks []string }
	Builds []struct {
		Main         string
		Goos, Goarch []string
	}
	Archives []struct{ Files []struct{ Src string } }
	Nfpms    []struct {
		Formats  []string
		Contents []struct{ Src, Type string }
	}
	Kos []struct {
		BaseImage string `json:"base_image"`
	}
	HomebrewCasks []struct {
		Binaries    []string
		Manpages    []string
		Completions map[string]string
	} `json:"homebrew_casks"`
	Krews        []struct{ Name string }
	Sboms, Signs []any
	Checksum     map[string]any
}

func readRelease(t *testing.T) *release {
	t.Helper()
	content, err := os.ReadFile("../../goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var r release
	if err := yaml.Unmarshal(content, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// files returns all files of the tree that a release names.
func (r *release) files() []string {
	var files []string
	for _, b := range r.Builds {
		files = append(files, b.Main)
	}
	for _, a := range r.Archives {
		for _, f := range a.Files {
			if !strings.HasPrefix(f.Src, "dist/") { // goreleaser makes it
				files = append(files, f.Src)
			}
		}
	}
	for _, n := range r.Nfpms {
		for _, c := range n.Contents {
			if c.Type != "symlink" {
				files = append(files, c.Src)
			}
		}
	}
	for _, h := range r.HomebrewCasks {
		files = append(files, h.Manpages...)
		for _, c := range h.Completions {
			files = append(files, c)
		}
	}
	return files
}

// TestReleaseFiles wants every file in goreleaser.yaml to exist, or to be made by its hook.
func TestReleaseFiles(t *testing.T) {
	r := readRelease(t)
	if !slices.ContainsFunc(r.Before.Hooks, func(hook string) bool { return strings.HasSuffix(hook, " make man") }) {
		t.Errorf("hooks are %v: none makes the manual pages", r.Before.Hooks)
	}
	if len(r.files()) < 10 {
		t.Errorf("files are %v: that is not all", r.files())
	}
	for _, file := range r.files() {
		if strings.HasPrefix(file, "man/") { // TestManualPages makes them
			continue
		}
		found, err := filepath.Glob(filepath.Join("../..", file))
		if err != nil || len(found) == 0 {
			t.Errorf("goreleaser.yaml names %s, which doesn't exist (error %v)", file, err)
		}
	}
}

// TestReleaseParts wants a release to have the parts that the documentation names.
func TestReleaseParts(t *testing.T) {
	r := readRelease(t)
	var programs []string
	for _, b := range r.Builds {
		programs = append(programs, b.Main)
		for _, os := range []string{"linux", "darwin", "windows"} {
			for _, arch := range []string{"amd64", "arm64"} {
				if !slices.Contains(b.Goos, os) || !slices.Contains(b.Goarch, arch) {
					t.Errorf("%s is not built for %s on %s", b.Main, os, arch)
				}
			}
		}
	}
	if !slices.Equal(programs, []string{"./cmd/lynqctl", "./cmd/lynqctl-chart"}) || !slices.Equal(r.HomebrewCasks[0].Binaries, []string{"lynqctl", "lynqctl-chart"}) {
		t.Errorf("a release has %v, and Homebrew installs %v", programs, r.HomebrewCasks[0].Binaries)
	}
	for _, format := range []string{"deb", "rpm"} {
		t.Run(format, func(t *testing.T) {
			if !slices.Contains(r.Nfpms[0].Formats, format) {
				t.Errorf("there is no %s", format)
			}
		})
	}
	if !strings.HasPrefix(r.Kos[0].BaseImage, "gcr.io/distroless/") || !strings.HasSuffix(r.Kos[0].BaseImage, ":nonroot") {
		t.Errorf("the image is based on %s", r.Kos[0].BaseImage)
	}
	if len(r.Krews) != 1 || "kubectl-"+r.Krews[0].Name != cli.PluginName {
		t.Errorf("krew's plugins are %v", r.Krews)
	}
	if len(r.Sboms) == 0 || len(r.Signs) == 0 || len(r.Checksum) == 0 {
		t.Error("checksums, signatures and bills of materials belong to a release")
	}
}
