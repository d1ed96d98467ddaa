package apps

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/test/formtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// appResources returns resources that use all features of a target's objects.
func appResources() string {
	return `
- id: ns
  nameTemplate: "{{ .uid }}"
  spec: {apiVersion: v1, kind: Namespace}
- id: settings
  nameTemplate: settings
  targetNamespace: "{{ .uid }}"
  creationPolicy: Once
  spec: {apiVersion: v1, kind: ConfigMap, data: {a: "1"}, binaryData: {}}
- id: plan
  nameTemplate: plan
  targetNamespace: "{{ .uid }}"
  spec: {apiVersion: v1, kind: ConfigMap, data: {a: "1"}}
- id: login
  nameTemplate: login
  targetNamespace: "{{ .uid }}"
  waitForReady: false
  ignoreFields: [$.stringData.password]
  spec: {apiVersion: v1, kind: Secret, stringData: {password: x}}
- id: app
  nameTemplate: app
  targetNamespace: "{{ .uid }}"
  dependIds: [settings, login]
  timeoutSeconds: 600
  ignoreFields: [$.spec.replicas, "$.spec.template.spec.containers[?(@.name == 'app')].image"]
  spec: {apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1, template: {spec: {containers: [{name: app, image: a}]}}}}
`
}

func TestApps(t *testing.T) {
	for _, test := range []struct {
		name   string
		o      Options
		golden string
	}{
		{"Applications", Options{Kind: policy.AppsApplications, RepoURL: "https://git.example/tenants", Path: "trees/prod/"}, "applications"},
		{"an ApplicationSet", Options{Kind: policy.AppsApplicationSet, RepoURL: "https://git.example/tenants", Revision: "v1", Name: "shop", Namespace: "gitops", Project: "tenants", DestName: "prod"}, "applicationset"},
		{"Kustomizations", Options{Kind: policy.AppsKustomizations, Path: "trees/prod"}, "kustomizations"},
		{"ordered Kustomizations", Options{Kind: policy.AppsOrdered, RepoURL: "ssh://git@git.example/tenants"}, "ordered-kustomizations"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := formtest.Load(t, appResources())
			m, err := New(test.o, []Form{{Form: f}})
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, file := range m.Tree(false) {
				b.WriteString("== " + file.Path + "\n" + string(file.Bytes))
			}
			n := &gitops.Node{NodeID: lynq.NodeID{Form: f.Key(), Name: "acme-a", Namespace: "acme"}}
			if path, text := m.Node(n, "acme-a"); path != "" {
				b.WriteString("== " + path + "\n" + string(text))
			}
			golden(t, test.golden, b.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", file, diff)
	}
}

// TestAppsOfNodes checks that the objects of nodes differ only in names and paths, and
// that these are always text.
func TestAppsOfNodes(t *testing.T) {
	f := formtest.Load(t, formtest.ConfigMap("a", "dependIds: []")+formtest.ConfigMap("b", "dependIds: [a]"))
	for _, test := range []struct{ repoPath, folder, file, name, path string }{
		{"", "acme-a", "acme-a", "acme-a", "./acme-a"},
		{"x/y", "ab/1.5-a", "ab/1.5-a", "1.5-a", "./x/y/ab/1.5-a"},
		{"a: #b", "acme-a", "acme-a", "acme-a", "./a: #b/acme-a"},
		{"", "ab/x-y_ns", "ab/x-y_ns", naming.HashedName("x-y_ns"), "./ab/x-y_ns"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := New(Options{Kind: policy.AppsOrdered, Path: test.repoPath}, []Form{{Form: f}})
			if err != nil {
				t.Fatal(err)
			}
			file, text := m.Node(&gitops.Node{NodeID: lynq.NodeID{Form: f.Key()}}, test.folder)
			if file != "apps/ordered-kustomizations/"+test.file+".yaml" {
				t.Errorf("%s: the file is %s", test.folder, file)
			}
			docs := bytes.Split(bytes.TrimPrefix(text, []byte(separator)), []byte("\n"+separator))
			if len(docs) != 2 {
				t.Fatalf("%s:\n%s", test.folder, text)
			}
			var got struct {
				Metadata struct{ Name string }
				Spec     struct {
					Path      string
					DependsOn []struct{ Name string }
				}
			}
			if err := yaml.Unmarshal(docs[1], &got); err != nil {
				t.Fatalf("%v\n%s", err, docs[1])
			}
			if got.Metadata.Name != test.name+"-b" || got.Spec.Path != test.path || len(got.Spec.DependsOn) != 1 || got.Spec.DependsOn[0].Name != test.name+"-a" {
				t.Errorf("%s: %+v", test.folder, got)
			}
		})
	}
	if file, _ := (&Maker{}).Node(&gitops.Node{NodeID: lynq.NodeID{Form: lynq.FormKey{Name: "another"}}}, "x"); file != "" {
		t.Errorf("a node of no known form has %s", file)
	}
}

// TestClashes reports Kustomizations of resources with the same name, for any order of
// nodes.
func TestClashes(t *testing.T) {
	web := formtest.Load(t, formtest.ConfigMap("db-x", "dependIds: []")+formtest.ConfigMap("app", "dependIds: [db-x]"))
	db := formtest.Load(t, formtest.ConfigMap("x", "dependIds: []"))
	db.Name = "db"
	node := func(name string, f *form.Form) *gitops.Node {
		return &gitops.Node{NodeID: lynq.NodeID{Form: f.Key(), Namespace: "shop", Name: name}, Objects: []gitops.Object{{ObjectKey: index.ObjectKey{Ref: lynq.Ref{Kind: "ConfigMap", Name: name}}, Bytes: []byte("{}")}}}
	}
	for _, test := range []struct {
		kind  policy.Apps
		nodes []*gitops.Node
		want  []string
	}{
		{policy.AppsOrdered, []*gitops.Node{node("acme-web", web), node("acme-web-db", db)}, []string{`resource "db-x" of node acme-web and resource "x" of node acme-web-db have one Kustomization, acme-web-db-x (give one of the resources another id)`}},
		{policy.AppsOrdered, []*gitops.Node{node("acme-web-db", db), node("acme-web", web)}, []string{`resource "x" of node acme-web-db and resource "db-x" of node acme-web have one Kustomization, acme-web-db-x (give one of the resources another id)`}},
		{policy.AppsOrdered, []*gitops.Node{node("acme-web", web), node("bolt-db", db)}, nil},
		{policy.AppsKustomizations, []*gitops.Node{node("acme-web", web), node("acme-web-db", db)}, nil},
	} {
		t.Run(string(test.kind), func(t *testing.T) {
			m, err := New(Options{Kind: test.kind}, []Form{{Form: web}, {Form: db}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, clash := range gitops.Lay(&gitops.Input{Nodes: test.nodes, Index: &index.Index{}, Apps: m}).Clashes {
				got = append(got, clash.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: %s", test.kind, diff)
			}
		})
	}
}

// TestClashesWithKept reports a Kustomization with the name of one that a run of another hub
// wrote into the tree.
func TestClashesWithKept(t *testing.T) {
	web := formtest.Load(t, formtest.ConfigMap("db-x", "dependIds: []"))
	db := formtest.Load(t, formtest.ConfigMap("x", "dependIds: []"))
	db.Name = "db"
	lay := func(hub string, f *form.Form, node string, x *index.Index, kind policy.Apps) *gitops.Layout {
		h := lynq.HubKey{Name: hub}
		m, err := New(Options{Kind: kind}, []Form{{Hub: h, Form: f}})
		if err != nil {
			t.Fatal(err)
		}
		return gitops.Lay(&gitops.Input{
			Scope: index.Scope{Hubs: []index.HubScope{{HubKey: h, Forms: []lynq.FormKey{f.Key()}}}}, Index: x, Apps: m,
			Nodes: []*gitops.Node{{NodeID: lynq.NodeID{Hub: h, Form: f.Key(), Namespace: "shop", Name: node}, Objects: []gitops.Object{
				{ObjectKey: index.ObjectKey{ID: f.Wanted()[0].ID, Ref: lynq.Ref{Kind: "ConfigMap", Name: node}}, Bytes: []byte("{}")},
			}}},
		})
	}
	for _, test := range []struct {
		name string
		kind policy.Apps
		node string
		want string
	}{
		{"the same name", policy.AppsOrdered, "acme-web-db", `resource "x" of node acme-web-db and resource "db-x" of node acme-web have one Kustomization, acme-web-db-x (give one of the resources another id)`},
		{"another name", policy.AppsOrdered, "bolt-db", ""},
		{"a Kustomization per node", policy.AppsKustomizations, "acme-web-db", ""},
		{"the node itself, of another hub", policy.AppsOrdered, "acme-web", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := &index.Index{}
			for _, f := range lay("crm", web, "acme-web", x, test.kind).Files {
				x.Entries = append(x.Entries, index.Entry{Path: f.Path, Owned: f.Owned})
			}
			got := ""
			for _, clash := range lay("shop", db, test.node, x, test.kind).Clashes {
				got += clash.Error()
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestOptions checks missing and invalid options.
func TestOptions(t *testing.T) {
	resources := formtest.ConfigMap("a", "dependIds: []")
	for _, test := range []struct {
		o    Options
		want string // "" for no error
	}{
		{Options{Kind: policy.AppsApplications}, "--repo-url"},
		{Options{Kind: policy.AppsApplicationSet}, "--repo-url"},
		{Options{Kind: policy.AppsKustomizations, Revision: "main"}, "a revision is of use with the URL"},
		{Options{Kind: policy.AppsKustomizations, Path: "../x"}, "leads out of the repository"},
		{Options{Kind: policy.AppsKustomizations, Path: "x/../.."}, "leads out of the repository"},
		{Options{Kind: policy.AppsKustomizations, Path: "/x/./y"}, ""},
		{Options{Kind: policy.AppsKustomizations, Name: "A"}, "valid in Kubernetes"},
		{Options{Kind: policy.AppsKustomizations, Namespace: "a.b"}, "valid in Kubernetes"},
	} {
		_, err := New(test.o, []Form{{Form: formtest.Load(t, resources)}})
		if err == nil && test.want != "" || err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: %v", test.o, err)
		}
	}
	_, err := New(Options{Kind: policy.AppsOrdered}, []Form{{Form: formtest.Load(t, formtest.ConfigMap("'a:b'", "dependIds: []"))}})
	if err == nil || !strings.Contains(err.Error(), `resource "a:b": no selector of Flux finds it`) {
		t.Error(err)
	}
}

// TestApplicationSetOfForms checks that one ApplicationSet serves all forms, if it can
// distinguish their resources.
func TestApplicationSetOfForms(t *testing.T) {
	o := Options{Kind: policy.AppsApplicationSet, RepoURL: "https://git.example/x"}
	rules := func(forms ...string) (string, error) {
		var all []Form
		for _, f := range formtest.LoadAll(t, "", forms...) {
			all = append(all, Form{Form: f})
		}
		m, err := New(o, all)
		if err != nil {
			return "", err
		}
		var b strings.Builder
		for i := range m.all {
			b.Write(documentsOf(m.all[i].argo()))
		}
		return strings.ReplaceAll(b.String(), "# Written by lynqctl render.\n", ""), nil
	}
	ignoring := func(id, path string) string { return formtest.ConfigMap(id, "ignoreFields: ["+path+"]") }
	for _, test := range []struct {
		forms     []string
		want, err string
	}{
		{forms: []string{formtest.ConfigMap("a", "dependIds: []"), formtest.ConfigMap("a", "dependIds: []")}},
		{forms: []string{ignoring("a", "$.data.x"), ignoring("a", "$.data.x")}, want: "jsonPointers:\n- /data/x\nkind: ConfigMap\n"},
		{forms: []string{ignoring("a", "$.data.x"), ignoring("b", "$.data.y")},
			want: "jqPathExpressions:\n- select(.metadata.annotations[\"lynq.sh/resource-id\"] == \"a\") | .data?.x?\nkind: ConfigMap\n" +
				"jqPathExpressions:\n- select(.metadata.annotations[\"lynq.sh/resource-id\"] == \"b\") | .data?.y?\nkind: ConfigMap\n"},
		{forms: []string{ignoring("a", "$.data.x"), ignoring("a", "$.data.y")}, err: `cannot tell resource "a" of form "a" from that of form "b"`},
	} {
		t.Run(test.err, func(t *testing.T) {
			got, err := rules(test.forms...)
			if got != test.want || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v: %v\n%s", test.forms, err, got)
			}
		})
	}
}

func TestTargets(t *testing.T) {
	for _, name := range []string{"plain", "argo", "flux"} {
		t.Run(name, func(t *testing.T) {
			target, err := policy.ParseTarget(name)
			if err != nil || string(target) != name || target.Title() == "" {
				t.Error(name, err)
			}
			for _, apps := range []string{"applications", "applicationset", "kustomizations", "ordered-kustomizations", "none", "x"} {
				kind, err := policy.ParseApps(target, apps)
				if fits := strings.Contains(apps, "application") && name == "argo" || strings.Contains(apps, "kustomization") && name == "flux"; fits != (err == nil) || fits && string(kind) != apps {
					t.Errorf("%s %s: %v", name, apps, err)
				}
			}
		})
	}
	if _, err := policy.ParseTarget("helm"); err == nil {
		t.Error("helm is a target")
	}
}

// TestGeneratedNames checks that an ApplicationSet names Applications after folders, as
// Argo CD normalizes them. Two folders with one name are an error.
func TestGeneratedNames(t *testing.T) {
	for folder, want := range map[string]string{
		"acme-web": "acme-web", "0f/acme-web_eu": "acme-web-eu", "_con": "con", "a.example.com-web": "a.example.com-web", strings.Repeat("x", 260): strings.Repeat("x", 253),
	} {
		t.Run(folder, func(t *testing.T) {
			m := &Maker{options: Options{Kind: policy.AppsApplicationSet}}
			if got := m.Generated(folder); got != want {
				t.Errorf("%s: %s, want %s", folder, got, want)
			}
		})
	}
	node := func(namespace, name string) *gitops.Node {
		return &gitops.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "a"}, Namespace: namespace, Name: name}, Objects: []gitops.Object{object(namespace, name)}}
	}
	nodes := []*gitops.Node{node("eu", "acme-web"), node("us", "acme-web"), node("us", "acme-web-eu")}
	for kind, clash := range map[policy.Apps]string{
		policy.AppsApplications:   "",
		policy.AppsApplicationSet: "folders acme-web-eu and acme-web_eu have one Application, acme-web-eu (give one of the rows another uid, or use --emit-apps=applications)",
	} {
		t.Run(string(kind), func(t *testing.T) {
			m, err := New(Options{Kind: kind, RepoURL: "https://git.example/x"}, []Form{{lynq.HubKey{Name: "crm"}, formtest.Load(t, formtest.ConfigMap("a", "dependIds: []"))}})
			if err != nil {
				t.Fatal(err)
			}
			in := &gitops.Input{Nodes: nodes, Apps: m, Index: &index.Index{}}
			if got := errors.Join(gitops.Lay(in).Clashes...); clash == "" && got != nil || clash != "" && (got == nil || got.Error() != clash) {
				t.Errorf("%s: %v", kind, got)
			}
		})
	}
}

// TestCircleOfKustomizations has two resources that need each other. Only one depends on
// the other.
func TestCircleOfKustomizations(t *testing.T) {
	circle := formtest.Object("v1", "Namespace", "ns", "dependIds: [in], deletionPolicy: Retain") +
		"- {id: in, nameTemplate: x, targetNamespace: \" {{ .uid }}-ns\", spec: {apiVersion: v1, kind: ConfigMap}}\n"
	m, err := New(Options{Kind: policy.AppsOrdered}, []Form{{Form: formtest.Load(t, circle)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, text := m.Node(&gitops.Node{NodeID: lynq.NodeID{Form: lynq.FormKey{Name: "a"}}}, "x-a"); strings.Count(string(text), "dependsOn") != 1 {
		t.Errorf("Kustomizations depend on each other:\n%s", text)
	}
}

// formNode returns a node of the form in a namespace.
func formNode(namespace string) *gitops.Node {
	return &gitops.Node{
		NodeID:  lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Namespace: namespace, Name: "web"}, Namespace: "shared", Name: "acme-" + namespace},
		Objects: []gitops.Object{object("shared", "acme")},
	}
}

// object returns an object of a node.
func object(namespace, name string) gitops.Object {
	return gitops.Object{ObjectKey: index.ObjectKey{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: namespace, Name: name}, ID: "id"}, Bytes: []byte("{}")}
}

// indexOf returns the index of a tree with some nodes.
func indexOf(nodes []*gitops.Node) *index.Index {
	in := &gitops.Input{Nodes: nodes, Index: &index.Index{}}
	layout := gitops.Lay(in)
	return gitops.Compare(in, layout, &gitops.Disk{Files: make([]gitops.State, len(layout.Files))}, false).Final()
}

// TestAppsOfFormsOfOneName checks that each node follows its own form, and that one
// ApplicationSet needs both forms.
func TestAppsOfFormsOfOneName(t *testing.T) {
	of := func(namespace, more string) *form.Form {
		f := formtest.Load(t, formtest.ConfigMap("a", more))
		f.Name, f.Namespace = "web", namespace
		return f
	}
	forms := []Form{{lynq.HubKey{Name: "crm"}, of("eu", "ignoreFields: [$.data.eu]")}, {lynq.HubKey{Name: "crm"}, of("us", "ignoreFields: [$.data.us]")}}
	for range 2 {
		slices.Reverse(forms)
		m, err := New(Options{Kind: policy.AppsApplications, RepoURL: "https://git.example/x"}, forms)
		if err != nil {
			t.Fatal(err)
		}
		for _, ns := range []string{"eu", "us"} {
			n := formNode(ns)
			if _, text := m.Node(n, "acme-web"); !strings.Contains(string(text), "/data/"+ns) {
				t.Errorf("%s:\n%s", ns, text)
			}
		}
	}
	index := indexOf([]*gitops.Node{formNode("eu"), formNode("us")})
	renamed := of("us", "dependIds: []")
	renamed.Name, renamed.RenamedFrom = "shop", form.Text{Text: "web"}
	for _, test := range []struct {
		forms []Form
		want  string
	}{
		{[]Form{{lynq.HubKey{Name: "crm"}, of("eu", "dependIds: []")}, {lynq.HubKey{Name: "crm"}, of("us", "dependIds: []")}}, ""},
		{[]Form{{lynq.HubKey{Name: "crm"}, of("eu", "dependIds: []")}}, `hub "crm", form "us/web", which`},
		{[]Form{{lynq.HubKey{Name: "crm"}, of("eu", "dependIds: []")}, {lynq.HubKey{Name: "crm"}, renamed}}, ""},
	} {
		m, err := New(Options{Kind: policy.AppsApplicationSet, RepoURL: "https://git.example/x"}, test.forms)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Covers(index); err == nil && test.want != "" || err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

// TestReserved checks that no object for a node gets the name of one that deploys a tree.
func TestReserved(t *testing.T) {
	web := &form.Form{Name: "web"}
	web.Resources = []*form.Resource{{ID: "apps"}, {ID: "text"}}
	n := &gitops.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}}}
	for _, test := range []struct {
		kind         policy.Apps
		folder, want string
	}{
		{policy.AppsKustomizations, "acme-web", ""},
		{policy.AppsKustomizations, "shop", ""},
		{policy.AppsKustomizations, "shop-apps", "shop-apps"},
		{policy.AppsApplications, "3e/shop-apps", "shop-apps"},
		{policy.AppsApplications, "lynqctl-apps", "lynqctl-apps"},
		{policy.AppsApplicationSet, "shop_apps", "shop-apps"},
		{policy.AppsKustomizations, "flux-system", "flux-system"},
		{policy.AppsOrdered, "shop", "shop-apps"},
		{policy.AppsOrdered, "acme", ""},
		{policy.AppsNone, "lynqctl-apps", ""},
	} {
		t.Run(string(test.kind), func(t *testing.T) {
			m := &Maker{options: Options{Kind: test.kind, Name: "shop"}, forms: []Form{{Hub: n.Hub, Form: web}}}
			if got := m.Reserved(n, test.folder); got != test.want {
				t.Errorf("%s, %s: %q, want %q", test.kind, test.folder, got, test.want)
			}
		})
	}
}
