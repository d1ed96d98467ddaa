package gitops

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// deployed returns the nodes that have an Application or Kustomization, or a folder that an
// ApplicationSet finds.
func (h *history) deployed(files map[string]string) map[string]bool {
	nodes := map[string]bool{}
	for file := range files {
		folder, name := path.Split(file)
		switch {
		case h.kind == policy.AppsApplicationSet && name == kustomizationFile && folder != "" && !strings.HasPrefix(file, AppsFolder+"/"):
			nodes["default."+path.Base(folder)] = true
		case h.kind != policy.AppsApplicationSet && folder == AppsFolder+"/"+string(h.kind)+"/":
			nodes["default."+strings.TrimSuffix(name, ".yaml")] = true
		}
	}
	return nodes
}

// leave returns the objects that the target deletes, and the nodes of which others take
// objects with data. Each node's Application prunes what leaves its folder, also if another
// one has the object now. Each ordered Kustomization prunes what has another id.
func (h *history) leave(before, after map[string]treeObject, deployed map[string]bool) (gone []string, movedFrom map[string]bool) {
	movedFrom = map[string]bool{}
	for name, o := range before {
		now, there := after[name]
		stays := deployed[o.node]
		moves := now.node != o.node || h.kind == policy.AppsOrdered && now.id != o.id
		switch {
		case there && !moves && stays, o.retained && (stays || !o.onApply):
		case there && moves:
			if o.data {
				movedFrom[o.node] = true
			}
		default:
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	return gone, movedFrom
}

// compareApps makes one run on the cluster and on a tree with Applications or
// Kustomizations. The tree may delete later than the cluster, and refuse more. It deletes
// nothing that the cluster keeps, except what counts: objects that another node takes, and
// those with RetainOnApply of a renamed node.
func (h *history) compareApps(t *testing.T, s *site, before map[string]treeObject, at string, sum *compared) map[string]treeObject {
	t.Helper()
	h.suspend(t, s)
	in := h.run()
	plans := h.apply(in)
	if slices.ContainsFunc(plans, blocks) {
		return nil
	}
	limited := func(limits decide.Limits) []plan.Refusal {
		next := *in
		next.Nodes, next.Limits = cloned(in.Nodes), limits
		_, p := s.plan(&next)
		return Refuse(&next, p)
	}
	next := *in
	next.Nodes = cloned(in.Nodes)
	d, p := s.plan(&next)
	defer func() { _ = d.Close() }()
	refused := len(Refuse(&next, p)) > 0
	asked := slices.ContainsFunc(plans, func(p *plan.Plan) bool { return len(p.Refusals) > 0 })
	switch {
	case refused && asked:
		sum.refused++
		return before
	case refused || asked && slices.ContainsFunc(in.Nodes, func(n *Node) bool { return n.Waits }):
		sum.stricter++
		return before
	case asked && len(h.grace) == 0:
		t.Errorf("%s: the cluster alone refuses: %s", at, describe(plans))
		return nil
	case asked:
		sum.stricter++ // a renamed node has a grace period of its own in the tree
		return before
	}
	atMost := map[int][]plan.Refusal{}
	for limit := range 5 {
		atMost[limit] = limited(decide.Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: limit}})
	}
	s.carryOut(d, p)
	files := s.files()
	after := objectsOf(t, files)
	gone, movedFrom := h.leave(before, after, h.deployed(files))
	for ref := range h.carryOut(in, plans) {
		h.owed[ref.Kind+"/"+ref.Namespace+"/"+ref.Name] = true
	}
	for _, name := range gone {
		switch o := before[name]; {
		case h.owed[name]:
		case o.onApply: // a renamed node's Application goes with what it retains
			movedFrom[o.node] = true
		default:
			t.Errorf("%s: %s of node %s leaves the tree, and the cluster keeps it: %s", at, name, before[name].node, describe(plans))
			return nil
		}
	}
	for ref := range h.live {
		delete(h.owed, ref.Kind+"/"+ref.Namespace+"/"+ref.Name)
	}
	h.count(t, at, movedFrom, atMost)
	sum.deleted, sum.moved = sum.deleted+len(gone), sum.moved+len(movedFrom)
	return after
}

// count checks that each node counts from which another one takes data.
func (h *history) count(t *testing.T, at string, movedFrom map[string]bool, atMost map[int][]plan.Refusal) {
	t.Helper()
	from := map[lynq.HubKey]int{}
	for node := range movedFrom {
		hub := h.hubs["crm"]
		if strings.Contains(node, "-e") {
			hub = h.hubs["erp"]
		}
		from[hub]++
	}
	for hub, nodes := range from {
		refusals, known := atMost[nodes-1]
		if known && !slices.ContainsFunc(refusals, func(r plan.Refusal) bool { return r.Hub == hub }) {
			t.Errorf("%s: data leaves %v for other nodes, and hub %s counts fewer: %v", at, slices.Sorted(maps.Keys(movedFrom)), hub, refusals)
		}
	}
}

// CompareApps makes random histories on a tree with Applications or Kustomizations, and on a
// cluster. See TestTreeDeletesLikeCluster.
func CompareApps(t *testing.T, target policy.Target, kind policy.Apps, apps AppsOf) {
	t.Helper()
	histories, first := number(t, "LYNQCTL_TREE_HISTORIES", 12), number(t, "LYNQCTL_TREE_SEED", 0)
	var sum compared
	seeds := []uint64{15, 31, 49, 75, 217, firstSuspended, firstSuspended + 1} // the first five once found differences
	for seed := range histories {
		seeds = append(seeds, uint64(first+seed))
	}
	for _, seed := range seeds {
		h, s := newHistory(seed, target), newSite(t)
		h.apps, h.kind, h.owed, s.quick = apps, kind, map[string]bool{}, true
		before := map[string]treeObject{}
		for step := 0; step < 8 && before != nil; step++ {
			h.change()
			h.changeForms()
			before = h.compareApps(t, s, before, fmt.Sprintf("seed %d, step %d", seed, step), &sum)
		}
	}
	t.Logf("%d histories: %+v", histories, sum)
	if histories >= 12 && (sum.deleted < histories || sum.moved < histories/4) {
		t.Errorf("too few comparisons: %+v", sum)
	}
}
