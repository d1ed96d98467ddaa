package gitops

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// volumeNode returns a node with a ConfigMap, and with a volume unless that has no name.
func volumeNode(hub, uid, volume string) *Node {
	n := rowNode(hub, uid, "1")
	n.Objects = []Object{document(n, "v1", "ConfigMap", n.Name, "")}
	if volume != "" {
		n.Objects = append(n.Objects, document(n, "v1", "PersistentVolumeClaim", volume, ""))
	}
	return n
}

// claimedRun is a run in which a node loses its volume, while another row may need it.
type claimedRun struct {
	hub      string // of the other row
	failed   bool   // the other row failed, or else waits for its stage
	narrow   bool   // the run leaves the other row out
	from, to Arrangement
	now      *Node  // the node that had the volume, or nil
	removed  string // the pattern of files that somebody removed, or ""
}

// TestClaimedObjectStays checks that a volume stays with its node while another row renders
// it that failed or waits for its stage, in any hub, and in or outside the run.
func TestClaimedObjectStays(t *testing.T) {
	t.Parallel()
	nothing := volumeNode("crm", "acme", "")
	nothing.Objects = nil
	file, folder := Arrangement{PerNode: true, Spread: true}, Arrangement{}
	for name, r := range map[string]claimedRun{
		"renames it":  {now: volumeNode("crm", "acme", "other")},
		"drops it":    {now: volumeNode("crm", "acme", "")},
		"has nothing": {now: nothing},
		"is gone":     {},
		"is gone, and somebody removed a file of it": {removed: "acme-web/configmap-*.yaml"},
	} {
		for i, layouts := range [][2]Arrangement{{folder, folder}, {folder, file}, {file, folder}} {
			for k := range 8 {
				r.hub, r.failed, r.narrow = []string{"crm", "erp"}[k%2], k/2%2 == 0, k/4 == 0
				r.from, r.to = layouts[0], layouts[1]
				if r.narrow {
					r.to = r.from
				}
				run := r
				t.Run(fmt.Sprintf("the node %s, hub %s, failed %v, narrow %v, layout %d", name, r.hub, r.failed, r.narrow, i), func(t *testing.T) {
					t.Parallel()
					run.check(t)
				})
			}
		}
	}
}

func (r claimedRun) check(t *testing.T) {
	s := newSite(t)
	s.quick = true
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	others := []*Node{volumeNode("crm", "bolt", "b"), volumeNode("erp", "dune", "d")}
	before := inputOf(append([]*Node{volumeNode("crm", "acme", "data")}, cloned(others)...))
	before.Arrangement = r.from
	s.run(before)
	if r.removed != "" {
		removeFiles(t, filepath.Join(s.dir, r.removed))
	}
	in := r.input(others)
	d, p := s.plan(in)
	if refusals := Refuse(in, p); len(refusals) > 0 {
		t.Fatal(refusals)
	}
	s.carryOut(d, p)
	all, broken := built(t, s.files())
	if o := all["PersistentVolumeClaim/default/data"]; o.node != "default.acme-web" || broken != "" {
		t.Errorf("the volume is of node %q, %s", o.node, broken)
	}
}

// removeFiles removes the files of a pattern. There are none in some layouts.
func removeFiles(t *testing.T, pattern string) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKilledMove kills a run that moves a volume between nodes at each step. Then neither
// renders it, and a row that waits needs it. The tree keeps it once, or lynqctl refuses.
func TestKilledMove(t *testing.T) {
	twice := 0
	for steps := 1; ; steps++ {
		s := newSite(t)
		s.quick = true
		s.run(inputOf([]*Node{volumeNode("crm", "acme", "data"), volumeNode("crm", "bolt", "")}))
		if !s.killed(inputOf([]*Node{volumeNode("crm", "acme", ""), volumeNode("crm", "bolt", "data")}), steps) {
			break
		}
		files := 0
		for _, content := range s.files() {
			if strings.Contains(content, "kind: PersistentVolumeClaim\n") {
				files++
			}
		}
		if files > 1 {
			twice++
		}
		claims := volumeNode("crm", "coil", "data")
		claims.Waits = true
		claims.Claim()
		in := inputOf([]*Node{volumeNode("crm", "acme", ""), volumeNode("crm", "bolt", ""), claims})
		d, p := s.plan(in)
		if len(Refuse(in, p)) > 0 {
			continue
		}
		s.carryOut(d, p)
		all, broken := built(t, s.files())
		if o := all["PersistentVolumeClaim/default/data"]; o.node == "" || broken != "" {
			t.Errorf("killed in step %d: the volume is of node %q, %s", steps, o.node, broken)
		}
	}
	if twice == 0 {
		t.Error("no kill left the volume in two files")
	}
}

// input returns the run.
func (r claimedRun) input(others []*Node) *Input {
	claims := volumeNode(r.hub, "coil", "data")
	claims.Failed, claims.Waits = r.failed, !r.failed
	claims.Claim()
	nodes := append(cloned(others), claims)
	if r.now != nil {
		nodes = append(nodes, cloned([]*Node{r.now})...)
	}
	in := inputOf(nodes)
	in.Arrangement, in.Limits.MaxDelete = r.to, limits.MaxDelete{Nodes: 1}
	if !r.narrow {
		return in
	}
	if in.Hubs = in.Hubs[:1]; r.hub == "crm" {
		in.Only = map[string]bool{"acme-web": true}
	}
	in.Nodes = nil
	for _, n := range nodes {
		if in.Covers(&index.Entry{Owned: index.Owned{Owner: index.OwnerOf(n.NodeID)}}) {
			in.Nodes = append(in.Nodes, n)
		}
	}
	in.Rows = map[lynq.HubKey]Rows{{Name: "crm"}: {Active: 3}}
	in.Elsewhere = func() *decide.Survey { return decide.NewSurvey([]*plan.Node{desiredNode(claims, nil, nil)}) }
	return in
}
