package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// planAgain says what to do about an outdated plan file.
const planAgain = "make a new plan, and have it reviewed"

// maxChanges limits the changes that a refusal lists.
const maxChanges = 20

// Freeze returns a plan file with the changes of a command's plans. namespaces are those of
// the hubs.
func (r *Run) Freeze(ctx context.Context, command string, namespaces []string, plans []plan.Plan) (*planfile.File, error) {
	origin := planfile.Origin{Version: r.Engine.Version, Command: command, Namespaces: slices.Compact(slices.Sorted(slices.Values(namespaces)))}
	key, err := r.planKey(ctx, origin.Namespaces)
	if err != nil {
		return nil, err
	}
	ran := map[lynq.HubKey]*planfile.Ran{}
	for i := range plans {
		if hub := plans[i].Hub; command == commandApply && hub.Namespace != "" {
			if ran[hub], err = r.ranOn(ctx, hub); err != nil {
				return nil, Untouched(ctx, err)
			}
		}
	}
	return planfile.Freeze(key, origin, plans, ran)
}

// TryPlans carries out a dry run of a command's plans. It writes the plan file if the
// options ask for one, and shows the plans or lets the server try them.
func (r *Run) TryPlans(ctx context.Context, command string, namespaces []string, plans []plan.Plan) error {
	if r.RunOptions.WritePlan != nil {
		f, err := r.Freeze(ctx, command, namespaces, plans)
		if err != nil {
			return err
		}
		if err := r.RunOptions.WritePlan(f); err != nil {
			return Fail(err)
		}
	}
	if r.RunOptions.Mode == ModeClient {
		return r.ShowPlans(plans)
	}
	return r.RunPlans(ctx, plans, apply.Options{}, nil)
}

// planKey makes the key of a plan file from the uids of namespaces.
func (r *Run) planKey(ctx context.Context, namespaces []string) (planfile.Key, error) {
	uids := map[string]string{}
	for _, name := range namespaces {
		m, err := r.Client.Metadata(ctx, lynq.APIResource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}, "", name)
		if err != nil {
			return planfile.Key{}, Untouched(ctx, fmt.Errorf("read namespace %s, whose uid protects the plan file: %w", name, err))
		}
		uids[name] = string(m.UID)
	}
	return planfile.NewKey(uids), nil
}

// CheckPlan refuses a plan file of another command, version or cluster, and one that
// somebody changed. Without a plan file, it refuses nothing.
func (r *Run) CheckPlan(ctx context.Context, command string) ([]plan.Refusal, error) {
	_, refusals, err := r.openPlan(ctx, command)
	return refusals, err
}

func (r *Run) openPlan(ctx context.Context, command string) (planfile.Key, []plan.Refusal, error) {
	f := r.RunOptions.Plan
	switch {
	case f == nil:
		return planfile.Key{}, nil, nil
	case f.Command != command:
		return planfile.Key{}, []plan.Refusal{stale("the plan is for lynqctl "+f.Command, "carry it out with lynqctl "+f.Command)}, nil
	case f.Version != r.Engine.Version:
		return planfile.Key{}, []plan.Refusal{stale(fmt.Sprintf("lynqctl %s wrote the plan, and this is lynqctl %s", f.Version, r.Engine.Version), planAgain)}, nil
	}
	key, err := r.planKey(ctx, f.Namespaces)
	if err != nil {
		return key, nil, err
	}
	if !f.Sealed(key) {
		return key, []plan.Refusal{stale("the plan isn't as lynqctl wrote it: somebody changed the file, it is for another cluster, or a hub's namespace was replaced", planAgain)}, nil
	}
	refusals, err := r.ranBefore(ctx, f)
	return key, refusals, err
}

// PlaceOf returns the file and line of a form's resource.
type PlaceOf func(form lynq.FormKey, id string) lynq.Pos

// Reviewed narrows plans to the nodes in the plan file. It refuses them if anything changed
// that the file depends on. placeOf returns the place of a form's resource. Without a plan
// file, it returns the plans unchanged.
func (r *Run) Reviewed(ctx context.Context, command string, plans []plan.Plan, placeOf PlaceOf) ([]plan.Plan, []plan.Refusal, error) {
	f := r.RunOptions.Plan
	if f == nil {
		return plans, nil, nil
	}
	key, refusals, err := r.openPlan(ctx, command)
	if err != nil || len(refusals) > 0 {
		return nil, refusals, err
	}
	plans = f.Within(plans)
	changes, err := planfile.Compare(key, f, plans)
	return plans, changesTold(changes, placeOf), err
}

// NothingPlanned reports whether the plan file changes nothing, and notes that.
func (r *Run) NothingPlanned() bool {
	if r.RunOptions.Plan == nil || !r.RunOptions.Plan.Empty() {
		return false
	}
	r.Engine.Notef("the plan changes nothing")
	return true
}

func stale(what, fix string) plan.Refusal {
	return plan.Refusal{Guard: plan.GuardPlan, What: what, Fix: fix}
}

// changesTold says what changed since the plan was made.
func changesTold(changes []planfile.Change, placeOf PlaceOf) []plan.Refusal {
	var refusals []plan.Refusal
	for i := range changes[:min(maxChanges, len(changes))] {
		r := stale(changeText(&changes[i], placeOf), "")
		r.Hub = changes[i].Hub
		refusals = append(refusals, r)
	}
	if more := len(changes) - maxChanges; more > 0 {
		refusals = append(refusals, stale(fmt.Sprintf("%d more changes since the plan", more), ""))
	}
	if len(refusals) > 0 {
		refusals[len(refusals)-1].Fix = planAgain
	}
	return refusals
}

func changeText(c *planfile.Change, placeOf PlaceOf) string {
	objects := ""
	if c.Objects > 0 {
		objects = " (" + phrase.Count(c.Objects, "object") + ")"
	}
	node := "node " + c.Node.String() + ": since the plan, "
	switch c.Cause {
	case planfile.CauseHub:
		return "the plan has this hub, and " + c.What
	case planfile.CauseForm:
		what := fmt.Sprintf("resource %q of form %s changed since the plan%s", c.ID, c.Form, objects)
		if placeOf != nil {
			what = placeOf(c.Form, c.ID).String() + ": " + what
		}
		return what
	case planfile.CauseRow:
		return node + "its row " + c.What + objects
	case planfile.CauseInventory:
		return node + "its inventory " + c.What + ", so another run has changed the node, or this plan ran already"
	}
	if c.Object == (lynq.Ref{}) {
		return node + "it " + c.What
	}
	return node + c.Object.String() + " " + c.What
}
