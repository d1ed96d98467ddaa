package load

import (
	"context"
	"fmt"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Capabilities are what templates of charts see of a cluster.
type Capabilities struct {
	KubeVersion string
	APIVersions []string
}

// CapabilityOptions say which capabilities charts see.
type CapabilityOptions struct {
	// Given are those of flags. They win.
	Given Capabilities
	// Ask asks the cluster. With nil, charts see those of Helm.
	Ask func(context.Context) (version string, apiVersions []string, err error)
	// Alone is set if charts are rendered without a cluster, so that their objects may
	// differ from those that apply makes.
	Alone bool
}

// UnansweredError says that a cluster didn't answer what the inputs leave open.
type UnansweredError struct{ Err error }

func (e *UnansweredError) Error() string { return e.Err.Error() }

func (e *UnansweredError) Unwrap() error { return e.Err }

// open opens a chart. It asks the cluster only if the chart's objects depend on the answer.
func (b *builder) open(o wire.Open) (*wire.Opened, error) {
	c := &b.capabilities
	o.KubeVersion, o.APIVersions = c.Given.KubeVersion, c.Given.APIVersions
	o.AnyKubeVersion = c.Ask != nil || !c.Alone && o.KubeVersion == ""
	opened, err := b.helper.Open(b.ctx, o)
	known := o.KubeVersion != "" && (len(o.APIVersions) > 0 || err == nil && !opened.Capabilities)
	if err != nil || c.Ask == nil || !opened.Capabilities && !opened.KubeVersions || known && !opened.KubeVersions {
		return opened, err
	}
	o.AnyKubeVersion = false
	if !known {
		served, ok := b.ask()
		if !ok {
			return opened, nil // Failed ends the run
		}
		if o.KubeVersion == "" {
			o.KubeVersion = served.KubeVersion
		}
		if len(o.APIVersions) == 0 {
			o.APIVersions, o.Served = served.APIVersions, true
		}
	}
	return b.helper.Open(b.ctx, o)
}

// ask asks the cluster once. It returns false if the cluster doesn't answer.
func (b *builder) ask() (Capabilities, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.asked {
		version, versions, err := b.capabilities.Ask(b.ctx)
		if err != nil {
			b.failed = session.Untouched(b.ctx, &UnansweredError{fmt.Errorf("a chart needs .Capabilities of the cluster: %w", err)})
		}
		b.asked, b.served = true, Capabilities{version, versions}
	}
	return b.served, b.failed == nil
}

// Failed returns why the cluster didn't answer.
func (b *builder) Failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// guessed warns that a chart would make other objects on a cluster.
func (c *CapabilityOptions) guessed(of *form.Chart, opened *wire.Opened) lynq.Problems {
	if !c.Alone || !opened.Capabilities || c.Given.KubeVersion != "" || len(c.Given.APIVersions) > 0 {
		return nil
	}
	return lynq.Problems{{
		Pos: of.Path.Pos, What: fmt.Sprintf("its templates read .Capabilities, which are those of Kubernetes %s here, and those of the cluster in apply", opened.KubeVersion),
		Fix: "pass --kube-version and --api-versions",
	}}
}
