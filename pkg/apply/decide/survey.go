package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Survey knows the objects of all rows, forms and hubs in the files. That includes rows
// that --node, --form or --hub leave out. The nil Survey knows only the nodes of the plan.
type Survey struct {
	err     error
	renders map[lynq.Ref][]renderer
	claims  *claims
}

// renderer is a node that renders an object.
type renderer struct {
	hub  lynq.HubKey
	node lynq.NodeKey
	uid  string // the uid of its row, without surrounding blanks
}

// NewSurvey returns a survey of these nodes.
func NewSurvey(nodes []*plan.Node) *Survey {
	s := &Survey{renders: map[lynq.Ref][]renderer{}, claims: claimsOf(nodes)}
	for _, n := range nodes {
		for i := range n.Objects {
			ref := n.Objects[i].Ref
			s.renders[ref] = append(s.renders[ref], rendererOf(n))
		}
	}
	return s
}

func rendererOf(n *plan.Node) renderer { return renderer{n.Hub, n.Key(), strings.TrimSpace(n.UID)} }

// FailedSurvey returns a survey that failed. Nobody knows which objects other rows render,
// so lynqctl may delete nothing.
func FailedSurvey(err error) *Survey { return &Survey{err: err} }

// keeps returns an answer if some row of the files renders the object, or may. Otherwise it
// returns nil.
func (s *Survey) keeps(d *decider, q *question) *answer {
	if s == nil {
		return nil
	}
	if s.err != nil {
		return keep(plan.ReasonUnknown, fmt.Sprintf("lynqctl can't tell whether another row renders it: %v (fix that, or apply all of your files)", s.err))
	}
	own := q.asker == askerPurge || q.asker == askerRecreate
	for _, r := range s.renders[q.ref()] {
		if own && r.node == q.me.NodeKey {
			continue
		}
		move := "apply both nodes in one run to move it"
		if r.hub != d.in.Hub {
			move = "apply both hubs in one run to move it"
		}
		a := keep(plan.ReasonRendered, fmt.Sprintf("node %s of hub %s renders it (%s)", r.node, r.hub, move))
		if r.hub != d.in.Hub {
			a.Elsewhere = &r.hub
		}
		return a
	}
	if row := s.claims.Object(q.ref()); row != nil {
		return keep(plan.ReasonRowUnknown, holdsUp(row))
	}
	return nil
}

// movesTo returns a node of another hub that continues an inventory, or nil. Its row has
// the same uid, and it renders an object of the inventory, or may.
func (s *Survey) movesTo(hub lynq.HubKey, inv *inventory.Inventory) *renderer {
	if s == nil || s.err != nil {
		return nil
	}
	uid := strings.TrimSpace(inv.Node.UID)
	for i := range inv.Entries {
		rows := s.renders[inv.Entries[i].Ref]
		if row := s.claims.Object(inv.Entries[i].Ref); row != nil {
			rows = append(slices.Clone(rows), rendererOf(row))
		}
		for k := range rows {
			if rows[k].hub != hub && rows[k].uid == uid {
				return &rows[k]
			}
		}
	}
	return nil
}
