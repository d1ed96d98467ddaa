package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
)

// withoutInherited leaves out the flags that the parent command describes in the same
// words. It also returns the sentence that refers to the parent.
func withoutInherited(flags *pflag.FlagSet, parent *cobra.Command) (own *pflag.FlagSet, rest string) {
	own = pflag.NewFlagSet("own", pflag.ContinueOnError)
	inherited := ownFlags(parent)
	flags.VisitAll(func(f *pflag.Flag) {
		if same := inherited.Lookup(f.Name); same == nil || flagItem(same) != flagItem(f) {
			own.AddFlag(f)
		}
	})
	var lacking []string
	inherited.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && flags.Lookup(f.Name) == nil {
			lacking = append(lacking, "`--"+f.Name+"`")
		}
	})
	rest = fmt.Sprintf("\nThe rest is as for [%s](#%s), also the other flags", shortPath(parent), anchorOf(parent))
	if len(lacking) > 0 {
		rest += ", except " + strings.Join(lacking, ", ")
	}
	return own, rest + ".\n"
}

// aboutClusterFlags says which commands have the flags for the cluster.
func aboutClusterFlags(all []*cobra.Command) string {
	var without []string
	for _, c := range all {
		groups := c.HasAvailableSubCommands() && c.Name() != "completion"
		if !groups && !hasClusterFlags(c) {
			without = append(without, "`"+shortPath(c)+"`")
		}
	}
	var named []string
	cmdflags.Cluster().VisitAll(func(f *pflag.Flag) { named = append(named, "`--"+f.Name+"`") })
	return "All commands except " + strings.Join(without, ", ") + " have these flags. They mean the same as in kubectl.\n\n" +
		strings.Join(named, ", ") + "\n"
}

// ownFlags returns the flags of a command. It leaves out those of the cluster if the command
// has them all.
func ownFlags(c *cobra.Command) *pflag.FlagSet {
	if !hasClusterFlags(c) {
		return c.NonInheritedFlags()
	}
	own, cluster := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError), cmdflags.Cluster()
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if cluster.Lookup(f.Name) == nil {
			own.AddFlag(f)
		}
	})
	return own
}

// hasClusterFlags reports whether a command has all flags for the cluster.
func hasClusterFlags(c *cobra.Command) bool {
	has := true
	cmdflags.Cluster().VisitAll(func(f *pflag.Flag) { has = has && c.NonInheritedFlags().Lookup(f.Name) != nil })
	return has
}

// allSections stands for the flags of all sections of --help.
const allSections = ""

// flagItems returns the flags of a section of --help as items of a list.
func flagItems(flags *pflag.FlagSet, section string) []string {
	var items []string
	flags.VisitAll(func(f *pflag.Flag) {
		in := cmdflags.SectionOf(f.Name)
		if in == "" {
			in = "Flags"
		}
		if !f.Hidden && f.Name != "help" && (section == allSections || section == in) {
			items = append(items, flagItem(f))
		}
	})
	return items
}

// flagItem returns a flag as an item of a list.
func flagItem(f *pflag.Flag) string {
	kind, usage := pflag.UnquoteUsage(f)
	name := "`--" + f.Name
	if f.Shorthand != "" {
		name = "`-" + f.Shorthand + "`, " + name
	}
	if kind != "" {
		name += " " + kind
	}
	name += "`"
	if !slices.Contains([]string{"", "[]", "false", "0", "0s"}, f.DefValue) {
		name += " (default `" + f.DefValue + "`)"
	}
	return fmt.Sprintf("- %s: %s\n", name, inMarkdown(usage))
}
