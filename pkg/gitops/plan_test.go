package gitops

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// TestCompare checks what happens to one file, by need, index and disk.
func TestCompare(t *testing.T) {
	const path = "acme-web/configmap-acme.yaml"
	wanted, before, edited := index.DigestOf([]byte("wanted")), index.DigestOf([]byte("before")), index.DigestOf([]byte("edited"))
	on := func(d index.Digest) State { return State{There: true, Same: d == wanted, Digest: d} }
	const us, other = "crm", "shop"
	for _, test := range []struct {
		name   string
		want   bool           // a node needs the file
		hub    string         // hub of the index's entry, or ""
		known  []index.Digest // digests in the index
		disk   State
		action Action
		force  Action
	}{
		{"new", true, "", nil, State{}, ActionCreate, ActionCreate},
		{"somebody else's", true, "", nil, on(edited), ActionRefuse, ActionUpdate},
		{"somebody else's, alike", true, "", nil, on(wanted), ActionKeep, ActionKeep},
		{"as it should be", true, us, []index.Digest{wanted}, on(wanted), ActionKeep, ActionKeep},
		{"as it should be, by another hand", true, us, []index.Digest{before}, on(wanted), ActionKeep, ActionKeep},
		{"changed", true, us, []index.Digest{before}, on(before), ActionUpdate, ActionUpdate},
		{"edited", true, us, []index.Digest{before}, on(edited), ActionConflict, ActionUpdate},
		{"edited, while nothing else changes", true, us, []index.Digest{wanted}, on(edited), ActionConflict, ActionUpdate},
		{"removed by somebody", true, us, []index.Digest{wanted}, State{}, ActionRestore, ActionRestore},
		{"of a run that was killed before it", true, us, []index.Digest{wanted, before}, on(before), ActionUpdate, ActionUpdate},
		{"of a run that was killed after it", true, us, []index.Digest{edited, before}, on(edited), ActionUpdate, ActionUpdate},
		{"of another hub", true, other, []index.Digest{before}, on(before), ActionRefuse, ActionUpdate},
		{"of another hub, alike", true, other, []index.Digest{wanted}, on(wanted), ActionRefuse, ActionKeep},
		{"blocked", true, us, []index.Digest{before}, State{Blocked: "it is a folder"}, ActionRefuse, ActionRefuse},
		{"gone", false, us, []index.Digest{before}, on(before), ActionRemove, ActionRemove},
		{"gone already", false, us, []index.Digest{before}, State{}, ActionForget, ActionForget},
		{"gone, and edited", false, us, []index.Digest{before}, on(edited), ActionConflict, ActionRemove},
		{"gone, of a run that was killed", false, us, []index.Digest{before, edited}, on(edited), ActionRemove, ActionRemove},
		{"gone, and blocked", false, us, []index.Digest{before}, State{Blocked: "it is a symbolic link"}, ActionRefuse, ActionRefuse},
	} {
		t.Run(test.name, func(t *testing.T) {
			nodeOf := func(hub string) index.Owned {
				return index.Owned{Owner: &index.Owner{Hub: lynq.HubKey{Name: hub}, Form: lynq.FormKey{Name: "web"}, Node: lynq.NodeKey{Namespace: "default", Name: "acme-web"}}}
			}
			in := &Input{Scope: index.Scope{Hubs: []index.HubScope{{HubKey: lynq.HubKey{Name: us}, Forms: []lynq.FormKey{{Name: "web"}}}}}, Index: &index.Index{}}
			if test.hub != "" {
				in.Index.Entries = []index.Entry{{Path: path, Digests: test.known, Owned: nodeOf(test.hub)}}
			}
			l, disk := &Layout{}, &Disk{}
			if test.want {
				l.Files, disk.Files = []File{{Path: path, Bytes: []byte("wanted"), Owned: nodeOf(us)}}, []State{test.disk}
				if test.hub == other {
					l.Kept = []*index.Entry{&in.Index.Entries[0]}
				}
			} else {
				l.Gone, disk.Gone = []*index.Entry{&in.Index.Entries[0]}, []State{test.disk}
			}
			for force, want := range map[bool]Action{false: test.action, true: test.force} {
				p := Compare(in, l, disk, force)
				if got := p.Steps[0].Action; got != want {
					t.Errorf("force %v: %s, want %s", force, got, want)
				}
				checkIndexes(t, test.name, p, test.known, wanted)
			}
		})
	}
}

