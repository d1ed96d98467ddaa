package gitops

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/bounded"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// age sets an old time on all files and folders of a site.
func (s *site) age() time.Time {
	s.Helper()
	then := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	s.each(func(path string, _ fs.FileInfo) {
		if err := os.Chtimes(path, then, then); err != nil {
			s.Fatal(err)
		}
	})
	return then
}

// touched returns the files and folders with another time.
func (s *site) touched(then time.Time) []string {
	s.Helper()
	var all []string
	s.each(func(path string, info fs.FileInfo) {
		if !info.ModTime().Equal(then) {
			name, _ := filepath.Rel(s.dir, path)
			all = append(all, name)
		}
	})
	return all
}

func (s *site) each(do func(path string, info fs.FileInfo)) {
	s.Helper()
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			do(path, info)
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
}

// TestNothingChanges checks that a second run touches no file and no folder.
func TestNothingChanges(t *testing.T) {
	for _, a := range []Arrangement{{}, {PerNode: true}, {Spread: true}} {
		s := newSite(t)
		input := func() *Input {
			in := inputOf(nastyNodes())
			in.Arrangement = a
			return in
		}
		d, p := s.plan(input())
		if !d.Changes(p) {
			t.Error("a first run changes nothing")
		}
		s.run(input())
		then := s.age()
		d, p = s.plan(input())
		if d.Changes(p) || len(actions(p)) > 0 {
			t.Errorf("%+v: %v", a, actions(p))
		}
		s.run(input())
		if touched := s.touched(then); len(touched) > 0 {
			t.Errorf("%+v: the second run touched %v", a, touched)
		}
	}
}

// TestOneChange checks that lynqctl writes only changed files.
func TestOneChange(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1"), rowNode("crm", "coda", "1")}))
	s.write("beta-web/notes.txt", "keep me")
	then := s.age()
	p := s.run(inputOf([]*Node{rowNode("crm", "acme", "2"), rowNode("crm", "coda", "1")}))
	if diff := cmp.Diff(map[string]Action{
		"acme-web/configmap-acme.yaml": ActionUpdate, "kustomization.yaml": ActionUpdate,
		"beta-web/configmap-beta.yaml": ActionRemove, "beta-web/kustomization.yaml": ActionRemove,
	}, actions(p)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{".", "acme-web", "acme-web/configmap-acme.yaml", "beta-web", "kustomization.yaml", index.FileName}, s.touched(then)); diff != "" {
		t.Error(diff)
	}
	s.want("acme-web/configmap-acme.yaml", "acme-web/kustomization.yaml", "beta-web/notes.txt",
		"coda-web/configmap-coda.yaml", "coda-web/kustomization.yaml", "kustomization.yaml", index.FileName)
}

// TestEdited checks that a user's change remains until --force, even after its node is
// gone. The rest of the run succeeds.
func TestEdited(t *testing.T) {
	s := newSite(t)
	acme, beta := "acme-web/configmap-acme.yaml", "beta-web/configmap-beta.yaml"
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")}))
	s.write(acme, "mine")
	s.write(beta, "mine")
	next := func() *Input { return inputOf([]*Node{rowNode("crm", "acme", "2"), rowNode("crm", "coda", "1")}) }
	for range 2 {
		p := s.run(next())
		if got := actions(p); got[acme] != ActionConflict || got[beta] != ActionConflict {
			t.Error(got)
		}
		files := s.files()
		if files[acme] != "mine" || files[beta] != "mine" || files["coda-web/configmap-coda.yaml"] == "" || files["beta-web/kustomization.yaml"] != "" {
			t.Error(files)
		}
	}
	s.force = true
	s.run(next())
	fresh := newSite(t)
	fresh.run(next())
	if diff := cmp.Diff(fresh.files(), s.files()); diff != "" {
		t.Error(diff)
	}
}

