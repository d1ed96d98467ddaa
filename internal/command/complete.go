package command

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/completion"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// completionPatience limits how long a person waits after Tab, unless the line says how long a
// request may take.
const completionPatience = 3 * time.Second

// asksCompletion reports whether a shell asks for a completion.
func asksCompletion(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// registerCompletions registers completions for the flags and arguments of all commands. It uses the
// names of flags, and the arguments in Use, which mean the same in every command.
func registerCompletions(a *app, c *cobra.Command) {
	c.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if complete := flagCompletion(a, f); complete != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, complete) // fails if the command has its own completion
		}
	})
	if complete := argumentCompletion(a, c); complete != nil && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = complete
	}
	for _, child := range c.Commands() {
		registerCompletions(a, child)
	}
}

// flagCompletion returns the completion for a flag's value, or nil if any value is
// possible.
func flagCompletion(a *app, f *pflag.Flag) cobra.CompletionFunc {
	switch f.Name {
	case "hub":
		return completeWith(a, offer((*completion.Offers).Hubs).of)
	case "form":
		return completeWith(a, offer((*completion.Offers).Forms).of)
	case "node":
		return completeWith(a, offer((*completion.Offers).Nodes).of)
	case "context":
		return completeWith(a, offer((*completion.Offers).Contexts).of)
	case "namespace":
		return completeWith(a, offer((*completion.Offers).Namespaces).of)
	case "filename", "source", "kubeconfig", "certificate-authority", "client-certificate", "client-key":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	case "output-dir", "backup-dir", "export-dir":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	case "fail-on":
		return completeCodes
	}
	if words := flagWords(f); len(words) > 0 {
		return fixedWords(words)
	}
	return nil
}

// fixedWords offers words. After a word that ends with "=", the shell adds no space,
// because a value follows.
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

// flagWords returns the words that a flag accepts. It takes them from a list for all flags of
// this name, and keeps those that the flag's description contains.
func flagWords(f *pflag.Flag) []string {
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
	case "for":
		words = append(words, "ready")
		for _, p := range rbac.Purposes() {
			words = append(words, string(p))
		}
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

// argumentCompletion returns the completion for a command's arguments, or nil if lynqctl
// can't know them.
func argumentCompletion(a *app, c *cobra.Command) cobra.CompletionFunc {
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
		case strings.Contains(said, "node/NODE"), strings.Contains(said, "[TYPE/]NAME"):
			candidates = (*completer).typedOrNode
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
		complete := completeWith(a, candidates)
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

// completeWith completes with names that it finds when a shell asks. It drops errors,
// because a shell can't show them.
func completeWith(a *app, candidates func(*completer) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		c, done := newCompleter(a, cmd, begun)
		defer done()
		names := continued(begun, candidates(c))
		slices.Sort(names)
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeCodes completes with the codes of findings, the worst first.
func completeCodes(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var codes []string
	for _, e := range changeset.Codes() {
		codes = append(codes, string(e.Code))
	}
	return continued(begun, codes), cobra.ShellCompDirectiveNoFileComp
}

// continued returns the values that begin with what a person typed. Flags take several names,
// separated by commas, and lynqctl completes the last one.
func continued(begun string, names []string) []string {
	comma := strings.LastIndexByte(begun, ',') + 1
	var fitting []string
	for _, n := range names {
		if strings.HasPrefix(n, begun[comma:]) {
			fitting = append(fitting, begun[:comma]+n)
		}
	}
	return fitting
}
