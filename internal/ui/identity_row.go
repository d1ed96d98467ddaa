package ui

import (
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// rowFields are a node's fields with everything that its inventory says about its row.
type rowFields struct {
	NodeFields
	FormNamespace string `json:"formNamespace,omitempty"`
	UID           string `json:"uid"`
}

func rowFieldsOf(id lynq.NodeID) rowFields {
	return rowFields{NodeFieldsOf(id), id.Form.Namespace, id.UID}
}
