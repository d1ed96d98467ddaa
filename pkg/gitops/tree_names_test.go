package gitops

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

func TestFileNames(t *testing.T) {
	long := strings.Repeat("x", 250)
	for _, test := range []struct {
		name string
		refs []lynq.Ref
		want []string
	}{
		{"kind and name", []lynq.Ref{
			{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "acme-app"}, {Kind: "Service", Namespace: "a", Name: "acme-app"},
		}, []string{"deployment-acme-app.yaml", "service-acme-app.yaml"}},
		{"two namespaces", []lynq.Ref{
			{Kind: "ConfigMap", Namespace: "a", Name: "x"}, {Kind: "ConfigMap", Namespace: "b", Name: "x"}, {Kind: "ConfigMap", Namespace: "a", Name: "y"},
		}, []string{"configmap-x_a.yaml", "configmap-x_b.yaml", "configmap-y.yaml"}},
		{"two groups", []lynq.Ref{
			{Group: "one.io", Kind: "Thing", Name: "x"}, {Group: "two.io", Kind: "Thing", Name: "x"},
		}, []string{"thing-x_one.io.yaml", "thing-x_two.io.yaml"}},
		{"kinds that differ in case", []lynq.Ref{
			{Group: "one.io", Kind: "Thing", Name: "x"}, {Group: "one.io", Kind: "THING", Name: "x"},
		}, []string{"thing-x_one.io_2f342c157b003c96c6644d9e.yaml", "thing-x_one.io_2e4a3245163155cd7032c6be.yaml"}},
		{"characters that file systems have no use for", []lynq.Ref{
			{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:acme/../x"},
			{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system-acme-..-x"},
		}, nil},
		{"a long name", []lynq.Ref{{Kind: "ConfigMap", Name: long}, {Kind: "ConfigMap", Name: long + "y"}}, nil},
		{"a device of Windows", []lynq.Ref{{Group: "x.io", Kind: "Con", Name: "x"}, {Group: "y.io", Kind: "Con", Name: "x"}},
			[]string{"con-x_x.io.yaml", "con-x_y.io.yaml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects := make([]Object, len(test.refs))
			for i, r := range test.refs {
				objects[i].Ref = r
			}
			got := fileNames(objects)
			checkNames(t, test.name, got)
			if diff := cmp.Diff(test.want, got); test.want != nil && diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}

// checkNames checks that each file system accepts the names and keeps them apart.
func checkNames(t *testing.T, what string, names []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, n := range names {
		first, _, _ := strings.Cut(n, ".")
		switch {
		case seen[strings.ToLower(n)]:
			t.Errorf("%s: %s appears twice", what, n)
		case n != strings.ToLower(n), n[0] == '.', n[0] == '-', len(n) > 200, strings.Trim(n, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "":
			t.Errorf("%s: %q", what, n)
		case !strings.Contains(first, "-"): // no device name has a dash
			t.Errorf("%s: %q may be a device", what, n)
		}
		seen[n] = true
	}
}

// FuzzFileNames checks that any objects get separate files within the folder.
func FuzzFileNames(f *testing.F) {
	f.Add("Deployment", "apps", "a", "x", "deployment", "", "b", "x_a")
	f.Add("../..", "", "/", "../../etc/passwd", "A-b", "", "", "c")
	f.Add("A", "", "", "b-c", "A-b", "", "", "c")
	f.Add(".", "", "0", "0", "0", "", "", "0")
	f.Add("A", "", "", strings.Repeat("ü", 200), "a", "", "", "")
	f.Fuzz(func(t *testing.T, kind1, group1, namespace1, name1, kind2, group2, namespace2, name2 string) {
		// The form and render check groups and namespaces.
		for _, s := range []string{group1, namespace1, group2, namespace2} {
			if s != "" && !naming.IsDNS1123Subdomain(s) {
				return
			}
		}
		objects := []Object{
			{ObjectKey: index.ObjectKey{Ref: lynq.Ref{Kind: kind1, Group: group1, Namespace: namespace1, Name: name1}}},
			{ObjectKey: index.ObjectKey{Ref: lynq.Ref{Kind: kind2, Group: group2, Namespace: namespace2, Name: name2}}},
		}
		if kind1 == "" || kind2 == "" || objects[0].Ref == objects[1].Ref || len(group1+namespace1+group2+namespace2) > 40 {
			return
		}
		names := fileNames(objects)
		for _, n := range names {
			if !index.InTree("node/" + n) {
				t.Errorf("%q is not in the tree", n)
			}
		}
		if names[0] == names[1] {
			t.Errorf("%v and %v are both %s", objects[0].Ref, objects[1].Ref, names[0])
		}
	})
}

func TestNodeBase(t *testing.T) {
	for name, want := range map[string]string{
		"acme-web":            "acme-web",
		"nul.acme-web":        "_nul.acme-web",
		"com1.acme-web":       "_com1.acme-web",
		"com-web":             "com-web",
		"lynqctl-index.jsonl": "_lynqctl-index.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			if got := nodeBase(lynq.NodeKey{Namespace: "default", Name: name}, false); got != want {
				t.Errorf("%s", got)
			}
		})
	}
	if got := nodeBase(lynq.NodeKey{Namespace: "blue", Name: "acme-web"}, true); got != "acme-web_blue" {
		t.Error(got)
	}
}

// TestShards checks that no folder has more than a few hundred of 10 000 nodes.
func TestShards(t *testing.T) {
	l := layouter{Input: &Input{Arrangement: Arrangement{Spread: true}}}
	count := map[string]int{}
	for i := range 10_000 {
		count[l.spreadInto(fmt.Sprintf("tenant-%d-web", i))]++
	}
	if len(count) != 256 {
		t.Errorf("%d folders", len(count))
	}
	for folder, n := range count {
		if n > 100 || len(folder) != 2 {
			t.Errorf("folder %s has %d", folder, n)
		}
	}
}
