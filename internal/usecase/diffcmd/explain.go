package diffcmd

import (
	"context"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/changeset"
)

// Explain notes in plans why lynqctl renders objects otherwise than at the last write. It is for
// applycmd.Options.Explain. It sends no request, so it knows no fields: form, row and version are
// causes of the object as a whole.
func Explain(ctx context.Context, p *applycmd.Planned) error {
	t := newDiffRun(ctx, p.Seen, false)
	for i := range p.Plans {
		for k := range p.Plans[i].Nodes {
			n := &p.Plans[i].Nodes[k]
			for at := range n.Steps {
				if err := t.explain(n, &n.Steps[at]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// explain notes the cause of a step that changes an object.
func (t *diffRun) explain(n *plan.NodePlan, s *plan.Step) error {
	if s.Reason != plan.ReasonChanged || s.Object == nil || s.Entry == nil || s.Live == nil {
		return nil
	}
	origin, err := t.origin(n, s)
	if err != nil {
		return err
	}
	c := origin.OfObject()
	s.Cause = changeset.AtPlaces(1, c.Edit.String(), func(int) (string, string) { return c.String(), c.Form.String() })[0]
	return nil
}
