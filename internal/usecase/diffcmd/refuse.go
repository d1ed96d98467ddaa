package diffcmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Refusing returns a check for applycmd.Options.Review. It tries plans as Run does, and refuses
// those that have findings with some codes. Without codes, it returns nil, and apply tries
// nothing.
func Refusing(codes []changeset.Code) func(context.Context, *applycmd.Planned) ([]plan.Refusal, error) {
	if len(codes) == 0 {
		return nil
	}
	return func(ctx context.Context, p *applycmd.Planned) ([]plan.Refusal, error) {
		t, err := try(ctx, p, false)
		if err != nil {
			return nil, session.Untouched(ctx, err)
		}
		report, err := t.report(p.Plans)
		if err != nil {
			return nil, err
		}
		return refusalsOf(report.Changes().Set, hubsOf(p.Plans), codes), nil
	}
}

// hubsOf returns the hubs of plans, each once.
func hubsOf(plans []plan.Plan) []lynq.HubKey {
	var hubs []lynq.HubKey
	for i := range plans {
		if !slices.Contains(hubs, plans[i].Hub) {
			hubs = append(hubs, plans[i].Hub)
		}
	}
	return hubs
}

// refusalsOf returns a refusal for each hub and each of its findings with one of the codes.
func refusalsOf(changes *changeset.Set, hubs []lynq.HubKey, codes []changeset.Code) []plan.Refusal {
	var refusals []plan.Refusal
	for _, hub := range hubs {
		for _, f := range changes.In(hub).FoundOf(codes) {
			refusals = append(refusals, plan.Refusal{
				Guard: plan.GuardFailOn, Hub: hub, What: f.String(),
				Fix: fmt.Sprintf("review the changes with lynqctl diff (docs/findings.md explains %s); to apply them anyway, leave the code out of --fail-on", f.Code),
			})
		}
	}
	return refusals
}
