package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// UnknownError is why a node is left as it is: some of its objects could not be
// looked at, so that it is not known whether they are there.
type UnknownError struct {
	// Causes are what the server said, each once.
	Causes []error
}

// Error implements error.
func (e *UnknownError) Error() string {
	more := ""
	if n := len(e.Causes) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Sprintf("%v%s; nothing of the node is touched while it is not known which of its objects there are", e.Causes[0], more)
}

// Unwrap gives the causes.
func (e *UnknownError) Unwrap() []error { return e.Causes }

// judgeUnknown finds the nodes of the plan that are left as they are for what
// could not be looked at. It is not known what they give away.
func (d *decider) judgeUnknown() {
	if len(d.Unknown)+len(d.Misplaced) == 0 {
		return
	}
	for _, n := range d.Nodes {
		inv := d.inventories[n.NodeKey]
		if n.Failed != nil {
			continue
		}
		if inv != nil && !n.is(inv) {
			inv = nil // it is not the node's to say anything in
		}
		d.leaveAsIs(n.NodeKey, d.unfit(n), d.notKnown(n.Objects, inv, false))
	}
	for _, inv := range d.Inventories {
		if d.goes(inv) {
			d.leaveAsIs(NodeKey{inv.Namespace, inv.Node}, nil, d.notKnown(nil, inv, true))
		}
	}
}

func (d *decider) leaveAsIs(k NodeKey, unfit, notKnown error) {
	err := unfit
	if err == nil {
		err = notKnown
	}
	if err != nil {
		d.untouched[k], d.unknown[k] = err, true
	}
}

// unfit is why some wanted object of a node can never be.
func (d *decider) unfit(n *Node) error {
	for i := range n.Objects {
		if err := d.Misplaced[n.Objects[i].Ref]; err != nil && !n.Objects[i].leftAlone() {
			return err
		}
	}
	return nil
}

// notKnown is why a node with these wanted objects and this inventory, which may
// be nil, is left as it is. What is left out does not count, and what a person
// gave up on neither. Of a node that stays, a kind that is not served any more
// matters only where it is wanted.
func (d *decider) notKnown(objects []Object, inv *inventory.Inventory, goes bool) error {
	e := &UnknownError{}
	add := func(err error) {
		if err != nil && !slices.Contains(e.Causes, err) {
			e.Causes = append(e.Causes, err)
		}
	}
	wanted := make(map[lynq.Ref]bool, len(objects))
	for i := range objects {
		wanted[objects[i].Ref] = true
		if !objects[i].leftAlone() {
			add(d.Unknown[objects[i].Ref])
		}
	}
	if inv != nil && !d.Narrowed {
		for _, r := range inv.All() {
			ref := r.Ref
			err := d.Unknown[ref]
			if unserved := (*UnservedError)(nil); wanted[ref] || d.givenUp(ref) || !goes && errors.As(err, &unserved) {
				continue
			}
			add(err)
		}
	}
	if len(e.Causes) == 0 {
		return nil
	}
	slices.SortFunc(e.Causes, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return e
}

// kept is the plan of a node that goes, and stays as it is for now.
func (d *decider) kept(inv *inventory.Inventory, why error) NodePlan {
	key := NodeKey{inv.Namespace, inv.Node}
	return NodePlan{
		NodeKey: key, Hub: inv.Hub, HubNamespace: inv.HubNamespace, Form: inv.Form, FormNamespace: inv.FormNamespace, UID: inv.RowUID, Inventory: inv,
		Desired: &Node{
			NodeKey: key, Hub: inv.Hub, HubNamespace: inv.HubNamespace, Form: inv.Form, FormNamespace: inv.FormNamespace, UID: inv.RowUID, Failed: why,
		},
	}
}

// unseen plans an object that its node wants no more and that was not seen, where
// that does not mean that it is gone. It tells whether that is so.
func (d *decider) unseen(s *Step) bool {
	if err := d.Unknown[s.Entry.Ref]; err != nil {
		s.Action, s.Reason, s.Message = ActionSkip, ReasonUnknown, "its entry stays: "+err.Error()
		return true
	}
	if err := d.Misplaced[s.Entry.Ref]; err != nil {
		s.Action, s.Reason, s.Message = ActionRelease, ReasonAlreadyGone, err.impossible()
		return true
	}
	return false
}

// UnservedError is why it is not known which recorded objects of a kind there
// are: the server no longer serves the kind, and they may come back with it.
type UnservedError struct {
	Group, Kind string
	// Definition is the CustomResourceDefinition that defines the kind, "" where
	// none does.
	Definition string
}

// Error implements error.
func (e *UnservedError) Error() string {
	kind := lynq.Ref{Group: e.Group, Kind: e.Kind}.GroupKind()
	if e.Definition != "" {
		return fmt.Sprintf("kind %s is not served, though CustomResourceDefinition %s defines it, so that it is not known which of the recorded objects there are (serve a version of it, or delete the definition)", kind, e.Definition)
	}
	return fmt.Sprintf("kind %s is not served any more, and nothing proves that the recorded objects went with it (have it served again, such as by its APIService; objects of nodes that are being deleted can be given up with lynqctl finalize --force)", kind)
}
