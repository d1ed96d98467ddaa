package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/verify"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Now holds the objects of nodes as lynqctl saw them.
type Now struct {
	// Findings are what verify.Find found.
	Findings Findings
	// Ready has the objects that are there, but for kinds that are ready once they
	// exist.
	Ready map[lynq.Ref]ready.Readiness
	// Unseen are the nodes not all of whose objects could be looked at.
	Unseen map[lynq.NodeKey]bool
	// Busy are the hubs on which a run is at work: what it writes is not recorded yet.
	Busy map[lynq.HubKey]bool
	// Causes say more of objects that are not ready.
	Causes map[lynq.Ref]string
}

// Findings maps nodes and objects to the findings about them.
type Findings map[lynq.NodeKey]map[lynq.Ref]*verify.Finding

// FindingsOf sorts findings by node and object.
func FindingsOf(found []verify.Finding) Findings {
	m := Findings{}
	for i := range found {
		f := &found[i]
		if m[f.Key()] == nil {
			m[f.Key()] = map[lynq.Ref]*verify.Finding{}
		}
		m[f.Key()][f.Object] = f
	}
	return m
}

// Trouble says what is wrong with an object of a node.
type Trouble struct {
	lynq.Ref
	// State is Degraded, Orphaned or Progressing.
	State string
	// Reason is a word for why, "" where the state says all.
	Reason  string
	Message string
}

// The reasons why a node is Degraded that no run recorded, beside the types of
// findings.
const (
	ReasonNotReady = "NotReady"
	ReasonDrifted  = string(verify.Drifted)
)

// StoppedMessage says of a workload that another client scaled it to zero. Its form does
// not set replicas, so that it is as it is to be.
const StoppedMessage = "another client scaled it to zero, and apply keeps that (start it with kubectl scale)"

// Troubles lists what is wrong with the objects of a node, the worst first.
func (now *Now) Troubles(inv *inventory.Inventory) []Trouble {
	var troubles []Trouble
	findings, busy := now.Findings[inv.Node.Key()], now.Busy[inv.Node.Full().Hub]
	for i := range inv.Entries {
		r := &inv.Entries[i]
		if t := now.trouble(r, findings[r.Ref]); t != nil {
			t.Ref = r.Ref
			if busy && t.Reason != string(verify.Missing) {
				t.State, t.Reason = Progressing, ""
			}
			troubles = append(troubles, *t)
		}
	}
	slices.SortStableFunc(troubles, func(a, b Trouble) int { return cmp.Compare(a.weight(), b.weight()) })
	return troubles
}

// weight sorts troubles: what is gone is worse than what is not ready.
func (t *Trouble) weight() int {
	switch {
	case t.State == Progressing:
		return 4
	case t.State == Orphaned:
		return 3
	case t.Reason == string(verify.Missing):
		return 0
	case t.Reason == ReasonNotReady:
		return 1
	}
	return 2
}

// trouble is what is wrong with an object, nil where nothing is.
func (now *Now) trouble(r *inventory.Entry, f *verify.Finding) *Trouble {
	if r.Excluded || r.Phase == inventory.PhaseCompleted {
		return nil // it is none of the node's matters, or its work is done
	}
	if f != nil && f.Type == verify.Unconfirmed && r.UID != "" {
		f = nil // it is there; whether it is as wanted, the next apply sees
	}
	if f != nil {
		return found(f)
	}
	state, judged := now.Ready[r.Ref]
	message := state.Message
	if cause := now.Causes[r.Ref]; !strings.Contains(message, cause) {
		message = join(message, cause)
	}
	switch {
	case !judged || state.State == ready.StateReady || r.Unwaited:
		return nil // an object that its form does not wait for counts nowhere, as for apply
	case state.State == ready.StateWaiting && !r.Ready:
		return &Trouble{State: Progressing, Message: message}
	}
	return &Trouble{State: Degraded, Reason: ReasonNotReady, Message: message}
}

// found is the trouble that a finding is.
func found(f *verify.Finding) *Trouble {
	t := &Trouble{State: Degraded, Reason: string(f.Type), Message: f.What + ": " + f.Fix}
	switch f.Type {
	case verify.Orphaned:
		t.State, t.Reason = Orphaned, ""
	case verify.Unconfirmed:
		t.State, t.Reason = Progressing, ""
	}
	return t
}

// Of tells how a node is now: as its record has it, and as its objects are. Where
// those were not looked at, or not all could be, it is shown as recorded.
func (now *Now) Of(inv *inventory.Inventory) Node {
	n := Of(inv)
	n.Recorded = now == nil || now.Unseen[inv.Node.Key()]
	if n.Recorded || n.Condition == Leaving || n.Condition == InGrace {
		return n
	}
	troubles := now.Troubles(inv)
	if inv.Activate == inactive { // that its objects go is no trouble, unless something holds them
		troubles = slices.DeleteFunc(troubles, func(t Trouble) bool { return t.Reason != Leaving })
	}
	n.judge(inv, troubles)
	n.Ready = 0
	for i := range inv.Entries {
		if r := &inv.Entries[i]; !r.Excluded && !now.unwaited(r) {
			n.Ready++
		}
	}
	for i := range troubles {
		if !troubles[i].readyAsIs() {
			n.Ready--
		}
	}
	return n
}

// unwaited tells whether an object is not ready, and its node is Ready all the same.
func (now *Now) unwaited(r *inventory.Entry) bool {
	state, judged := now.Ready[r.Ref]
	return r.Unwaited && judged && state.State != ready.StateReady
}

// readyAsIs: the object does its work, though it is not as recorded.
func (t *Trouble) readyAsIs() bool {
	switch verify.Type(t.Reason) {
	case verify.Untracked, verify.Drifted, verify.Conflict:
		return true
	}
	return t.State == Orphaned
}

// judge finds the condition of a node with these troubles.
func (n *Node) judge(inv *inventory.Inventory, troubles []Trouble) {
	recorded, since := n.Condition, n.Since
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
			n.Condition = recorded // what the last run did not see ready is not ready yet
		}
	case waited && inv.Activate != inactive && inv.Status.Skipped+inv.Status.Conflicted == 0 && len(inv.Entries) >= inv.Status.Desired:
		n.Condition, n.Message = Ready, ""
	}
	if n.Condition != recorded {
		since = time.Time{}
	}
	if !degraded || n.Condition != recorded {
		n.Failed = 0 // those that the record counts are ready now
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

// failures are how many objects are gone, or not ready though they were.
func failures(troubles []Trouble) int {
	n := 0
	for i := range troubles {
		if t := &troubles[i]; t.State == Degraded && !t.readyAsIs() || t.Reason == ReasonDrifted || t.Reason == string(verify.Conflict) {
			n++
		}
	}
	return n
}

// untold are the troubles with objects that a message does not name.
func untold(troubles []Trouble, message string) []Trouble {
	return slices.DeleteFunc(slices.Clone(troubles), func(t Trouble) bool { return strings.Contains(message, t.String()) })
}

// mostTold is how many troubles a node's message has.
const mostTold = 3

// told says what is wrong with objects.
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
