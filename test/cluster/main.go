package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/lynqctl/lynqctl/test/cluster/internal/process"
)

const usage = `Usage: go -C test/cluster run . COMMAND

Commands:
  build           build the programs of the control plane, unless they are cached
  up [-name N]    start a cluster in the background; prints the line to use it
  down [-name N]  stop it
  run             run a cluster until standard input closes; prints one line of
                  JSON with its files when it is ready; -build builds first;
                  for a line "restart kube-apiserver" on standard input it kills
                  the API server and starts it again
  share [-C DIR] COMMAND...
                  run a command in DIR, whose test binaries share one cluster

Where KUBEBUILDER_ASSETS is set, programs found in that directory are used.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := cli{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}.command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "cluster: %v\n", err)
		os.Exit(1)
	}
}

// cli has the input and outputs of the commands.
type cli struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// command runs the command that args name.
func (c cli) command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no command\n%s", usage)
	}
	switch name, rest := args[0], args[1:]; name {
	case "build":
		return c.build(ctx)
	case "up":
		return c.up(ctx, rest)
	case "down":
		return c.down(ctx, rest)
	case "run":
		return c.run(ctx, rest)
	case "share":
		return c.share(ctx, rest)
	case reapCommand:
		return process.Reap(c.stdin)
	default:
		return fmt.Errorf("unknown command %q\n%s", name, usage)
	}
}
