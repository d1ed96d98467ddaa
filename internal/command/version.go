package command

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

func versionCommand(a *app) *cobra.Command {
	output := "text"
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print version information",
		Long: `Print the version and commit of lynqctl, the date of the commit, and the
versions of Go and the Kubernetes libraries. lynqctl doesn't contact a cluster.`,
		Example: `  lynqctl version
  lynqctl version -o json | jq -r .version`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmdflags.OneOf("-o", output, "text", "json", "yaml"); err != nil {
				return err
			}
			b := readBuild()
			switch output {
			case "json":
				return session.Fail(json.NewEncoder(cmd.OutOrStdout()).Encode(b))
			case "yaml":
				text, err := yaml.Marshal(b)
				if err == nil {
					_, err = cmd.OutOrStdout().Write(text)
				}
				return session.Fail(err)
			}
			return session.Fail(list.Print(b.list(), tty.Table, a.Out(), a.ErrOut()))
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", output, "output format: text, json, or yaml")
	return cmd
}

// build holds what a binary knows about its build. All of it comes from the Go toolchain,
// so that every way of building gives the same. Unknown parts are "".
type build struct {
	Version    string `json:"version"`
	Commit     string `json:"commit,omitempty"`
	Date       string `json:"date,omitempty"`     // of the commit
	Modified   bool   `json:"modified,omitempty"` // since the commit
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	Kubernetes string `json:"kubernetes,omitempty"` // of client-go
}

func readBuild() build {
	b := build{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.read(info)
	}
	return b
}

// read takes the facts that the toolchain recorded.
func (b *build) read(info *debug.BuildInfo) {
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == "k8s.io/client-go" }); i >= 0 {
		b.Kubernetes = info.Deps[i].Version
	}
}

// list returns the build as a list for people.
func (b *build) list() *list.List {
	commit := b.Commit
	if b.Modified {
		commit += " (modified)"
	}
	l := &list.List{Columns: []list.Column{{}, {Wrapped: true}}, NoHeaders: true}
	for _, line := range [][]string{
		{"lynqctl", b.Version}, {"commit", commit}, {"date", b.Date},
		{"go", b.Go + " " + b.Platform}, {"kubernetes", b.Kubernetes},
	} {
		if line[1] != "" {
			l.Items = append(l.Items, list.Item{Cells: line})
		}
	}
	return l
}

// buildVersion returns the version alone.
func buildVersion() string { return readBuild().Version }
