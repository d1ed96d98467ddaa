package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// nodeLabels are the labels of the series of nodes.
func nodeLabels(perNode bool) []string {
	if perNode {
		return []string{"lynqnode", "namespace"}
	}
	return []string{"hub", "namespace", "form"}
}

// values returns the values for nodeLabels.
func values(perNode bool, hub lynq.HubKey, key lynq.NodeKey, form string) [3]string {
	if perNode {
		return [3]string{key.Name, key.Namespace}
	}
	return [3]string{hub.Name, hub.Namespace, form}
}

// nodeCollector makes the series of nodes for each request, so deleted nodes have none.
type nodeCollector struct{ m *Metrics }

// family is the name of a series with its samples.
type family struct {
	name, help string
	labels     []string
	samples    map[[5]string]float64 // by the values of the labels
}

func (f *family) add(value float64, values ...string) {
	var key [5]string
	copy(key[:], labels(values))
	f.samples[key] += value
}

// Describe implements prometheus.Collector.
func (c nodeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range (nodes{}).families(c.m.perNode) {
		ch <- f.desc()
	}
}

func (f *family) desc() *prometheus.Desc {
	return prometheus.NewDesc(f.name, f.help, f.labels, nil)
}

// Collect implements prometheus.Collector.
func (c nodeCollector) Collect(ch chan<- prometheus.Metric) {
	c.m.mu.Lock()
	families := c.m.nodes.families(c.m.perNode)
	c.m.mu.Unlock()
	for _, f := range families {
		desc := f.desc()
		for values, v := range f.samples {
			s, err := prometheus.NewConstMetric(desc, prometheus.GaugeValue, v, values[:len(f.labels)]...)
			if err != nil {
				s = prometheus.NewInvalidMetric(desc, err)
			}
			ch <- s
		}
	}
}

// families returns the series of nodes. It is a pure function.
func (ns nodes) families(perNode bool) []*family {
	of := nodeLabels(perNode)
	of = of[:len(of):len(of)]
	hub := []string{"hub", "namespace"}
	var all []*family
	add := func(name, help string, labels ...string) *family {
		f := &family{name, help, labels, map[[5]string]float64{}}
		all = append(all, f)
		return f
	}
	s := nodeFamilies{
		desired:    add("hub_desired", "Desired nodes of a hub.", hub...),
		ready:      add("hub_ready", "Desired nodes of a hub that are ready.", hub...),
		failed:     add("hub_failed", "Desired nodes of a hub that are degraded, or that failed in the last run.", hub...),
		conditions: add("lynqctl_node_conditions", "Nodes by the status of their conditions.", "hub", "namespace", "form", "type", "status"),

		objects:  add("lynqnode_resources_desired", "Desired objects of nodes.", of...),
		well:     add("lynqnode_resources_ready", "Objects of nodes that are ready.", of...),
		broken:   add("lynqnode_resources_failed", "Objects of nodes that failed.", of...),
		skipped:  add("lynqnode_resources_skipped", "Objects of nodes that were skipped.", of...),
		conflict: add("lynqnode_resources_conflicted", "Objects of nodes that another owner has.", of...),
		degraded: add("lynqnode_degraded_status", "Degraded nodes. For a single node: 1 if it is degraded, 0 if not.", append(of, "reason")...),
	}
	if perNode {
		s.condition = add("lynqnode_condition_status", "Status of a node's condition: 0 False, 1 True, 2 Unknown.", append(of, "type")...)
	}
	for key, h := range ns {
		for k, n := range h.by {
			if h.whole {
				s.sum(key, n)
			}
			if h.whole || perNode {
				v := values(perNode, key, k, n.form)
				s.node(v[:len(of)], n)
			}
		}
		if h.whole { // even without any node
			for _, f := range []*family{s.desired, s.ready, s.failed} {
				f.add(0, key.Name, key.Namespace)
			}
		}
	}
	return all
}

type nodeFamilies struct {
	desired, ready, failed, conditions                            *family
	objects, well, broken, skipped, conflict, degraded, condition *family
}

// sum adds a node to the sums of its hub.
func (s *nodeFamilies) sum(hub lynq.HubKey, n *node) {
	one := func(f *family, is bool) {
		if is && n.wanted {
			f.add(1, hub.Name, hub.Namespace)
		}
	}
	one(s.desired, true)
	one(s.ready, n.ready())
	one(s.failed, n.bad())
	for _, c := range n.status.Conditions {
		s.conditions.add(1, hub.Name, hub.Namespace, n.form, c.Type, c.Status)
	}
}

// node adds the status of a node to the series with these values of labels.
func (s *nodeFamilies) node(of []string, n *node) {
	with := func(value string) []string { return append(of[:len(of):len(of)], value) }
	add := func(f *family, count int) { f.add(float64(count), with("")[:len(of)]...) }
	add(s.objects, n.status.Desired)
	add(s.well, n.status.Ready)
	add(s.broken, n.status.Failed)
	add(s.skipped, n.status.Skipped)
	add(s.conflict, n.status.Conflicted)
	for _, c := range n.status.Conditions {
		if c.Type == inventory.ConditionDegraded && c.Status == "True" {
			s.degraded.add(1, with(c.Reason)...)
		}
		if s.condition != nil {
			s.condition.add(conditionValue(c.Status), with(c.Type)...)
		}
	}
}

// conditionValue returns the operator's number for the status of a condition.
func conditionValue(status string) float64 {
	switch status {
	case "False":
		return 0
	case "True":
		return 1
	}
	return 2
}
