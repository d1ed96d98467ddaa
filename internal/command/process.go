package command

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// Process runs the command line of this process, and returns its exit code.
func Process() int { return ProcessAt(nil) }

// ProcessAt works like Process, with another clock than this machine's.
func ProcessAt(clock func() time.Time) int {
	// The first signal cancels the context, so that the run ends cleanly. Before any
	// message says so, the second signal has its usual effect again.
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals)
		cancel(&StopError{Signal: s})
	}()
	secrets := redact.New()
	w := World{Stdin: os.Stdin, Stdout: tty.To(os.Stdout).Relayed(ctx.Done()), Stderr: tty.To(os.Stderr).Relayed(ctx.Done()).Hiding(secrets), Secrets: secrets, Getenv: os.Getenv, Program: os.Args[0], Clock: clock}
	kube.LogTo(tty.NewStream(w.Stderr, w.Getenv, tty.ColorAuto))
	code := Run(ctx, w, os.Args[1:])
	w.Stderr.Flush(flushWithin)
	return code
}

// flushWithin is how long the process waits for a reader of its log at the end.
const flushWithin = time.Second
