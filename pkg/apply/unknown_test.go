package apply

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

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestUnknownIsLeftAsItIs: whatever is recorded of an object, wanted of it or
// desired, a node whose object could not be looked at has no step, and fails with
// the cause; so does one that was to go.
func TestUnknownIsLeftAsItIs(t *testing.T) {
	cause := errors.New("secrets is forbidden")
	for _, at := range situations() {
		for _, p := range []lynq.Policy{lynq.DefaultPolicy(), {Creation: lynq.CreateOnce, Deletion: lynq.DeleteRetain, Conflict: lynq.ConflictForce}} {
			for _, goes := range []string{"wanted", "dropped", "row gone", "deleted", "record deleted"} {
				in := scene(at, p)
				in.Live, in.Unknown = nil, map[lynq.Ref]error{in.Nodes[0].Objects[0].Ref: cause}
				recorded := len(in.Inventories[0].Records) > 0
				switch goes {
				case "dropped":
					in.Nodes[0].Objects = nil
				case "row gone":
					in.Nodes = nil
				case "deleted":
					in.Nodes, in.Delete = nil, map[NodeKey]bool{{"ns", "acme-web"}: true}
				case "record deleted":
					in.Inventories[0].Deleting, in.Inventories[0].Finalizer = true, true
				}
				if goes != "wanted" && !recorded {
					continue // it is not the node's
				}
				plan := Decide(in, Limits{AllowEmpty: true})
				if len(plan.Nodes) != 1 || len(plan.Refusals) > 0 {
					t.Fatalf("%s, %s: %+v", at, goes, plan)
				}
				n := plan.Nodes[0]
				if n.Desired == nil || !errors.Is(n.Desired.Failed, cause) || len(n.Steps) > 0 || n.Deleted {
					t.Errorf("%s, %s: %+v, want it left as it is", at, goes, n)
				}
				if !strings.Contains(n.Desired.Failed.Error(), "nothing of the node is touched") {
					t.Errorf("%s, %s: it says %q", at, goes, n.Desired.Failed)
				}
			}
		}
	}
}

// TestUnknownThatDoesNotMatter: what a selector leaves out need not be known, nor
// what a person gave up on, and nodes without such objects go on.
func TestUnknownThatDoesNotMatter(t *testing.T) {
	cause := errors.New("secrets is forbidden")
	for name, change := range map[string]func(*Input, lynq.Ref){
		"left out": func(in *Input, _ lynq.Ref) { in.Nodes[0].Objects[0].LeftOut = true },
		"narrowed": func(in *Input, _ lynq.Ref) { in.Nodes[0].Objects, in.Narrowed = nil, true },
		"given up": func(in *Input, ref lynq.Ref) {
			in.Nodes, in.Delete = nil, map[NodeKey]bool{{"ns", "acme-web"}: true}
			in.GiveUp = map[lynq.Ref]error{ref: cause}
		},
		"another's": func(in *Input, _ lynq.Ref) {
			in.Unknown = map[lynq.Ref]error{{Kind: "Secret", Namespace: "ns", Name: "x"}: cause}
		},
		"no longer served, and dropped": func(in *Input, ref lynq.Ref) {
			in.Nodes[0].Objects = nil
			in.Unknown[ref] = &UnservedError{Kind: "Secret"}
		},
	} {
		in := scene(ours, lynq.DefaultPolicy())
		ref := in.Nodes[0].Objects[0].Ref
		in.Live, in.Unknown = nil, map[lynq.Ref]error{ref: cause}
		change(in, ref)
		n := Decide(in, Limits{AllowEmpty: true}).Nodes[0]
		if n.Desired != nil && n.Desired.Failed != nil || len(n.Steps) != 1 {
			t.Errorf("%s: %+v", name, n)
			continue
		}
		if s := n.Steps[0]; s.Action == ActionDelete || name == "no longer served, and dropped" && (s.Action != ActionSkip || s.Reason != ReasonUnknown) {
			t.Errorf("%s: %s (%s)", name, s.Action, s.Reason)
		}
	}
}

