package gitops

import (
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// TestMarkLeaving checks when the index forgets since when a row is gone. A row that comes
// back begins a new grace period when it leaves again, also if it fails to render or its
// stage comes later.
func TestMarkLeaving(t *testing.T) {
	first, now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2026, 1, 4, 3, 4, 5, 0, time.UTC)
	key := lynq.NodeKey{Namespace: "shop", Name: "acme-web"}
	for name, tt := range map[string]struct {
		node    *Node
		leaving *Leaving
		want    time.Time
	}{
		"comes back":            {node: &Node{}},
		"comes back, failed":    {node: &Node{Failed: true}},
		"comes back, waiting":   {node: &Node{Waits: true}},
		"is still gone":         {leaving: &Leaving{Since: first}, want: first},
		"leaves now":            {leaving: &Leaving{Since: now}, want: now},
		"no one of the run's":   {want: first},
		"leaves, and has files": {node: &Node{}, leaving: &Leaving{Since: now}, want: now},
	} {
		t.Run(name, func(t *testing.T) {
			before := index.Index{Entries: []index.Entry{{Path: "a.yaml", LeavingSince: first, Owned: index.Owned{Owner: &index.Owner{Hub: lynq.HubKey{Name: "crm"}, Node: key}}}}}
			in := &Input{Index: &before, decided: &decisions{leaving: map[lynq.NodeKey]*Leaving{}}}
			nodes := map[lynq.NodeKey]*Node{}
			if tt.node != nil {
				nodes[key] = tt.node
			}
			if tt.leaving != nil {
				in.decided.leaving[key] = tt.leaving
			}
			in.markLeaving(nodes)
			if got := in.Index.Entries[0].LeavingSince; !got.Equal(tt.want) {
				t.Errorf("gone since %s, want %s", got, tt.want)
			}
			if !before.Entries[0].LeavingSince.Equal(first) {
				t.Errorf("the index that was read has changed")
			}
		})
	}
}

// TestRenamedNodeGoesOn checks that the grace period of an old name begins again if the node
// of its new name failed to render meanwhile, as in a cluster.
func TestRenamedNodeGoesOn(t *testing.T) {
	s, now := newSite(t), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.quick = true
	hub, web := lynq.HubKey{Name: "crm"}, lynq.FormKey{Name: "web"}
	run := func(hours int, change func(*Node), nodes ...*Node) {
		in := inputOf(nodes, "crm")
		in.Now, in.Limits.MaxDelete = now.Add(time.Duration(hours)*time.Hour), limits.MaxDelete{Nodes: 9}
		in.Apps = oneApp("apps/all.yaml")
		in.Hubs[0].Grace = map[lynq.FormKey]time.Duration{web: 2 * time.Hour}
		in.Rows = map[lynq.HubKey]Rows{hub: {Active: 2, Renames: &lynq.Renames{UIDs: map[string]string{"acme": "coda"}, Active: map[string]bool{"coda": true, "bolt": true}}}}
		if change != nil {
			change(nodes[0])
		}
		s.run(in)
	}
	bolt := rowNode("crm", "bolt", "1")
	run(0, nil, rowNode("crm", "acme", "1"), bolt)
	run(1, nil, rowNode("crm", "coda", "1"), bolt)
	run(2, func(n *Node) { n.Failed = true }, rowNode("crm", "coda", "1"), bolt)
	run(4, nil, rowNode("crm", "coda", "1"), bolt)
	if s.files()["acme-web/configmap-acme.yaml"] == "" {
		t.Error("the period didn't begin again")
	}
	run(6, nil, rowNode("crm", "coda", "1"), bolt)
	if s.files()["acme-web/configmap-acme.yaml"] != "" {
		t.Error("the period didn't end")
	}
}

// TestLeavingNodeInTwoPlaces keeps each object of a node in its grace period once. The index
// has the node in two places, for example after a merge, and another node takes its volume.
func TestLeavingNodeInTwoPlaces(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := func(perNode bool, nodes ...*Node) {
		in := inputOf(nodes, "crm")
		in.PerNode, in.Limits.MaxDelete = perNode, limits.MaxDelete{Nodes: 9}
		in.Now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		in.Hubs[0].Grace = map[lynq.FormKey]time.Duration{{Name: "web"}: 2 * time.Hour}
		s.run(in)
	}
	before := []*Node{volumeNode("crm", "acme", "data"), volumeNode("crm", "bolt", "")}
	run(true, before...)
	other := s.files()
	run(false, before...)
	s.write("acme-web.yaml", other["acme-web.yaml"])
	s.write(index.FileName, other[index.FileName]+s.files()[index.FileName])
	run(false, volumeNode("crm", "bolt", "data"))
	after, broken := built(t, s.files())
	if broken != "" || len(after) != 3 {
		t.Errorf("%q, %v", broken, after)
	}
}
