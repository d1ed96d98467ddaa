package main

import (
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// callings tells how hubs and forms are called where some of them are shown: by
// their names, and by NAMESPACE/NAME where that name is another one's too.
type callings struct{ hubs, forms namesakes }

// namesakes are the namespaces in which a name was seen.
type namesakes map[string]map[string]bool

func (n namesakes) see(namespace, name string) {
	if n[name] == nil {
		n[name] = map[string]bool{}
	}
	n[name][namespace] = true
}

func newCallings() *callings { return &callings{hubs: namesakes{}, forms: namesakes{}} }

func callInventories(inventories []*inventory.Inventory) *callings {
	c := newCallings()
	for _, inv := range inventories {
		hub, form := apply.HubOf(inv), apply.FormOf(inv)
		c.hubs.see(hub.Namespace, hub.Name)
		c.forms.see(form.Namespace, form.Name)
	}
	return c
}

func callNodes(nodes []status.Node) *callings {
	c := newCallings()
	for i := range nodes {
		n := &nodes[i]
		c.hubs.see(n.HubNamespace, n.Hub)
		c.forms.see(n.FormNamespace, n.Form)
	}
	return c
}

// callForms are the forms of one hub.
func callForms(h *status.Hub) *callings {
	c := newCallings()
	for i := range h.Forms {
		c.forms.see(h.Forms[i].Namespace, h.Forms[i].Name)
	}
	return c
}

func (c *callings) hub(key lynq.HubKey) string {
	if len(c.hubs[key.Name]) > 1 && key.Name != "" {
		return key.String()
	}
	return key.Name
}

func (c *callings) form(key lynq.FormKey) string {
	if len(c.forms[key.Name]) > 1 && key.Name != "" {
		return key.String()
	}
	return key.Name
}
