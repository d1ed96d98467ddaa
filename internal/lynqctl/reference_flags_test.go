package lynqctl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/lynqctl/cmdflags"
)

// sharedFlag is an item for a flag that several commands describe in the same words.
type sharedFlag struct {
	item     string
	commands []string
	general  bool
}

// forCommands returns the item, with its commands if other commands describe the flag
// in other words. A group stands for the commands below it.
func (f sharedFlag) forCommands() string {
	if f.general {
		return f.item
	}
	below := func(c string) bool {
		group, _, is := strings.Cut(c, " ")
		return is && slices.Contains(f.commands, group)
	}
	return strings.TrimSuffix(f.item, "\n") + " (only `" + strings.Join(slices.DeleteFunc(slices.Clone(f.commands), below), "`, `") + "`)\n"
}

// commonFlags returns the items that several commands share, by the name of the flag. The
// first item of a flag is the most common one.
func commonFlags(all []*cobra.Command) map[string][]sharedFlag {
	var items []string
	commands := map[string][]string{}
	for _, c := range all {
		for _, item := range flagItems(ownFlags(c)) {
			if commands[item] == nil {
				items = append(items, item)
			}
			commands[item] = append(commands[item], shortPath(c))
		}
	}
	common := map[string][]sharedFlag{}
	for _, item := range items {
		if n := len(commands[item]); n >= 3 || n == 2 && len(strings.Fields(item)) > 8 {
			common[longName(item)] = append(common[longName(item)], sharedFlag{item: item, commands: commands[item]})
		}
	}
	for _, flags := range common {
		slices.SortStableFunc(flags, func(a, b sharedFlag) int { return len(b.commands) - len(a.commands) })
		flags[0].general = true
	}
	return common
}

// longName returns the name of the flag that an item describes.
func longName(item string) string { return regexp.MustCompile(`--[a-z-]+`).FindString(item) }

// writeFlags writes the flags of a command. It describes those that few commands have,
// and names the others.
func writeFlags(b *strings.Builder, items []string, common map[string][]sharedFlag) {
	var named []string
	list := ""
	for _, item := range items {
		name := longName(item)
		if slices.ContainsFunc(common[name], func(f sharedFlag) bool { return f.item == item }) {
			named = append(named, name)
		} else {
			list += item
		}
	}
	if len(named) > 0 {
		list += "- [common](#common-flags): `" + strings.Join(named, " ") + "`\n"
	}
	if list != "" {
		b.WriteString("\n" + list)
	}
}

// withoutInherited leaves out the flags that the parent command describes in the same
// words. It also returns the sentence that refers to the parent.
func withoutInherited(items []string, parent *cobra.Command) (own []string, rest string) {
	inherited := flagItems(ownFlags(parent))
	own = slices.DeleteFunc(slices.Clone(items), func(item string) bool { return slices.Contains(inherited, item) })
	var lacking []string
	for _, flag := range inherited {
		name := longName(flag)
		if !slices.ContainsFunc(items, func(item string) bool { return longName(item) == name }) {
			lacking = append(lacking, "`"+name+"`")
		}
	}
	rest = "\nThe rest is as for " + linkTo(parent) + ", also the other flags"
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

// flagItems returns the flags as items of a list.
func flagItems(flags *pflag.FlagSet) []string {
	var items []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
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
