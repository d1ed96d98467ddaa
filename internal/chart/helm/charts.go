package helm

import (
	"context"
	"fmt"
	"sync"
	"text/template"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Charts are the charts that were opened. Several goroutines may use them.
type Charts struct {
	// Download returns the archive of a chart in a registry. If kept is set, it asks only a
	// cache. Its error may be a *lynq.ChartError.
	Download func(ctx context.Context, r lynq.ChartRef, kept bool) ([]byte, error)

	functions, lookupFunctions template.FuncMap

	mu     sync.RWMutex
	opened []*opened
	ids    map[string]int // by all that a chart is opened with, so that a watch keeps it once
}

// New returns Charts without a chart. Charts in registries need a Download.
func New() *Charts {
	return &Charts{functions: functions(false), lookupFunctions: functions(true), ids: map[string]int{}}
}

// Open reads a chart and its files of values.
func (c *Charts) Open(ctx context.Context, request wire.Open) (*wire.Opened, []wire.Problem) {
	o, answer, err := open(ctx, request, c.Download)
	if err != nil {
		return nil, problems(err)
	}
	o.functions = c.functions
	if request.EmptyLookups {
		o.functions = c.lookupFunctions
	}
	key := fmt.Sprintf("%q %q %q %q %t %t", o.path, answer.Digest, request.KubeVersion, request.APIVersions, request.SkipCRDs, request.EmptyLookups)
	c.mu.Lock()
	defer c.mu.Unlock()
	id, ok := c.ids[key]
	if !ok {
		id = len(c.opened)
		c.ids[key] = id
		c.opened = append(c.opened, o)
	}
	answer.Chart = id
	return answer, nil
}

// Render returns the objects of a release.
func (c *Charts) Render(ctx context.Context, request wire.Render) (*wire.Rendered, []wire.Problem) {
	c.mu.RLock()
	var o *opened
	if request.Chart >= 0 && request.Chart < len(c.opened) {
		o = c.opened[request.Chart]
	}
	c.mu.RUnlock()
	if o == nil {
		return nil, []wire.Problem{{What: "the chart was never opened"}}
	}
	objects, err := o.render(ctx, request)
	if err != nil {
		return nil, problems(err)
	}
	return &wire.Rendered{Objects: objects}, nil
}
