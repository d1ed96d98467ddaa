package gitops

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

var update = flag.Bool("update", false, "write the golden files anew")

// appResources are resources with all that objects of a target have to say.
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
		o      AppOptions
		golden string
	}{
		{"Applications", AppOptions{Kind: AppsApplications, RepoURL: "https://git.example/tenants", Path: "trees/prod/"}, "applications"},
		{"an ApplicationSet", AppOptions{Kind: AppsApplicationSet, RepoURL: "https://git.example/tenants", Revision: "v1", Name: "shop", Namespace: "gitops", Project: "tenants", DestName: "prod"}, "applicationset"},
		{"Kustomizations", AppOptions{Kind: AppsKustomizations, Path: "trees/prod"}, "kustomizations"},
		{"ordered Kustomizations", AppOptions{Kind: AppsOrdered, RepoURL: "ssh://git@git.example/tenants"}, "ordered-kustomizations"},
	} {
		f := loadForm(t, appResources())
		m, err := NewAppMaker(test.o, []AppForm{{Form: f}})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, file := range m.tree(false) {
			b.WriteString("== " + file.Path + "\n" + string(file.Bytes))
		}
		n := &Node{NodeKey: NodeKey{Name: "acme-a", Namespace: "acme"}, Form: f.Name}
		if path, text := m.node(n, "acme-a"); path != "" {
			b.WriteString("== " + path + "\n" + string(text))
		}
		golden(t, test.golden, b.String())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "apps", name+".yaml")
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

// TestAppsOfNodes: what differs between nodes is their names and paths, which are
// text whatever they look like.
func TestAppsOfNodes(t *testing.T) {
	f := loadForm(t, configMap("a", "dependIds: []")+configMap("b", "dependIds: [a]"))
	for _, test := range []struct{ repoPath, folder, file, name, path string }{
		{"", "acme-a", "acme-a", "acme-a", "./acme-a"},
		{"x/y", "ab/1.5-a", "ab/1.5-a", "1.5-a", "./x/y/ab/1.5-a"},
		{"a: #b", "acme-a", "acme-a", "acme-a", "./a: #b/acme-a"},
		{"", "ab/x-y_ns", "ab/x-y_ns", lynq.HashedName("x-y_ns"), "./ab/x-y_ns"},
	} {
		m, err := NewAppMaker(AppOptions{Kind: AppsOrdered, Path: test.repoPath}, []AppForm{{Form: f}})
		if err != nil {
			t.Fatal(err)
		}
		file, text := m.node(&Node{Form: f.Name}, test.folder)
		if file != "apps/ordered-kustomizations/"+test.file+".yaml" {
			t.Errorf("%s: the file is %s", test.folder, file)
		}
		docs := documents(text)
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
	}
	if file, _ := (&AppMaker{}).node(&Node{Form: "another"}, "x"); file != "" {
		t.Errorf("a node of no known form has %s", file)
	}
}

