// Release checks goreleaser's output for this tree, in a given directory. Archives,
// packages and krew's manifest must contain what docs/install.md promises. The binary for
// this machine must name its commit. Release changes nothing.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		_, _ = fmt.Fprintln(os.Stderr, "usage: release DIST")
		os.Exit(2)
	}
	if err := look(os.Args[1], os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// artifact is an item in goreleaser's list.
type artifact struct {
	Name, Path, Type, Goos, Goarch string
	Extra                          struct{ Ext string }
}

// look checks everything, and returns all errors.
func look(dist string, out io.Writer) error {
	content, err := os.ReadFile(filepath.Join(dist, "artifacts.json"))
	if err != nil {
		return err
	}
	var artifacts []artifact
	if err := json.Unmarshal(content, &artifacts); err != nil {
		return err
	}
	sums, err := checksums(dist)
	if err != nil {
		return err
	}
	var errs []error
	found := map[string]int{}
	for _, a := range artifacts {
		found[a.Type]++
		if err := a.look(dist, sums); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a.Name, err))
		}
	}
	for _, kind := range []string{typeBinary, typeArchive, typeKrew, "Homebrew Cask"} {
		if found[kind] == 0 {
			errs = append(errs, fmt.Errorf("there is no %s", kind))
		}
	}
	if runtime.GOOS == "linux" && found[typePackage] < 2 {
		errs = append(errs, errors.New("there is no deb, or no rpm"))
	}
	if len(errs) == 0 {
		_, _ = fmt.Fprintf(out, "archives: %d, packages: %d; nothing is missing\n", found[typeArchive], found[typePackage])
	}
	return errors.Join(errs...)
}

// goreleaser's names for its artifacts.
const (
	typeBinary  = "Binary"
	typeArchive = "Archive"
	typePackage = "Linux Package"
	typeKrew    = "Krew Plugin Manifest"
)

// look checks one artifact. Its path begins with the name of the directory.
func (a *artifact) look(dist string, sums map[string]string) error {
	path := filepath.Join(filepath.Dir(filepath.Clean(dist)), filepath.FromSlash(a.Path))
	switch a.Type {
	case typeBinary:
		if a.Goos == runtime.GOOS && a.Goarch == runtime.GOARCH {
			if a.Name == "lynqctl-chart" || a.Name == "lynqctl-chart.exe" {
				return names(path)
			}
			return says(path)
		}
	case typeKrew:
		return manifest(path, sums)
	case typeArchive, typePackage:
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(content); sums[a.Name] != hex.EncodeToString(sum[:]) {
			return errors.New("its checksum is another")
		}
		if a.Type == typeArchive {
			return archive(content, a.Goos)
		}
		if strings.HasSuffix(a.Name, ".deb") {
			return deb(content)
		}
	}
	return nil
}

// checksums returns the checksums in checksums.txt, by name.
func checksums(dist string) (map[string]string, error) {
	content, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			sums[name] = sum
		}
	}
	return sums, nil
}

// names runs lynqctl-chart, which must name its version.
func names(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	out, err := exec.Command(path, "--version").Output()
	if version, ok := strings.CutPrefix(string(out), "lynqctl-chart v"); err == nil && (!ok || len(strings.TrimSpace(version)) == 0) {
		err = fmt.Errorf("--version does not tell the version: %s", out)
	}
	return err
}

// says runs the binary's version command, and checks its answer.
func says(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	out, err := exec.Command(path, "version", "-o", "json").Output()
	if err != nil {
		return err
	}
	var build map[string]any
	if err := json.Unmarshal(out, &build); err != nil {
		return err
	}
	for _, field := range []string{"version", "commit", "date", "go", "kubernetes"} {
		if text, _ := build[field].(string); text == "" || strings.HasPrefix(text, "(") {
			return fmt.Errorf("version does not tell its %s: %s", field, out)
		}
	}
	return nil
}
