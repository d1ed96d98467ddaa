package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/inmemory"
)

// faulty fails reads. test/e2e has the failures of a real server.
type faulty struct {
	*inmemory.Cluster
	list, get func(r lynq.APIResource, namespace string) error
	asked     []string
}

func (f *faulty) List(ctx context.Context, r lynq.APIResource, namespace, selector string, read func(*metav1.PartialObjectMetadata) (note func())) error {
	f.Mu.Lock()
	f.asked = append(f.asked, "list "+r.Plural+" "+namespace)
	f.Mu.Unlock()
	if f.list != nil {
		if err := f.list(r, namespace); err != nil {
			return err
		}
	}
	return f.Cluster.List(ctx, r, namespace, selector, read)
}

func (f *faulty) Metadata(ctx context.Context, r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	f.Mu.Lock()
	f.asked = append(f.asked, "get "+r.Plural+" "+namespace)
	f.Mu.Unlock()
	if f.get != nil {
		if err := f.get(r, namespace); err != nil {
			return nil, err
		}
	}
	return f.Cluster.Metadata(ctx, r, namespace, name)
}

// TestObserveFaults checks that an error of the server affects only its kind, namespace or
// object. If lynqctl can't reach the server, the observation ends.
func TestObserveFaults(t *testing.T) {
	status := func(code int) func(lynq.APIResource) error {
		return func(r lynq.APIResource) error {
			return apierrors.NewGenericServerResponse(code, "list", schema.GroupResource{Resource: r.Plural}, "", "", 0, true)
		}
	}
	services := func(err func(lynq.APIResource) error, namespaces ...string) func(lynq.APIResource, string) error {
		return func(r lynq.APIResource, ns string) error {
			if r.Kind == "Service" && (len(namespaces) == 0 || slices.Contains(namespaces, ns)) {
				return err(r)
			}
			return nil
		}
	}
	plain := func(err error) func(lynq.APIResource) error { return func(lynq.APIResource) error { return err } }
	for name, tt := range map[string]struct {
		list, get func(lynq.APIResource, string) error
		many      bool   // many objects, in three namespaces
		unknown   string // the namespaces of unknown Services
		causes    int
		fatal     bool
	}{
		"a kind that may not be listed anywhere":           {list: services(status(403)), get: services(status(403)), unknown: "ns1 ns2 ns3", causes: 1},
		"a kind that may be read where its objects are":    {list: services(status(403), ""), unknown: ""},
		"many, listed where they are":                      {list: services(status(403), ""), many: true, unknown: ""},
		"many, listed in some namespaces":                  {list: services(status(403), "", "ns2"), many: true, unknown: "ns2", causes: 1},
		"many, listed nowhere":                             {list: services(status(403)), many: true, unknown: "ns1 ns2 ns3", causes: 1},
		"an object that may not be read":                   {list: services(status(403), ""), get: services(status(403), "ns2"), unknown: "ns2", causes: 1},
		"a webhook that is broken":                         {list: services(status(500)), unknown: "ns1 ns2 ns3", causes: 1},
		"a kind that is not for lists":                     {list: services(status(405)), unknown: "ns1 ns2 ns3", causes: 1},
		"a login that expired":                             {list: services(status(401)), fatal: true},
		"a connection that breaks":                         {list: services(plain(io.ErrUnexpectedEOF)), fatal: true},
		"an interruption":                                  {list: services(plain(context.Canceled)), fatal: true},
		"a connection that breaks in the look for objects": {list: services(status(403), ""), get: services(plain(io.ErrUnexpectedEOF)), fatal: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &faulty{Cluster: inmemory.New(), list: tt.list, get: tt.get}
			inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "ns1", Name: "a"}, UID: "inv"}
			for _, ns := range []string{"ns1", "ns2", "ns3"} {
				for i := range 4 {
					if i > 0 && !tt.many {
						break
					}
					ref := lynq.Ref{Kind: "Service", Namespace: ns, Name: fmt.Sprint("s", i)}
					f.Put(ref, f.Foreign(ref, nil))
					inv.Entries = append(inv.Entries, inventory.Entry{Ref: ref, APIVersion: "v1"})
				}
			}
			settings := lynq.Ref{Kind: "ConfigMap", Namespace: "ns1", Name: "c"}
			f.Put(settings, f.Foreign(settings, nil))
			inv.Entries = append(inv.Entries, inventory.Entry{Ref: settings, APIVersion: "v1"})
			seen, err := Nodes(t.Context(), f, "crm", nil, []*inventory.Inventory{inv})
			if (err != nil) != tt.fatal {
				t.Errorf("%v, want an error: %t", err, tt.fatal)
			}
			if err != nil {
				return
			}
			in, causes := map[string]bool{}, map[string]bool{}
			for ref, why := range seen.Unknown {
				in[ref.Namespace], causes[why.Error()] = true, true
			}
			if got := strings.Join(slices.Sorted(maps.Keys(in)), " "); got != tt.unknown || len(causes) != tt.causes {
				t.Errorf("unknown in %q for %d reasons, want %q for %d: %v", got, len(causes), tt.unknown, tt.causes, causes)
			}
			for i := range inv.Entries {
				ref := inv.Entries[i].Ref
				if _, unknown := seen.Unknown[ref]; unknown == (seen.Live[ref] != nil) {
					t.Errorf("%s: unknown: %t, seen: %t", ref, unknown, seen.Live[ref] != nil)
				}
			}
		})
	}
}

