package gitops

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// texts returns the files of a layout.
func texts(l *Layout) map[string]string {
	all := map[string]string{}
	for _, f := range l.Files {
		all[f.Path] = string(f.Bytes)
	}
	return all
}

// ledTo returns the documents that a kustomization.yaml leads to, in order.
func ledTo(t *testing.T, files map[string]string, folder string) []string {
	t.Helper()
	file := path.Join(folder, kustomizationFile)
	var k struct {
		Resources   []string
		SortOptions struct{ Order string }
	}
	if err := yaml.UnmarshalStrict([]byte(files[file]), &k, yaml.DisallowUnknownFields); err != nil && !strings.Contains(err.Error(), `"apiVersion"`) {
		t.Fatalf("%s: %v", file, err)
	}
	if k.SortOptions.Order != "fifo" {
		t.Errorf("%s is ordered %q", file, k.SortOptions.Order)
	}
	var all []string
	for _, r := range k.Resources {
		at := path.Join(folder, r)
		text, isFile := files[at]
		if !isFile {
			all = append(all, ledTo(t, files, at)...)
			continue
		}
		for _, d := range documents([]byte(text)) {
			all = append(all, string(d))
		}
	}
	return all
}

// nastyNodes returns nodes with confusing values, names and orders.
func nastyNodes() []*Node {
	texts := []string{"plain", "|-\n    ---\n    a\n    ---", "\"---\\n\"", "'- ---'"}
	var nodes []*Node
	for i, name := range []string{"acme-web", "12345678", "0x1f-web", "1e-5", "null", "y", "beta.example.com-web"} {
		n := &Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, Namespace: "blue", Name: name}}
		for j, text := range texts {
			n.Objects = append(n.Objects, settingsObject("blue", fmt.Sprintf("z%d-%d", 9-j, i), text))
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// TestTreeIsStream checks that the tree has the same bytes as the stream, in the order of
// nodes and objects.
func TestTreeIsStream(t *testing.T) {
	nodes := nastyNodes()
	slices.SortFunc(nodes, func(a, b *Node) int { return compareNodes(a.Key(), b.Key()) })
	var want []string
	for _, n := range nodes {
		for _, o := range n.Objects {
			want = append(want, string(o.Bytes))
		}
	}
	for _, a := range []Arrangement{{}, {PerNode: true}, {Spread: true}, {PerNode: true, Spread: true}} {
		in := inputOf(nodes)
		in.Arrangement, in.Index = a, &index.Index{}
		got := ledTo(t, texts(Lay(in)), ".")
		if a.Spread { // nodes are ordered by the hash of their names
			slices.Sort(got)
			sorted := slices.Sorted(slices.Values(want))
			if diff := cmp.Diff(sorted, got); diff != "" {
				t.Errorf("%+v: %s", a, diff)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v: %s", a, diff)
		}
	}
}

// TestLayouts checks complete trees.
func TestLayouts(t *testing.T) {
	nodes := []*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "2")}
	for _, test := range []struct {
		arrangement Arrangement
		want        []string
	}{
		{Arrangement{}, []string{
			"acme-web/configmap-acme.yaml", "acme-web/kustomization.yaml",
			"beta-web/configmap-beta.yaml", "beta-web/kustomization.yaml", "kustomization.yaml",
		}},
		{Arrangement{PerNode: true}, []string{"acme-web.yaml", "beta-web.yaml", "kustomization.yaml"}},
		{Arrangement{Spread: true}, []string{
			"6b/acme-web/configmap-acme.yaml", "6b/acme-web/kustomization.yaml", "6b/kustomization.yaml",
			"8f/beta-web/configmap-beta.yaml", "8f/beta-web/kustomization.yaml", "8f/kustomization.yaml", "kustomization.yaml",
		}},
		{Arrangement{PerNode: true, Spread: true}, []string{
			"6b/acme-web.yaml", "6b/kustomization.yaml", "8f/beta-web.yaml", "8f/kustomization.yaml", "kustomization.yaml",
		}},
	} {
		in := inputOf(nodes)
		in.Arrangement, in.Index = test.arrangement, &index.Index{}
		l := Lay(in)
		var got []string
		for _, f := range l.Files {
			got = append(got, f.Path)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v: %s", test.arrangement, diff)
		}
		slices.Reverse(in.Nodes)
		if diff := cmp.Diff(texts(l), texts(Lay(in))); diff != "" {
			t.Errorf("%+v: the order of the nodes matters: %s", test.arrangement, diff)
		}
	}
}