// TestUnknownGivesNothingAway: what a node may have that could not be looked at,
// and what it has beside that, is not taken over by another.
func TestUnknownGivesNothingAway(t *testing.T) {
	in := scene(ours, lynq.DefaultPolicy())
	ref := in.Nodes[0].Objects[0].Ref
	hidden := lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "hidden"}
	in.Inventories[0].Records = append(in.Inventories[0].Records, inventory.Record{Ref: hidden, ID: "hidden", APIVersion: "v1", UID: "u2"})
	in.Unknown = map[lynq.Ref]error{hidden: errors.New("forbidden")}
	other := &Node{NodeKey: NodeKey{"ns", "other-web"}, Hub: "crm", Form: "web", UID: "other", Objects: in.Nodes[0].Objects}
	for _, nodes := range [][]*Node{{other}, {other, {NodeKey: NodeKey{"ns", "acme-web"}, Hub: "crm", Form: "web", UID: "acme"}}} {
		in.Nodes = nodes
		s := Decide(in, Limits{MaxDelete: MaxDelete{Nodes: 1}}).Nodes[0].Steps[0]
		if s.Object.Ref != ref || s.Action != ActionBlock {
			t.Errorf("%s (%s) %s", s.Action, s.Reason, s.Message)
		}
	}
}

// TestGuardsAndUnknown: nodes that stay for what could not be looked at are
// neither gone nor deleted.
func TestGuardsAndUnknown(t *testing.T) {
	input := func(unknown int, deleting bool) *Input {
		in := &Input{Hub: "crm", Forms: []lynq.FormKey{{Name: "web"}}, Active: 4, Unknown: map[lynq.Ref]error{}}
		for i := range 8 {
			name := fmt.Sprintf("n%d-web", i)
			ref := lynq.Ref{Kind: "Secret", Namespace: "ns", Name: name}
			in.Inventories = append(in.Inventories, &inventory.Inventory{
				Node: name, Namespace: "ns", Hub: "crm", Form: "web", Records: []inventory.Record{{Ref: ref}},
				Deleting: deleting && i >= 4, Finalizer: true,
			})
			if i < 4 {
				in.Nodes = append(in.Nodes, &Node{NodeKey: NodeKey{"ns", name}, Form: "web"})
			} else if i < 4+unknown {
				in.Unknown[ref] = errors.New("forbidden")
			}
		}
		return in
	}
	for _, deleting := range []bool{false, true} {
		if r := Decide(input(1, deleting), Limits{MaxDelete: DefaultMaxDelete()}).Refusals; len(r) != 1 || !strings.Contains(r[0].What, "3 of 8 nodes would go") {
			t.Errorf("three go: %+v", r)
		}
		if r := Decide(input(2, deleting), Limits{MaxDelete: DefaultMaxDelete()}).Refusals; len(r) != 0 {
			t.Errorf("two go: %+v", r)
		}
	}
	in := input(4, false)
	in.Nodes, in.Active = nil, 0
	for _, inv := range in.Inventories {
		in.Unknown[inv.Records[0].Ref] = errors.New("forbidden")
	}
	if p := Decide(in, Limits{}); len(p.Refusals) != 0 || p.Counts[ActionDelete] != 0 {
		t.Errorf("none can go: %+v", p)
	}
}

// faulty fails reads. A real server's are in test/e2e.
type faulty struct {
	*memory
	list, get func(r lynq.APIResource, namespace string) error
	asked     []string
}

func (f *faulty) List(ctx context.Context, r lynq.APIResource, namespace, selector string, each func(*metav1.PartialObjectMetadata)) error {
	f.mu.Lock()
	f.asked = append(f.asked, "list "+r.Plural+" "+namespace)
	f.mu.Unlock()
	if f.list != nil {
		if err := f.list(r, namespace); err != nil {
			return err
		}
	}
	return f.memory.List(ctx, r, namespace, selector, each)
}

func (f *faulty) Metadata(ctx context.Context, r lynq.APIResource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	f.mu.Lock()
	f.asked = append(f.asked, "get "+r.Plural+" "+namespace)
	f.mu.Unlock()
	if f.get != nil {
		if err := f.get(r, namespace); err != nil {
			return nil, err
		}
	}
	return f.memory.Metadata(ctx, r, namespace, name)
}