// TestLostFromIndex checks that a list keeps what the index has lost, because no guard counts
// it. With --force, lynqctl drops it, and the message says so before.
func TestLostFromIndex(t *testing.T) {
	const top, below, node = kustomizationFile, "web/" + kustomizationFile, "acme/" + kustomizationFile
	list := func(names ...string) []byte { return kustomization(names) }
	for name, test := range map[string]struct {
		file         string
		before, want []byte // want is nil if no node needs the folder
		paths        []string
		action       Action
		edit         string // of other people
	}{
		"a node leaves":             {file: top, before: list("acme", "bolt"), want: list("acme"), paths: []string{"acme/a.yaml", "bolt/a.yaml"}, action: ActionUpdate},
		"a node is lost":            {file: top, before: list("acme", "bolt"), want: list("acme"), paths: []string{"acme/a.yaml", "bolt-2/a.yaml"}, action: ActionRefuse},
		"a file leaves":             {file: top, before: list("acme.yaml", "bolt.yaml"), want: list("acme.yaml"), paths: []string{"acme.yaml", "bolt.yaml"}, action: ActionUpdate},
		"a node of a folder leaves": {file: below, before: list("acme", "bolt"), want: list("acme"), paths: []string{"web/acme/a.yaml", "web/bolt/a.yaml"}, action: ActionUpdate},
		"a folder leaves":           {file: below, before: list("bolt"), paths: []string{"web/bolt/a.yaml"}, action: ActionRemove},
		"a folder lost its nodes":   {file: below, before: list("bolt"), paths: []string{"bolt/a.yaml"}, action: ActionRefuse},
		"a file of a node leaves":   {file: node, before: list("z.yaml", "a.yaml"), want: list("a.yaml"), paths: []string{"acme/a.yaml", "acme/z.yaml"}, action: ActionUpdate},
		"a file of a node is lost":  {file: node, before: list("z.yaml", "a.yaml"), want: list("a.yaml"), paths: []string{"acme/a.yaml"}, action: ActionRefuse},
		"a file of a gone node":     {file: node, before: list("z.yaml", "a.yaml"), paths: []string{"acme/a.yaml"}, action: ActionRefuse},
		"a changed list":            {file: top, before: list("acme", "bolt"), want: list("acme"), paths: []string{"acme/a.yaml"}, action: ActionConflict, edit: "- mine\n"},
	} {
		t.Run(name, func(t *testing.T) {
			owner := index.Owned{Owner: new(index.Owner)}
			if test.file == node {
				owner.Hub = lynq.HubKey{Name: "crm"}
			}
			in := &Input{Index: &index.Index{Entries: []index.Entry{{Path: test.file, Digests: []index.Digest{index.DigestOf(test.before)}, Owned: owner}}}}
			test.before = append(test.before, test.edit...)
			for _, p := range test.paths {
				in.Index.Entries = append(in.Index.Entries, index.Entry{Path: p, Owned: index.Owned{Owner: &index.Owner{Hub: lynq.HubKey{Name: "crm"}}}})
			}
			in.Index.Sort()
			disk := State{There: true, Digest: index.DigestOf(test.before), Content: test.before}
			l, d := &Layout{Gone: []*index.Entry{in.Index.Find(test.file)}}, &Disk{Gone: []State{disk}}
			if test.want != nil {
				l, d = &Layout{Files: []File{{Path: test.file, Bytes: test.want, Owned: owner}}}, &Disk{Files: []State{disk}}
			}
			in.decided = &decisions{}
			p := Compare(in, l, d, false)
			if got := p.Steps[0].Action; got != test.action {
				t.Errorf("%s, want %s", got, test.action)
			}
			if why, lost := p.Steps[0].Why, test.action != ActionUpdate && test.action != ActionRemove; strings.Contains(why, "no guard would count") != lost {
				t.Errorf("%q", why)
			}
			if refusals := Refuse(in, p); (len(refusals) > 0) != (test.action == ActionRefuse) {
				t.Errorf("refused %v", refusals)
			}
			if got := Compare(in, l, d, true).Steps[0].Action; got == ActionRefuse {
				t.Errorf("with force: %s", got)
			}
		})
	}
}

