package gitops

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
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
		t.Run(test.name, func(t *testing.T) {
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
				t.Errorf("refused by %q, want %q", guard, test.guard)
			}
		})
	}
}

// TestLostBesideKill refuses to drop an object that Git merged into another file. The index
// of a killed run has it in a file that the run didn't write, so no guard counts it.
func TestLostBesideKill(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{volumeNode("crm", "acme", "data"), volumeNode("crm", "bolt", "other")}))
	files := s.files()
	s.write("bolt-web/persistentvolumeclaim-other.yaml", files["acme-web/persistentvolumeclaim-data.yaml"])
	removeFiles(t, filepath.Join(s.dir, "acme-web", "*"))
	s.write(kustomizationFile, string(kustomization([]string{"bolt-web"})))
	s.write(index.FileName, strings.Replace(files[index.FileName], `{"format":1}`, `{"format":1,"unfinished":true}`, 1))
	in := inputOf([]*Node{volumeNode("crm", "acme", ""), volumeNode("crm", "bolt", ""), volumeNode("crm", "coil", "other")})
	_, p := s.plan(in)
	var got []string
	for _, r := range Refuse(in, p) {
		got = append(got, RefusalText(&r))
	}
	want := []string{"bolt-web/persistentvolumeclaim-other.yaml: others changed it, so that PersistentVolumeClaim/default/data would leave bolt-web/persistentvolumeclaim-other.yaml and be in no other file (restore it from Git, or overwrite it with --force)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLostFromIndexLine refuses to drop an object that somebody removed from the index, or
// renamed there, because no guard counts it. Others may have merged the index otherwise.
func TestLostFromIndexLine(t *testing.T) {
	t.Parallel()
	const claim = "PersistentVolumeClaim/default/data"
	for _, layout := range []Arrangement{{}, {PerNode: true}} {
		for name, test := range map[string]struct {
			edit    func(string) string
			refused bool
		}{
			"nobody edits it": {func(text string) string { return text }, false},
			"others merge it": {func(text string) string { return text + text }, false},
			"without a claim": {func(text string) string {
				return strings.ReplaceAll(text, `"`+claim+`@persistentvolumeclaim"`, `"ConfigMap/default/acme-web@configmap"`)
			}, true},
			"a claim's name":   {func(text string) string { return strings.ReplaceAll(text, claim, "PersistentVolumeClaim/default/else") }, true},
			"with other names": {func(text string) string { return strings.ReplaceAll(text, "ConfigMap", "Service") }, false},
		} {
			s := newSite(t)
			before := inputOf([]*Node{volumeNode("crm", "acme", "data")})
			before.Arrangement = layout
			s.run(before)
			s.write(index.FileName, test.edit(s.files()[index.FileName]))
			in := inputOf([]*Node{volumeNode("crm", "acme", "")})
			in.Arrangement, in.Limits.MaxDelete = layout, limits.MaxDelete{Nodes: 9}
			_, p := s.plan(in)
			refusals := Refuse(in, p)
			if refused := len(refusals) == 1 && strings.HasPrefix(refusals[0].What, "it has "+claim+", and lynqctl-index.jsonl doesn't"); refused != test.refused || !refused && len(refusals) > 0 {
				t.Errorf("%s, %+v: %v", name, layout, refusals)
			}
			s.force = true
			next := *in
			if _, p = s.plan(&next); len(Refuse(&next, p)) > 0 {
				t.Errorf("%s, %+v, with force: %v", name, layout, Refuse(&next, p))
			}
		}
	}
}

// TestLostBesideKept refuses to drop an object that Git merged into another node's file, if
// the file of its own node stays and has something else.
func TestLostBesideKept(t *testing.T) {
	for _, swapped := range []bool{false, true} {
		s := newSite(t)
		s.run(inputOf([]*Node{volumeNode("crm", "acme", "data"), volumeNode("crm", "bolt", "other"), volumeNode("crm", "coda", "third")}))
		files := s.files()
		s.write("bolt-web/persistentvolumeclaim-other.yaml", files["acme-web/persistentvolumeclaim-data.yaml"])
		if swapped {
			s.write("acme-web/persistentvolumeclaim-data.yaml", files["coda-web/persistentvolumeclaim-third.yaml"])
		}
		acme := volumeNode("crm", "acme", "data")
		acme.Waits = true
		acme.Claim()
		in := inputOf([]*Node{acme, volumeNode("crm", "bolt", ""), volumeNode("crm", "coda", "other")})
		in.Limits.MaxDelete = limits.MaxDelete{Nodes: 9}
		_, p := s.plan(in)
		if refused := slices.ContainsFunc(Refuse(in, p), func(r plan.Refusal) bool { return r.Path == "acme-web/persistentvolumeclaim-data.yaml" }); refused != swapped {
			t.Errorf("swapped %v: %v", swapped, Refuse(in, p))
		}
	}
}

// TestLostByForce says which object leaves the tree with --force, because Git merged it into
// another node's file. Its row left, and a run without --force kept the file.
func TestLostByForce(t *testing.T) {
	t.Parallel()
	const merged, claim = "bolt-web/persistentvolumeclaim-other.yaml", "PersistentVolumeClaim/default/data"
	for _, renders := range []bool{false, true} {
		s := newSite(t)
		nodes := []*Node{volumeNode("crm", "acme", "data"), volumeNode("crm", "bolt", "other")}
		s.run(inputOf(nodes))
		s.write(merged, s.files()["acme-web/persistentvolumeclaim-data.yaml"])
		if !renders {
			nodes[0] = volumeNode("crm", "acme", "")
			removeFiles(t, filepath.Join(s.dir, "acme-web", "persistentvolumeclaim-data.yaml"))
		}
		p := s.run(inputOf(nodes))
		want := "it was changed since lynqctl wrote it"
		if !renders {
			want += "; with --force, " + claim + " would leave the tree"
		}
		if all := p.Of(ActionConflict); len(all) != 1 || all[0].Path != merged || all[0].Why != want {
			t.Errorf("renders %v: %+v", renders, all)
		}
	}
}

// TestLostFromOldIndex refuses to drop a volume that a restored index of an earlier commit
// lacks. Another node has a file of the same name, because each node has a namespace.
func TestLostFromOldIndex(t *testing.T) {
	t.Parallel()
	tenants := func(acme bool) *Input {
		nodes := []*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")}
		for i, n := range nodes {
			if n.Namespace = n.UID; i > 0 || acme {
				n.Objects = append(n.Objects, document(n, "v1", "PersistentVolumeClaim", "data", ""))
			}
		}
		in := inputOf(nodes)
		in.Limits.MaxDelete = limits.MaxDelete{Nodes: 9}
		return in
	}
	for _, leaves := range []bool{false, true} {
		s := newSite(t)
		s.run(tenants(false))
		old := s.files()[index.FileName]
		s.run(tenants(true))
		s.write(index.FileName, old)
		in := tenants(false)
		if leaves {
			in.Nodes = in.Nodes[1:]
		}
		_, p := s.plan(in)
		refusals := Refuse(in, p)
		if len(refusals) != 1 || !strings.HasPrefix(refusals[0].What, "it lists persistentvolumeclaim-data.yaml, and lynqctl-index.jsonl doesn't") {
			t.Errorf("leaves %v: %v", leaves, refusals)
		}
	}
}

// TestLostFromOldList says that --force drops a volume of which a restored index of an earlier
// commit knows nothing. No other node has a file of that name, so that its list is a conflict.
func TestLostFromOldList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.run(inputOf([]*Node{volumeNode("crm", "acme", "")}))
	old := s.files()[index.FileName]
	s.run(inputOf([]*Node{volumeNode("crm", "acme", "data")}))
	s.write(index.FileName, old)
	_, p := s.plan(inputOf([]*Node{volumeNode("crm", "acme", "")}))
	const why = "it was changed since lynqctl wrote it; it lists persistentvolumeclaim-data.yaml, and lynqctl-index.jsonl doesn't, so no guard would count what is deleted with --force"
	if all := p.Of(ActionConflict); len(all) != 1 || all[0].Why != why {
		t.Errorf("%+v", all)
	}
}

