package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Now holds the current objects of nodes.
type Now struct {
	// Findings come from verify.Find.
	Findings Findings
	// Ready has the readiness of existing objects. It omits kinds that are ready once they
	// exist.
	Ready map[lynq.Ref]ready.Readiness
	// Unseen are nodes with objects that lynqctl couldn't check.
	Unseen map[lynq.NodeKey]bool
	// Busy are hubs that another run is changing. Inventories may not show its writes yet.
	Busy map[lynq.HubKey]bool
	// Causes explain why objects aren't ready.
	Causes map[lynq.Ref]string
}

// Findings holds findings by node and object.
type Findings map[lynq.NodeKey]map[lynq.Ref]*Finding

// FindingsOf groups findings by node and object.
func FindingsOf(found []Finding) Findings {
	m := Findings{}
	for i := range found {
		f := &found[i]
		if m[f.Key()] == nil {
			m[f.Key()] = map[lynq.Ref]*Finding{}
		}
		m[f.Key()][f.Object] = f
	}
	return m
}

// Trouble is a problem with an object of a node.
type Trouble struct {
	lynq.Ref
	// State is Degraded, Orphaned or Progressing.
	State string
	// Reason says why in one word. It is empty if the state is enough.
	Reason  string
	Message string
}

// With these reasons, and those of findings, a node is Degraded although no run recorded
// it.
const (
	ReasonNotReady = "NotReady"
	ReasonDrifted  = string(Drifted)
)

// ReasonPodsLost is for a workload that was ready, and now has only some of its replicas.
// It counts as ready, and so does its node.
const ReasonPodsLost = "PodsLost"

// StoppedMessage is for a workload that another client scaled to zero. Its form doesn't
// set replicas, so apply doesn't start it.
const StoppedMessage = "another client scaled it to zero, and apply keeps that (start it with kubectl scale)"

// Troubles returns the problems with a node's objects, the worst first.
func (now *Now) Troubles(inv *inventory.Inventory) []Trouble {
	var troubles []Trouble
	findings, busy := now.Findings[inv.Node.Key()], now.Busy[inv.Node.Full().Hub]
	for i := range inv.Entries {
		r := &inv.Entries[i]
		if t := now.trouble(r, findings[r.Ref]); t != nil {
			t.Ref = r.Ref
			if busy && t.Reason != string(Missing) && t.Reason != ReasonPodsLost {
				t.State, t.Reason = Progressing, ""
			}
			troubles = append(troubles, *t)
		}
	}
	slices.SortStableFunc(troubles, func(a, b Trouble) int { return cmp.Compare(a.weight(), b.weight()) })
	return troubles
}

// weight orders troubles. A missing object is worse than one that isn't ready.
func (t *Trouble) weight() int {
	switch {
	case t.Reason == ReasonPodsLost:
		return 5
	case t.State == Progressing:
		return 4
	case t.State == Orphaned:
		return 3
	case t.Reason == string(Missing):
		return 0
	case t.Reason == ReasonNotReady:
		return 1
	}
	return 2
}

// trouble returns the problem with an object, or nil.
func (now *Now) trouble(r *inventory.Entry, f *Finding) *Trouble {
	if r.Excluded || r.Phase == inventory.PhaseCompleted {
		return nil // the node doesn't own it, or it has done its work
	}
	if f != nil && f.Type == Unconfirmed && r.UID != "" {
		f = nil // the object exists, and the next apply compares it with the form
	}
	if f != nil {
		return found(f)
	}
	state, judged := now.Ready[r.Ref]
	state = Conceal(r, state)
	message := state.Message
	if cause := now.Causes[r.Ref]; !r.Sensitive && !strings.Contains(message, cause) {
		message = join(message, cause)
	}
	switch {
	case !judged || state.State == ready.StateReady || r.Unwaited:
		return nil // its form doesn't wait for it, so apply ignores its readiness too
	case state.PodsLost(func(v ready.Version) bool { return r.SawReady(v.UID, v.Generation, v.Altered) }):
		return &Trouble{State: Degraded, Reason: ReasonPodsLost, Message: message}
	case state.State == ready.StateWaiting && !r.Ready:
		return &Trouble{State: Progressing, Message: message}
	}
	return &Trouble{State: Degraded, Reason: ReasonNotReady, Message: message}
}

// found returns the trouble for a finding.
func found(f *Finding) *Trouble {
	t := &Trouble{State: Degraded, Reason: string(f.Type), Message: f.What + ": " + f.Fix}
	switch f.Type {
	case FindingOrphaned:
		t.State, t.Reason = Orphaned, ""
	case Unconfirmed:
		t.State, t.Reason = Progressing, ""
	}
	return t
}

