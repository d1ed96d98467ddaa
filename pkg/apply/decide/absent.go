package decide

import (
	"cmp"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// AbsentForms returns the forms that nodes of the hub have and the files don't, sorted by
// name and namespace. lynqctl doesn't change their nodes until the user deletes them by
// name. Nodes that are being deleted don't count.
func (in *Input) AbsentForms() []inventory.AbsentForm {
	nodes := map[lynq.FormKey]int{}
	for _, inv := range in.Recorded.Inventories {
		if !inv.Deleting && !slices.ContainsFunc(in.Desired.Forms, func(f lynq.FormKey) bool { return mayBeOf(inv, f) }) {
			nodes[inv.Node.Full().Form]++
		}
	}
	var absent []inventory.AbsentForm
	for key, n := range nodes {
		absent = append(absent, inventory.AbsentForm{Form: key, Nodes: n})
	}
	slices.SortFunc(absent, func(a, b inventory.AbsentForm) int {
		return cmp.Or(cmp.Compare(a.Form.Name, b.Form.Name), cmp.Compare(a.Form.Namespace, b.Form.Namespace))
	})
	return absent
}

// mayBeOf reports whether an inventory may belong to a form. Old inventories lack the
// form's namespace.
func mayBeOf(inv *inventory.Inventory, f lynq.FormKey) bool {
	if inv.Node.Form.Namespace == "" {
		return inv.Node.Form.Name == f.Name
	}
	return inv.Node.Full().Form == f
}
