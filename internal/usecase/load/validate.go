package load

import (
	"context"
	"fmt"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Validate checks the inputs, and their rows if rows is set. checked says what it checked. It
// returns a *session.Error with all problems.
func Validate(ctx context.Context, e *session.Engine, o *RenderOptions, rows bool) (checked string, err error) {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	o.Inputs.NoForms, o.Inputs.Capabilities.Alone = !rows, rows
	inputs, err := Prepare(ctx, e, o, o.Nothing)
	if err != nil {
		return "", err
	}
	hubs, forms := len(inputs.Hubs), len(AllPrograms(inputs.Hubs))
	if forms == 0 {
		hubs = len(inputs.Inputs.Hubs)
	}
	checked = fmt.Sprintf("%s and %s", phrase.Count(hubs, "hub"), phrase.Count(forms, "form"))
	if rows {
		run, err := RenderRows(ctx, e, o, o.Settings, inputs, EachNode(ctx, func([]byte) error { return nil }))
		if err := o.Ended(run.Run, err); err != nil {
			return "", err
		}
		for _, h := range inputs.Hubs {
			if where := h.Hub.Source.Where; where.SQL != "" {
				e.Notef("hub %q: %s where %s (%s)", h.Hub.Name, phrase.Count(run.Hubs[h.Key].Rows, "row"), phrase.OneLine(where.SQL), where.At)
			}
		}
		checked += ", " + phrase.Count(run.Report().Nodes, "node")
	}
	return checked, nil
}