// TestRemovedByHand checks that lynqctl restores a folder that a user removed. If the run
// doesn't cover the node, lynqctl forgets the folder and no longer lists it.
func TestRemovedByHand(t *testing.T) {
	s := newSite(t)
	both := []*Node{rowNode("crm", "acme", "1"), rowNode("shop", "beta", "1")}
	s.run(inputOf(both))
	before := s.files()
	for _, folder := range []string{"acme-web", "beta-web"} {
		t.Run(folder, func(t *testing.T) {
			if err := os.RemoveAll(filepath.Join(s.dir, folder)); err != nil {
				t.Fatal(err)
			}
		})
	}
	s.run(inputOf(both[:1]))
	fresh := newSite(t)
	fresh.run(inputOf(both[:1]))
	if diff := cmp.Diff(fresh.files(), s.files()); diff != "" {
		t.Error(diff)
	}
	s.run(inputOf(both))
	if diff := cmp.Diff(before, s.files()); diff != "" {
		t.Error(diff)
	}
}

// TestLinks checks that no symbolic link leads out of the tree, or from one node's folder
// to another's.
func TestLinks(t *testing.T) {
	for _, link := range []struct{ name, to string }{
		{"acme-web", "../outside"}, {"acme-web", "beta-web"}, {"acme-web/configmap-acme.yaml", "../../outside/configmap-acme.yaml"},
		{"acme-web/configmap-acme.yaml", "../beta-web/configmap-beta.yaml"},
	} {
		t.Run(link.name, func(t *testing.T) {
			for _, force := range []bool{false, true} {
				s := newSite(t)
				s.force = force
				outside := filepath.Join(filepath.Dir(s.dir), "outside")
				if err := os.MkdirAll(outside, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(outside, "configmap-acme.yaml"), []byte("theirs"), 0o600); err != nil {
					t.Fatal(err)
				}
				s.run(inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")}))
				full := filepath.Join(s.dir, link.name)
				if err := os.RemoveAll(full); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(link.to, full); err != nil {
					t.Fatal(err)
				}
				before, theirs := s.files(), filesOf(t, outside)
				in := inputOf([]*Node{rowNode("crm", "acme", "2"), rowNode("crm", "beta", "1")})
				_, p := s.plan(in)
				if p.Count(ActionRefuse) == 0 {
					t.Errorf("%v, force %v: nothing is refused: %v", link, force, actions(p))
				}
				// After the node is gone, lynqctl leaves the link alone.
				s.run(inputOf([]*Node{rowNode("crm", "beta", "1")}))
				if got := s.files(); got[link.name] != before[link.name] || got["beta-web/configmap-beta.yaml"] != before["beta-web/configmap-beta.yaml"] {
					t.Errorf("%v, force %v: %v", link, force, got)
				}
				if diff := cmp.Diff(theirs, filesOf(t, outside)); diff != "" {
					t.Errorf("%v, force %v: %s", link, force, diff)
				}
			}
		})
	}
}

// TestHugeFile checks that lynqctl doesn't read a file of any size. It refuses the tree,
// even with --force, and names the file. The same holds for a file that grows meanwhile.
func TestHugeFile(t *testing.T) {
	const acme = "acme-web/configmap-acme.yaml"
	for name, next := range map[string][]*Node{
		"of a node":      {rowNode("crm", "acme", "2"), rowNode("crm", "beta", "1")},
		"of no node now": {rowNode("crm", "beta", "1")},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.run(inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")}))
			if err := os.Truncate(filepath.Join(s.dir, acme), maxFile+1); err != nil {
				t.Fatal(err)
			}
			s.force = true
			d, p := s.plan(inputOf(next))
			refused := p.Of(ActionRefuse)
			if len(refused) != 1 || refused[0].Path != acme || refused[0].Why != "it has more than 64 MiB" {
				t.Errorf("got %v", refused)
			}
			f, err := d.open("acme-web")
			if err != nil {
				t.Fatal(err)
			}
			f.buffer = new([]byte)
			_, err = f.read("configmap-acme.yaml", 0, 1<<20)
			if size, ok := errors.AsType[*bounded.SizeError](err); !ok || size.Limit != 1<<20 || len(*f.buffer) > 1<<20+1 {
				t.Errorf("as it grows: %v", err)
			}
			f.close()
		})
	}
}