// TestObserveMisplaced checks that lynqctl doesn't ask for an object if its kind has
// another scope, because it can't exist.
func TestObserveMisplaced(t *testing.T) {
	f := &faulty{Cluster: inmemory.New()}
	cluster := lynq.Ref{Kind: "Namespace", Namespace: "ns", Name: "x"}
	namespaced := lynq.Ref{Kind: "Service", Name: "x"}
	inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "ns", Name: "a"}, Entries: []inventory.Entry{{Ref: cluster, APIVersion: "v1"}, {Ref: namespaced, APIVersion: "v1"}}}
	seen, err := Nodes(t.Context(), f, "crm", nil, []*inventory.Inventory{inv})
	if err != nil {
		t.Fatal(err)
	}
	want := map[lynq.Ref]*plan.ScopeError{cluster: {Object: cluster}, namespaced: {Object: namespaced, Namespaced: true}}
	if diff := cmp.Diff(want, seen.Misplaced); diff != "" || len(seen.Unknown)+len(seen.Live)+len(f.asked) > 0 {
		t.Errorf("%+v, asked %v (-want +got):\n%s", seen, f.asked, diff)
	}
}

// TestUnlisted checks that lynqctl keeps extra objects of lists if they refer to an
// inventory. It searches for copies of a deleted inventory's objects. If it can't, these
// objects are unknown.
func TestUnlisted(t *testing.T) {
	forbidden := func(namespaces ...string) func(lynq.APIResource, string) error {
		return func(_ lynq.APIResource, namespace string) error {
			if slices.Contains(namespaces, namespace) {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "", nil)
			}
			return nil
		}
	}
	object := func(namespace, name string) plan.Object {
		return plan.Object{Ref: lynq.Ref{Kind: "Service", Namespace: namespace, Name: name}, APIVersion: "v1"}
	}
	owned, gone, purged := object("ns", "owned"), object("elsewhere", "gone"), object("ns", "owned")
	purged.Policy = &lynq.Policy{PurgeOrder: new(int)}
	for name, tt := range map[string]struct {
		few, deleting bool
		wants         []plan.Object // nil if the node is deleted
		list          func(lynq.APIResource, string) error
		want          string
	}{
		"all":                                    {want: "unlisted copy, asked get services elsewhere, list services "},
		"deleted":                                {deleting: true, want: "unlisted copy, unlisted relabelled, asked get services elsewhere, list services , list services ns"},
		"few nodes of many":                      {few: true, want: "unlisted copy, unlisted relabelled, asked get services elsewhere, get services ns, list services ns"},
		"few nodes of many, deleted":             {few: true, deleting: true, want: "unlisted copy, unlisted relabelled, asked get services elsewhere, list services , list services ns"},
		"deleted, and not all may be listed":     {deleting: true, list: forbidden(""), want: "unlisted copy, unlisted relabelled, asked get services elsewhere, get services ns, list services , list services ns"},
		"deleted, and nothing may be listed":     {deleting: true, list: forbidden("", "ns"), want: "unknown owned, asked get services elsewhere, get services ns, list services , list services ns"},
		"not deleted, and nothing may be listed": {list: forbidden("", "ns"), want: "unknown owned, asked get services elsewhere, get services ns, list services , list services ns"},
		"few nodes of many, kept":                {few: true, wants: []plan.Object{gone, owned}, want: "asked get services elsewhere, get services ns"},
		"few nodes of many, dropped":             {few: true, wants: []plan.Object{gone}, want: "unlisted copy, unlisted relabelled, asked get services elsewhere, get services ns, list services ns"},
		"few nodes of many, purged":              {few: true, wants: []plan.Object{gone, purged}, want: "unlisted copy, unlisted relabelled, asked get services elsewhere, get services ns, list services ns"},
		"few nodes of many, unrendered":          {few: true, wants: []plan.Object{}, want: "asked get services elsewhere, get services ns"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &faulty{Cluster: inmemory.New(), list: tt.list}
			inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "ns", Name: "a"}, UID: "inv", Deleting: tt.deleting}
			for object, owner := range map[string]string{"owned": "inv", "copy": "inv", "other": "else", "relabelled": "inv"} {
				ref := lynq.Ref{Kind: "Service", Namespace: "ns", Name: object}
				hub := "crm"
				if object == "relabelled" {
					hub = "erp"
				}
				f.Put(ref, f.Foreign(ref, map[string]any{"labels": map[string]any{wellknown.LabelHub: hub, wellknown.LabelPartOf: inventory.ID("ns", inventory.Name("a"))}, "ownerReferences": []any{
					map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "lynqnode-a", "uid": owner},
				}}))
			}
			far := lynq.Ref{Kind: "Service", Namespace: "far", Name: "far"} // an owner is in the same namespace
			f.Put(far, f.Foreign(far, map[string]any{"labels": map[string]any{wellknown.LabelHub: "crm"}, "ownerReferences": []any{
				map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "lynqnode-a", "uid": "inv"},
			}}))
			for _, ref := range []lynq.Ref{{Kind: "Service", Namespace: "ns", Name: "owned"}, {Kind: "Service", Namespace: "elsewhere", Name: "gone"}} {
				inv.Entries = append(inv.Entries, inventory.Entry{Ref: ref, APIVersion: "v1"})
			}
			var nodes []*plan.Node
			if tt.wants != nil {
				nodes = append(nodes, &plan.Node{NodeID: inv.Node, Objects: tt.wants})
				if len(tt.wants) == 0 {
					nodes[0].Failed = errors.New("it doesn't render")
				}
			}
			of := 0
			if tt.few {
				of = 1000
			}
			observe := func() (*plan.Observed, error) {
				if of > 0 {
					return SomeNodes(t.Context(), f, "crm", of, nodes, []*inventory.Inventory{inv})
				}
				return Nodes(t.Context(), f, "crm", nodes, []*inventory.Inventory{inv})
			}
			seen, err := observe()
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(f.asked)
			if got := unlistedOf(seen, f.asked); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// unlistedOf describes the extra objects in words, and how lynqctl found them.
