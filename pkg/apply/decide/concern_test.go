package decide

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

func TestNarrow(t *testing.T) {
	changed := func(names ...string) map[lynq.Ref]bool {
		objects := map[lynq.Ref]bool{}
		for _, name := range names {
			objects[shopRef(name)] = true
		}
		return objects
	}
	nodes := func(rows ...string) map[lynq.NodeKey]bool {
		keys := map[lynq.NodeKey]bool{}
		for _, row := range rows {
			keys[shopNode(row)] = true
		}
		return keys
	}
	for name, tt := range map[string]struct {
		prepare func(*shop)
		concern Concern
		want    string // the planned nodes, and in parentheses the gone ones
	}{
		"nothing":                    {want: ""},
		"a row":                      {concern: Concern{Nodes: nodes("b")}, want: "b"},
		"a row that came to nothing": {concern: Concern{Nodes: nodes("b", "y", "x")}, want: "b (x y)"},
		"a row that never rendered": {func(s *shop) {
			s.in.Desired.Nodes[1].Failed = errors.New("bad")
			s.in.Recorded.Inventories = s.in.Recorded.Inventories[:1]
		}, Concern{Nodes: nodes("b")}, "b"},
		"an object":                       {concern: Concern{Objects: changed("c1")}, want: "c"},
		"an object of no node":            {concern: Concern{Objects: changed("x")}, want: ""},
		"an object that a node still has": {func(s *shop) { s.in.Desired.Nodes[1].Objects = nil }, Concern{Objects: changed("b1")}, "b"},
		"an object that a node wants":     {func(s *shop) { s.in.Recorded.Inventories[1].Entries = nil }, Concern{Objects: changed("b1")}, "b"},
		"an inventory":                    {concern: Concern{Objects: changed(inventory.Name(shopNode("a").Name))}, want: "a"},
		"a node that goes":                {func(s *shop) { s.in.Desired.Nodes = s.in.Desired.Nodes[1:] }, Concern{}, "a"},
		"a node of a form of another run": {func(s *shop) {
			s.in.Desired.Nodes = s.in.Desired.Nodes[1:]
			s.in.Recorded.Inventories[0].Node.Form.Name = "x"
		}, Concern{}, ""},
		"a rollout":                        {concern: Concern{Nodes: nodes("b"), Rollouts: map[lynq.FormKey]bool{{Name: "web"}: true}}, want: "a b c"},
		"a rollout of another form":        {concern: Concern{Nodes: nodes("b"), Rollouts: map[lynq.FormKey]bool{{Name: "x"}: true}}, want: "b"},
		"a rollout that concerns no node":  {concern: Concern{Rollouts: map[lynq.FormKey]bool{{Name: "web"}: true}}, want: ""},
		"a node of the same row":           {func(s *shop) { s.in.Desired.Nodes[2].UID = "b" }, Concern{Nodes: nodes("b")}, "b c"},
		"an object that changes its node":  {func(s *shop) { s.in.Desired.Nodes[2].Objects = s.in.Desired.Nodes[1].Objects }, Concern{Nodes: nodes("c")}, "b c"},
		"one that gives to one that gives": {func(s *shop) { s.has("d", "c1"); s.wants("d", "a1") }, Concern{Nodes: nodes("a")}, "a c d"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			for _, row := range []string{"a", "b", "c"} {
				s.wants(row, row+"1")
				s.has(row, row+"1")
			}
			if tt.prepare != nil {
				tt.prepare(s)
			}
			s.in.Narrow(&tt.concern)
			var got []string
			for key := range s.in.Scope.Concerned {
				got = append(got, strings.TrimSuffix(key.Name, "-web"))
			}
			slices.Sort(got)
			if p := Decide(s.in, Limits{}); len(p.Gone) > 0 {
				var gone []string
				for _, key := range p.Gone {
					gone = append(gone, strings.TrimSuffix(key.Name, "-web"))
				}
				got = append(got, "("+strings.Join(gone, " ")+")")
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%s: %v, want %q", name, got, tt.want)
			}
		})
	}
}

// FuzzNarrow checks that a plan of some nodes that sees only their objects has the same
// steps for them as a plan of all nodes. The guards answer the same.
func FuzzNarrow(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(narrows)
}

// TestNarrowAnything runs FuzzNarrow for many seeds.
func TestNarrowAnything(t *testing.T) {
	for seed := range uint64(3000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { narrows(t, seed) })
	}
}

func narrows(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	s := randomShop(r)
	limits := Limits{MaxDelete: limits.MaxDelete{Nodes: r.IntN(3)}}
	all := Decide(s.in, limits)
	concern := Concern{Nodes: map[lynq.NodeKey]bool{}, Objects: map[lynq.Ref]bool{}}
	for _, n := range s.in.Desired.Nodes {
		if r.IntN(4) == 0 {
			concern.Nodes[n.Key()] = true
		}
	}
	for ref := range s.in.Observed.Live {
		if r.IntN(8) == 0 {
			concern.Objects[ref] = true
		}
	}
	nodes, inventories := s.in.Narrow(&concern)
	s.see(nodes, inventories)
	some := Decide(s.in, limits)
	want := map[string]bool{}
	for _, n := range all.Nodes {
		if s.in.Scope.Concerned[n.Key()] {
			want[strings.Join(said(&plan.Plan{Nodes: []plan.NodePlan{n}}), "\n")+n.String()] = true
		}
	}
	got := map[string]bool{}
	for _, n := range some.Nodes {
		got[strings.Join(said(&plan.Plan{Nodes: []plan.NodePlan{n}}), "\n")+n.String()] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("(-of all +of some):\n%s", diff)
	}
	if diff := cmp.Diff(graceSaid(&plan.Plan{Leaving: all.Leaving}), graceSaid(&plan.Plan{Leaving: some.Leaving})); diff != "" {
		t.Errorf("nodes that are kept (-of all +of some):\n%s", diff)
	}
	if !inventory.EqualLeaving(all.LeavingRecord, some.LeavingRecord) {
		t.Errorf("the hub's record has %v of a plan of all, and %v of some", all.LeavingRecord, some.LeavingRecord)
	}
	if diff := cmp.Diff(all.Refusals, some.Refusals); diff != "" {
		t.Errorf("refusals (-of all +of some):\n%s", diff)
	}
}

// see limits the observed objects to those of some nodes and inventories.
func (s *shop) see(nodes []*plan.Node, inventories []*inventory.Inventory) {
	sight := map[lynq.Ref]*tracking.Live{}
	for _, m := range (&Input{Desired: Desired{Nodes: nodes}, Recorded: Recorded{Inventories: inventories}}).members() {
		m.objects(func(ref lynq.Ref) bool {
			if l := s.in.Observed.Live[ref]; l != nil {
				sight[ref] = l
			}
			return true
		})
	}
	s.in.Observed.Live = sight
}