// TestKindOf checks the words for what is in the place of a file.
func TestKindOf(t *testing.T) {
	for want, mode := range map[string]fs.FileMode{
		"a symbolic link": fs.ModeSymlink, "a folder": fs.ModeDir, "a file": 0o644, "a named pipe": fs.ModeNamedPipe,
	} {
		t.Run(want, func(t *testing.T) {
			if got := kindOf(mode); got != want {
				t.Errorf("%v: got %q, want %q", mode, got, want)
			}
		})
	}
	for _, mode := range []fs.FileMode{fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice, fs.ModeSocket} {
		if got := kindOf(mode); got != "a device or a socket" {
			t.Errorf("%v: got %q", mode, got)
		}
	}
}

// TestMergedLists checks files after a line by line merge in Git. lynqctl rewrites a file
// that has only a list, and keeps one that a user changed otherwise.
func TestMergedLists(t *testing.T) {
	node := func(uid string) *Node { return rowNode("crm", uid, "1") }
	branch := func(uids ...string) map[string]string {
		s := newSite(t)
		var nodes []*Node
		for _, uid := range uids {
			nodes = append(nodes, node(uid))
		}
		s.run(inputOf(nodes))
		return s.files()
	}
	ours, theirs, joined := branch("acme", "beta"), branch("acme", "coda"), branch("acme", "beta", "coda")
	const list = "kustomization.yaml"
	for name, test := range map[string]struct {
		merged string
		action Action
	}{
		"a clean merge":    {strings.Replace(ours[list], "- beta-web\n", "- beta-web\n- coda-web\n", 1), ""},
		"in another order": {strings.Replace(ours[list], "- acme-web\n", "- coda-web\n- acme-web\n", 1), ActionUpdate},
		"ours":             {ours[list], ActionUpdate},
		"a union":          {ours[list] + "resources: []\n- \"coda-web\"\n- acme-web\n", ActionUpdate},
		"a file of others": {ours[list] + "- notes\n", ActionConflict},
		"a patch":          {ours[list] + "patches:\n- path: x.yaml\n", ActionConflict},
		"marks":            {ours[list] + "<<<<<<< ours\n", ActionConflict},
		"out of the tree":  {ours[list] + "- ../acme-web\n", ActionConflict},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.run(inputOf([]*Node{node("acme")}))
			for _, files := range []map[string]string{ours, theirs} {
				for file, text := range files {
					s.write(file, text)
				}
			}
			s.write(list, test.merged)
			s.write(index.FileName, ours[index.FileName]+theirs[index.FileName])
			p := s.run(inputOf([]*Node{node("acme"), node("beta"), node("coda")}))
			if got := actions(p)[list]; got != test.action {
				t.Errorf("%s: %q, want %q", name, got, test.action)
			}
			if test.action == ActionConflict {
				return
			}
			if diff := cmp.Diff(joined, s.files()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		})
	}
}

