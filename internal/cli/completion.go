package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// describeOwn rewrites the texts of cobra's own commands in the style of the others.
func describeOwn(c *cobra.Command) {
	program := c.Root().Name()
	switch c.Name() {
	case "help":
		c.Short = "Show help for a command"
		c.Long = fmt.Sprintf("Show help for a command. '%s COMMAND --help' does the same.", program)
	case "completion":
		c.Short = "Generate shell completion scripts"
		c.Long = "Print a completion script for bash, zsh, fish, or PowerShell."
	default:
		c.Short = "Print the completion script for " + c.Name()
		c.Long = fmt.Sprintf(shellHelp(c.Name()), program)
	}
}

// shellHelp says how a shell loads its script, once or for good. %[1]s is the program.
func shellHelp(shell string) string {
	return map[string]string{
		"bash": `Print the completion script for bash. It needs the package bash-completion.

Load it in this shell:

	source <(%[1]s completion bash)

Load it in every new shell:

	%[1]s completion bash > /etc/bash_completion.d/%[1]s
	# macOS
	%[1]s completion bash > $(brew --prefix)/etc/bash_completion.d/%[1]s`,
		"zsh": `Print the completion script for zsh. If completion is off, turn it on once:

	echo "autoload -U compinit; compinit" >> ~/.zshrc

Load it in this shell:

	source <(%[1]s completion zsh)

Load it in every new shell:

	%[1]s completion zsh > "${fpath[1]}/_%[1]s"`,
		"fish": `Print the completion script for fish.

Load it in this shell:

	%[1]s completion fish | source

Load it in every new shell:

	%[1]s completion fish > ~/.config/fish/completions/%[1]s.fish`,
		"powershell": `Print the completion script for PowerShell. To load it in every new shell, add
this line to your profile:

	%[1]s completion powershell | Out-String | Invoke-Expression`,
	}[shell]
}
