package cli

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// PluginName is what the binary is called where kubectl finds it as a plugin.
const PluginName = "kubectl-lynq"

// IsPlugin tells whether a program was called as kubectl's plugin, by the name
// that it was called by.
func IsPlugin(program string) bool {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe") == PluginName
}

// AsPlugin has commands speak of themselves as people call them by then:
// "kubectl lynq render". Completion is kubectl's business there, by way of the
// program kubectl_complete-lynq.
func AsPlugin(root *cobra.Command) {
	root.Use = PluginName
	root.Annotations[cobra.CommandDisplayNameAnnotation] = "kubectl lynq"
	root.CompletionOptions.DisableDefaultCmd = true
	say(root, calls(root))
}

// say renames the program in all texts of a command and of those under it.
func say(c *cobra.Command, called *regexp.Regexp) {
	c.Long, c.Example = called.ReplaceAllString(c.Long, pluginCall), called.ReplaceAllString(c.Example, pluginCall)
	for _, child := range c.Commands() {
		say(child, called)
	}
}

// AsCalled is a text of commands as it is where the program is kubectl's plugin.
func AsCalled(root *cobra.Command, text string) string {
	return calls(root).ReplaceAllString(text, pluginCall)
}

// pluginCall is what calls of the program become.
const pluginCall = "kubectl lynq $1"

// calls finds in a text where it says how the program is called, and not where it
// speaks of it.
func calls(root *cobra.Command) *regexp.Regexp {
	names := []string{"--help", "COMMAND"}
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return regexp.MustCompile(`\blynqctl (` + strings.Join(names, "|") + `)\b`)
}
