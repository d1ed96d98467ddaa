package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/inmemory"
)

// TestAhead checks that lists read ahead show the same as later lists. lynqctl lists a kind
// again only if its objects may be in more namespaces.
func TestAhead(t *testing.T) {
	forbidden := func(r lynq.APIResource, namespace string) error {
		if r.Kind != "Service" || namespace == "near" {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Resource: r.Plural}, "", errors.New("no"))
	}
	for name, test := range map[string]struct {
		list     func(lynq.APIResource, string) error
		more     string // the namespace of an object that only an inventory has
		spread   bool   // the objects are in two namespaces
		unserved bool
		lists    int // the number of all lists
	}{
		"the same":              {more: "near", lists: 2},
		"several namespaces":    {more: "near", spread: true, lists: 2},
		"recorded elsewhere":    {more: "far", lists: 3},                                 // of Services: the namespace, then the cluster
		"may not be listed":     {more: "near", spread: true, list: forbidden, lists: 3}, // also copies of dropped objects
		"a kind without a list": {more: "near", unserved: true, lists: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := &faulty{Cluster: inmemory.New(), list: test.list}
			labels := map[string]any{wellknown.LabelHub: "crm"}
			node := &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "near", Name: "a"}}
			inv := &inventory.Inventory{Node: node.NodeID, UID: "u1"}
			put := func(ref lynq.Ref, metadata map[string]any) {
				metadata["labels"] = labels
				f.Put(ref, f.Foreign(ref, metadata))
			}
			for i, kind := range []string{"ConfigMap", "Service", "Service"} {
				ref := lynq.Ref{Kind: kind, Namespace: "near", Name: fmt.Sprint("o", i)}
				if test.spread && i == 2 {
					ref.Namespace = "far"
				}
				put(ref, map[string]any{})
				node.Objects = append(node.Objects, plan.Object{Ref: ref, APIVersion: "v1"})
				inv.Entries = append(inv.Entries, inventory.Entry{Ref: ref, APIVersion: "v1"})
			}
			more := lynq.Ref{Kind: "Service", Namespace: test.more, Name: "more"}
			put(more, map[string]any{})
			inv.Entries = append(inv.Entries, inventory.Entry{Ref: more, APIVersion: "v1"})
			put(lynq.Ref{Kind: "ConfigMap", Namespace: "near", Name: "unlisted"}, map[string]any{
				"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "lynqnode-a", "uid": "u1"}},
			})
			put(lynq.Ref{Kind: "ConfigMap", Namespace: "near", Name: "other"}, map[string]any{})
			if test.unserved {
				delete(f.Kinds, lynq.Ref{Kind: "Service"}.GroupKind())
			}
			nodes, inventories := []*plan.Node{node}, []*inventory.Inventory{inv}
			want, err := Nodes(t.Context(), f, "crm", nodes, inventories)
			if err != nil {
				t.Fatalf("%v", err)
			}
			f.asked = nil
			ahead := StartPrefetch(t.Context(), f, "crm", nodes)
			got, err := ahead.Nodes(t.Context(), f, "crm", nodes, inventories)
			ahead.Close()
			if err != nil {
				t.Fatalf("%v", err)
			}
			same := cmp.Options{cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })}
			if diff := cmp.Diff(want, got, same...); diff != "" {
				t.Errorf("(-without, +ahead):\n%s", diff)
			}
			lists := slices.DeleteFunc(slices.Clone(f.asked), func(text string) bool { return text[:4] != "list" })
			if len(lists) != test.lists {
				t.Errorf("asked for %q, want %d lists", lists, test.lists)
			}
		})
	}
}

// TestAheadStops checks that Close ends pending reads, and that an ended observation waits
// for nothing.
func TestAheadStops(t *testing.T) {
	f := &faulty{Cluster: inmemory.New()}
	blocked := make(chan struct{})
	f.list = func(lynq.APIResource, string) error { <-blocked; return context.Canceled }
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: "near", Name: "a"}
	nodes := []*plan.Node{{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}}, Objects: []plan.Object{{Ref: ref, APIVersion: "v1"}}}}
	ahead := StartPrefetch(t.Context(), f, "crm", nodes)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	close(blocked)
	if _, err := ahead.Nodes(ctx, f, "crm", nodes, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ahead.Close()
	(*Prefetch)(nil).Close()
}
