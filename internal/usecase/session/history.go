package session

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Invocation is the command line of a run, for histories.
type Invocation struct {
	Command string
	// Guards are the flags that change what guards allow, with their values.
	Guards []string
}

// Noted holds what histories record of a run in addition to its result.
type Noted struct {
	// Inputs returns the inputs of a hub. It is nil for a run without inputs.
	Inputs func(lynq.HubKey) history.Inputs
	// Held are new refusals of guards against deletions that the run leaves out.
	Held []plan.Refusal
	// Approved are the digests of held deletions that a person approved, by hub.
	Approved map[lynq.HubKey]string
	// Without are hubs that have no hub record, or lost it. lynqctl starts no history for
	// them.
	Without map[lynq.HubKey]bool
	// Recorded is set if the hubs have hub records.
	Recorded bool
}

// histories are the histories that a run saved, in their newest version.
type histories struct {
	mu    sync.Mutex
	known map[lynq.HubKey]*corev1.ConfigMap
}

// remember adds a run to the histories of the hubs that it changed. A failure is only a
// warning, because the run succeeded.
func (r *Run) remember(ctx context.Context, result *report.Result) {
	if result.Summary == nil || result.Summary.DryRun {
		return
	}
	nodes := map[lynq.HubKey][]*report.NodeResult{}
	for i := range result.Nodes {
		hub := result.Nodes[i].Full().Hub
		nodes[hub] = append(nodes[hub], &result.Nodes[i])
	}
	held := map[lynq.HubKey]bool{}
	for _, refusal := range r.Noted.Held {
		held[refusal.Hub] = true
		if nodes[refusal.Hub] == nil {
			nodes[refusal.Hub] = []*report.NodeResult{}
		}
	}
	for _, hub := range slices.SortedFunc(maps.Keys(nodes), lynq.HubKey.Compare) {
		if !held[hub] && !slices.ContainsFunc(nodes[hub], changed) {
			continue
		}
		e := r.newEntry(hub)
		e.Seconds = result.Summary.Elapsed.Round(time.Millisecond).Seconds()
		e.tell(nodes[hub], held[hub])
		if result.Summary.Interrupted {
			e.Outcome = history.OutcomeInterrupted
		}
		r.addEntry(ctx, hub, &e.Entry)
	}
}

// RememberRefusals adds a run to a hub's history if guards refused all of it.
func (r *Run) RememberRefusals(ctx context.Context, hub lynq.HubKey, refusals []plan.Refusal) {
	ctx, end := lease.Outlast(ctx, recordingGrace)
	defer end()
	r.Noted.Held = refusals
	e := r.newEntry(hub)
	e.Outcome = history.OutcomeRefused
	r.addEntry(ctx, hub, &e.Entry)
}

// RememberApproval adds to a hub's history that a person approved held deletions.
func (r *Run) RememberApproval(ctx context.Context, hub lynq.HubKey, digest string) {
	ctx, end := lease.Outlast(ctx, recordingGrace)
	defer end()
	r.Noted.Approved = map[lynq.HubKey]string{hub: digest}
	e := r.newEntry(hub)
	e.Outcome, e.Approval = history.OutcomeApproved, history.ApprovalPrompt
	if !r.Engine.confirmed {
		e.Approval = history.ApprovalYes
	}
	r.addEntry(ctx, hub, &e.Entry)
}

// RememberNode adds to a hub's history what a person changed of a node's record. The outcome
// is the node's.
func (r *Run) RememberNode(ctx context.Context, hub lynq.HubKey, n *history.Node) {
	ctx, end := lease.Outlast(ctx, recordingGrace)
	defer end()
	e := r.newEntry(hub)
	e.Outcome, e.Nodes = n.Outcome, []history.Node{*n}
	r.addEntry(ctx, hub, &e.Entry)
}