// TestObserveFaults: what the server says of a kind, of a namespace or of an
// object is about those alone; that it cannot be asked ends the look.
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
		many      bool   // objects, in three namespaces
		unknown   string // namespaces of Services that are
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
		f := &faulty{memory: newMemory(), list: tt.list, get: tt.get}
		inv := &inventory.Inventory{Node: "a", Namespace: "ns1", Hub: "crm"}
		for _, ns := range []string{"ns1", "ns2", "ns3"} {
			for i := range 4 {
				if i > 0 && !tt.many {
					break
				}
				ref := lynq.Ref{Kind: "Service", Namespace: ns, Name: fmt.Sprint("s", i)}
				f.make(ref, nil)
				inv.Records = append(inv.Records, inventory.Record{Ref: ref, APIVersion: "v1"})
			}
		}
		settings := lynq.Ref{Kind: "ConfigMap", Namespace: "ns1", Name: "c"}
		f.make(settings, nil)
		inv.Records = append(inv.Records, inventory.Record{Ref: settings, APIVersion: "v1"})
		seen, err := Observe(t.Context(), f, "crm", nil, []*inventory.Inventory{inv})
		if (err != nil) != tt.fatal {
			t.Errorf("%s: %v, want an error: %t", name, err, tt.fatal)
		}
		if err != nil {
			continue
		}
		in, causes := map[string]bool{}, map[string]bool{}
		for ref, why := range seen.Unknown {
			in[ref.Namespace], causes[why.Error()] = true, true
		}
		if got := strings.Join(slices.Sorted(maps.Keys(in)), " "); got != tt.unknown || len(causes) != tt.causes {
			t.Errorf("%s: unknown in %q for %d reasons, want %q for %d: %v", name, got, len(causes), tt.unknown, tt.causes, causes)
		}
		for i := range inv.Records {
			ref := inv.Records[i].Ref
			if _, unknown := seen.Unknown[ref]; unknown == (seen.Live[ref] != nil) {
				t.Errorf("%s: %s: unknown: %t, seen: %t", name, ref, unknown, seen.Live[ref] != nil)
			}
		}
	}
}

// TestObserveMisplaced: an object whose kind is of the other scope cannot be
// there, and is not asked for.
func TestObserveMisplaced(t *testing.T) {
	f := &faulty{memory: newMemory()}
	cluster := lynq.Ref{Kind: "Namespace", Namespace: "ns", Name: "x"}
	namespaced := lynq.Ref{Kind: "Service", Name: "x"}
	inv := &inventory.Inventory{Node: "a", Namespace: "ns", Hub: "crm", Records: []inventory.Record{{Ref: cluster, APIVersion: "v1"}, {Ref: namespaced, APIVersion: "v1"}}}
	seen, err := Observe(t.Context(), f, "crm", nil, []*inventory.Inventory{inv})
	if err != nil {
		t.Fatal(err)
	}
	want := map[lynq.Ref]*ScopeError{cluster: {Object: cluster}, namespaced: {Object: namespaced, Namespaced: true}}
	if diff := cmp.Diff(want, seen.Misplaced); diff != "" || len(seen.Unknown)+len(seen.Live)+len(f.asked) > 0 {
		t.Errorf("%+v, asked %v (-want +got):\n%s", seen, f.asked, diff)
	}
}

// TestMisplaced: a record of the other scope is of nothing, and goes with the next
// write; an object that is wanted so fails its node.
func TestMisplaced(t *testing.T) {
	for _, namespaced := range []bool{false, true} {
		in := scene(vanished, lynq.DefaultPolicy())
		o := in.Nodes[0].Objects[0]
		in.Misplaced = map[lynq.Ref]*ScopeError{o.Ref: {Object: o.Ref, Namespaced: namespaced}}
		n := Decide(in, Limits{}).Nodes[0]
		if scope := (*ScopeError)(nil); !errors.As(n.Desired.Failed, &scope) || len(n.Steps) > 0 {
			t.Errorf("wanted: %+v", n)
		}
		in.Nodes[0].Objects = nil
		n = Decide(in, Limits{}).Nodes[0]
		if n.Desired.Failed != nil || len(n.Steps) != 1 || n.Steps[0].Action != ActionRelease || !strings.HasPrefix(n.Steps[0].Message, "it cannot be there: ") {
			t.Errorf("dropped: %+v", n)
		}
		in.Nodes = nil
		n = Decide(in, Limits{AllowEmpty: true, MaxDelete: MaxDelete{Nodes: 1}}).Nodes[0]
		if n.Desired != nil || n.Steps[0].Action != ActionRelease {
			t.Errorf("row gone: %+v", n)
		}
	}
}
