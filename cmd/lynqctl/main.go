// Command lynqctl turns database rows into Kubernetes resources, without an
// operator.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/lynqctl/lynqctl/internal/ui"
)

func main() {
	// The first signal cancels the context, so that what runs ends cleanly; before
	// anything says so, the second one has its usual effect again.
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		cancel()
	}()
	a := &app{stdin: os.Stdin, stdout: ui.To(os.Stdout), stderr: ui.To(os.Stderr), getenv: os.Getenv, program: os.Args[0]}
	os.Exit(a.run(ctx, os.Args[1:]))
}
