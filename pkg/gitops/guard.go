package gitops

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// These are the guards that only a tree has. The others are those of package decide.
const (
	GuardForeign plan.Guard = "foreign" // another file has the path
	GuardTwice   plan.Guard = "twice"   // two files would have one object
	GuardApps    plan.Guard = "apps"    // the identity of objects that deploy the tree would change
	GuardMissing plan.Guard = "missing" // a file that the tree must keep is gone
)

// RefusalText formats a refusal for people.
func RefusalText(r *plan.Refusal) string {
	return fmt.Sprintf("%s: %s (%s)", refused(r), r.What, r.Fix)
}

// refused names the subject of a refusal.
func refused(r *plan.Refusal) string {
	switch {
	case r.Path != "":
		return r.Path
	case r.Hub.Name == "":
		return "--" + string(r.Guard) // it is about the whole run
	}
	return fmt.Sprintf("hub %q", r.Hub)
}

// Refuse returns the guards' objections to a run.
func Refuse(in *Input, p *Plan) []plan.Refusal {
	refusals := append([]plan.Refusal(nil), in.decided.refusals...)
	refusals = append(refusals, in.refuseTwice(p)...)
	refusals = append(refusals, in.refuseHalves(p)...)
	refusals = append(refusals, in.refuseLost(p)...)
	refusals = append(refusals, in.refuseListed(p)...)
	refusals = append(refusals, in.refuseUnspoken(p)...)
	if r, refused := refuseApps(p); refused {
		refusals = append(refusals, r)
	}
	for _, s := range p.Of(ActionRefuse) {
		fix := "move it away; or overwrite it with --force"
		switch {
		case s.State.Blocked != "":
			fix = "move it away"
		case s.lost != "":
			fix = "restore the index from Git; to let go of them, pass --force"
		case s.Old != nil:
			fix = "take it over with --force"
		}
		refusals = append(refusals, plan.Refusal{Guard: GuardForeign, Path: s.Path, What: s.Why, Fix: fix})
	}
	return refusals
}
