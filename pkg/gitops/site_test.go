package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// settingsObject returns an object of the core group with some content.
func settingsObject(namespace, name, text string) Object {
	return objectOf(lynq.Ref{Kind: "ConfigMap", Namespace: namespace, Name: name}, text)
}

func objectOf(ref lynq.Ref, text string) Object {
	return Object{
		ObjectKey: index.ObjectKey{Ref: ref, ID: "id"},
		Bytes:     fmt.Appendf(nil, "kind: %s\nmetadata:\n  name: %s\ndata:\n  text: %s\n", ref.Kind, ref.Name, text),
	}
}

// rowNode returns a node of form web with one object.
func rowNode(hub, uid, text string) *Node {
	name := uid + "-web"
	return &Node{
		NodeID:  lynq.NodeID{Hub: lynq.HubKey{Name: hub}, Form: lynq.FormKey{Name: "web"}, UID: uid, Namespace: "default", Name: name},
		Objects: []Object{settingsObject("default", uid, text)},
	}
}

// formAt returns a form with the digest of a version.
func formAt(hub lynq.HubKey, form lynq.FormKey, version int) index.Origin {
	o := index.OriginOf(hub, form)
	o.Digest = fmt.Sprintf("%016x", version)
	return o
}

// inputOf returns a run on all forms of the nodes' hubs, and on more hubs.
func inputOf(nodes []*Node, hubs ...string) *Input {
	in := &Input{Nodes: nodes}
	add := func(h lynq.HubKey, form lynq.FormKey) {
		i := slices.IndexFunc(in.Hubs, func(s index.HubScope) bool { return s.HubKey == h })
		if i < 0 {
			in.Hubs, i = append(in.Hubs, index.HubScope{HubKey: h}), len(in.Hubs)
		}
		if !slices.Contains(in.Hubs[i].Forms, form) {
			in.Hubs[i].Forms = append(in.Hubs[i].Forms, form)
			in.Forms = append(in.Forms, formAt(h, form, 1))
		}
	}
	for _, n := range nodes {
		add(n.Hub, n.Form)
	}
	for _, h := range hubs {
		add(lynq.HubKey{Name: h}, lynq.FormKey{Name: "web"})
	}
	return in
}

// rowsOf returns hubs with active rows.
func rowsOf(in *Input) map[lynq.HubKey]Rows {
	rows := map[lynq.HubKey]Rows{}
	for _, h := range in.Hubs {
		rows[h.HubKey] = Rows{Active: 1}
	}
	return rows
}

// site is a folder with a tree.
type site struct {
	testing.TB
	dir   string
	force bool
	quick bool // don't sync to the disk
}

// quickFolder is a folder that never syncs to the disk.
type quickFolder struct{ diskFolder }

func (f *quickFolder) WriteFile(name string, content []byte) error {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

func newSite(t testing.TB) *site { return &site{TB: t, dir: filepath.Join(t.TempDir(), "tree")} }

// plan plans a run.
func (s *site) plan(in *Input) (*Dir, *Plan) {
	s.Helper()
	d, err := OpenDir(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = d.Close() })
	if in.Index, err = d.Index(); err != nil {
		s.Fatal(err)
	}
	in.Force = s.force
	if in.decided = nil; in.Rows == nil {
		in.Rows = rowsOf(in)
	}
	ctx := context.Background()
	if err = d.Decide(ctx, in); err == nil {
		_, err = d.Retain(ctx, in, in.Target)
	}
	if err != nil {
		s.Fatal(err)
	}
	p, err := d.Plan(ctx, in, s.force)
	if err != nil {
		s.Fatal(err)
	}
	return d, p
}

// run updates the tree to an input.
func (s *site) run(in *Input) *Plan {
	s.Helper()
	d, p := s.plan(in)
	s.carryOut(d, p)
	return p
}

// carryOut writes a plan.
func (s *site) carryOut(d *Dir, p *Plan) {
	s.Helper()
	var err error
	if s.quick && d.root != nil {
		err = d.write(context.Background(), p, &quickFolder{diskFolder{root: d.root}})
	} else {
		err = d.Write(context.Background(), p)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// files returns all files of the tree with their content. Links are "-> to", and empty
// folders end with a slash.
func (s *site) files() map[string]string {
	s.Helper()
	return filesOf(s.TB, s.dir)
}

func filesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			inside, err := os.ReadDir(path)
			if len(inside) == 0 {
				all[name+"/"] = ""
			}
			return err
		case e.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			all[name] = "-> " + to
			return err
		}
		b, err := os.ReadFile(path)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (s *site) paths() []string {
	s.Helper()
	return slices.Sorted(maps.Keys(s.files()))
}

func (s *site) want(paths ...string) {
	s.Helper()
	if diff := cmp.Diff(paths, s.paths()); diff != "" {
		s.Errorf("files: %s", diff)
	}
}

func (s *site) write(path, content string) {
	s.Helper()
	full := filepath.Join(s.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
		s.Fatal(err)
	}
}

// actions returns the steps of a plan except ActionKeep.
func actions(p *Plan) map[string]Action {
	all := map[string]Action{}
	for _, s := range p.Steps {
		if s.Action != ActionKeep {
			all[s.Path] = s.Action
		}
	}
	return all
}

// bases returns the names of the nodes' folders, sorted.
func (s *site) bases() []string {
	s.Helper()
	return slices.Sorted(maps.Values(s.folders()))
}

// folders returns the folder's name of each node.
func (s *site) folders() map[lynq.NodeKey]string {
	s.Helper()
	x, err := index.Decode([]byte(s.files()[index.FileName]))
	if err != nil {
		s.Fatal(err)
	}
	all := map[lynq.NodeKey]string{}
	for i := range x.Entries {
		if base := recordedBase(&x.Entries[i]); base != "" {
			all[x.Entries[i].Node] = base
		}
	}
	return all
}
