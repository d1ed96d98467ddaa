package cmdflags

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/metrics"
)

// Metrics holds the flags for metrics in a file.
type Metrics struct {
	file    string
	perNode bool
}

// Register registers the flags.
func (f *Metrics) Register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "metrics-file", "", "write Prometheus metrics to this `file`, even if the run fails (for the node_exporter textfile collector: DIRECTORY/NAME.prom)")
	flags.BoolVar(&f.perNode, "metrics-per-node", false, "report metrics per node instead of per hub and form")
}

// start checks the flags and returns empty metrics, or nil if the user wants none.
func (f *Metrics) start(version string) (*metrics.Metrics, error) {
	if f.file == "" {
		if f.perNode {
			return nil, session.BadUsage(errors.New("--metrics-per-node is about the metrics of --metrics-file (give it a file)"))
		}
		return nil, nil
	}
	if err := metrics.CheckFile(f.file); err != nil {
		return nil, session.BadUsage(fmt.Errorf("--metrics-file: %w", err))
	}
	return metrics.New(metrics.Options{PerNode: f.perNode, Version: version})
}

// Measured runs a use case and then writes its metrics, whatever the result.
func (f *Metrics) Measured(e *session.Engine, run func(*session.Engine) error) error {
	m, err := f.start(e.Version)
	switch {
	case err != nil:
		return err
	case m == nil:
		return run(e)
	}
	return e.Measured(m, func() (unread, failed error) { return m.WriteFile(f.file) }, run)
}
