package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The width of help: that of the terminal up to a limit, or the usual one.
const (
	UsualColumns = 80
	mostColumns  = 110
)

// usage writes the usage of a command, which is most of its help.
func (l *Line) usage(c *cobra.Command) error {
	columns := l.helpColumns()
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() && !IsGroup(c) {
		b.WriteString("  " + c.UseLine() + "\n")
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("  " + c.CommandPath() + " COMMAND\n")
	}
	if c.HasExample() {
		b.WriteString("\nExamples:\n" + c.Example + "\n")
	}
	for _, group := range append(c.Groups(), &cobra.Group{Title: otherCommands(c)}) {
		writeCommands(&b, c, group)
	}
	own, kubectls := l.helpFlags(c)
	for _, s := range l.sections(own) {
		b.WriteString("\n" + s.title + ":\n" + s.flags.FlagUsagesWrapped(columns))
	}
	if len(kubectls) > 0 {
		b.WriteString("\nkubectl connection flags:\n" + wrapped(kubectls, columns))
	}
	if !c.HasParent() {
		b.WriteString("\nYou can set each flag with an environment variable: LYNQCTL_NAMESPACE sets\n--namespace. Flags that loosen a safety check count only on the command line.\n")
	} else {
		b.WriteString("\nRun '" + c.Root().CommandPath() + " --help' for global flags (" + strings.Join(flagNames(c.InheritedFlags()), ", ") + ").\n")
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nRun '" + c.CommandPath() + " COMMAND --help' for more about a command.\n")
	}
	_, err := fmt.Fprint(c.OutOrStderr(), b.String())
	return err
}

// otherCommands is the title of the commands without a group.
func otherCommands(c *cobra.Command) string {
	if len(c.Groups()) > 0 {
		return "Other commands"
	}
	return "Commands"
}

// writeCommands writes the commands of a group, if there are some.
func writeCommands(b *strings.Builder, c *cobra.Command, group *cobra.Group) {
	title := "\n" + group.Title + ":\n"
	for _, child := range c.Commands() {
		if child.GroupID == group.ID && (child.IsAvailableCommand() || child.Name() == "help") {
			fmt.Fprintf(b, "%s  %-*s %s\n", title, child.NamePadding(), child.Name(), child.Short)
			title = ""
		}
	}
}

// fewFlags is the number of flags that help shows as one list.
const fewFlags = 10

// section is a part of the flags in help.
type section struct {
	title string
	flags *pflag.FlagSet
}

// sections returns flags in the parts in which help shows them.
func (l *Line) sections(own *pflag.FlagSet) []section {
	all := []section{{"Flags", pflag.NewFlagSet("", pflag.ContinueOnError)}}
	for _, title := range l.Sections {
		all = append(all, section{title, pflag.NewFlagSet("", pflag.ContinueOnError)})
	}
	few := len(flagNames(own)) <= fewFlags
	own.VisitAll(func(f *pflag.Flag) {
		at := 0
		if !few {
			at = 1 + slices.Index(l.Sections, l.SectionOf(f.Name))
		}
		all[at].flags.AddFlag(f)
	})
	return slices.DeleteFunc(all, func(s section) bool { return !s.flags.HasFlags() })
}

// helpColumns returns the width of help.
func (l *Line) helpColumns() int {
	if columns := l.Columns(); columns > 0 {
		return min(columns, mostColumns)
	}
	return UsualColumns
}

// helpFlags returns the flags that a command's help explains, and the names of those that
// people know from kubectl.
func (l *Line) helpFlags(c *cobra.Command) (own *pflag.FlagSet, kubectls []string) {
	own = pflag.NewFlagSet("", pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		explained := []string{"kubeconfig", "context"}
		switch {
		case f.Hidden:
		case l.Known.Lookup(f.Name) == nil || slices.Contains(explained, f.Name):
			own.AddFlag(f)
		default:
			kubectls = append(kubectls, "--"+f.Name)
		}
	})
	return own, kubectls
}

// flagNames returns the names of flags.
func flagNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == f.Shorthand {
			names = append(names, "-"+f.Name)
		} else if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// wrapped joins words in lines.
func wrapped(words []string, columns int) string {
	var b strings.Builder
	line := " "
	for i, w := range words {
		if i < len(words)-1 {
			w += ","
		}
		if len(line)+1+len(w) > columns {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + w
	}
	return b.String() + line + "\n"
}
