package ui

import "github.com/lynqctl/lynqctl/pkg/lynq"

// hubFields are a hub as JSON and YAML have it, in what may be of none.
type hubFields struct {
	Hub          string `json:"hub,omitempty"`
	HubNamespace string `json:"hubNamespace,omitempty"`
}

func hubFieldsOf(hub lynq.HubKey) hubFields { return hubFields{hub.Name, hub.Namespace} }

// nodeFields are a node as JSON and YAML have it. Two nodes may have one name. Each output
// then has those fields that distinguish them.
type nodeFields struct {
	Node         string `json:"node"`
	Namespace    string `json:"namespace"`
	Hub          string `json:"hub"`
	HubNamespace string `json:"hubNamespace,omitempty"`
	Form         string `json:"form"`
}

func nodeFieldsOf(id lynq.NodeID) nodeFields {
	return nodeFields{id.Name, id.Namespace, id.Hub.Name, id.Hub.Namespace, id.Form.Name}
}

// rowFields are a node with all that its record says of which it is.
type rowFields struct {
	nodeFields
	FormNamespace string `json:"formNamespace,omitempty"`
	UID           string `json:"uid"`
}

func rowFieldsOf(id lynq.NodeID) rowFields {
	return rowFields{nodeFieldsOf(id), id.Form.Namespace, id.UID}
}
