package views

import (
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// rowFields are a node's fields with everything that its inventory says about its row.
type rowFields struct {
	ui.NodeFields
	FormNamespace string `json:"formNamespace,omitempty"`
	UID           string `json:"uid"`
}

func rowFieldsOf(id lynq.NodeID) rowFields {
	return rowFields{ui.NodeFieldsOf(id), id.Form.Namespace, id.UID}
}
