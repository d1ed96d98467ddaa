package decide

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// FuzzShards checks that the shards of a hub together plan what one run plans, and the
// guards answer the same in each. No shard deletes an object that one run keeps.
func FuzzShards(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(shards)
}

// TestShardsOfAnything runs FuzzShards for many seeds.
func TestShardsOfAnything(t *testing.T) {
	for seed := range uint64(2000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { shards(t, seed) })
	}
}

func shards(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	allowed := Limits{MaxDelete: limits.MaxDelete{Nodes: r.IntN(3)}}
	count := 2 + r.IntN(3)
	shop := func() *shop { return randomShop(rand.New(rand.NewPCG(seed, 1))) }
	whole := shop()
	all := Decide(whole.in, allowed)
	want, got, moves := map[string]bool{}, map[string]bool{}, movesOf(all)
	for i := range all.Nodes {
		want[saidOf(&all.Nodes[i], moves)] = true
	}
	deleted := deletedIn(all)
	for k := range count {
		s := shop()
		inShard(s, lynq.Shard{Index: k, Count: count})
		p := Decide(s.in, allowed)
		if diff := cmp.Diff(all.Refusals, p.Refusals); diff != "" {
			t.Errorf("refusals of shard %d (-of all +of the shard):\n%s", k, diff)
		}
		for ref := range deletedIn(p) {
			if !deleted[ref] {
				t.Errorf("shard %d deletes %s, and one run doesn't", k, ref)
			}
		}
		for i := range p.Nodes {
			said := saidOf(&p.Nodes[i], moves)
			if got[said] {
				t.Errorf("two shards plan %s", said)
			}
			got[said] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("(-of all +of all shards):\n%s", diff)
	}
}

// inShard limits a shop to a shard. Of other shards it knows only the names of objects.
func inShard(s *shop, shard lynq.Shard) {
	for _, n := range s.in.Desired.Nodes {
		if shard.Has(n.UID) {
			continue
		}
		lean := make([]plan.Object, len(n.Objects))
		for i := range n.Objects {
			lean[i] = plan.Object{Ref: n.Objects[i].Ref, ID: n.Objects[i].ID, Policy: &lynq.Policy{}}
			if p := n.Objects[i].Policy; p != nil {
				lean[i].Policy.Data = p.Data
			}
		}
		n.Objects, n.Hooks = lean, nil
	}
	nodes, inventories := s.in.InShard(shard)
	s.see(nodes, inventories)
}

// movesOf returns the objects that move from one node of a plan to another. Shards do that
// in two runs.
func movesOf(p *plan.Plan) map[lynq.Ref]bool {
	moves := map[lynq.Ref]bool{}
	for i := range p.Nodes {
		for _, s := range p.Nodes[i].Steps {
			if s.To != nil {
				moves[s.Ref()] = true
			}
		}
	}
	return moves
}

// saidOf describes a node's steps in words, without objects that move.
func saidOf(n *plan.NodePlan, moves map[lynq.Ref]bool) string {
	rest := *n
	rest.Steps = slices.DeleteFunc(slices.Clone(n.Steps), func(s plan.Step) bool { return moves[s.Ref()] })
	return n.String() + "\n" + strings.Join(said(&plan.Plan{Nodes: []plan.NodePlan{rest}}), "\n")
}

func deletedIn(p *plan.Plan) map[lynq.Ref]bool {
	deleted := map[lynq.Ref]bool{}
	for i := range p.Nodes {
		for _, s := range p.Nodes[i].Steps {
			switch s.Action {
			case plan.ActionDelete, plan.ActionCollect, plan.ActionRecreate, plan.ActionPurge:
				deleted[s.Ref()] = true
			}
		}
	}
	return deleted
}

// TestShardOfForgedInventory checks that somebody writes another row's uid or another
// node's name into an inventory. No shard deletes the row's objects.
func TestShardOfForgedInventory(t *testing.T) {
	rows := []string{"a", "b", "c", "d", "e", "f"}
	for _, row := range rows {
		for _, forged := range append(slices.Clone(rows), "zz") {
			planned := 0
			for k := range 3 {
				s := newShop()
				for _, row := range rows {
					s.wants(row, row+"1")
					s.has(row, row+"1")
				}
				for _, inv := range s.in.Recorded.Inventories {
					if inv.Node.Key() == shopNode(row) {
						inv.Node.UID = forged
					}
				}
				inShard(s, lynq.Shard{Index: k, Count: 3})
				p := Decide(s.in, Limits{MaxDelete: limits.MaxDelete{Nodes: 100}})
				planned += len(p.Nodes)
				if d := deletedIn(p); len(d) > 0 {
					t.Errorf("row %s as %s: shard %d deletes %v", row, forged, k, d)
				}
			}
			if planned != len(rows) {
				t.Errorf("row %s as %s: %d nodes are planned", row, forged, planned)
			}
		}
	}
}

// TestMoveBetweenShards checks that the shard of the giving node keeps its entry until the
// other node has the object, and waits for nobody.
func TestMoveBetweenShards(t *testing.T) {
	s := newShop()
	s.has("a", "a1")
	s.wants("a")
	s.wants("b", "a1")
	s.has("b")
	s.in.Scope.Concerned, s.in.Scope.Sharded = map[lynq.NodeKey]bool{shopNode("a"): true}, true
	step := func() plan.Step {
		p := Decide(s.in, Limits{})
		if len(p.Nodes) != 1 || len(p.Nodes[0].Steps) != 1 {
			t.Fatalf("planned %v", p.Nodes)
		}
		return p.Nodes[0].Steps[0]
	}
	if got := step(); got.Action != plan.ActionSkip || got.Reason != plan.ReasonRendered || got.To != nil {
		t.Errorf("%s (%s) to %s", got.Action, got.Reason, got.To)
	}
	l := s.in.Observed.Live[shopRef("a1")]
	var of *inventory.Inventory
	for _, inv := range s.in.Recorded.Inventories {
		if inv.Node.Key() == shopNode("b") {
			of = inv
		}
	}
	b := plan.NewOwner(shopNode("b"), s.in.Hub, of)
	l.PartOf, l.Owners, l.Node, l.NodeNamespace = b.PartOf, nil, b.Name, b.Namespace
	if got := step(); got.Action != plan.ActionRelease || got.To != nil {
		t.Errorf("%s (%s) to %s", got.Action, got.Reason, got.To)
	}
}

// TestShardOfRenamedRow checks that a node with the earlier uid of a row belongs to the
// shard of the row.
func TestShardOfRenamedRow(t *testing.T) {
	for _, now := range []string{"b", "c", "d", "e", "f"} {
		t.Run(now, func(t *testing.T) {
			var shards []string
			for k := range 3 {
				s := newShop()
				s.has("a", "a1")
				s.wants(now, "a1")
				s.in.Desired.Renames = &lynq.Renames{UIDs: map[string]string{"a": now}, Active: map[string]bool{now: true}}
				inShard(s, lynq.Shard{Index: k, Count: 3})
				p := Decide(s.in, Limits{})
				var planned []string
				for i := range p.Nodes {
					planned = append(planned, p.Nodes[i].UID)
				}
				slices.Sort(planned)
				shards = append(shards, strings.Join(planned, " "))
			}
			slices.Sort(shards)
			if diff := cmp.Diff([]string{"", "", "a " + now}, shards); diff != "" {
				t.Errorf("row %s:\n%s", now, diff)
			}
		})
	}
}

// TestMoveBetweenHubsInShards checks that a row that moves to another hub remains in its
// shard. That shard's run moves its objects like a whole run.
func TestMoveBetweenHubsInShards(t *testing.T) {
	const count = 3
	for _, row := range []string{"a", "b", "c", "d"} {
		t.Run(row, func(t *testing.T) {
			moved := 0
			for k := range count {
				us, eu := newShop(), newShop()
				eu.in.Hub, us.in.Desired.Active = lynq.HubKey{Namespace: "ns", Name: "eu"}, 1
				us.has(row, "x")
				n := eu.wants(row, "x")
				n.Hub, n.Form.Name, n.Name = eu.in.Hub, "webeu", row+"-webeu"
				eu.in.Desired.Forms, eu.in.Observed.Live = []lynq.FormKey{{Name: "webeu"}}, us.in.Observed.Live
				for _, s := range []*shop{us, eu} {
					s.in.InShard(lynq.Shard{Index: k, Count: count})
				}
				plans := All([]*Input{us.in, eu.in}, Limits{})
				for i := range plans[0].Nodes {
					for _, s := range plans[0].Nodes[i].Steps {
						if s.Action != plan.ActionRelease || s.To == nil || *s.To != n.Key() {
							t.Errorf("row %s: %s (%s) to %s", row, s.Action, s.Reason, s.To)
						}
						moved++
					}
				}
				if len(plans[0].Nodes) != len(plans[1].Nodes) {
					t.Errorf("row %s: shard %d plans %d and %d nodes", row, k, len(plans[0].Nodes), len(plans[1].Nodes))
				}
			}
			if moved != 1 {
				t.Errorf("row %s: %d shards move its object", row, moved)
			}
		})
	}
}