// Of returns the current state of a node from its inventory and objects. It returns the
// recorded state if lynqctl didn't check all objects.
func (now *Now) Of(inv *inventory.Inventory) Node {
	n := Of(inv)
	n.Recorded = now == nil || now.Unseen[inv.Node.Key()]
	if n.Recorded || n.Condition == Leaving || n.Condition == InGrace {
		return n
	}
	troubles := now.Troubles(inv)
	if inv.Activate == inactive { // its objects should go, so only a blocked deletion is a trouble
		troubles = slices.DeleteFunc(troubles, func(t Trouble) bool { return t.Reason != Leaving })
	}
	n.judge(inv, troubles)
	n.Ready = 0
	for i := range inv.Entries {
		if r := &inv.Entries[i]; !r.Excluded && !now.unwaited(r) && !dropped(inv, r.Ref) {
			n.Ready++
		}
	}
	for i := range troubles {
		if !troubles[i].readyAsIs() && !dropped(inv, troubles[i].Ref) {
			n.Ready--
		}
	}
	return n
}

// dropped reports whether an inventory lists an object that its node doesn't want. Desired
// doesn't count it, for example because it is unmanaged and the form dropped it.
func dropped(inv *inventory.Inventory, ref lynq.Ref) bool {
	o := inv.Status.Object(ref)
	return o != nil && o.Dropped && inv.Status.Desired > 0
}

// unwaited reports whether an object isn't ready but its node is Ready anyway.
func (now *Now) unwaited(r *inventory.Entry) bool {
	state, judged := now.Ready[r.Ref]
	return r.Unwaited && judged && state.State != ready.StateReady
}

// readyAsIs reports whether the object works, although it differs from its record.
func (t *Trouble) readyAsIs() bool {
	switch Type(t.Reason) {
	case Untracked, Drifted, Conflict, ReasonPodsLost:
		return true
	}
	return t.State == Orphaned
}

// judge sets the condition of a node from its troubles. If a node only lost pods, it is
// degraded and counts as ready.
func (n *Node) judge(inv *inventory.Inventory, troubles []Trouble) {
	lost := slices.IndexFunc(troubles, func(t Trouble) bool { return t.Reason == ReasonPodsLost })
	if lost < 0 {
		lost = len(troubles)
	}
	n.judgeUnready(inv, troubles[:lost])
	if n.Condition == Ready && lost < len(troubles) {
		n.Condition, n.Message, n.Since = troubles[lost].condition(), told(troubles[lost:]), time.Time{}
	}
}

// Degraded reports whether a node only lost pods, and counts as ready.
func (n *Node) Degraded() bool { return n.Well && n.Condition == Degraded+": "+ReasonPodsLost }

// judgeUnready is judge for troubles with which a node isn't ready.
func (n *Node) judgeUnready(inv *inventory.Inventory, troubles []Trouble) {
	recorded, since := n.Condition, n.Since
	n.count(troubles)
	reason, degraded := strings.CutPrefix(recorded, Degraded+": ")
	waited := degraded && reason == ReasonNotReady || recorded == Progressing
	switch {
	case degraded && !waited || recorded == Degraded:
		n.Message = join(n.Message, told(untold(troubles, n.Message)))
		return
	case len(troubles) > 0:
		n.Message = told(troubles)
		n.Condition = troubles[0].condition()
		if troubles[0].State == Progressing && recorded != Ready {
			n.Condition = recorded // the last run didn't see it ready
		}
	case waited && inv.Activate != inactive && inv.Status.Skipped+inv.Status.Conflicted == 0 && len(inv.Entries) >= inv.Status.Desired:
		n.Condition, n.Message = Ready, ""
	}
	if n.Condition != recorded {
		since = time.Time{}
	}
	if !degraded || n.Condition != recorded {
		n.Failed = 0 // the objects that had failed are ready now
	}
	n.Since, n.Failed, n.Well = since, max(n.Failed, failures(troubles)), n.Condition == Ready
}

// condition is the state and its reason.
func (t *Trouble) condition() string {
	if t.Reason == "" {
		return t.State
	}
	return t.State + ": " + t.Reason
}

// count counts the objects that another client deleted or changed.
func (n *Node) count(troubles []Trouble) {
	for i := range troubles {
		switch troubles[i].Reason {
		case string(Missing):
			n.Missing++
		case ReasonDrifted:
			n.Drifted++
		}
	}
}

// failures counts objects that failed, or were ready before and aren't now.
func failures(troubles []Trouble) int {
	n := 0
	for i := range troubles {
		t := &troubles[i]
		broken := t.State == Degraded && !t.readyAsIs() && t.Reason != string(Missing)
		if broken || t.Reason == string(Conflict) {
			n++
		}
	}
	return n
}

// untold returns the troubles with objects that the message doesn't name.
func untold(troubles []Trouble, message string) []Trouble {
	return slices.DeleteFunc(slices.Clone(troubles), func(t Trouble) bool { return strings.Contains(message, t.String()) })
}

// mostTold limits the troubles in a node's message.
const mostTold = 3

// told joins the troubles to a message.
func told(troubles []Trouble) string {
	var parts []string
	for i := range troubles[:min(len(troubles), mostTold)] {
		parts = append(parts, troubles[i].String()+": "+troubles[i].Message)
	}
	if more := len(troubles) - mostTold; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}
