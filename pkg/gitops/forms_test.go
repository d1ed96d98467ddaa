package gitops

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// formNode returns a node of a form in the same namespace.
func formNode(namespace, uid, text string) *Node {
	n := rowNode("crm", uid, text)
	n.Namespace, n.Form.Namespace = namespace, namespace
	n.Objects[0].Namespace = namespace
	return n
}

// index returns the tree's index.
func (s *site) index() *index.Index {
	s.Helper()
	x, err := index.Decode([]byte(s.files()[index.FileName]))
	if err != nil {
		s.Fatal(err)
	}
	return x
}

// indexNow reads the tree's index. It returns nil before the first run.
func (s *site) indexNow() *index.Index {
	s.Helper()
	if _, err := os.Stat(filepath.Join(s.dir, index.FileName)); err != nil {
		return nil
	}
	return s.index()
}

// TestFormsOfOneName checks forms of one name in two namespaces. Each has its own nodes in
// one tree, even for the same row, and doesn't change the other's.
func TestFormsOfOneName(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{formNode("eu", "acme", "1"), formNode("us", "acme", "1"), formNode("us", "beta", "1")}))
	if head, _, _ := strings.Cut(s.files()[index.FileName], "\n"); head != `{"format":1}` {
		t.Errorf("the index begins with %s", head)
	}
	// A run of one form keeps the other's nodes, and doesn't count them.
	in := inputOf([]*Node{formNode("eu", "acme", "2")})
	r := s.report(in)
	if r.Nodes.Removed != 0 || r.Nodes.Changed != 1 || r.Changes[0].Name != "acme-web" || r.Changes[0].Form.Namespace != "eu" {
		t.Errorf("%+v", r)
	}
	// After its last row is gone, only its own node is removed.
	in = inputOf(nil)
	in.Hubs = []index.HubScope{{HubKey: lynq.HubKey{Name: "crm"}, Forms: []lynq.FormKey{{Namespace: "eu", Name: "web"}}}}
	r = s.report(in)
	s.run(in)
	if r.Nodes.Removed != 1 || r.Changes[0].Form.Namespace != "eu" || r.Changes[0].Namespace != "eu" {
		t.Errorf("%+v", r)
	}
	x := s.index()
	acme := lynq.NodeKey{Namespace: "us", Name: "acme-web"}
	if nodes := indexedNodes(x); len(nodes) != 2 || nodes[acme] != (lynq.FormKey{Namespace: "us", Name: "web"}) {
		t.Errorf("%v", nodes)
	}
}

// TestFormsOfOldIndex checks lines without the form's namespace. A form of that
// name that renders their node takes them over.
func TestFormsOfOldIndex(t *testing.T) {
	s := newSite(t)
	old := formNode("eu", "acme", "1")
	old.Form.Namespace = ""
	s.run(inputOf([]*Node{old}))
	if head, _, _ := strings.Cut(s.files()[index.FileName], "\n"); head != `{"format":1}` {
		t.Errorf("the index begins with %s", head)
	}
	if indexedNodes(s.index())[old.Key()] != (lynq.FormKey{Name: "web"}) {
		t.Error("the node is not found")
	}
	if r := s.report(inputOf([]*Node{formNode("eu", "acme", "1")})); !r.Changed || len(r.Changes) != 0 || r.Files.Written != 0 {
		t.Errorf("%+v", r)
	}
	s.run(inputOf([]*Node{formNode("eu", "acme", "1")}))
	if x := s.index(); slices.ContainsFunc(x.Entries, func(e index.Entry) bool { return !e.Shared() && e.Form.Namespace != "eu" }) {
		t.Errorf("%+v", x.Entries)
	}
}

// TestFormsInOnePlace checks that a node never overwrites that of another form with the
// same name. Only this message has the namespace.
func TestFormsInOnePlace(t *testing.T) {
	for _, test := range []struct{ form, namespace, want string }{
		{"web", "us", `it is of hub "crm", form "eu/web", which`},
		{"shop", "us", `it is of hub "crm", form "web", which`},
	} {
		t.Run(test.form, func(t *testing.T) {
			s := newSite(t)
			s.run(inputOf([]*Node{formNode("eu", "acme", "1")}))
			n := formNode("eu", "acme", "2")
			n.Form = lynq.FormKey{Namespace: test.namespace, Name: test.form}
			_, p := s.plan(inputOf([]*Node{n}))
			refused := p.Of(ActionRefuse)
			if len(refused) == 0 || !strings.HasPrefix(refused[0].Why, test.want) {
				t.Errorf("%s/%s: %+v", test.namespace, test.form, refused)
			}
		})
	}
}

// TestHubsOfOneName checks that guards count each hub's nodes, and name its namespace if
// another hub has the same name.
func TestHubsOfOneName(t *testing.T) {
	s := newSite(t)
	var nodes []*Node
	for _, ns := range []string{"eu", "us"} {
		n := formNode(ns, "acme", "1")
		n.Hub.Namespace = ns
		nodes = append(nodes, n)
	}
	s.run(inputOf(nodes))
	in := inputOf(nodes)
	in.Nodes = nodes[:1]
	in.Limits, in.Rows = decide.Limits{MaxDelete: limits.MaxDelete{Nodes: 1}}, map[lynq.HubKey]Rows{nodes[0].Hub: {Active: 1}}
	_, p := s.plan(in)
	refusals := Refuse(in, p)
	if len(refusals) != 1 || refusals[0].Hub != nodes[1].Hub || refusals[0].What != "no row is active, but the tree has 1 node" {
		t.Errorf("%+v", refusals)
	}
	in.Hubs = in.Hubs[1:]
	in.Nodes = nil
	_, p = s.plan(in)
	if refusals = Refuse(in, p); len(refusals) != 1 || refusals[0].Hub != nodes[1].Hub {
		t.Errorf("%+v", refusals)
	}
}

// indexedNodes returns the nodes of an index with their forms.
func indexedNodes(x *index.Index) map[lynq.NodeKey]lynq.FormKey {
	nodes := map[lynq.NodeKey]lynq.FormKey{}
	for i := range x.Entries {
		if e := &x.Entries[i]; !e.Shared() {
			nodes[e.Node] = e.Form
		}
	}
	return nodes
}
