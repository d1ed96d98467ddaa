package command

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
)

var (
	update = flag.Bool("update", false, "write what is made of the commands: docs/commands.md, docs/commands/, completions/")
	manDir = flag.String("man", "", "write the manual pages into this directory")
)

const (
	commandsDoc    = "../../docs/commands.md"
	commandsDir    = "../../docs/commands"
	completionsDir = "../../completions"
)

// referenceRoot returns the tree of commands as users see it.
func referenceRoot() *cobra.Command {
	root := rootCommand(newApp(World{Getenv: func(string) string { return "" }}, nil))
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
		t.Run(file, func(t *testing.T) {
			var script bytes.Buffer
			if err := write(&script); err != nil {
				t.Fatal(err)
			}
			current(t, filepath.Join(completionsDir, file), script.Bytes())
		})
	}
}

// TestCommandReference wants the pages of the commands to be current.
func TestCommandReference(t *testing.T) {
	root := referenceRoot()
	current(t, commandsDoc, []byte(commandIndex(root)))
	known := map[string]bool{}
	for _, c := range top(root) {
		file := filepath.Join(commandsDir, c.Name()+".md")
		known[file] = true
		current(t, file, []byte(commandPage(c)))
	}
	files, err := filepath.Glob(commandsDir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !known[file] {
			t.Errorf("%s is the page of no command: delete it", file)
		}
	}
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

// top returns the documented commands of the first level.
func top(root *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(documented(root), func(c *cobra.Command) bool { return c.Parent() != root })
}

// commandIndex returns the page that leads to all commands, in the groups of --help. It keeps
// the anchors of the time when it described the commands itself.
func commandIndex(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nEach command has a page with its flags, examples and exit codes. `make generate` writes these pages from `--help`.\n")
	for _, g := range append(root.Groups(), &cobra.Group{Title: "Other commands"}) {
		fmt.Fprintf(&b, "\n## %s\n\n", g.Title)
		for _, c := range top(root) {
			if c.GroupID != g.ID {
				continue
			}
			for _, c := range documented(c) {
				indent := strings.Repeat("  ", strings.Count(shortPath(c), " "))
				fmt.Fprintf(&b, "%s- <a id=\"%s\"></a>[%s](%s): %s\n", indent, anchorOf(c), shortPath(c), pageOf(c), c.Short)
			}
		}
	}
	b.WriteString("\n## Flags for the cluster\n\n" + aboutClusterFlags(documented(root)[1:]))
	b.WriteString("\n## Flags of all commands\n\n" + strings.Join(flagItems(root.PersistentFlags(), allSections), ""))
	b.WriteString(aboutVariables())
	return b.String()
}

// pageOf returns the link from the index to the page of a command, or to its part.
func pageOf(c *cobra.Command) string {
	page, _, below := strings.Cut(shortPath(c), " ")
	link := "commands/" + page + ".md"
	if below {
		link += "#" + anchorOf(c)
	}
	return link
}

// commandPage returns the page of a command and those below it.
func commandPage(c *cobra.Command) string {
	var b strings.Builder
	for _, c := range documented(c) {
		writeCommand(&b, c)
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// anchorOf returns the anchor of a command's heading.
func anchorOf(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

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
them, commands that have the flag exit with 2. So they do if a variable would loosen a guard: ` + "`LYNQCTL_MAX_DELETE` takes\nat most 25%, `LYNQCTL_MAX_CHANGE` at most 50%, and `LYNQCTL_MAX_DELETE_WINDOW` at least 1h" + `.

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
func writeCommand(b *strings.Builder, c *cobra.Command) {
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	about = strings.TrimSpace(about)
	flags, rest := ownFlags(c), ""
	if text := withoutParts(about, partsOf(c.Parent())); text != about {
		about = text
		flags, rest = withoutInherited(flags, c.Parent())
	}
	level := strings.Repeat("#", min(2, 1+strings.Count(shortPath(c), " ")))
	fmt.Fprintf(b, "\n%s %s\n\n", level, c.CommandPath())
	if !c.HasAvailableSubCommands() {
		fmt.Fprintf(b, "    %s\n\n", strings.TrimSuffix(c.UseLine(), " [flags]"))
	}
	b.WriteString(listInMarkdown(inMarkdown(about)) + "\n")
	if example := withoutShown(c.Example, c.Parent().Example); example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", withoutIndent(example))
	}
	for _, section := range append([]string{"Flags"}, cmdflags.Sections()...) {
		items := strings.Join(flagItems(flags, section), "")
		if section == "Cluster flags" && rest == "" && hasClusterFlags(c) {
			items += "- [kubectl's flags](../commands.md#flags-for-the-cluster), such as `--as` and `--kubeconfig`\n"
		}
		if items != "" {
			fmt.Fprintf(b, "\n**%s**\n\n%s", section, items)
		}
	}
	b.WriteString(rest)
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
