package gitops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// errKilled is the error after a mortal ended.
var errKilled = errors.New("killed")

// mortal is a medium that stops at a certain step like a killed process. It stops before,
// during or after the step, and then does nothing more.
type mortal struct {
	medium
	mu   sync.Mutex
	left int // remaining steps
}

// live executes a step. At the end, it executes only the half before it.
func (m *mortal) live(do, half func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left--
	switch {
	case m.left > 0:
		return do()
	case m.left == 0 && half != nil:
		_ = half() // the caller is dead
	}
	return errKilled
}

func (m *mortal) WriteFile(name string, content []byte) error {
	return m.live(func() error { return m.medium.WriteFile(name, content) }, func() error { return m.medium.WriteFile(name, content[:len(content)/2]) })
}

func (m *mortal) Rename(from, to string) error {
	do := func() error { return m.medium.Rename(from, to) }
	return m.live(do, do)
}

func (m *mortal) Remove(name string) error {
	return m.live(func() error { return m.medium.Remove(name) }, nil)
}

func (m *mortal) RemoveAll(name string) error {
	return m.live(func() error { return m.medium.RemoveAll(name) }, nil)
}

func (m *mortal) MkdirAll(name string) error {
	do := func() error { return m.medium.MkdirAll(name) }
	return m.live(do, do)
}

// killed runs until a step. It returns false if the run ended before. It writes one file
// after the other, so that a step is the same in each run of a test.
func (s *site) killed(in *Input, step int) bool {
	s.Helper()
	d, p := s.plan(in)
	if d.root == nil {
		return false
	}
	d.writers = 1
	err := d.write(context.Background(), p, &mortal{medium: &quickFolder{diskFolder{root: d.root}}, left: step})
	if err != nil && !errors.Is(err, errKilled) {
		s.Fatal(err)
	}
	return err != nil
}

// TestKilled kills a run at each step. Each file then has its old or new content. The next
// run completes the tree, with the same rows or with others.
func TestKilled(t *testing.T) {
	before := []*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1"), rowNode("crm", "gone", "1"), rowNode("shop", "dual", "1")}
	after := []*Node{rowNode("crm", "acme", "2"), rowNode("crm", "beta", "1"), rowNode("crm", "coda", "2")}
	later := []*Node{rowNode("crm", "beta", "3"), rowNode("crm", "gone", "3"), rowNode("shop", "dual", "1")}
	tree := func(nodes []*Node, hubs ...string) map[string]string {
		s := newSite(t)
		s.run(inputOf(nodes, hubs...))
		return s.files()
	}
	old := tree(before)
	changed := tree(slices.Concat(after, before[3:]))
	steps := 0
	for ; ; steps++ {
		for _, next := range [][]*Node{after, later} {
			s := newSite(t)
			s.quick = true
			s.run(inputOf(before))
			if !s.killed(inputOf(after), steps+1) {
				if steps < 20 {
					t.Errorf("only %d steps", steps)
				}
				return
			}
			for path, text := range s.files() {
				whole := text == old[path] || text == changed[path]
				if !whole && path != index.FileName && !strings.HasPrefix(path, workFolder) {
					t.Errorf("killed in step %d: %s is neither the old nor the new one:\n%s", steps, path, text)
				}
			}
			s.run(inputOf(next))
			want := slices.Concat(next, before[3:])
			if len(next) == len(later) && next[len(next)-1].Hub.Name == "shop" {
				want = next
			}
			if diff := cmp.Diff(tree(want), s.files()); diff != "" {
				t.Errorf("killed in step %d: the next run does not heal: %s", steps, diff)
			}
		}
	}
}

// world has the rows of some hubs, and their last rendered nodes.
type world struct {
	*rand.Rand
	rows    map[lynq.HubKey]map[string]int // from uid to version
	last    map[lynq.NodeKey]*Node
	forms   map[lynq.NodeKey]index.Origin // forms of these nodes, with their digests
	version int
	strange map[string]string // files of other people
}

func newWorld(seed uint64) *world {
	return &world{
		Rand:    rand.New(rand.NewPCG(seed, 0)),
		rows:    map[lynq.HubKey]map[string]int{{Name: "crm"}: {}, {Name: "shop", Namespace: "eu"}: {}},
		last:    map[lynq.NodeKey]*Node{},
		forms:   map[lynq.NodeKey]index.Origin{},
		strange: map[string]string{},
	}
}

func (w *world) hubs() []lynq.HubKey {
	return slices.SortedFunc(maps.Keys(w.rows), func(a, b lynq.HubKey) int { return strings.Compare(a.Name, b.Name) })
}

// change changes some rows.
func (w *world) change() {
	for _, h := range w.hubs() {
		for range w.IntN(4) {
			w.version++
			uid := fmt.Sprintf("t%d", w.IntN(8))
			if w.IntN(3) == 0 {
				delete(w.rows[h], uid)
			} else {
				w.rows[h][uid] = w.version
			}
		}
	}
}

