package gitops

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/toll"
)

// Limits are the guards that users can change.
type Limits struct {
	AllowEmpty bool
	// MayGo returns how many of a hub's nodes a run may delete. MaxDelete is the same
	// limit as a flag's value.
	MayGo     func(nodes int) int
	MaxDelete string
}

// Refusal says why a guard refuses a run.
type Refusal struct {
	Guard string `json:"guard"`
	Hub   string `json:"hub,omitempty"`
	Path  string `json:"path,omitempty"`
	What  string `json:"what"`
	Fix   string `json:"fix"`
}

// String formats the refusal for people.
func (r Refusal) String() string {
	subject := r.Path
	if subject == "" {
		subject = fmt.Sprintf("hub %q", r.Hub)
	}
	return fmt.Sprintf("%s: %s (%s)", subject, r.What, r.Fix)
}

// These are the guards.
const (
	GuardEmpty     = "empty"      // a hub with nodes has no active row
	GuardMaxDelete = "max-delete" // the run would delete too many nodes of a hub
	GuardForeign   = "foreign"    // another file has the path
	GuardTwice     = "twice"      // two files would have one object
	GuardApps      = "apps"       // the identity of objects that deploy the tree would change
)

// Refuse returns the guards' objections to a run. active has the number of active rows by
// hub.
func Refuse(in *Input, p *Plan, active map[lynq.HubKey]int, l Limits) []Refusal {
	var refusals []Refusal
	leaving := map[lynq.HubKey]int{}
	for _, l := range in.leavingIn(p) {
		leaving[in.HubOf(&index.Entry{Owned: index.Owned{Hub: l.Hub, Form: l.Form, Node: l.Key()}})]++
	}
	for i, t := range in.tolls(p) {
		hub, _ := in.Called(&index.Owned{Hub: t.hub})
		empty := i < len(in.Hubs) && active[t.hub] == 0 // for other hubs, nobody read the rows
		if r, refused := l.refuse(hub, &t.Toll, empty, leaving[t.hub]); refused {
			refusals = append(refusals, r)
		}
	}
	refusals = append(refusals, in.refuseTwice(p)...)
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
		refusals = append(refusals, Refusal{Guard: GuardForeign, Path: s.Path, What: s.Why, Fix: fix})
	}
	return refusals
}

// refuse compares a hub's nodes in the tree with those that the run would delete. leaving
// counts nodes in their grace period. They count if no row is active.
func (l *Limits) refuse(hub string, t *toll.Toll, empty bool, leaving int) (Refusal, bool) {
	switch may := l.MayGo(t.Nodes); {
	case t.Going() == 0 && (leaving == 0 || !empty):
	case empty && !l.AllowEmpty:
		return Refusal{
			Guard: GuardEmpty, Hub: hub,
			What: "no row is active, but the tree has " + phrase.Count(t.Nodes, "node"),
			Fix:  "check the source; to delete every tenant, pass --allow-empty",
		}, true
	case !empty && t.Going() > may:
		what, fix := t.Refusal(may, l.MaxDelete)
		return Refusal{Guard: GuardMaxDelete, Hub: hub, What: what, Fix: fix}, true
	}
	return Refusal{}, false
}
