package wellknown

import "strings"

// The names of lynqctl's own records begin with these: the inventories of nodes
// and copies of them, the Secrets with the manifests of their hooks, the records,
// histories and plans of hubs, and the Leases that keep two runs off one hub or shard.
const (
	NodeRecordPrefix = "lynqnode-"
	NodeCopyPrefix   = "lynqcopy-"
	NodeHooksPrefix  = "lynqhooks-"
	HubRecordPrefix  = "lynqhub-"
	HistoryPrefix    = "lynqhistory-"
	PlansPrefix      = "lynqplans-"
	LeasePrefix      = "lynqctl-"
	ShardLeasePrefix = "lynqshard-"
)

// ReservedNames lists the beginnings that names of a kind can't have, since the names
// of records have them; nil for most kinds.
func ReservedNames(group, kind string) []string {
	switch {
	case group == "" && kind == "ConfigMap":
		return []string{NodeRecordPrefix, NodeCopyPrefix, HubRecordPrefix, HistoryPrefix, PlansPrefix}
	case group == "" && kind == "Secret":
		return []string{NodeHooksPrefix}
	case group == "coordination.k8s.io" && kind == "Lease":
		return []string{LeasePrefix, ShardLeasePrefix}
	}
	return nil
}

// OwnerNode is the node to whose inventory an owner reference leads; false for any
// other owner.
func OwnerNode(apiVersion, kind, name string) (node string, is bool) {
	if apiVersion != "v1" || kind != "ConfigMap" {
		return "", false
	}
	return strings.CutPrefix(name, NodeRecordPrefix)
}

// IsOwnerNode reports whether an owner reference, as it is in an object's JSON, leads
// to the inventory of a node.
func IsOwnerNode(reference any) bool {
	r, _ := reference.(map[string]any)
	apiVersion, _ := r["apiVersion"].(string)
	kind, _ := r["kind"].(string)
	name, _ := r["name"].(string)
	_, is := OwnerNode(apiVersion, kind, name)
	return is
}

// LeaseName is the name of the Lease that keeps two runs off one hub. It is in the hub's
// namespace.
func LeaseName(hub string) string { return LeasePrefix + hub }
