package metrics

import "github.com/lynqctl/lynqctl/pkg/lynq"

// HubSums count the nodes that a hub's rows and forms want, and those of them that are ready, or
// degraded or failed.
type HubSums struct{ Desired, Ready, Failed int }

// Sums returns the sums of a hub by its plans and inventories. It returns false without any.
func (m *Metrics) Sums(hub lynq.HubKey) (HubSums, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.nodes[hub]
	if h == nil {
		return HubSums{}, false
	}
	var s HubSums
	for _, n := range h.by {
		if !n.wanted {
			continue
		}
		s.Desired++
		if n.ready() {
			s.Ready++
		}
		if n.bad() {
			s.Failed++
		}
	}
	return s, true
}
