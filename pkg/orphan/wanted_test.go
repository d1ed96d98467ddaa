package orphan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// wants returns a node of hub crm with its rendered objects by resource id.
func wants(namespace, name, form string, objects ...plan.Object) *plan.Node {
	return &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Name: form}, UID: strings.TrimSuffix(name, "-"+form), Namespace: namespace, Name: name}, Objects: objects}
}

func rendering(id, ref string) plan.Object {
	r, _ := lynq.ParseRef(ref) // an invalid ref fails the test
	return plan.Object{Ref: r, ID: id, APIVersion: "v1", Policy: &lynq.Policy{}}
}

func TestWantedWhy(t *testing.T) {
	failed := wants("shop", "torn-web", "web")
	failed.Failed = errors.New("the port is not a number")
	w := orphan.NewWanted([]string{"crm"}, []*plan.Node{
		wants("shop", "acme-web", "web", rendering("settings", "ConfigMap/shop/new"), rendering("data", "PersistentVolumeClaim/shop/data")), failed,
		{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "eu-web"}, UID: "acme", Namespace: "shop", Name: "acme-eu-web-897520f7"}, Objects: []plan.Object{rendering("settings", "ConfigMap/shop/euro")}},
	})
	for name, test := range map[string]struct {
		orphan   orphan.Orphan
		want     string
		concerns bool
	}{
		"rendered":                       {left("PersistentVolumeClaim/shop/data", "crm/shop/acme-web/data"), "", true},
		"rendered by another node":       {left("PersistentVolumeClaim/shop/data", "crm/shop/gone-web/data"), "", true},
		"rendered, once of another hub":  {left("PersistentVolumeClaim/shop/data", "erp/shop/acme-web/data"), "", true},
		"rendered, of unknown origin":    {left("PersistentVolumeClaim/shop/data", ""), "", true},
		"of a node by its other name":    {left("ConfigMap/shop/x", "crm/shop/acme-eu-web/settings"), `its resource "settings" renders ConfigMap/shop/euro now`, true},
		"of unknown origin":              {left("ConfigMap/shop/x", ""), "nothing renders it, and its labels name no node", false},
		"of a hub that doesn't exist":    {left("ConfigMap/shop/x", "erp/shop/acme-web/settings"), `it is from hub "erp", which isn't in your files`, false},
		"of a row that went":             {left("ConfigMap/shop/x", "crm/shop/gone-web/settings"), "no active row and form produce its node shop/gone-web any more", true},
		"of a node in another namespace": {left("ConfigMap/shop/x", "crm/far/acme-web/settings"), "no active row and form produce its node far/acme-web any more", true},
		"of a row that does not render":  {left("ConfigMap/shop/x", "crm/shop/torn-web/settings"), "its node shop/torn-web failed to render", true},
		"renamed":                        {left("ConfigMap/shop/x", "crm/shop/acme-web/settings"), `its resource "settings" renders ConfigMap/shop/new now`, true},
		"dropped by its form":            {left("ConfigMap/shop/x", "crm/shop/acme-web/old"), `its form has no resource "old" any more`, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := w.Why(&test.orphan); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := w.Concerns(&test.orphan); got != test.concerns {
				t.Errorf("it concerns the hubs: %v", got)
			}
		})
	}
}