// TestIndexIsLost checks that lynqctl overwrites the lists of a tree without an index only if
// somebody read that their nodes leave.
func TestIndexIsLost(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "gone", "1")}))
	if err := os.Remove(filepath.Join(s.dir, index.FileName)); err != nil {
		t.Fatal(err)
	}
	in := inputOf([]*Node{rowNode("crm", "acme", "1")})
	_, p := s.plan(in)
	var got []string
	for _, r := range Refuse(in, p) {
		got = append(got, RefusalText(&r))
	}
	want := []string{"kustomization.yaml: it lists gone-web, and lynqctl-index.jsonl doesn't, so no guard would count what is deleted (restore the index from Git; to let go of them, pass --force)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// checkIndexes checks that the final index has the final files, and that the intent also
// has the old ones.
func checkIndexes(t *testing.T, name string, p *Plan, known []index.Digest, wanted index.Digest) {
	t.Helper()
	s := p.Steps[0]
	if s.Action == ActionRefuse {
		return
	}
	var final []index.Digest
	switch s.Action {
	case ActionConflict:
		final = known
	case ActionRemove, ActionForget:
	default:
		final = []index.Digest{wanted}
	}
	var got []index.Digest
	if e := p.Final().Find(s.Path); e != nil {
		got = e.Digests
	}
	if !slices.Equal(got, final) {
		t.Errorf("%s: the last index has %x", name, got)
	}
	intent := p.Intent()
	if !intent.Unfinished {
		t.Errorf("%s: the first index says that it is the last", name)
	}
	for _, d := range slices.Concat(known, final) {
		if e := intent.Find(s.Path); e == nil || !slices.Contains(e.Digests, d) {
			t.Errorf("%s: the first index has not %x", name, d)
		}
	}
}

// TestScope checks which run may change which file.
func TestScope(t *testing.T) {
	entry := func(hub, namespace, form, node string) *index.Entry {
		return &index.Entry{Owned: index.Owned{Owner: &index.Owner{Hub: lynq.HubKey{Name: hub, Namespace: namespace}, Form: lynq.FormKey{Name: form}, Node: lynq.NodeKey{Namespace: "default", Name: node}}}}
	}
	all := index.Scope{Hubs: []index.HubScope{{HubKey: lynq.HubKey{Name: "crm", Namespace: "eu"}, Forms: []lynq.FormKey{{Name: "web"}, {Name: "api"}}}}}
	only := all
	only.Only = map[string]bool{"acme-web": true}
	for _, test := range []struct {
		name  string
		scope index.Scope
		entry *index.Entry
		want  bool
	}{
		{"its form", all, entry("crm", "eu", "api", "x-api"), true},
		{"another form", all, entry("crm", "eu", "db", "x-db"), false},
		{"another hub", all, entry("shop", "eu", "web", "x-web"), false},
		{"a hub of that name elsewhere", all, entry("crm", "us", "web", "x-web"), false},
		{"a hub of that name without a namespace", all, entry("crm", "", "web", "x-web"), false},
		{"the node", only, entry("crm", "eu", "web", "acme-web"), true},
		{"another node", only, entry("crm", "eu", "web", "beta-web"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.scope.Covers(test.entry); got != test.want {
				t.Errorf("%v", got)
			}
		})
	}
	bare := index.Scope{Hubs: []index.HubScope{{HubKey: lynq.HubKey{Name: "crm"}, Forms: []lynq.FormKey{{Name: "web"}}}}}
	if bare.Covers(entry("crm", "us", "web", "x-web")) {
		t.Error("a hub without a namespace takes the nodes of one that has one")
	}
}

// TestListedFilesStay keeps the files that an edited list names, because kustomize couldn't
// build the tree without them. Only the list is a conflict.
func TestListedFilesStay(t *testing.T) {
	acme, beta := rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")
	beta.Objects = append(beta.Objects, settingsObject("default", "more", "1"))
	less := *beta
	less.Objects = beta.Objects[:1]
	renamed := rowNode("crm", "coda", "1")
	renamed.Objects = beta.Objects
	for _, test := range []struct {
		name, list, edit string
		after            []*Node
		stays            string
		guard            plan.Guard
	}{
		{name: "a node leaves", list: "kustomization.yaml", edit: "commonAnnotations: {team: x}", after: []*Node{acme}, stays: "beta-web/configmap-beta.yaml"},
		{name: "a node leaves, and its list is edited", list: "beta-web/kustomization.yaml", edit: "commonAnnotations: {team: x}", after: []*Node{acme}},
		{name: "a node leaves, and another list is edited", list: "acme-web/kustomization.yaml", edit: "commonAnnotations: {team: x}", after: []*Node{acme}},
		{name: "an object leaves", list: "beta-web/kustomization.yaml", edit: "commonAnnotations: {team: x}", after: []*Node{acme, &less}, stays: "beta-web/configmap-more.yaml"},
		{name: "a person wrote the list again", list: "beta-web/kustomization.yaml", edit: "patches: [{path: ./configmap-more.yaml}]", after: []*Node{acme, &less}, stays: "beta-web/configmap-more.yaml"},
		{name: "another node takes the object", list: "kustomization.yaml", edit: "commonAnnotations: {team: x}", after: []*Node{acme, renamed}, stays: "beta-web/configmap-beta.yaml", guard: GuardTwice},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t)
			s.run(inputOf([]*Node{acme, beta}))
			s.write(test.list, s.files()[test.list]+test.edit+"\n")
			in := inputOf(test.after)
			in.Limits = decide.Limits{MaxDelete: limits.MaxDelete{Nodes: 1}}
			d, p := s.plan(in)
			guard := plan.Guard("")
			if refusals := Refuse(in, p); len(refusals) > 0 {
				guard = refusals[0].Guard
			}
			if guard != test.guard {
				t.Errorf("refused by %q, want %q", guard, test.guard)
			}
			if conflicts := NewReport(in, p, true).Conflicts; len(conflicts) != 1 || conflicts[0].Path != test.list {
				t.Errorf("%v", conflicts)
			}
			if err := d.Write(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			files, leaves := s.files(), test.stays == ""
			if _, there := files[test.stays]; !there && !leaves {
				t.Errorf("%s is gone", test.stays)
			}
			if _, there := files["beta-web/configmap-more.yaml"]; there && leaves {
				t.Errorf("the node's files stay")
			}
			if x := s.index(); !leaves && !x.Has(test.stays) {
				t.Errorf("the index lacks %s", test.stays)
			}
		})
	}
}

// TestMergedIntoAnotherList writes a node's list again after Git took the node for another
// one with a new name, and merged their lists.
func TestMergedIntoAnotherList(t *testing.T) {
	s := newSite(t)
	nodes := []*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")}
	s.run(inputOf(nodes))
	list := "beta-web/kustomization.yaml"
	for text, want := range map[string]Action{"- configmap-acme.yaml\n": ActionUpdate, "- mine.yaml\n": ActionConflict} {
		t.Run(text, func(t *testing.T) {
			s.write(list, s.files()[list]+text)
			_, p := s.plan(inputOf(nodes))
			if got := actions(p); got[list] != want {
				t.Errorf("%s: %v, want %s", text, got, want)
			}
			s.force = true
			s.run(inputOf(nodes))
			s.force = false
		})
	}
}
