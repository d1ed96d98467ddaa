package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/lynqctl/lynqctl/test/cluster/internal/binaries"
)

// assetsEnv names a directory with programs that take precedence over built ones.
const assetsEnv = "KUBEBUILDER_ASSETS"

// build completes the cache and prints its path.
func (c cli) build(ctx context.Context) error {
	dir, err := cacheDir()
	if err != nil {
		return err
	}
	if err := c.buildInto(ctx, dir); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.stdout, dir)
	return err
}

func (c cli) buildInto(ctx context.Context, dir string) error {
	if _, err := os.Stat(dir); err != nil {
		if _, err := fmt.Fprintln(c.stderr, "cluster: building the control plane; this takes some minutes, once"); err != nil {
			return err
		}
	}
	return binaries.Build(ctx, ".", dir, c.stderr)
}

// programs finds all programs. If mayBuild is set, it builds missing ones.
func (c cli) programs(ctx context.Context, mayBuild bool) (binaries.Set, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	dirs := []string{cache}
	if assets := os.Getenv(assetsEnv); assets != "" {
		dirs = []string{assets, cache}
	}
	set, err := binaries.Find(dirs...)
	if missing := new(binaries.MissingError); !mayBuild || !errors.As(err, &missing) {
		return set, err
	}
	if err := c.buildInto(ctx, cache); err != nil {
		return nil, err
	}
	return binaries.Find(dirs...)
}

// cacheDir returns the cache for this source tree. The command runs in its module's
// directory, because of go -C.
func cacheDir() (string, error) {
	goSum, err := os.ReadFile("go.sum")
	if err != nil {
		return "", fmt.Errorf("not in the directory test/cluster (call it with go -C test/cluster run .): %w", err)
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return binaries.CacheDir(user, goSum), nil
}
