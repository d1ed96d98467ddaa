package gitops

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Limits are the guards that a person may move.
type Limits struct {
	AllowEmpty bool
	// MayGo tells of so many nodes of a hub how many may go; MaxDelete is how
	// that is written on the command line.
	MayGo     func(nodes int) int
	MaxDelete string
}

// Refusal is what a guard has against a run.
type Refusal struct {
	Guard string `json:"guard"`
	Hub   string `json:"hub,omitempty"`
	Path  string `json:"path,omitempty"`
	What  string `json:"what"`
	Fix   string `json:"fix"`
}

// String is the refusal for people.
func (r Refusal) String() string {
	subject := r.Path
	if subject == "" {
		subject = fmt.Sprintf("hub %q", r.Hub)
	}
	return fmt.Sprintf("%s: %s (%s)", subject, r.What, r.Fix)
}

// The guards.
const (
	GuardEmpty     = "empty"      // a hub that has nodes yields no active row
	GuardMaxDelete = "max-delete" // too many nodes of a hub would go
	GuardForeign   = "foreign"    // a path is taken
)

// Refuse says what guards have against a run. Active has the number of active
// rows of each hub.
func Refuse(in *Input, p *Plan, active map[HubKey]int, l Limits) []Refusal {
	var refusals []Refusal
	for _, h := range in.Hubs {
		if r, refused := in.refuseHub(&h, p, active[h.HubKey], l); refused {
			refusals = append(refusals, r)
		}
	}
	for _, s := range p.Of(ActionRefuse) {
		fix := "move it away; or overwrite it with --force"
		switch {
		case s.State.Blocked != "":
			fix = "move it away"
		case s.Old != nil:
			fix = "take it over with --force"
		}
		refusals = append(refusals, Refusal{Guard: GuardForeign, Path: s.Path, What: s.Why, Fix: fix})
	}
	return refusals
}

// refuseHub holds the nodes of a hub that the index has against those that go.
func (in *Input) refuseHub(h *HubScope, p *Plan, active int, l Limits) (Refusal, bool) {
	had, going := in.nodesOf(h, p)
	hub, _ := in.called(&owned{Hub: h.HubKey})
	switch may := l.MayGo(had); {
	case going == 0:
	case active == 0 && !l.AllowEmpty:
		return Refusal{
			Guard: GuardEmpty, Hub: hub,
			What: "no row is active, but the tree has " + lynq.Count(had, "node"),
			Fix:  "check the source; if every tenant is to go, say --allow-empty",
		}, true
	case active > 0 && going > may:
		return Refusal{
			Guard: GuardMaxDelete, Hub: hub,
			What: fmt.Sprintf("%d of %d nodes would go, %d may (--max-delete=%s)", going, had, may, l.MaxDelete),
			Fix:  fmt.Sprintf("check the rows; if they are to go, say --max-delete=%d", going),
		}, true
	}
	return Refusal{}, false
}

// nodesOf counts the nodes that the tree has of a hub, and those of them that go.
// One of which no file is left is neither: a run that was killed had named it in
// the index and not come to it, or it was removed.
func (in *Input) nodesOf(h *HubScope, p *Plan) (had, going int) {
	stays := make(map[NodeKey]bool, len(in.Nodes))
	for _, n := range in.Nodes {
		stays[n.NodeKey] = true
	}
	leaves := map[NodeKey]bool{}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.File == nil && s.Action != ActionForget {
			leaves[s.Old.Node] = true
		}
	}
	seen := map[NodeKey]bool{}
	for i := range in.Index.Entries {
		e := &in.Index.Entries[i]
		if e.shared() || !in.isOf(h, e) || seen[e.Node] {
			continue
		}
		seen[e.Node] = true
		switch goes := !in.Selected && !stays[e.Node] && in.covers(e); {
		case goes && leaves[e.Node]:
			had++
			going++
		case !goes:
			had++
		}
	}
	return had, going
}
