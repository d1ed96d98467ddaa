package rbac

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// shards adds the rules for the Leases of a hub's shards. A run of a shard takes its own, and
// all others wait for those that the hub's Lease names.
func (g *gatherer) shards(h Hub) {
	if g.Shards == 0 || !g.is(Apply, Delete, Orphans) {
		return
	}
	lease := place{lynq.APIResource{Group: "coordination.k8s.io", Plural: "leases"}, h.Namespace, nil}
	for i := range g.Shards {
		lease.names = append(lease.names, lynq.Shard{Index: i, Count: g.Shards}.LeaseName(h.Name))
	}
	const why = "runs of shards of hub "
	add(g.needed, lease, why+h.Name, "get")
	if slices.Contains(g.For, Apply) { // watch is a run of the whole hub
		add(g.needed, lease, why+h.Name, "update")
	}
}
