package ui

import (
	"sync"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// record keeps of a run's events what its report tells.
type record struct {
	mu      sync.Mutex
	hubs    map[lynq.HubKey]bool // whose plan was told
	nodes   map[plan.NodeKey]*nodeRecord
	summary *apply.Summary
}

type nodeRecord struct {
	hub     lynq.HubKey
	outcome apply.Outcome
	message string
	objects map[lynq.Ref]objectRecord
	ready   map[lynq.Ref]bool
}

type objectRecord struct {
	id      string
	action  plan.Action
	reason  plan.Reason
	outcome apply.Outcome
	message string
}

func newRecord() *record {
	return &record{hubs: map[lynq.HubKey]bool{}, nodes: map[plan.NodeKey]*nodeRecord{}}
}

func (r *record) report(e *apply.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Type {
	case apply.EventPlan:
		r.hubs[e.Hub] = true
	case apply.EventObject:
		if e.Action != plan.ActionKeep || e.Outcome != apply.OutcomeUnchanged {
			r.object(e)
		}
	case apply.EventReady:
		n := r.node(e)
		if n.ready == nil {
			n.ready = map[lynq.Ref]bool{}
		}
		n.ready[e.Object] = true
	case apply.EventNode:
		n := r.node(e)
		n.outcome, n.message = e.Outcome, e.Message
	case apply.EventSummary:
		r.summary = e.Summary
	}
}

func (r *record) node(e *apply.Event) *nodeRecord {
	n := r.nodes[e.Node]
	if n == nil {
		n = &nodeRecord{hub: e.Hub}
		r.nodes[e.Node] = n
	}
	return n
}

// object keeps the last that was told of an object. An event about its
// readiness may leave out what was done to it before.
func (r *record) object(e *apply.Event) {
	n := r.node(e)
	if n.objects == nil {
		n.objects = map[lynq.Ref]objectRecord{}
	}
	before := n.objects[e.Object]
	now := objectRecord{id: e.ID, action: e.Action, reason: e.Reason, outcome: e.Outcome, message: e.Message}
	if now.action == "" {
		now.action, now.reason = before.action, before.reason
	}
	n.objects[e.Object] = now
}

// hasPlan tells whether the plan of a hub was told.
func (r *record) hasPlan(hub lynq.HubKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hubs[hub]
}
