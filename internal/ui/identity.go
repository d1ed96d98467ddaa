package ui

import (
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// hubFields are the JSON and YAML fields of a hub, in output that may have none.
type hubFields struct {
	Hub          string `json:"hub,omitempty"`
	HubNamespace string `json:"hubNamespace,omitempty"`
}

func hubFieldsOf(hub lynq.HubKey) hubFields { return hubFields{hub.Name, hub.Namespace} }

// objectFields are the JSON and YAML fields of an object, in output that has the namespace of a
// node, too.
type objectFields struct {
	Group           string `json:"group,omitempty"`
	Kind            string `json:"kind,omitempty"`
	ObjectNamespace string `json:"objectNamespace,omitempty"`
	Name            string `json:"name,omitempty"`
}

func objectFieldsOf(r lynq.Ref) objectFields {
	return objectFields{r.Group, r.Kind, r.Namespace, r.Name}
}

// detailFields are the JSON and YAML fields that say what became of an object or a node.
type detailFields struct {
	objectFields
	report.Details
}

func detailFieldsOf(d *report.Details) detailFields {
	return detailFields{objectFieldsOf(d.Object), *d}
}

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