// TestMergedListOfNode checks the same for a node's list, also when the node is gone.
func TestMergedListOfNode(t *testing.T) {
	const list = "acme-web/kustomization.yaml"
	for _, nodes := range [][]*Node{{rowNode("crm", "acme", "1")}, {rowNode("crm", "beta", "1")}} {
		s := newSite(t)
		s.run(inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")}))
		s.write(list, s.files()[list]+"- configmap-acme.yaml\n")
		p := s.run(inputOf(nodes))
		if got := p.Count(ActionConflict, ActionRefuse); got > 0 {
			t.Errorf("%v", actions(p))
		}
		fresh := newSite(t)
		fresh.run(inputOf(nodes))
		if diff := cmp.Diff(fresh.files(), s.files()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestHostileIndex checks that a forged index can't make lynqctl remove or read files
// outside the tree.
func TestHostileIndex(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1")}))
	secret := filepath.Join(filepath.Dir(s.dir), "secret")
	if err := os.WriteFile(secret, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..", filepath.Join(s.dir, "up")); err != nil {
		t.Fatal(err)
	}
	line := s.files()[index.FileName] + string((&index.Index{Entries: []index.Entry{{
		Path: "up/secret", Digests: []index.Digest{index.DigestOf([]byte("text"))}, Owned: index.Owned{Owner: &index.Owner{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Node: lynq.NodeKey{Namespace: "default", Name: "gone-web"}}},
	}}}).Encode())
	s.write(index.FileName, line)
	for _, force := range []bool{false, true} {
		s.force = force
		_, p := s.plan(inputOf([]*Node{rowNode("crm", "acme", "1")}))
		if got := actions(p)["up/secret"]; got != ActionRefuse {
			t.Errorf("force %v: %s", force, got)
		}
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "text" {
		t.Error(string(b), err)
	}
}

// TestLinkedIndex refuses an index that is a link or no file, and doesn't change its
// target.
func TestLinkedIndex(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1")}))
	index, elsewhere := filepath.Join(s.dir, index.FileName), filepath.Join(s.dir, "elsewhere")
	if err := os.Rename(index, elsewhere); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func() error{
		"link":   func() error { return os.Symlink("elsewhere", index) },
		"folder": func() error { return os.Mkdir(index, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := put(); err != nil {
				t.Fatal(err)
			}
			d, err := OpenDir(s.dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Index(); err == nil || !strings.Contains(err.Error(), index+" is no regular file") {
				t.Errorf("%v", err)
			}
			if err := errors.Join(d.Close(), os.Remove(index)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestTwoRunsAtOnce checks that the second run notices the first.
func TestTwoRunsAtOnce(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1")}))
	d, p := s.plan(inputOf([]*Node{rowNode("crm", "acme", "2")}))
	s.run(inputOf([]*Node{rowNode("crm", "acme", "3")}))
	before := s.files()
	if err := d.Write(context.Background(), p); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if diff := cmp.Diff(before, s.files()); diff != "" {
		t.Error(diff)
	}
}

// TestLocked checks that a second run writes nothing while another one writes, and doesn't
// disturb it.
func TestLocked(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1")}))
	first, p := s.plan(inputOf([]*Node{rowNode("crm", "acme", "2")}))
	second, q := s.plan(inputOf([]*Node{rowNode("crm", "acme", "3")}))
	release, err := first.claim()
	if err != nil {
		t.Fatal(err)
	}
	s.write(workFolder+"/1", "of the first run")
	before := s.files()
	var busy *BusyError
	if err := second.Write(context.Background(), q); !errors.As(err, &busy) || !strings.Contains(err.Error(), "another run is writing to it") {
		t.Error(err)
	}
	if diff := cmp.Diff(before, s.files()); diff != "" {
		t.Error(diff)
	}
	release()
	if err := first.Write(context.Background(), p); err != nil {
		t.Error(err)
	}
	if err := second.Write(context.Background(), q); !errors.As(err, &busy) || !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
}

// TestLargestIndex checks that lynqctl writes no index that the next run couldn't read.
func TestLargestIndex(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1")}))
	before := s.files()
	dir, p := s.plan(inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "globex", "1")}))
	dir.most = int64(len(before[index.FileName]))
	var root *RootError
	if err := dir.Write(context.Background(), p); !errors.As(err, &root) || !strings.Contains(err.Error(), "its index would have") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, s.files()); diff != "" {
		t.Error(diff)
	}
	dir.most = maxIndex
	if err := dir.Write(context.Background(), p); err != nil {
		t.Error(err)
	}
}

// TestWorkFolder checks that lynqctl removes unfinished files of a killed run, but nothing
// that somebody else put into their folder.
func TestWorkFolder(t *testing.T) {
	for _, name := range []string{workFolder, workFolder + "/notes", workFolder + "/1/notes"} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.run(inputOf([]*Node{rowNode("crm", "acme", "1")}))
			s.write(name, "of somebody else")
			before := s.files()
			dir, p := s.plan(inputOf([]*Node{rowNode("crm", "acme", "2")}))
			var root *RootError
			if err := dir.Write(context.Background(), p); !errors.As(err, &root) || !strings.Contains(err.Error(), workFolder) || !strings.Contains(err.Error(), "(move it away)") {
				t.Errorf("%s: got %v", name, err)
			}
			if diff := cmp.Diff(before, s.files()); diff != "" {
				t.Error(diff)
			}
		})
	}
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1")}))
	s.write(workFolder+"/12", "of a killed run")
	dir, p := s.plan(inputOf([]*Node{rowNode("crm", "acme", "2")}))
	if err := dir.Write(context.Background(), p); err != nil {
		t.Error(err)
	}
	for name := range s.files() {
		if strings.HasPrefix(name, workFolder) {
			t.Errorf("%s is left", name)
		}
	}
}

// TestUnreadable checks the error for a file that disappeared. If another run writes or
// has written, the error names that run. Otherwise, it is the file's own error.
func TestUnreadable(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1")}))
	first, p := s.plan(inputOf([]*Node{rowNode("crm", "acme", "2")}))
	second, _ := s.plan(inputOf([]*Node{rowNode("crm", "acme", "3")}))
	gone := &fs.PathError{Op: "openat", Path: kustomizationFile, Err: fs.ErrNotExist}
	var busy *BusyError
	if err := second.unreadable(gone); !errors.Is(err, gone) || errors.As(err, &busy) {
		t.Error(err)
	}
	release, err := first.claim()
	if err != nil {
		t.Fatal(err)
	}
	if err := second.unreadable(gone); !errors.As(err, &busy) || errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	release()
	if err := first.Write(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if err := second.unreadable(gone); !errors.As(err, &busy) || !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
}

// TestInterrupted checks that a canceled run says so, and that the next run continues.
func TestInterrupted(t *testing.T) {
	s := newSite(t)
	in := inputOf(nastyNodes())
	d, p := s.plan(in)
	ctx, cancel := context.WithCancelCause(context.Background())
	over := errors.New("over")
	cancel(over)
	if err := d.Write(ctx, p); !errors.Is(err, over) {
		t.Error(err)
	}
	if x := s.files()[index.FileName]; !strings.HasPrefix(x, `{"format":1,"unfinished":true}`) {
		t.Error(x)
	}
	// Unwritten files don't count as deletions.
	few := func() *Input { return inputOf(nastyNodes()[:2]) }
	in = few()
	d, p = s.plan(in)
	if refusals := Refuse(in, p); len(refusals) > 0 {
		t.Error(refusals)
	}
	if r := NewReport(in, p, d.Changes(p)); r.Nodes.Counts != (Counts{Added: 2}) {
		t.Errorf("%+v", r)
	}
	s.run(few())
	fresh := newSite(t)
	fresh.run(few())
	if diff := cmp.Diff(fresh.files(), s.files()); diff != "" {
		t.Error(diff)
	}
}

// TestBrokenDir checks the errors for folders that can't be a tree.
func TestBrokenDir(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := OpenDir(file); err == nil {
		_ = d.Close()
		t.Error("a file is opened as a folder")
	}
	s := newSite(t)
	s.write(index.FileName, "what is this\n")
	d, err := OpenDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if _, err := d.Index(); err == nil || !strings.Contains(err.Error(), s.dir+"/"+index.FileName+": line 1: ") {
		t.Error(err)
	}
}