// newEntry returns an entry for this run, without its result.
func (r *Run) newEntry(hub lynq.HubKey) *entry {
	began := r.Began.UTC().Truncate(time.Millisecond)
	e := &entry{history.Entry{
		Run: history.NameRun(began, strings.ToLower(rand.Text())), Time: began,
		Command: r.Engine.Invocation.Command, Flags: r.Engine.Invocation.Guards, Version: r.Engine.Version,
		By: r.Name, Job: jobURL(r.Engine.Getenv), Approved: r.Noted.Approved[hub],
	}}
	if shard := r.RunOptions.LockShard; !shard.IsZero() {
		e.Flags = append(slices.Clone(e.Flags), "--shard="+shard.String())
	}
	if f := r.RunOptions.Plan; f != nil {
		e.Plan = f.ID
	}
	switch {
	case r.Noted.Approved[hub] != "":
		e.Approval = history.ApprovalWatch
	case e.Plan != "":
		e.Approval = history.ApprovalPlan
	case r.Engine.confirmed:
		e.Approval = history.ApprovalPrompt
	case slices.Contains(e.Flags, history.ApprovalYes):
		e.Approval = history.ApprovalYes
	}
	if r.Noted.Inputs != nil {
		e.Inputs = r.Noted.Inputs(hub)
	}
	for _, refusal := range r.Noted.Held {
		if refusal.Hub == hub {
			e.Refusals = append(e.Refusals, history.Refusal{Guard: string(refusal.Guard), What: r.Engine.Secrets.Hide(refusal.What)})
		}
	}
	return e
}

// addEntry saves an entry, and warns if it can't.
func (r *Run) addEntry(ctx context.Context, hub lynq.HubKey, e *history.Entry) {
	if r.Noted.Without[hub] || hub.Namespace == "" {
		return
	}
	r.histories.mu.Lock()
	defer r.histories.mu.Unlock()
	saved, err := r.Store.AddToHistory(ctx, hub, e, r.histories.known[hub], func() (bool, error) {
		if r.Noted.Recorded {
			return true, nil
		}
		record, err := r.Store.LoadHub(ctx, hub.Namespace, hub.Name)
		return record != nil, err
	})
	delete(r.histories.known, hub)
	switch {
	case err == nil && saved != nil:
		r.histories.known[hub] = saved
	case err != nil && (!r.Cleaning || !lease.EndingNamespace(err)):
		r.Engine.Notef("warning: hub %s: its history lacks this run: %v", hub, err)
	}
}

// entry is a history entry that is built from results.
type entry struct{ history.Entry }

// tell adds the results of nodes.
func (e *entry) tell(nodes []*report.NodeResult, held bool) {
	e.Counts = history.Counts{Nodes: map[string]int{}, Objects: map[string]int{}, Actions: map[string]int{}}
	e.Outcome = history.OutcomeDone
	if held {
		e.Outcome = history.OutcomeHeld
	}
	for _, n := range nodes {
		if n.Outcome != "" {
			e.Counts.Nodes[string(n.Outcome)]++
		}
		if !n.Outcome.Well() && n.Reason != plan.ReasonSuspended {
			e.Outcome = history.OutcomeFailed
		}
		told := history.Node{
			Namespace: n.Namespace, Name: n.Name, FormNamespace: n.Full().Form.Namespace, Form: n.Form.Name, Row: n.UID,
			Outcome: string(n.Outcome), Reason: string(n.Reason), Message: n.Unrendered(),
		}
		for i := range n.Steps {
			e.step(&told, &n.Steps[i])
		}
		if len(told.Objects) > 0 || changed(n) || !n.Outcome.Well() {
			e.Nodes = append(e.Nodes, told)
		}
	}
}

// step adds the result of an object. An unchanged object only counts.
func (e *entry) step(n *history.Node, s *report.StepResult) {
	outcome := string(s.Outcome)
	if s.Interrupted && outcome == "" {
		outcome = string(report.OutcomeInterrupted)
	}
	if outcome == "" {
		return
	}
	e.Counts.Objects[outcome]++
	if s.Acted() {
		e.Counts.Actions[string(s.Action)]++
	}
	if (s.Action == plan.ActionKeep || s.Action == plan.ActionSkip) && s.Outcome.Well() || s.Outcome == report.OutcomeSkipped && s.Action == plan.ActionSkip {
		return
	}
	n.Objects = append(n.Objects, history.Object{
		RefFields: lynq.RefFields(s.Ref()), ID: s.ID(),
		Action: string(s.Action), Reason: string(s.Reason), Outcome: outcome,
	})
}

// changed reports whether a run changed something of a node. An object that was being
// deleted before the run doesn't count.
func changed(n *report.NodeResult) bool {
	return n.Leaves && n.Outcome == report.OutcomeDone || slices.ContainsFunc(n.Steps, func(s report.StepResult) bool {
		switch s.Action {
		case plan.ActionKeep, plan.ActionSkip, plan.ActionBlock:
			return false
		}
		going := s.Live != nil && s.Live.Deleting
		return s.Outcome == report.OutcomeDone || (s.Outcome == report.OutcomeNotReady || s.Interrupted) && !going
	})
}
