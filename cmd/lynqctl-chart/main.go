// Command lynqctl-chart builds the kustomizations and the charts of forms for lynqctl, which
// starts it. Its libraries are too large for lynqctl itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/lynqctl/lynqctl/internal/chart/answer"
	"github.com/lynqctl/lynqctl/internal/chart/helm"
	"github.com/lynqctl/lynqctl/internal/chart/kustomize"
	"github.com/lynqctl/lynqctl/internal/chart/registry"
	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// exitUsage is the exit code for wrong arguments, as in lynqctl.
const exitUsage = 2

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run returns the exit code.
func run(args []string, in io.Reader, out, errOut io.Writer) int {
	var err error
	switch {
	case len(args) == 1 && args[0] == "--version":
		_, err = fmt.Fprintln(out, "lynqctl-chart "+release())
	case len(args) == 1 && args[0] == "serve":
		// lynqctl ends this process. An interrupt in a terminal reaches both, and lynqctl
		// first completes what it does.
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
		debug.SetGCPercent(gcPercent)
		settings := registry.FromEnvironment()
		isolate()
		err = answer.Run(in, out, release(), functions(settings))
	default:
		_, _ = fmt.Fprint(errOut, usage) // nothing else can be done
		return exitUsage
	}
	if err != nil {
		_, _ = fmt.Fprintln(errOut, "error: "+err.Error()) // nothing else can be done
		return 1
	}
	return 0
}

// gcPercent lets garbage grow to some megabytes. Releases make much of it, and little stays.
const gcPercent = 800

const usage = `lynqctl starts this program for forms with spec.kustomize or spec.charts.
Keep it beside lynqctl, or in PATH. You don't need to run it.

  lynqctl-chart --version   print the version
`

// isolate takes away what a library would need to reach the network or another program. Helm's
// libraries log values, which may be secret, so it discards what they log. What a library prints
// must not be among the answers. Only the package registry, which gets its settings before,
// reaches the network.
func isolate() {
	os.Stdout = os.Stderr
	root := os.Getenv(windowsRoot)
	os.Clearenv()
	if root != "" { // Windows resolves no names without it
		_ = os.Setenv(windowsRoot, root) // its error would be one of the name
	}
	log.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.DiscardHandler))
	http.DefaultTransport = noNetwork{}
}

const windowsRoot = "SYSTEMROOT"

// errNetwork refuses requests of libraries.
var errNetwork = errors.New("lynqctl-chart uses no network")

type noNetwork struct{}

// RoundTrip implements http.RoundTripper.
func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNetwork }

// functions returns the functions that answer requests.
func functions(s registry.Settings) answer.Functions {
	var builder kustomize.Builder
	charts := helm.New()
	charts.Download = registry.New(s).Chart
	ctx := context.Background()
	return answer.Functions{
		Build:  builder.Build,
		Open:   func(o wire.Open) (*wire.Opened, []wire.Problem) { return charts.Open(ctx, o) },
		Render: func(r wire.Render) (*wire.Rendered, []wire.Problem) { return charts.Render(ctx, r) },
	}
}

// release returns the version that the toolchain recorded.
func release() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