// Kustomizations of resources that would have one name are told, in whatever order
// the nodes come.
func TestClashes(t *testing.T) {
	web := loadForm(t, configMap("db-x", "dependIds: []")+configMap("app", "dependIds: [db-x]"))
	db := loadForm(t, configMap("x", "dependIds: []"))
	db.Name = "db"
	node := func(name string, f *form.Form) *Node {
		return &Node{NodeKey: NodeKey{Namespace: "shop", Name: name}, Form: f.Name, Objects: []Object{{ObjectKey: ObjectKey{Ref: lynq.Ref{Kind: "ConfigMap", Name: name}}, Bytes: []byte("{}")}}}
	}
	for _, test := range []struct {
		kind  Apps
		nodes []*Node
		want  []string
	}{
		{AppsOrdered, []*Node{node("acme-web", web), node("acme-web-db", db)}, []string{`resource "db-x" of node acme-web and resource "x" of node acme-web-db have one Kustomization, acme-web-db-x (give one of the resources another id)`}},
		{AppsOrdered, []*Node{node("acme-web-db", db), node("acme-web", web)}, []string{`resource "x" of node acme-web-db and resource "db-x" of node acme-web have one Kustomization, acme-web-db-x (give one of the resources another id)`}},
		{AppsOrdered, []*Node{node("acme-web", web), node("bolt-db", db)}, nil},
		{AppsKustomizations, []*Node{node("acme-web", web), node("acme-web-db", db)}, nil},
	} {
		m, err := NewAppMaker(AppOptions{Kind: test.kind}, []AppForm{{Form: web}, {Form: db}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, clash := range Lay(&Input{Nodes: test.nodes, Index: &Index{}, Apps: m}).Clashes {
			got = append(got, clash.Error())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.kind, diff)
		}
	}
}

// TestAppOptions: what is missing or wrong.
func TestAppOptions(t *testing.T) {
	resources := configMap("a", "dependIds: []")
	for _, test := range []struct {
		o    AppOptions
		want string // "" is no error
	}{
		{AppOptions{Kind: AppsApplications}, "the URL of the repository is needed"},
		{AppOptions{Kind: AppsApplicationSet}, "the URL of the repository is needed"},
		{AppOptions{Kind: AppsKustomizations, Revision: "main"}, "a revision is of use with the URL"},
		{AppOptions{Kind: AppsKustomizations, Path: "../x"}, "leads out of the repository"},
		{AppOptions{Kind: AppsKustomizations, Path: "x/../.."}, "leads out of the repository"},
		{AppOptions{Kind: AppsKustomizations, Path: "/x/./y"}, ""},
		{AppOptions{Kind: AppsKustomizations, Name: "A"}, "none that Kubernetes accepts"},
		{AppOptions{Kind: AppsKustomizations, Namespace: "a.b"}, "none that Kubernetes accepts"},
	} {
		_, err := NewAppMaker(test.o, []AppForm{{Form: loadForm(t, resources)}})
		if err == nil && test.want != "" || err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: %v", test.o, err)
		}
	}
	_, err := NewAppMaker(AppOptions{Kind: AppsOrdered}, []AppForm{{Form: loadForm(t, configMap("'a:b'", "dependIds: []"))}})
	if err == nil || !strings.Contains(err.Error(), `resource "a:b": no selector of Flux finds it`) {
		t.Error(err)
	}
}

// TestApplicationSetOfForms: one ApplicationSet serves all forms, as far as it
// can tell their resources apart.
func TestApplicationSetOfForms(t *testing.T) {
	o := AppOptions{Kind: AppsApplicationSet, RepoURL: "https://git.example/x"}
	rules := func(forms ...string) (string, error) {
		var all []AppForm
		for _, f := range loadForms(t, "", forms...) {
			all = append(all, AppForm{Form: f})
		}
		m, err := NewAppMaker(o, all)
		if err != nil {
			return "", err
		}
		var b strings.Builder
		for i := range m.all {
			b.Write(documentsOf(m.all[i].argo()))
		}
		return strings.ReplaceAll(b.String(), "# Written by lynqctl render.\n", ""), nil
	}
	ignoring := func(id, path string) string { return configMap(id, "ignoreFields: ["+path+"]") }
	for _, test := range []struct {
		forms     []string
		want, err string
	}{
		{forms: []string{configMap("a", "dependIds: []"), configMap("a", "dependIds: []")}},
		{forms: []string{ignoring("a", "$.data.x"), ignoring("a", "$.data.x")}, want: "jsonPointers:\n- /data/x\nkind: ConfigMap\n"},
		{forms: []string{ignoring("a", "$.data.x"), ignoring("b", "$.data.y")},
			want: "jqPathExpressions:\n- select(.metadata.annotations[\"lynq.sh/resource-id\"] == \"a\") | .data?.x?\nkind: ConfigMap\n" +
				"jqPathExpressions:\n- select(.metadata.annotations[\"lynq.sh/resource-id\"] == \"b\") | .data?.y?\nkind: ConfigMap\n"},
		{forms: []string{ignoring("a", "$.data.x"), ignoring("a", "$.data.y")}, err: `cannot tell resource "a" of form "a" from that of form "b"`},
	} {
		got, err := rules(test.forms...)
		if got != test.want || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%v: %v\n%s", test.forms, err, got)
		}
	}
}