// TestKustomization quotes names that YAML would misread.
func TestKustomization(t *testing.T) {
	want := []string{"acme-web", "00", "5e10", "1e5", "null", "on", "2024-01-01", "a.b", "_nul.x-web", "x_ns", "e1"}
	var k struct{ Resources []string }
	if err := yaml.Unmarshal(kustomization(want), &k); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, k.Resources); diff != "" {
		t.Error(diff)
	}
	var loose struct{ Resources []any }
	if err := yaml.Unmarshal(kustomization(want), &loose); err != nil {
		t.Fatal(err)
	}
	for i, r := range loose.Resources {
		if r != any(want[i]) {
			t.Errorf("%q is read as %v", want[i], r)
		}
	}
	if !bytes.Contains(kustomization(nil), []byte("resources: []\n")) {
		t.Error("an empty list is none")
	}
}

// TestOneNameTwoNamespaces checks that nodes with one name don't collide, even if the
// other node's hub isn't in the run. Each keeps its folder.
func TestOneNameTwoNamespaces(t *testing.T) {
	blue, green := rowNode("crm", "acme", "1"), rowNode("shop", "acme", "2")
	green.Namespace, green.Objects[0].Namespace = "green", "green"
	both := []*Node{blue, green}
	for _, test := range []struct {
		name string
		runs [][]*Node
		want []string
	}{
		{"both at once", [][]*Node{both, both, {blue}, {green}}, []string{"acme-web_default", "acme-web_green"}},
		{"one after the other", [][]*Node{{blue}, {green}}, []string{"acme-web", "acme-web_green"}},
		{"one, then both", [][]*Node{{blue}, both, {blue}, {green}, both}, []string{"acme-web", "acme-web_green"}},
		{"the second first", [][]*Node{{green}, {blue}, both}, []string{"acme-web", "acme-web_default"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, a := range []Arrangement{{}, {PerNode: true}, {Spread: true}, {PerNode: true, Spread: true}} {
				s := newSite(t)
				s.quick = true
				for _, nodes := range test.runs {
					in := inputOf(nodes)
					in.Arrangement = a
					s.run(in)
				}
				if diff := cmp.Diff(test.want, s.bases()); diff != "" {
					t.Errorf("%+v: %s", a, diff)
				}
			}
		})
	}
}

// TestNameOfOneThatWent checks that a node keeps its name with the namespace. Another node
// may take the name of a deleted one.
func TestNameOfOneThatWent(t *testing.T) {
	blue, green := rowNode("crm", "acme", "1"), rowNode("crm", "acme", "2")
	green.Namespace = "green"
	s := newSite(t)
	for _, run := range []struct {
		nodes []*Node
		want  []string
	}{
		{[]*Node{blue, green}, []string{"acme-web_default", "acme-web_green"}},
		{[]*Node{green}, []string{"acme-web_green"}},
		{[]*Node{blue}, []string{"acme-web"}},
		{[]*Node{green}, []string{"acme-web"}},
	} {
		s.run(inputOf(run.nodes))
		if diff := cmp.Diff(run.want, s.bases()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestSelector checks that skipped objects remain and stay listed. lynqctl doesn't write
// skipped objects of a new node.
func TestSelector(t *testing.T) {
	s := newSite(t)
	two := func(text string) *Node {
		n := rowNode("crm", "acme", text)
		n.Objects = append(n.Objects, objectOf(lynq.Ref{Kind: "Service", Namespace: "default", Name: "acme"}, text), settingsObject("default", "gone", text))
		return n
	}
	s.run(inputOf([]*Node{two("1"), rowNode("crm", "beta", "1")}))
	n := two("2")
	n.Objects = n.Objects[:2]
	n.Objects[1].LeftOut = true
	fresh := two("3")
	fresh.Name = "coda-web"
	fresh.Objects[0].LeftOut, fresh.Objects[2].LeftOut = true, true
	in := inputOf([]*Node{n, fresh})
	in.Selected = true
	s.run(in)
	files := s.files()
	for path, want := range map[string]string{
		"acme-web/configmap-acme.yaml": "2", "acme-web/service-acme.yaml": "1", "acme-web/configmap-gone.yaml": "1",
		"beta-web/configmap-beta.yaml": "1", "coda-web/service-acme.yaml": "3", "coda-web/configmap-acme.yaml": "",
	} {
		t.Run(path, func(t *testing.T) {
			if _, text, _ := strings.Cut(files[path], "text: "); strings.TrimSpace(text) != want {
				t.Errorf("%s: %q, want %q", path, text, want)
			}
		})
	}
	if want := string(kustomization([]string{"configmap-acme.yaml", "service-acme.yaml", "configmap-gone.yaml"})); files["acme-web/kustomization.yaml"] != want {
		t.Error(files["acme-web/kustomization.yaml"])
	}
	if want := string(kustomization([]string{"service-acme.yaml"})); files["coda-web/kustomization.yaml"] != want {
		t.Error(files["coda-web/kustomization.yaml"])
	}
	if want := string(kustomization([]string{"acme-web", "beta-web", "coda-web"})); files["kustomization.yaml"] != want {
		t.Error(files["kustomization.yaml"])
	}
}