func unlistedOf(seen *plan.Observed, asked []string) string {
	var words []string
	for ref := range seen.Unlisted {
		words = append(words, "unlisted "+ref.Name)
	}
	for ref := range seen.Unknown {
		words = append(words, "unknown "+ref.Name)
	}
	slices.Sort(words)
	return strings.Join(append(words, "asked "+strings.Join(asked, ", ")), ", ")
}

// TestSomeNodes checks that lynqctl reads few objects one by one, and lists many. The
// result is the same.
func TestSomeNodes(t *testing.T) {
	for _, tt := range []struct {
		objects, of int
		want        string
	}{
		{looks, 0, "8 get"},
		{looks + 1, 20 * looks, "1 list"},
		{looks + 1, 20 * (looks + 1), "9 get"},
	} {
		f := &faulty{Cluster: inmemory.New()}
		inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "ns", Name: "a"}}
		for i := range tt.objects {
			ref := lynq.Ref{Kind: "Service", Namespace: "ns", Name: fmt.Sprint("s", i)}
			f.Put(ref, f.Foreign(ref, map[string]any{"labels": map[string]any{wellknown.LabelHub: "crm"}}))
			inv.Entries = append(inv.Entries, inventory.Entry{Ref: ref, APIVersion: "v1"})
		}
		seen, err := SomeNodes(t.Context(), f, "crm", tt.of, []*plan.Node{{NodeID: inv.Node}}, []*inventory.Inventory{inv})
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, asked := range f.asked {
			verb, _, _ := strings.Cut(asked, " ")
			counts[verb]++
		}
		var got []string
		for verb, n := range counts {
			got = append(got, fmt.Sprint(n, " ", verb))
		}
		if strings.Join(got, ", ") != tt.want || len(seen.Live) != tt.objects {
			t.Errorf("%d objects of %d nodes: %v, want %s; %d are seen", tt.objects, tt.of, got, tt.want, len(seen.Live))
		}
	}
}
