package cli

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// PluginName is the name of the binary as kubectl's plugin.
const PluginName = "kubectl-lynq"

// IsPlugin reports whether kubectl called the program as its plugin, by the program's name.
func IsPlugin(program string) bool {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe") == PluginName
}

// AsPlugin makes commands refer to themselves as "kubectl lynq render". kubectl itself
// completes the plugin's arguments with the program kubectl_complete-lynq.
func AsPlugin(root *cobra.Command) {
	root.Use = PluginName
	root.Annotations[cobra.CommandDisplayNameAnnotation] = "kubectl lynq"
	root.CompletionOptions.DisableDefaultCmd = true
	say(root, calls(root))
}

// say renames the program in all texts of a command and those below it.
func say(c *cobra.Command, called *regexp.Regexp) {
	c.Long, c.Example = called.ReplaceAllString(c.Long, pluginCall), called.ReplaceAllString(c.Example, pluginCall)
	for _, child := range c.Commands() {
		say(child, called)
	}
}

// AsCalled returns a text about commands with the name of the plugin.
func AsCalled(root *cobra.Command, text string) string {
	return calls(root).ReplaceAllString(text, pluginCall)
}

// pluginCall replaces calls of the program.
const pluginCall = "kubectl lynq $1"

// calls matches the places where a text calls the program. It skips places where the text
// only mentions it.
func calls(root *cobra.Command) *regexp.Regexp {
	names := []string{"--help", "COMMAND"}
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return regexp.MustCompile(`\blynqctl (` + strings.Join(names, "|") + `)\b`)
}
