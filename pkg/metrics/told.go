package metrics

import (
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// What a result is called.
const (
	success     = "success"
	failure     = "error"
	interrupted = "interrupted"
)

func result(well bool) string {
	if well {
		return success
	}
	return failure
}

// Inputs reports whether the files of the inputs could be loaded.
func (m *Metrics) Inputs(loaded bool) { set(m.series.inputs, number(loaded)) }

// LogDropped counts lines of the log that nobody read.
func (m *Metrics) LogDropped(lines int) { add(m.series.dropped, float64(lines)) }

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Read tells of rows that were read, as of the given time, or why they were not.
func (m *Metrics) Read(hub lynq.HubKey, rows, active int, at time.Time, err error) {
	count(m.series.reads, hub.Name, hub.Namespace, result(err == nil))
	if err != nil {
		return
	}
	set(m.series.rows, float64(rows), hub.Name, hub.Namespace)
	set(m.series.active, float64(active), hub.Name, hub.Namespace)
	set(m.series.readAt, seconds(at), hub.Name, hub.Namespace)
}

// Planned tells of a plan, and how long it took to make it.
func (m *Metrics) Planned(p *plan.Plan, took time.Duration) {
	observe(m.series.planned, took, p.Hub.Name, p.Hub.Namespace)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range m.nodes.plan(p) {
		m.forgetNode(key)
	}
}

// forgetNode ends the series of a node that is gone. The sums of hubs and forms go on. The
// caller holds the lock.
func (m *Metrics) forgetNode(key lynq.NodeKey) {
	if m.perNode {
		m.series.conflicts.DeletePartialMatch(prometheus.Labels{"lynqnode": label(key.Name), "namespace": label(key.Namespace)})
	}
	delete(m.began, key)
}

// forgetHub ends the counters and histograms of a hub that this process no longer has.
func (m *Metrics) forgetHub(hub lynq.HubKey) {
	of := prometheus.Labels{"hub": label(hub.Name), "namespace": label(hub.Namespace)}
	for _, s := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{m.series.reads, m.series.refusals, m.series.fights, m.series.planned, m.series.ran, m.series.conflicts} {
		s.DeletePartialMatch(of) // series of nodes have no label for the hub
	}
}

// Refused tells of what guards refused.
func (m *Metrics) Refused(refusals []plan.Refusal) {
	for _, r := range refusals {
		count(m.series.refusals, r.Hub.Name, r.Hub.Namespace, string(r.Guard))
	}
}

// Recorded tells of an inventory as it was saved, or of one that is gone.
func (m *Metrics) Recorded(inv *inventory.Inventory, gone bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.nodes.record(inv, gone); gone {
		m.forgetNode(inv.Node.Key())
	}
}

// Answered tells of a request to the API server, status 0 where there was no answer.
func (m *Metrics) Answered(verb string, status int) {
	code := "<error>"
	if status != 0 {
		code = strconv.Itoa(status)
	}
	count(m.series.requests, verb, code)
}

// Leading reports whether this process keeps the hub, and not another one. What is known of
// a hub that it no longer keeps is forgotten: the other process tells it.
func (m *Metrics) Leading(hub lynq.HubKey, leads bool) {
	set(m.series.leading, number(leads), hub.Name, hub.Namespace)
	if leads {
		m.countFromZero(hub)
		return
	}
	for _, g := range []interface{ DeleteLabelValues(...string) bool }{m.series.rows, m.series.active, m.series.readAt, m.series.ranAt, m.series.backingOff} {
		g.DeleteLabelValues(labels([]string{hub.Name, hub.Namespace})...)
	}
	m.Held(hub, nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetTombstones(hub)
	if h := m.nodes[hub]; h != nil {
		for key := range h.by {
			m.forgetNode(key)
		}
	}
	delete(m.nodes, hub)
}

// countFromZero has series of what may happen to a hub before it does: of one that begins
// with 1, Prometheus sees no increase.
func (m *Metrics) countFromZero(hub lynq.HubKey) {
	add(m.series.fights, 0, hub.Name, hub.Namespace)
	for _, well := range []bool{true, false} {
		add(m.series.reads, 0, hub.Name, hub.Namespace, result(well))
	}
}

// Left tells that this process has nothing to do with the hub any more: to say for ever
// that it does not keep a hub that its inputs no longer have would tell that none does.
func (m *Metrics) Left(hub lynq.HubKey) {
	m.Leading(hub, false)
	m.series.leading.DeleteLabelValues(labels([]string{hub.Name, hub.Namespace})...)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept != nil && !slices.Contains(*m.kept, hub) {
		m.forgetHub(hub)
	}
}

// Kept tells which hubs this process keeps from now on. When it has left another one, the
// counters of that hub end. Those of a hub that only begins again with other forms go on.
func (m *Metrics) Kept(hubs []lynq.HubKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = &hubs
}

// BackOff tells how many nodes of a hub wait before they are tried again.
func (m *Metrics) BackOff(hub lynq.HubKey, nodes int) {
	set(m.series.backingOff, float64(nodes), hub.Name, hub.Namespace)
}

// Fight tells that an object was taken back which another client changes again and again.
func (m *Metrics) Fight(hub lynq.HubKey) { count(m.series.fights, hub.Name, hub.Namespace) }

// Held tells which guards hold deletions of a hub, none where that is settled.
func (m *Metrics) Held(hub lynq.HubKey, guards []plan.Guard) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range m.held[hub] {
		if !slices.Contains(guards, g) {
			m.series.held.DeleteLabelValues(labels([]string{hub.Name, hub.Namespace, string(g)})...)
		}
	}
	for _, g := range guards {
		set(m.series.held, 1, hub.Name, hub.Namespace, string(g))
	}
	m.held[hub] = slices.Clone(guards)
}