func TestTargets(t *testing.T) {
	for _, name := range []string{"plain", "argo", "flux"} {
		target, err := ParseTarget(name)
		if err != nil || string(target) != name || target.Title() == "" {
			t.Error(name, err)
		}
		for _, apps := range []string{"applications", "applicationset", "kustomizations", "ordered-kustomizations", "none", "x"} {
			kind, err := ParseApps(target, apps)
			if fits := strings.Contains(apps, "application") && name == "argo" || strings.Contains(apps, "kustomization") && name == "flux"; fits != (err == nil) || fits && string(kind) != apps {
				t.Errorf("%s %s: %v", name, apps, err)
			}
		}
	}
	if _, err := ParseTarget("helm"); err == nil {
		t.Error("helm is a target")
	}
}

// TestDropApps: what speaks for the whole tree goes only with the whole tree.
func TestDropApps(t *testing.T) {
	const set = "apps/applicationset/applicationset.yaml"
	m, err := NewAppMaker(AppOptions{Kind: AppsApplicationSet, RepoURL: "https://git.example/x"}, []AppForm{{Form: loadForm(t, appResources())}})
	if err != nil {
		t.Fatal(err)
	}
	acme, beta := rowNode("crm", "acme", "1"), rowNode("erp", "beta", "1")
	failed := rowNode("erp", "beta", "1")
	failed.Failed = true
	for _, test := range []struct {
		name string
		in   *Input
		goes bool
	}{
		{"all", inputOf([]*Node{acme, beta}), true},
		{"one hub of two", inputOf([]*Node{acme}), false},
		{"a node that could not be rendered", inputOf([]*Node{acme, failed}), false},
	} {
		s := newSite(t)
		in := inputOf([]*Node{acme, beta})
		in.Apps = m
		s.run(in)
		if s.files()[set] == "" {
			t.Fatalf("%s: %v", test.name, s.paths())
		}
		test.in.DropApps = true
		s.run(test.in)
		if gone := s.files()[set] == ""; gone != test.goes {
			t.Errorf("%s: gone: %v, want %v", test.name, gone, test.goes)
		}
	}
}

// TestGeneratedNames: an ApplicationSet calls Applications after folders as Argo CD
// normalises their names. Two folders of one name are told.
func TestGeneratedNames(t *testing.T) {
	for folder, want := range map[string]string{
		"acme-web": "acme-web", "0f/acme-web_eu": "acme-web-eu", "_con": "con", "a.example.com-web": "a.example.com-web", strings.Repeat("x", 260): strings.Repeat("x", 253),
	} {
		m := &AppMaker{options: AppOptions{Kind: AppsApplicationSet}}
		if got := m.generated(folder); got != want {
			t.Errorf("%s: %s, want %s", folder, got, want)
		}
	}
	node := func(namespace, name string) *Node {
		return &Node{NodeKey: NodeKey{namespace, name}, Hub: HubKey{Name: "crm"}, Form: "a", Objects: []Object{settingsObject(namespace, name, "x")}}
	}
	nodes := []*Node{node("eu", "acme-web"), node("us", "acme-web"), node("us", "acme-web-eu")}
	for kind, clash := range map[Apps]string{
		AppsApplications:   "",
		AppsApplicationSet: "folders acme-web-eu and acme-web_eu have one Application, acme-web-eu (give one of the rows another uid, or use --emit-apps=applications)",
	} {
		m, err := NewAppMaker(AppOptions{Kind: kind, RepoURL: "https://git.example/x"}, []AppForm{{HubKey{Name: "crm"}, loadForm(t, configMap("a", "dependIds: []"))}})
		if err != nil {
			t.Fatal(err)
		}
		in := inputOf(nodes)
		in.Apps, in.Index = m, &Index{}
		if got := errors.Join(Lay(in).Clashes...); clash == "" && got != nil || clash != "" && (got == nil || got.Error() != clash) {
			t.Errorf("%s: %v", kind, got)
		}
	}
}
