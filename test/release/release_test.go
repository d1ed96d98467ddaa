package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// tarball returns a tar.gz of empty files.
func tarball(t *testing.T, at func(name string) time.Time, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, name := range names {
		h := &tar.Header{Name: name, Mode: 0o644, ModTime: at(name)}
		switch {
		case strings.HasSuffix(name, "/kubectl-lynq"):
			h.Typeflag, h.Linkname = tar.TypeSymlink, "lynqctl"
		case strings.HasSuffix(name, "lynqctl"), strings.HasSuffix(name, "lynqctl-chart"), strings.HasSuffix(name, "kubectl_complete-lynq"):
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func whenever(string) time.Time { return time.Unix(1, 0) }

func tells(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q in it", err, want)
	}
}

func TestArchive(t *testing.T) {
	all := []string{
		"lynqctl", "lynqctl-chart", "LICENSE", "README.md", "completions/kubectl_complete-lynq", "completions/lynqctl.bash", "completions/_lynqctl",
		"completions/lynqctl.fish", "completions/lynqctl.ps1", "man/lynqctl.1", "man/lynqctl-apply.1", "man/lynqctl-status-node.1",
		"schemas/lynq.schema.json", "schemas/lynqhub.schema.json", "schemas/lynqform.schema.json",
	}
	if err := archive(tarball(t, whenever, all...), "linux"); err != nil {
		t.Error(err)
	}
	tells(t, archive(tarball(t, whenever, all[1:]...), "linux"), "lynqctl is missing")
	tells(t, archive(tarball(t, whenever, all[:6]...), "linux"), "man/lynqctl-apply.1 is missing")
	tells(t, archive(tarball(t, func(name string) time.Time { return time.Unix(int64(len(name)), 0) }, all...), "linux"), "a time of its own")
	tells(t, archive(tarball(t, whenever, slices.Delete(slices.Clone(all), 1, 2)...), "linux"), "lynqctl-chart is missing")
	tells(t, archive([]byte("none"), "linux"), "EOF")
	tells(t, archive([]byte("none"), "windows"), "not a valid zip")
}

func TestDeb(t *testing.T) {
	ar := func(members ...[]byte) []byte {
		b := []byte("!<arch>\n")
		for i, name := range []string{"debian-binary", "control.tar.gz", "data.tar.gz"}[:len(members)] {
			b = append(fmt.Appendf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "100644", len(members[i])), members[i]...)
			if len(members[i])%2 == 1 {
				b = append(b, '\n')
			}
		}
		return b
	}
	all := []string{
		"./usr/bin/lynqctl", "./usr/bin/kubectl-lynq", "./usr/bin/lynqctl-chart", "./usr/bin/kubectl_complete-lynq",
		"./usr/share/bash-completion/completions/lynqctl", "./usr/share/zsh/site-functions/_lynqctl", "./usr/share/fish/vendor_completions.d/lynqctl.fish",
		"./usr/share/man/man1/lynqctl.1", "./usr/share/man/man1/lynqctl-apply.1", "./usr/share/doc/lynqctl/copyright",
	}
	if err := deb(ar([]byte("2.0"), []byte("x"), tarball(t, whenever, all...))); err != nil {
		t.Error(err)
	}
	tells(t, deb(ar([]byte("2.0"), []byte("x"), tarball(t, whenever, all[:5]...))), "site-functions/_lynqctl is missing")
	tells(t, deb(ar([]byte("2.0"), []byte("x"), tarball(t, whenever, all[2:]...))), `usr/bin/kubectl-lynq leads to ""`)
	tells(t, deb(ar([]byte("2.0"))), "it has no data.tar.gz")
	tells(t, deb([]byte("none")), "it has no data.tar.gz")
}

func TestManifest(t *testing.T) {
	const good = `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata: {name: lynq}
spec:
  version: v1.2.3
  homepage: https://example.com
  shortDescription: short
  description: long
  caveats: none
  platforms:
  - {bin: lynqctl, uri: https://example.com/lynqctl_1.2.3_linux_amd64.tar.gz, sha256: aa, selector: {matchLabels: {os: linux, arch: amd64}}}
  - {bin: lynqctl.exe, uri: https://example.com/lynqctl_1.2.3_windows_arm64.zip, sha256: bb, selector: {matchLabels: {os: windows, arch: arm64}}}
`
	sums := map[string]string{"lynqctl_1.2.3_linux_amd64.tar.gz": "aa", "lynqctl_1.2.3_windows_arm64.zip": "bb"}
	look := func(old, instead string) error {
		file := filepath.Join(t.TempDir(), "lynq.yaml")
		if err := os.WriteFile(file, []byte(strings.Replace(good, old, instead, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return manifest(file, sums)
	}
	if err := look("", ""); err != nil {
		t.Error(err)
	}
	for _, tt := range [][3]string{
		{"name: lynq", "name: link", "kubectl would not call it lynq"},
		{"version: v1", "version: 1", "does not begin with v"},
		{"short\n", strings.Repeat("s", 51) + "\n", "longer than 50"},
		{"caveats: none", "caveats: ''", "a text is missing"},
		{"lynqctl.exe", "lynqctl", "the binary is called lynqctl"},
		{"sha256: aa", "sha256: ab", "another checksum"},
		{"arch: amd64", "arch: arm64", "is for linux on arm64"},
		{"kind: Plugin", "kind: Plugin\nmore: true", "unknown field"},
	} {
		tells(t, look(tt[0], tt[1]), tt[2])
	}
}