// forms returns a hub's forms. Nodes of the two hubs may have the same name in different
// namespaces.
func forms(h lynq.HubKey) map[string]string {
	if h.Name == "crm" {
		return map[string]string{"web": "default", "api": "default"}
	}
	return map[string]string{"web": "eu", "eu-api": "eu"}
}

// nodes renders the rows of some hubs. Some nodes fail.
func (w *world) nodes(hubs []lynq.HubKey, failing bool) []*Node {
	var nodes []*Node
	for _, h := range hubs {
		for _, uid := range slices.Sorted(maps.Keys(w.rows[h])) {
			for _, form := range slices.Sorted(maps.Keys(forms(h))) {
				namespace := forms(h)[form]
				n := &Node{NodeID: lynq.NodeID{Hub: h, Form: lynq.FormKey{Name: form}, UID: uid, Namespace: namespace, Name: uid + "-" + form}}
				if n.Failed = failing && w.IntN(5) == 0; !n.Failed {
					n.Objects = w.objects(n, w.rows[h][uid])
				}
				nodes = append(nodes, n)
			}
		}
	}
	w.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	return nodes
}

// objects returns a node's objects. The row determines their number and content. Some
// names are equal except for kind or namespace. No object belongs to two nodes.
func (w *world) objects(n *Node, version int) []Object {
	objects := []Object{settingsObject(n.Namespace, n.Name, fmt.Sprint(version/3))}
	if version%2 == 0 {
		objects = append(objects, objectOf(lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: n.Namespace, Name: n.Name}, fmt.Sprint(version)))
	}
	if version%3 == 0 {
		objects = append(objects, settingsObject(n.Namespace+"-elsewhere", n.Name, "x"))
	}
	return objects
}

// step makes one run on all or one of the hubs, with all or some nodes.
func (w *world) step(s *site, a Arrangement) {
	hubs := w.hubs()
	if w.IntN(3) == 0 {
		hubs = hubs[w.IntN(2):][:1]
	}
	narrow := w.IntN(4) == 0
	in := inputOf(w.nodes(hubs, true))
	in.Arrangement = a
	in.Hubs = nil
	for _, h := range hubs {
		scope := index.HubScope{HubKey: h, Forms: formKeys(forms(h))}
		if narrow && w.IntN(2) == 0 {
			scope.Forms = scope.Forms[:1]
		}
		in.Hubs = append(in.Hubs, scope)
	}
	if narrow && w.IntN(2) == 0 {
		in.Only = map[string]bool{fmt.Sprintf("t%d-web", w.IntN(8)): true}
	}
	has := func(n *Node) bool {
		return in.Covers(&index.Entry{Owned: index.Owned{Owner: index.OwnerOf(n.NodeID)}})
	}
	in.Nodes = slices.DeleteFunc(in.Nodes, func(n *Node) bool { return !has(n) })
	w.edit(in)
	w.run(s, in)
	failed := map[lynq.NodeKey]bool{}
	for _, n := range in.Nodes {
		failed[n.Key()] = n.Failed
	}
	maps.DeleteFunc(w.last, func(k lynq.NodeKey, n *Node) bool { return has(n) && !failed[k] })
	for _, n := range in.Nodes {
		if !n.Failed {
			w.last[n.Key()] = n
			w.forms[n.Key()] = digestOf(in, n)
		}
	}
}

// run makes a run whose limits allow every deletion. Its guards have no other objection.
func (w *world) run(s *site, in *Input) {
	s.Helper()
	in.Limits = decide.Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: 1000}}
	p := s.run(in)
	if p.Count(ActionConflict) > 0 {
		s.Errorf("%v", actions(p))
	}
	for _, r := range Refuse(in, p) {
		s.Error(RefusalText(&r))
	}
}

// edit gives the forms of a run new digests, mostly.
func (w *world) edit(in *Input) {
	in.Forms = nil
	for _, h := range in.Hubs {
		for _, f := range h.Forms {
			in.Forms = append(in.Forms, formAt(h.HubKey, f, w.IntN(3)))
		}
	}
}

// digestOf returns a node's form with the digest of a run.
func digestOf(in *Input, n *Node) index.Origin {
	i := slices.IndexFunc(in.Forms, func(o index.Origin) bool { return o.Bare() == index.OriginOf(n.Hub, n.Form) })
	return in.Forms[i]
}

