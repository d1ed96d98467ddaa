package applycmd

import (
	"errors"
	"maps"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Merge joins the renderings of several hubs. The caller read their rows one hub at a time.
func Merge(parts ...Rendering) Rendering {
	all := Rendering{
		Nodes: map[lynq.HubKey][]*plan.Node{}, reports: map[lynq.HubKey]render.Report{},
		sources: map[lynq.HubKey]*evidence.Source{}, renames: map[lynq.HubKey]*lynq.Renames{},
		near: func(string) string { return "" },
	}
	var failed []error
	for _, r := range parts {
		maps.Copy(all.Nodes, r.Nodes)
		maps.Copy(all.reports, r.reports)
		maps.Copy(all.sources, r.sources)
		maps.Copy(all.renames, r.renames)
		failed = append(failed, r.Failed)
		if all.read.IsZero() || r.read.Before(all.read) {
			all.read = r.read
		}
		if next := r.NextExpiry; !next.IsZero() && (all.NextExpiry.IsZero() || next.Before(all.NextExpiry)) {
			all.NextExpiry = next
		}
	}
	all.Failed = errors.Join(failed...)
	return all
}
