package decide

import (
	"fmt"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// TestForgedRoom forges inventories of kept nodes: under another name of an active row, as
// a renamed node, or in a grace period. None of them raises the limit of max-delete.
func TestForgedRoom(t *testing.T) {
	slow := lynq.FormKey{Name: "slow"}
	for name, forge := range map[string]func(s *shop, inv *inventory.Inventory){
		"none":                        nil,
		"by another name":             func(_ *shop, inv *inventory.Inventory) { inv.Node.UID = "a" },
		"of a form that was renamed":  func(_ *shop, inv *inventory.Inventory) { inv.Node.UID, inv.Node.Form.Name = "a", "old" },
		"of a row that was renamed":   func(_ *shop, inv *inventory.Inventory) { inv.Node.UID = "before" },
		"kept for their grace period": func(_ *shop, inv *inventory.Inventory) { inv.Node.Form.Name = slow.Name },
		"going on as a node of another hub": func(_ *shop, inv *inventory.Inventory) {
			inv.Node.UID, inv.Entries = "there", []inventory.Entry{{Ref: shopRef("there")}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			for _, row := range []string{"a", "b", "c", "d"} {
				s.has(row, row)
			}
			s.wants("a", "a")
			s.in.Now, s.in.Desired.Forms = hour(12), append(s.in.Desired.Forms, slow)
			s.in.Desired.Grace = map[lynq.FormKey]time.Duration{slow: time.Hour}
			s.renames(map[string]string{"before": "a"}, map[lynq.FormKey]lynq.FormKey{{Name: "old"}: {Name: "web"}})
			for i := range 20 {
				if forge != nil {
					forge(s, s.has(fmt.Sprintf("forged%02d", i)))
				}
			}
			other := newShop()
			other.in.Hub.Name = "eu"
			n := other.wants("there", "there")
			n.Name, n.Hub = "there-eu", other.in.Hub
			p := All([]*Input{s.in, other.in}, Limits{MaxDelete: limits.MaxDelete{Percent: 25}})[0]
			if len(p.Refusals) == 0 {
				t.Error("three of four nodes would go")
			}
		})
	}
}
