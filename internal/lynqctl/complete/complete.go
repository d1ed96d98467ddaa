package complete

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/internal/lynqctl/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/completion"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// completionPatience is how long a person who pressed Tab is kept waiting.
const completionPatience = 3 * time.Second

// Shell is a shell that asks how a command line may go on.
type Shell struct {
	Line   *cli.Line
	Engine func() *session.Engine
}

// Asked tells whether a shell asks how a command line may go on.
func Asked(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// Register says for all commands what their flags and arguments may
// be. It goes by the names of flags and by what Use says of arguments, which mean
// the same everywhere.
func Register(s *Shell, c *cobra.Command) {
	c.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if complete := flagCompletion(s, f); complete != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, complete) // fails where the command has its own
		}
	})
	if complete := argumentCompletion(s, c); complete != nil && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = complete
	}
	for _, child := range c.Commands() {
		Register(s, child)
	}
}

// flagCompletion says what may be the value of a flag, nil where anything may.
func flagCompletion(s *Shell, f *pflag.Flag) cobra.CompletionFunc {
	switch f.Name {
	case "hub":
		return completeWith(s, offer((*completion.Offers).Hubs).of)
	case "form":
		return completeWith(s, offer((*completion.Offers).Forms).of)
	case "node":
		return completeWith(s, offer((*completion.Offers).Nodes).of)
	case "context":
		return completeWith(s, offer((*completion.Offers).Contexts).of)
	case "namespace":
		return completeWith(s, offer((*completion.Offers).Namespaces).of)
	case "filename", "source", "kubeconfig", "certificate-authority", "client-certificate", "client-key":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	case "output-dir", "backup-dir", "export-dir":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	}
	if words := Words(f); len(words) > 0 {
		return fixedWords(words)
	}
	return nil
}

// fixedWords offers words. Behind one that ends with "=" comes a value, and no space.
func fixedWords(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		fitting := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, begun) })
		directive := cobra.ShellCompDirectiveNoFileComp
		if !slices.ContainsFunc(fitting, func(w string) bool { return !strings.HasSuffix(w, "=") }) {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return fitting, directive
	}
}

// Words are the words that a flag takes: those of all that flags of its name
// take anywhere which its own description names.
func Words(f *pflag.Flag) []string {
	if f.Value.Type() == "bool" {
		return nil
	}
	var words []string
	switch f.Name {
	case "output":
		words = []string{"table", "wide", "name", "yaml", "kyaml", "json", "jsonpath=", "go-template=", "custom-columns=", "text", "mermaid", "dot", "diff", "markdown", "html", "trailers"}
	case "dry-run":
		words = []string{"none", "client", "server"}
	case "adopt":
		words = []string{cmdflags.AdoptByPolicy, cmdflags.AdoptNever}
	case "cascade":
		words = []string{"background", "foreground", "orphan"}
	case "target":
		words = []string{"plain", "argo", "flux"}
	case "layout":
		words = []string{"node-folder", "node-file"}
	case "reason":
		words = orphan.Marked()
	}
	described := strings.FieldsFunc(f.Usage, func(r rune) bool { return strings.ContainsRune(" ,;:()", r) })
	return slices.DeleteFunc(words, func(w string) bool {
		return !slices.ContainsFunc(described, func(d string) bool {
			return d == w || strings.HasSuffix(w, "=") && strings.HasPrefix(d, w)
		})
	})
}

// argumentCompletion says what may be a command's arguments, nil where it takes
// none that can be known.
func argumentCompletion(s *Shell, c *cobra.Command) cobra.CompletionFunc {
	for _, said := range strings.Fields(c.Use)[1:] {
		word, _, _ := strings.Cut(strings.Trim(said, "[]"), "|")
		word, many := strings.CutSuffix(word, "...")
		parent := ""
		if c.HasParent() {
			parent = c.Parent().Name()
		}
		var candidates func(*completer) []string
		switch {
		case strings.Contains(said, "TYPE/NAME"):
			candidates = (*completer).typed
		case strings.Contains(said, "node/NODE"):
			candidates = func(c *completer) []string { return append(c.typed(), offer((*completion.Offers).Nodes).of(c)...) }
		case word == "NODE", word == "NAME" && c.Name() == "node":
			candidates = offer((*completion.Offers).Nodes).of
		case word == "NAME" && c.Name() == "form":
			candidates = offer((*completion.Offers).Forms).of
		case word == "NAME" && c.Name() == "hub":
			candidates = offer((*completion.Offers).Hubs).of
		case word == "HUB":
			candidates = offer((*completion.Offers).Hubs).of
		case word == "RUN":
			candidates = offer((*completion.Offers).Runs).of
		case word == "OBJECT" && parent == "orphans":
			candidates = offer((*completion.Offers).Orphans).of
		default:
			continue
		}
		complete := completeWith(s, candidates)
		return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && !many {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			names, directive := complete(cmd, args, begun)
			return slices.DeleteFunc(names, func(n string) bool { return slices.Contains(args, n) }), directive
		}
	}
	return nil
}

// completeWith completes with names that are found out when a shell asks. What keeps
// them from being found out, a shell does not want to hear.
func completeWith(s *Shell, candidates func(*completer) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		c, done := newCompleter(s, cmd, begun)
		defer done()
		// Flags take several names with commas between them.
		comma := strings.LastIndexByte(begun, ',') + 1
		var names []string
		for _, n := range candidates(c) {
			if strings.HasPrefix(n, begun[comma:]) {
				names = append(names, begun[:comma]+n)
			}
		}
		slices.Sort(names)
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
}
