package lynqctl

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/lynqctl/lynqctl/internal/lynqctl/cmdflags"
	"github.com/lynqctl/lynqctl/internal/lynqctl/console"
)

var (
	update = flag.Bool("update", false, "write what is made of the commands: docs/commands.md, completions/")
	manDir = flag.String("man", "", "write the manual pages into this directory")
)

const (
	commandsDoc    = "../../docs/commands.md"
	completionsDir = "../../completions"
)

// referenceRoot returns the tree of commands as users see it.
func referenceRoot() *cobra.Command {
	root := rootCommand(newApp(console.World{Getenv: func(string) string { return "" }}, nil))
	root.DisableAutoGenTag = true
	return root
}

// current compares a file with what the commands generate now.
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

// TestCompletionScripts wants the completion scripts in the tree to be current.
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

// TestCommandReference wants the page of the commands to be current.
func TestCommandReference(t *testing.T) {
	current(t, commandsDoc, []byte(reference(referenceRoot())))
}

// TestManualPages wants a manual page for each command.
func TestManualPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root := referenceRoot()
	for _, c := range documented(root) {
		c.Long = listInMarkdown(c.Long)
	}
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

// documented returns a command and all visible ones below it, sorted by name. It skips
// cobra's commands for each shell, which need no page.
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

// reference returns the page of all commands.
func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n`make generate` writes this page from `--help`.\n\n")
	all := documented(root)[1:]
	for _, c := range all {
		b.WriteString("- " + linkTo(c) + "\n")
	}
	common := commonFlags(all)
	for _, c := range all {
		writeCommand(&b, c, common)
	}
	b.WriteString(aboutExitCodes())
	b.WriteString("\n## Common flags\n\nSeveral commands have these flags. Each command names those that it has.\n\n")
	for _, name := range slices.Sorted(maps.Keys(common)) {
		for _, item := range common[name] {
			b.WriteString(item.forCommands())
		}
	}
	b.WriteString("\n## Flags for the cluster\n\n" + aboutClusterFlags(all))
	b.WriteString("\n## Flags of all commands\n\n" + strings.Join(flagItems(root.PersistentFlags()), ""))
	b.WriteString(aboutVariables())
	return b.String()
}

// linkTo returns a link to the section of a command.
func linkTo(c *cobra.Command) string {
	return fmt.Sprintf("[%s](#%s)", shortPath(c), strings.ReplaceAll(c.CommandPath(), " ", "-"))
}

// shortPath returns the name of a command without that of the program.
func shortPath(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "lynqctl ") }

// aboutVariables describes the environment variables.
func aboutVariables() string {
	said := cmdflags.OnlySaid()
	for i, name := range said {
		said[i] = "`--" + name + "`"
	}
	return `
## Environment variables

An environment variable sets the default of a flag for all commands that have the flag.
For example, ` + "`LYNQCTL_NAMESPACE` sets `-n`, and `LYNQCTL_V` sets `-v`" + `. A note names the flags that the environment set.
A flag on the command line wins. Separate several values with commas. ` + "`LYNQCTL_FILENAME` and `LYNQCTL_SOURCE`" + ` take one value.
If a flag doesn't take the value, the exit code is 2, and the message names the variable.

` + strings.Join(said, ", ") + ` turn off a guard or a question, or
print Secrets. lynqctl reads them only from the command line. If you set a variable for one of
them, commands that have the flag exit with 2. So they do if a variable would loosen a guard: ` + "`LYNQCTL_MAX_DELETE` takes\nat most 25%, and `LYNQCTL_MAX_DELETE_WINDOW` at least 1h" + `.

| other variable | |
|---|---|
| ` + "`LYNQCTL_SOURCE_PASSWORD`" + ` | [the password of the source](sources.md) |
| ` + "`LYNQCTL_POD_UID`" + ` | the UID of the pod that runs [lynqctl watch](watch.md#two-at-once). Set it for one container of a pod |
| ` + "`KUBECONFIG`" + ` | the kubeconfig, if ` + "`--kubeconfig`" + ` is not set |
| ` + "`KUBECTL_EXTERNAL_DIFF`" + ` | the program that shows the result of [diff](diff.md) |
| ` + "`NO_COLOR`" + ` | no colours, unless ` + "`--color=always`" + ` |
| ` + "`CI`" + ` | lynqctl redraws nothing |
`
}

// writeCommand writes the section of one command.
func writeCommand(b *strings.Builder, c *cobra.Command, common map[string][]sharedFlag) {
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	about = strings.TrimSpace(about)
	own, rest := flagItems(ownFlags(c)), ""
	if text := withoutParts(about, partsOf(c.Parent())); text != about {
		about = text
		own, rest = withoutInherited(own, c.Parent())
	}
	fmt.Fprintf(b, "\n## %s\n\n", c.CommandPath())
	if !c.HasAvailableSubCommands() {
		fmt.Fprintf(b, "    %s\n\n", strings.TrimSuffix(c.UseLine(), " [flags]"))
	}
	b.WriteString(withSharedCodes(inMarkdown(about)) + "\n" + rest)
	if example := withoutShown(c.Example, c.Parent().Example); example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", withoutIndent(example))
	}
	writeFlags(b, own, common)
}

// partsOf returns the paragraphs that the commands of a group needn't repeat. delete says in
// its own words which objects stay.
func partsOf(group *cobra.Command) string {
	if group.Name() == "delete" {
		return group.Long + deletionKeeps
	}
	return group.Long
}

// withoutShown leaves out the examples that another command shows already.
func withoutShown(examples, others string) string {
	return strings.Trim(withoutParts(strings.Trim(examples, "\n"), strings.Trim(others, "\n")), "\n")
}

// withoutParts returns a text without the paragraphs that another text also has.
func withoutParts(text, other string) string {
	has := strings.Split(strings.TrimSpace(other), "\n\n")
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n\n"), func(part string) bool { return slices.Contains(has, part) }), "\n\n")
}

// listInMarkdown turns the indented lines of a text into list items, such as exit codes.
func listInMarkdown(text string) string {
	item := regexp.MustCompile(`(?m)^  (\S+) +`)
	return item.ReplaceAllString(strings.ReplaceAll(text, ":\n  ", ":\n\n  "), "- `$1` ")
}

// inMarkdown escapes a text for Markdown.
func inMarkdown(text string) string {
	return strings.NewReplacer("<", "\\<", "*", "\\*", "_", "\\_", "|", "\\|").Replace(text)
}

// withoutIndent removes the two blanks at the start of each example line.
func withoutIndent(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}
