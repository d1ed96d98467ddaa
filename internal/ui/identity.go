package ui

import "github.com/lynqctl/lynqctl/pkg/lynq"

// hubFields are a hub as JSON and YAML have it, in what may be of none.
type hubFields struct {
	Hub          string `json:"hub,omitempty"`
	HubNamespace string `json:"hubNamespace,omitempty"`
}

func hubFieldsOf(hub lynq.HubKey) hubFields { return hubFields{hub.Name, hub.Namespace} }

// NodeFields are a node as JSON and YAML have it. Two nodes may have one name. Each output
// then has those fields that distinguish them.
type NodeFields struct {
	Node         string `json:"node"`
	Namespace    string `json:"namespace"`
	Hub          string `json:"hub"`
	HubNamespace string `json:"hubNamespace,omitempty"`
	Form         string `json:"form"`
}

// NodeFieldsOf are those of a node.
func NodeFieldsOf(id lynq.NodeID) NodeFields {
	return NodeFields{id.Name, id.Namespace, id.Hub.Name, id.Hub.Namespace, id.Form.Name}
}
