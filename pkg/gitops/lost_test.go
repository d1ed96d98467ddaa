package gitops

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// moving returns two nodes, one of which has a volume.
func moving(hub string, owner int) []*Node {
	nodes := []*Node{rowNode(hub, "acme", "1"), rowNode(hub, "beta", "1")}
	n := nodes[owner]
	n.Objects = append(n.Objects, document(n, "v1", "PersistentVolumeClaim", "volume", ""))
	return nodes
}

// TestLostObjects refuses a run in which an object leaves its file and doesn't arrive in
// another one, because others changed the file or the list there.
func TestLostObjects(t *testing.T) {
	coda := rowNode("crm", "coda", "1")
	for _, test := range []struct {
		name, path, text string
		after            []*Node
		guard            plan.Guard
	}{
		{"nobody changed anything", "notes.txt", "x\n", moving("crm", 1), ""},
		{"the new file is edited", "beta-web.yaml", "  more: x\n", moving("crm", 1), GuardForeign},
		{"the old file is edited", "acme-web.yaml", "  more: x\n", moving("crm", 1), GuardTwice},
		{"another node's list is edited", "kustomization.yaml", "- mine.yaml\n", moving("crm", 1), ""},
		{"the new file isn't listed", "kustomization.yaml", "- mine.yaml\n", []*Node{moving("crm", 1)[0], moving("crm", 1)[1], coda}, GuardForeign},
	} {
		s := newSite(t)
		before := inputOf(moving("crm", 0))
		before.PerNode = true
		s.run(before)
		s.write(test.path, s.files()[test.path]+test.text)
		if len(test.after) == 3 { // the volume moves to a new node
			test.after[1].Objects, coda.Objects = test.after[1].Objects[:1], append(coda.Objects, test.after[1].Objects[1])
		}
		in := inputOf(test.after)
		in.PerNode = true
		_, p := s.plan(in)
		guard := plan.Guard("")
		if refusals := Refuse(in, p); len(refusals) > 0 {
			guard = refusals[0].Guard
		}
		if guard != test.guard {
			t.Errorf("%s: refused by %q, want %q", test.name, guard, test.guard)
		}
	}
}
