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

// The names of results.
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

// Read notes the read rows with the time of the query, or why nobody could read them.
func (m *Metrics) Read(hub lynq.HubKey, rows, active int, at time.Time, err error) {
	count(m.series.reads, hub.Name, hub.Namespace, result(err == nil))
	if err != nil {
		return
	}
	set(m.series.rows, float64(rows), hub.Name, hub.Namespace)
	set(m.series.active, float64(active), hub.Name, hub.Namespace)
	set(m.series.readAt, seconds(at), hub.Name, hub.Namespace)
}

// Planned notes a plan, and how long it took to make it.
func (m *Metrics) Planned(p *plan.Plan, took time.Duration) {
	observe(m.series.planned, took, p.Hub.Name, p.Hub.Namespace)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range m.nodes.plan(p) {
		m.forgetNode(key)
	}
}

// forgetNode ends the series of a deleted node. The sums of hubs and forms continue. The caller
// holds the lock.
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

// Refused notes refusals of guards.
func (m *Metrics) Refused(refusals []plan.Refusal) {
	for _, r := range refusals {
		count(m.series.refusals, r.Hub.Name, r.Hub.Namespace, string(r.Guard))
	}
}

// Recorded notes a saved or a deleted inventory.
func (m *Metrics) Recorded(inv *inventory.Inventory, gone bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.nodes.record(inv, gone); gone {
		m.forgetNode(inv.Node.Key())
	}
}

// Answered notes a request to the API server. Status 0 means that it didn't answer.
func (m *Metrics) Answered(verb string, status int) {
	code := "<error>"
	if status != 0 {
		code = strconv.Itoa(status)
	}
	count(m.series.requests, verb, code)
}

// Leading reports whether this process keeps the hub, instead of another one. Metrics forgets
// a hub that this process no longer keeps, because the other one counts it.
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

// countFromZero begins the counters of a hub with 0, because Prometheus sees no increase in a
// series that begins with 1.
func (m *Metrics) countFromZero(hub lynq.HubKey) {
	add(m.series.fights, 0, hub.Name, hub.Namespace)
	for _, well := range []bool{true, false} {
		add(m.series.reads, 0, hub.Name, hub.Namespace, result(well))
	}
}

// Left notes that the inputs of this process no longer have the hub. Otherwise its series would
// say forever that this process doesn't keep the hub.
func (m *Metrics) Left(hub lynq.HubKey) {
	m.Leading(hub, false)
	m.series.leading.DeleteLabelValues(labels([]string{hub.Name, hub.Namespace})...)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept != nil && !slices.Contains(*m.kept, hub) {
		m.forgetHub(hub)
	}
}

// Kept notes the hubs that this process keeps from now on. The counters of other hubs end once
// it has left them. Those of a hub that only begins again with other forms continue.
func (m *Metrics) Kept(hubs []lynq.HubKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = &hubs
}

// BackOff notes how many nodes of a hub wait for another try.
func (m *Metrics) BackOff(hub lynq.HubKey, nodes int) {
	set(m.series.backingOff, float64(nodes), hub.Name, hub.Namespace)
}

// Fight notes that lynqctl restored an object that another client changes again and again.
func (m *Metrics) Fight(hub lynq.HubKey) { count(m.series.fights, hub.Name, hub.Namespace) }

// Held notes the guards that hold deletions of a hub, none if nothing is held.
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