// compareForms checks that the index has the form's digest of each node's last run. Only a
// run of everything drops others.
func (w *world) compareForms(t testing.TB, s *site, whole bool) {
	t.Helper()
	var want []index.Origin
	for key := range w.last {
		want = append(want, w.forms[key])
	}
	want = index.SortOrigins(want)
	got := s.index().Forms
	if !whole {
		got = slices.DeleteFunc(got, func(o index.Origin) bool { return !slices.Contains(want, o) })
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// stranger writes a file as another client.
func (w *world) stranger(s *site) {
	folder := []string{"", "t1-web/", "t2-api/", "docs/"}[w.IntN(4)]
	name := folder + fmt.Sprintf("note-%d.txt", w.IntN(3))
	w.strange[name] = fmt.Sprint(w.IntN(100))
	s.write(name, w.strange[name])
}

// whole returns a run on all rows, forms and hubs without failures.
func (w *world) whole(a Arrangement) *Input {
	in := inputOf(w.nodes(w.hubs(), false))
	in.Arrangement, in.Hubs = a, nil
	for _, h := range w.hubs() {
		in.Hubs = append(in.Hubs, index.HubScope{HubKey: h, Forms: formKeys(forms(h))})
	}
	return in
}

// runWhole makes that run, and stores its nodes.
func (w *world) runWhole(s *site, in *Input) {
	w.edit(in)
	w.run(s, in)
	clear(w.last)
	for _, n := range in.Nodes {
		w.last[n.Key()] = n
		w.forms[n.Key()] = digestOf(in, n)
	}
	w.compareForms(s.TB, s, true)
}

// compareObjects checks that the top's files lead to the last rendered objects, and that
// other people's files are unchanged.
func (w *world) compareObjects(t *testing.T, s *site) {
	t.Helper()
	var want []string
	for _, n := range w.last {
		for _, o := range n.Objects {
			want = append(want, string(o.Bytes))
		}
	}
	slices.Sort(want)
	files := s.files()
	got := ledTo(t, files, ".")
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	for path, text := range w.strange {
		if files[path] != text {
			t.Fatalf("%s has become %q", path, files[path])
		}
	}
}

// byNode returns a tree's files, without its index and other people's files. It renames
// each node's folder to namespace and name.
func (s *site) byNode(others map[string]string) map[string]string {
	s.Helper()
	called := map[string]string{}
	for n, base := range s.folders() {
		called[base] = "(" + n.String() + ")"
	}
	all := map[string]string{}
	for p, text := range s.files() {
		if _, strange := others[p]; strange || p == index.FileName {
			continue
		}
		parts := strings.Split(p, "/")
		for i, part := range parts {
			if name := called[strings.TrimSuffix(part, ".yaml")]; name != "" {
				parts[i] = name
			}
		}
		if path.Base(p) == kustomizationFile {
			lines := strings.Split(text, "\n")
			for i, line := range lines {
				if name := called[strings.TrimSuffix(strings.TrimPrefix(line, "- "), ".yaml")]; name != "" {
					lines[i] = "- " + name
				}
			}
			slices.Sort(lines)
			text = strings.Join(lines, "\n")
		}
		all[strings.Join(parts, "/")] = text
	}
	return all
}

// has reports whether a run renders a node.
func (in *Input) has(key lynq.NodeKey) bool {
	return slices.ContainsFunc(in.Nodes, func(n *Node) bool { return n.Key() == key })
}

// keepNames checks that each node keeps the name of its folder. A node that left may
// find its name taken when it comes back.
func (s *site) keepNames(before map[lynq.NodeKey]string) map[lynq.NodeKey]string {
	s.Helper()
	now := s.folders()
	for n, base := range now {
		if was, had := before[n]; had && was != base {
			s.Errorf("node %s was in folder %s, and is in %s", n, was, base)
		}
	}
	return now
}

// TestHistoryDoesNotMatter makes random runs, some of them killed. The tree must lead to
// the last rendered objects. A run of everything must then give the same files as in an
// empty folder, except for names of folders.
func TestHistoryDoesNotMatter(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			w, s := newWorld(seed), newSite(t)
			s.quick = true
			a := Arrangement{PerNode: w.IntN(3) == 0, Spread: w.IntN(3) == 0}
			names := map[lynq.NodeKey]string{}
			for range 10 {
				w.change()
				if w.IntN(3) == 0 {
					w.stranger(s)
				}
				switch w.IntN(5) {
				case 0: // only the next complete run shows what a killed run left
					in := w.whole(a)
					s.killed(in, 1+w.IntN(60))
					maps.DeleteFunc(names, func(n lynq.NodeKey, _ string) bool { return !in.has(n) })
					w.change()
					w.runWhole(s, w.whole(a))
				case 1:
					w.runWhole(s, w.whole(a))
				default:
					w.step(s, a)
				}
				w.compareObjects(t, s)
				w.compareForms(t, s, false)
				names = s.keepNames(names)
			}
			a = Arrangement{PerNode: w.IntN(2) == 0, Spread: w.IntN(2) == 0}
			w.runWhole(s, w.whole(a))
			fresh := newSite(t)
			fresh.run(w.whole(a))
			if diff := cmp.Diff(fresh.byNode(nil), s.byNode(w.strange)); diff != "" {
				t.Error(diff)
			}
			w.compareObjects(t, s)
			s.keepNames(names)
		})
	}
}

// formKeys returns keys of forms without a namespace, sorted by name.
func formKeys(names map[string]string) []lynq.FormKey {
	var keys []lynq.FormKey
	for _, name := range slices.Sorted(maps.Keys(names)) {
		keys = append(keys, lynq.FormKey{Name: name})
	}
	return keys
}