// TestMovedByGit checks that a list may name a file that Git moved from another node. The
// index has its object elsewhere, so guards count it.
func TestMovedByGit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	both := inputOf([]*Node{volumeNode("crm", "acme", ""), volumeNode("crm", "bolt", "data")})
	s.run(both)
	files := s.files()
	var moved, list string
	for file := range files {
		switch path.Base(file) {
		case "persistentvolumeclaim-data.yaml":
			moved = file
		case kustomizationFile:
			if strings.HasPrefix(file, "acme") {
				list = file
			}
		}
	}
	s.write(path.Join(path.Dir(list), path.Base(moved)), files[moved])
	s.write(list, files[list]+"- "+path.Base(moved)+"\n")
	for change, refused := range map[string]bool{"data": false, "another": true} {
		s.write(path.Join(path.Dir(list), path.Base(moved)), strings.ReplaceAll(files[moved], "name: data", "name: "+change))
		_, p := s.plan(both)
		if all := p.Of(ActionRefuse); len(all) == 1 != refused {
			t.Errorf("%s names %q: the plan refuses %+v, want a refusal: %t", list, change, all, refused)
		}
	}
}

// TestLostWithOlderIndex refuses to take a node out of the build after somebody restored an
// earlier index, because the list of the node names a volume that this index lacks.
func TestLostWithOlderIndex(t *testing.T) {
	bolt := volumeNode("crm", "bolt", "other")
	for name, test := range map[string]struct {
		restore bool
		edit    string
		want    []string
	}{
		"the present index": {},
		"an earlier index": {restore: true, want: []string{
			"acme-web/kustomization.yaml: it lists persistentvolumeclaim-new.yaml, and lynqctl-index.jsonl doesn't, so no guard would count what is deleted (restore the index from Git; to let go of them, pass --force)",
		}},
		"an earlier index, and a list that keeps the node": {restore: true, edit: "- acme-web/mine.yaml\n", want: nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.run(inputOf([]*Node{volumeNode("crm", "acme", "old"), bolt}))
			earlier := s.files()[index.FileName]
			in := inputOf([]*Node{volumeNode("crm", "acme", "new"), bolt})
			in.Limits.MaxDelete = limits.MaxDelete{Nodes: 9}
			s.run(in)
			if test.restore {
				s.write(index.FileName, earlier)
			}
			if test.edit != "" {
				s.write(kustomizationFile, s.files()[kustomizationFile]+test.edit)
			}
			in = inputOf([]*Node{bolt})
			in.Limits.MaxDelete = limits.MaxDelete{Nodes: 9}
			_, p := s.plan(in)
			var got []string
			for _, r := range Refuse(in, p) {
				got = append(got, RefusalText(&r))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}

// TestLostBesideList refuses to write a list anew without the nodes beside it. Somebody
// removed the list, and the index or some of its lines.
func TestLostBesideList(t *testing.T) {
	acme, bolt := volumeNode("crm", "acme", "data"), volumeNode("crm", "bolt", "other")
	for _, n := range []*Node{acme, bolt} {
		for i := range n.Objects {
			n.Objects[i].Bytes = bytes.Replace(n.Objects[i].Bytes, []byte("labels:\n"), []byte("labels:\n    lynq.sh/hub: crm\n"), 1)
		}
	}
	for name, test := range map[string]struct {
		layout Arrangement
		remove []string // in the tree
		rows   []*Node
		lacks  string // the refusal names it
	}{
		"no index":                 {remove: []string{index.FileName, kustomizationFile}, rows: []*Node{bolt}, lacks: "acme-web"},
		"no lists":                 {remove: []string{index.FileName, kustomizationFile, "*/" + kustomizationFile}, rows: []*Node{bolt}, lacks: "acme-web"},
		"no index of node files":   {layout: Arrangement{PerNode: true}, remove: []string{index.FileName, kustomizationFile}, rows: []*Node{bolt}, lacks: "acme-web.yaml"},
		"no index of many folders": {layout: Arrangement{Spread: true}, remove: []string{index.FileName, kustomizationFile}, rows: []*Node{bolt}, lacks: "6b"},
		"all rows":                 {remove: []string{index.FileName, kustomizationFile}, rows: []*Node{acme, bolt}},
		"no list":                  {remove: []string{kustomizationFile}, rows: []*Node{bolt}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			run := func(rows []*Node) *Input {
				in := inputOf(rows)
				in.Arrangement, in.Limits.MaxDelete = test.layout, limits.MaxDelete{Nodes: 9}
				return in
			}
			s.run(run([]*Node{acme, bolt}))
			s.write("eu/"+index.FileName, "x")
			s.write("eu/"+kustomizationFile, string(kustomization(nil)))
			s.write("notes/app.yaml", "kind: ConfigMap\n")
			for _, pattern := range test.remove {
				removeFiles(t, filepath.Join(s.dir, pattern))
			}
			in := run(test.rows)
			_, p := s.plan(in)
			var got, want []string
			for _, r := range Refuse(in, p) {
				got = append(got, RefusalText(&r))
			}
			if test.lacks != "" {
				want = []string{"kustomization.yaml: it doesn't exist, and lynqctl-index.jsonl doesn't have " + test.lacks + " beside it, so no guard would count what is deleted (restore the index from Git; to let go of them, pass --force)"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s", diff)
			}
			s.force = true
			next := run(test.rows)
			if _, p = s.plan(next); len(Refuse(next, p)) > 0 {
				t.Errorf("with force: %v", Refuse(next, p))
			}
		})
	}
}
