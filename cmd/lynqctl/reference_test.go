package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

var (
	update = flag.Bool("update", false, "write what is made of the commands: docs/commands.md, completions/")
	manDir = flag.String("man", "", "write the manual pages into this directory")
)

const (
	commandsDoc    = "../../docs/commands.md"
	completionsDir = "../../completions"
)

// referenceRoot is the tree of commands as its users see it.
func referenceRoot() *cobra.Command {
	root := (&app{getenv: func(string) string { return "" }}).rootCommand()
	root.DisableAutoGenTag = true
	return root
}

// current holds a file that is made of the commands against what they make now.
func current(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what the commands make ('make generate' writes it; -commands +file):\n%s", file, diff)
	}
}

// The completion scripts are those that the commands make.
func TestCompletionScripts(t *testing.T) {
	root := referenceRoot()
	for file, write := range map[string]func(io.Writer) error{
		"lynqctl.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"_lynqctl":     root.GenZshCompletion,
		"lynqctl.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"lynqctl.ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var script bytes.Buffer
		if err := write(&script); err != nil {
			t.Fatal(err)
		}
		current(t, filepath.Join(completionsDir, file), script.Bytes())
	}
}

// The command reference is what the commands say of themselves.
func TestCommandReference(t *testing.T) {
	current(t, commandsDoc, []byte(reference(referenceRoot())))
}

// Each command has a manual page.
func TestManualPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root := referenceRoot()
	header := &doc.GenManHeader{Source: "lynqctl", Manual: "lynqctl manual"}
	if err := doc.GenManTree(root, header, dir); err != nil {
		t.Fatal(err)
	}
	for _, c := range documented(root) {
		page := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		content, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(content), ".SH SYNOPSIS") {
			t.Errorf("%s is no manual page:\n%s", page, content)
		}
	}
}

// documented are a command and all under it that are not hidden, in the order of
// their names. What cobra says of each shell is not for a page.
func documented(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	if c.Name() == "completion" {
		return all
	}
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() && child.Name() != "help" {
			all = append(all, documented(child)...)
		}
	}
	return all
}

// reference is the page of all commands.
func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page is made of what `--help` says; `make generate` writes it.\n\n| command | does |\n|---|---|\n")
	all := documented(root)[1:]
	for _, c := range all {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), inMarkdown(c.Short))
	}
	for _, c := range all {
		writeCommand(&b, c)
	}
	b.WriteString("\n## Flags for the cluster\n\nThose of kubectl, with its meanings.\n")
	writeFlags(&b, clusterFlagSet(), nil)
	b.WriteString("\n## Flags of all commands\n")
	writeFlags(&b, root.PersistentFlags(), nil)
	b.WriteString(aboutVariables())
	return b.String()
}

// aboutVariables tells of the environment.
func aboutVariables() string {
	said := onlySaid()
	for i, name := range said {
		said[i] = "`--" + name + "`"
	}
	return `
## Environment variables

Every flag has its default from an environment variable, where that is set and not
empty: ` + "`LYNQCTL_MAX_DELETE` for `--max-delete`, `LYNQCTL_NAMESPACE` for `-n`, `LYNQCTL_V` for `-v`" + `. It is the
default of all commands that have such a flag. A flag that is given wins. Where a flag
takes several values, commas are between them, but ` + "`LYNQCTL_FILENAME` and `LYNQCTL_SOURCE`" + ` hold one.
A value that a flag does not take is exit code 2, and the message names the variable.

` + strings.Join(said, ", ") + ` take a guard or a question away, or
let Secrets out. They count only on the command line: a variable for one of them is
exit code 2 wherever a command has the flag.

| other variable | |
|---|---|
| ` + "`LYNQCTL_SOURCE_PASSWORD`" + ` | [the password of the source](sources.md) |
| ` + "`KUBECONFIG`" + ` | the kubeconfig, where ` + "`--kubeconfig`" + ` names none |
| ` + "`KUBECTL_EXTERNAL_DIFF`" + ` | the program that shows what [diff](diff.md) finds |
| ` + "`NO_COLOR`" + ` | no colours, unless ` + "`--color=always`" + ` |
| ` + "`CI`" + ` | nothing is redrawn |
`
}

// writeCommand writes the section of one command.
func writeCommand(b *strings.Builder, c *cobra.Command) {
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n", c.CommandPath(), inMarkdown(strings.TrimSpace(about)))
	if !c.HasAvailableSubCommands() {
		fmt.Fprintf(b, "\n```\n%s\n```\n", c.UseLine())
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", withoutIndent(c.Example))
	}
	if writeFlags(b, c.NonInheritedFlags(), clusterFlagSet()) {
		b.WriteString("\nAnd [the flags for the cluster](#flags-for-the-cluster).\n")
	}
}

// writeFlags writes a table of flags, but for those of a shared set that they have
// all of. It tells whether they have.
func writeFlags(b *strings.Builder, flags, shared *pflag.FlagSet) bool {
	hasShared := shared != nil
	if hasShared {
		shared.VisitAll(func(f *pflag.Flag) { hasShared = hasShared && flags.Lookup(f.Name) != nil })
	}
	var rows []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || hasShared && shared.Lookup(f.Name) != nil {
			return
		}
		rows = append(rows, flagRow(f))
	})
	if len(rows) > 0 {
		b.WriteString("\n| flag | default | |\n|---|---|---|\n" + strings.Join(rows, ""))
	}
	return hasShared
}

// flagRow is a flag as a line of a table.
func flagRow(f *pflag.Flag) string {
	kind, usage := pflag.UnquoteUsage(f)
	name := "`--" + f.Name
	if f.Shorthand != "" {
		name = "`-" + f.Shorthand + "`, " + name
	}
	if kind != "" {
		name += " " + kind
	}
	byDefault := f.DefValue
	switch byDefault {
	case "", "[]", "false", "0", "0s":
		byDefault = ""
	default:
		byDefault = " `" + byDefault + "`"
	}
	return fmt.Sprintf("| %s` |%s | %s |\n", name, byDefault, inMarkdown(usage))
}

// inMarkdown has Markdown show a text as it is.
func inMarkdown(text string) string {
	return strings.NewReplacer("<", "\\<", "*", "\\*", "_", "\\_", "|", "\\|").Replace(text)
}

// withoutIndent takes off the two blanks that examples begin with.
func withoutIndent(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}
