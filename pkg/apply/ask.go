package apply

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
)

const (
	// askedAtOnce limits the concurrent questions to the server.
	askedAtOnce = 8
	// objectsKept limits the whole objects that a plan keeps for its run.
	objectsKept = 256
)

// Ask finds out whether a run would write the objects that may have drifted. It works like
// the run, and stops before a write. It returns the objects that it found. Only an ended
// context is an error, because the run itself reports why it can't write an object.
func Ask(ctx context.Context, c Cluster, p *plan.Plan) ([]*tracking.Live, error) {
	var asking errgroup.Group
	asking.SetLimit(askedAtOnce)
	var mu sync.Mutex
	var found []*tracking.Live
	kept := 0
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for k := range n.Steps {
			s := &n.Steps[k]
			if !s.Doubtful() || n.Replacement != nil {
				continue
			}
			asking.Go(func() error {
				l := asked(ctx, c, p, n, s)
				mu.Lock()
				defer mu.Unlock()
				if l != nil && (l.Intact || kept < objectsKept) {
					found = append(found, l)
				}
				if l != nil && !l.Intact {
					kept++
				}
				return context.Cause(ctx)
			})
		}
	}
	return found, asking.Wait()
}

// asked returns the object of a step as a run finds it, or nil if that isn't known.
func asked(ctx context.Context, c Cluster, p *plan.Plan, of *plan.NodePlan, s *plan.Step) *tracking.Live {
	q := &requests{cluster: c, ctx: ctx}
	d := &decisions{requests: q, of: p, plan: of, record: &record{requests: q, plan: of, saved: of.Inventory}}
	sr := new(newStep(s))
	var err error
	if sr.Resource, err = q.resourceOf(sr); err != nil {
		return nil
	}
	return d.object(sr).Ask(ctx, write.Manner{InPlace: p.WithClaims, Record: func(string, string) {}})
}
