package command

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// TestVersion wants version to show everything that the toolchain recorded of a release,
// and the known parts of a plain build.
func TestVersion(t *testing.T) {
	release := build{Version: "(unknown)", Go: "go1.26.8", Platform: "linux/arm64"}
	plain := release
	release.read(&debug.BuildInfo{
		Main: debug.Module{Version: "v1.2.3"},
		Deps: []*debug.Module{{Path: "k8s.io/api", Version: "v0.1.0"}, {Path: "k8s.io/client-go", Version: "v0.36.3"}},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "9a47c5d"}, {Key: "vcs.time", Value: "2026-03-04T05:06:07Z"}, {Key: "vcs.modified", Value: "true"},
		},
	})
	plain.read(&debug.BuildInfo{})
	for _, c := range []struct {
		build build
		want  string
	}{
		{release, `lynqctl      v1.2.3
commit       9a47c5d (modified)
date         2026-03-04T05:06:07Z
go           go1.26.8 linux/arm64
kubernetes   v0.36.3
`},
		{plain, "lynqctl   (unknown)\ngo        go1.26.8 linux/arm64\n"},
	} {
		var got strings.Builder
		if err := list.Print(c.build.list(), tty.Table, tty.NewStream(tty.To(&got), os.Getenv, tty.ColorNever), tty.Stream{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got.String()); diff != "" {
			t.Error(diff)
		}
	}
}
