package binaries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is the interval at which a waiting builder checks whether the other one is done.
const lockPoll = 500 * time.Millisecond

// Build builds all programs into dir, in the Go module at moduleDir. If dir exists, Build
// does nothing. If several callers run at once, one builds and the others wait. log gets
// the compiler's messages.
func Build(ctx context.Context, moduleDir, dir string, log io.Writer) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	lock := flock.New(dir + ".lock")
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return fmt.Errorf("waiting for another build: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()

	if _, err := os.Stat(dir); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "building-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := buildAll(ctx, moduleDir, temp, log); err != nil {
		return err
	}
	// The directory gets its name only now, so that it never looks complete too early.
	return os.Rename(temp, dir)
}

// buildAll compiles every program into dir with one go command, so that they share common
// work.
func buildAll(ctx context.Context, moduleDir, dir string, log io.Writer) error {
	version, err := kubernetesVersion(ctx, moduleDir, log)
	if err != nil {
		return err
	}
	args := []string{"build", "-ldflags=" + linkerFlags(version), "-o", dir + string(filepath.Separator)}
	for _, p := range programs() {
		args = append(args, p.importPath)
	}
	if _, err := goCommand(ctx, moduleDir, log, args...); err != nil {
		return err
	}
	for _, p := range programs() {
		built := filepath.Join(dir, commandName(p.importPath))
		if err := os.Rename(built, filepath.Join(dir, p.name)); err != nil {
			return err
		}
	}
	return nil
}

// commandName returns the file name of a command from go build: the last element of its
// import path that isn't a major version.
func commandName(importPath string) string {
	dir, last := path.Split(importPath)
	if last == "v3" {
		return path.Base(dir)
	}
	return last
}

// linkerFlags drop debugging data, which is a third of the size. They also set the version
// of a release build, because clients compare it.
func linkerFlags(version string) string {
	number := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion="+version,
			"-X", pkg+".gitMajor="+number[0],
			"-X", pkg+".gitMinor="+number[1])
	}
	return strings.Join(flags, " ")
}

// kubernetesVersion returns the version that go.mod requires, such as v1.36.3.
func kubernetesVersion(ctx context.Context, moduleDir string, log io.Writer) (string, error) {
	out, err := goCommand(ctx, moduleDir, log, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return "", err
	}
	version := strings.TrimSpace(out)
	if strings.Count(version, ".") < 2 {
		return "", fmt.Errorf("go.mod of %s requires k8s.io/kubernetes %q, which is not a version", moduleDir, version)
	}
	return version, nil
}

// goCommand runs the go tool in dir and returns its standard output. log gets standard
// error, and so does the error.
func goCommand(ctx context.Context, dir string, log io.Writer, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, io.MultiWriter(&stderr, log)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s in %s: %w\n%s", args[0], dir, err, stderr.Bytes())
	}
	return stdout.String(), nil
}
