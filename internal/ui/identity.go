package ui

import "github.com/lynqctl/lynqctl/pkg/lynq"

// hubFields are the JSON and YAML fields of a hub, in output that may have none.
type hubFields struct {
	Hub          string `json:"hub,omitempty"`
	HubNamespace string `json:"hubNamespace,omitempty"`
}

func hubFieldsOf(hub lynq.HubKey) hubFields { return hubFields{hub.Name, hub.Namespace} }

// NodeFields are the JSON and YAML fields of a node. Two nodes may have the same name, so
// every output has these fields to distinguish them.
type NodeFields struct {
	Node         string `json:"node"`
	Namespace    string `json:"namespace"`
	Hub          string `json:"hub"`
	HubNamespace string `json:"hubNamespace,omitempty"`
	Form         string `json:"form"`
}

// NodeFieldsOf returns the fields of a node.
func NodeFieldsOf(id lynq.NodeID) NodeFields {
	return NodeFields{id.Name, id.Namespace, id.Hub.Name, id.Hub.Namespace, id.Form.Name}
}
