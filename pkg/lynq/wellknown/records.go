package wellknown

import "strings"

// Prefixes of the names of lynqctl's records: the inventories of nodes and copies of them, the
// Secrets with the manifests of their hooks, the records, histories and plans of hubs, and the
// Leases of hubs and shards.
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

// ReservedNames returns the prefixes that names of a kind can't have, because those of records
// have them. It is nil for most kinds.
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

// OwnerNode returns the node to whose inventory an owner reference leads. It returns false for
// other owners.
func OwnerNode(apiVersion, kind, name string) (node string, is bool) {
	if apiVersion != "v1" || kind != "ConfigMap" {
		return "", false
	}
	return strings.CutPrefix(name, NodeRecordPrefix)
}

// IsOwnerNode reports whether an owner reference in an object's JSON leads to the inventory
// of a node.
func IsOwnerNode(reference any) bool {
	r, _ := reference.(map[string]any)
	apiVersion, _ := r["apiVersion"].(string)
	kind, _ := r["kind"].(string)
	name, _ := r["name"].(string)
	_, is := OwnerNode(apiVersion, kind, name)
	return is
}

// LeaseName returns the name of the Lease that one run at a time has of a hub. It is in the hub's
// namespace.
func LeaseName(hub string) string { return LeasePrefix + hub }
