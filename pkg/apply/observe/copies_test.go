package observe

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/inmemory"
)

// TestCopies checks that lynqctl finds copies without the hub's label, with one list for each
// kind and namespace. If a list fails, the objects are unknown.
func TestCopies(t *testing.T) {
	failing := func(err error, namespaces ...string) func(lynq.APIResource, string) error {
		return func(_ lynq.APIResource, namespace string) error {
			if slices.Contains(namespaces, namespace) {
				return err
			}
			return nil
		}
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "", nil)
	broken := apierrors.NewInternalError(errors.New("broken"))
	for name, tt := range map[string]struct {
		namespaces     int // 0 for none that leaves
		list           func(lynq.APIResource, string) error
		lists          int
		found, unknown int
		fatal          bool
	}{
		"nothing leaves":                         {},
		"one node":                               {namespaces: 1, lists: 1, found: 1},
		"some namespaces":                        {namespaces: apartLists, lists: apartLists, found: apartLists},
		"many namespaces":                        {namespaces: apartLists + 1, lists: 1, found: apartLists + 1},
		"many namespaces, listed one by one":     {namespaces: apartLists + 1, list: failing(forbidden, ""), lists: apartLists + 2, found: apartLists + 1},
		"many namespaces, a broken list":         {namespaces: apartLists + 1, list: failing(broken, ""), lists: 1, unknown: apartLists + 1},
		"a namespace that may not be listed":     {namespaces: 2, list: failing(forbidden, "ns0"), lists: 2, found: 1, unknown: 1},
		"a namespace that can't be listed today": {namespaces: 2, list: failing(broken, "ns1"), lists: 2, found: 1, unknown: 1},
		"a connection that breaks":               {namespaces: 1, list: failing(io.ErrUnexpectedEOF, "ns0"), lists: 1, fatal: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &faulty{Cluster: inmemory.New(), list: tt.list}
			var leaving []plan.LeavingInventory
			for i := range tt.namespaces {
				leaving = append(leaving, leavingOf(f, i))
			}
			seen, err := Copies(t.Context(), f, "crm", leaving)
			if (err != nil) != tt.fatal || len(f.asked) != tt.lists {
				t.Errorf("%v, want an error: %t; asked %v, want %d lists", err, tt.fatal, f.asked, tt.lists)
			}
			if err != nil {
				return
			}
			for ref := range seen.Unlisted {
				if ref.Name != "copy" {
					t.Errorf("%s is an unlisted object", ref)
				}
			}
			if len(seen.Unlisted) != tt.found || len(seen.Unknown) != tt.unknown {
				t.Errorf("unlisted %v and unknown %v, want %d and %d", seen.Unlisted, seen.Unknown, tt.found, tt.unknown)
			}
			for _, err := range seen.Unknown {
				if !strings.HasPrefix(err.Error(), "list copies of objects that belong to the inventory: ") {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// leavingOf returns the leaving inventory of a node in a namespace with a copied Service.
func leavingOf(f *faulty, i int) plan.LeavingInventory {
	namespace := fmt.Sprint("ns", i)
	uid := "inv" + namespace
	inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: namespace, Name: "a"}, UID: uid}
	put := func(name, owner string, labels map[string]any) {
		ref := lynq.Ref{Kind: "Service", Namespace: namespace, Name: name}
		f.Put(ref, f.Foreign(ref, map[string]any{"labels": labels, "ownerReferences": []any{
			map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "lynqnode-a", "uid": owner},
		}}))
	}
	put("copy", uid, nil)
	put("else", "else", nil)
	put("hooks", uid, map[string]any{wellknown.LabelRecord: wellknown.RecordHooks})
	put("owned", uid, map[string]any{wellknown.LabelHub: "crm"})
	inv.Entries = []inventory.Entry{
		{Ref: lynq.Ref{Kind: "Service", Namespace: namespace, Name: "owned"}, APIVersion: "v1"},
		{Ref: lynq.Ref{Kind: "Service", Namespace: "far", Name: "far"}, APIVersion: "v1"},
		{Ref: lynq.Ref{Kind: "Namespace", Name: "wide"}, APIVersion: "v1"},
	}
	return plan.LeavingInventoryOf(inv, func(lynq.Ref) bool { return false })
}
