package form_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// load reads text as standard input, and expects no problem.
func load(t *testing.T, text string) *form.Inputs {
	t.Helper()
	in, err := form.Load([]string{"-"}, false, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

const hubText = `
apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: shop}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
`

// formText returns a form with entries in manifests, which are indented by four.
func formText(name, entries string) string {
	return "---\napiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: " + name + "}\n" +
		"spec:\n  hubId: shop\n  manifests:\n" + entries
}

func ids(f *form.Form) string {
	var list []string
	for _, r := range f.Resources {
		list = append(list, r.ID)
	}
	return strings.Join(list, " ")
}

// TestOperatorInputs loads files for the operator.
func TestOperatorInputs(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/good/operator.txtar")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := txtar.Write(archive, "."); err != nil {
		t.Fatal(err)
	}
	in, err := form.Load([]string{"."}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := func(file string, line int) lynq.Pos { return lynq.Pos{File: file, Line: line} }
	hub := &form.Hub{
		Pos: at("hub.yaml", 14), Name: "shop", Namespace: "apps",
		Source: endpoint.Connection{
			Type: endpoint.SourceMySQL, Host: "mysql.apps.svc", Port: 3307,
			Username: "shop", Database: "shop", Table: "tenants",
		},
		Password:     form.PasswordSource{SecretName: "shop-db", SecretKey: "password", Pos: at("hub.yaml", 30)},
		SyncInterval: 2 * time.Minute,
		Mappings: []form.Mapping{
			{Variable: "activate", Column: "enabled", Pos: at("hub.yaml", 36)},
			{Variable: "hostOrUrl", Column: "address", Pos: at("hub.yaml", 35)},
			{Variable: "image", Column: "container_image", Pos: at("hub.yaml", 39)},
			{Variable: "planId", Column: "plan", Pos: at("hub.yaml", 38)},
			{Variable: "uid", Column: "tenant", Pos: at("hub.yaml", 34)},
		},
	}
	if diff := cmp.Diff([]*form.Hub{hub}, in.Hubs); diff != "" {
		t.Errorf("hub (-want +got):\n%s", diff)
	}
	secrets := []*form.Secret{{
		Pos: at("hub.yaml", 2), Name: "shop-db", Namespace: "apps",
		Data: map[string]endpoint.Secret{"user": "shop", "password": "s3cret"},
	}}
	if diff := cmp.Diff(secrets, in.Secrets); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	web := in.Forms[0]
	if in.Hub(web) != in.Hubs[0] || web.Name != "web" || web.Namespace != "apps" || web.Generation != 7 {
		t.Errorf("form = %+v, hub = %v", web, in.Hub(web))
	}
	if want := (form.Rollout{MaxSkew: 5, ProgressDeadline: 10 * time.Minute, OnFailure: form.StopOnFailure}); !reflect.DeepEqual(web.Rollout, want) {
		t.Errorf("rollout = %v, want %v", web.Rollout, want)
	}
	if got, want := ids(web), "ns crd sa app svc door monitor"; got != want {
		t.Errorf("order = %s, want %s", got, want)
	}
	checkDoor(t, web.Resources[5])
	app := web.Resources[3].Manifest
	if app.Field("status") != nil || app.Field("metadata").Field("creationTimestamp") != nil {
		t.Error("what tools leave in manifests is still there")
	}
}

// checkDoor checks the resource with all fields.
func checkDoor(t *testing.T, door *form.Resource) {
	t.Helper()
	at := func(line int, text string) form.Text {
		return form.Text{Pos: lynq.Pos{File: "form.yaml", Line: line}, Text: text}
	}
	want := &form.Resource{
		Pos: lynq.Pos{File: "form.yaml", Line: 11}, ID: "door", Section: "ingresses",
		APIVersion: "networking.k8s.io/v1", Kind: "Ingress",
		NameTemplate: at(12, "{{ .uid }}"), TargetNamespace: at(13, "shop-{{ .planId }}"),
		Labels: []form.Entry{
			{Key: "app", Text: at(22, "{{ .uid }}")},
			{Key: "plan", Text: at(22, "{{ .planId }}")},
		},
		Annotations: []form.Entry{{Key: "owner", Text: at(23, "{{ .uid }}")}},
		DependIDs:   []string{"svc"},
		Policy: lynq.Policy{
			Lifecycle: lynq.Lifecycle{Creation: lynq.CreateOnce, Deletion: lynq.DeleteRetain, Conflict: lynq.ConflictForce, Patch: lynq.PatchReplace, Unwaited: true},
			Timeout:   time.Minute,
		},
	}
	if diff := cmp.Diff(want, door, cmpopts.IgnoreFields(form.Resource{}, "Manifest")); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	host := door.Manifest.Field("spec").Field("rules").Items[0].Field("host")
	if host.Str != "{{ .host }}" || host.Pos.Line != 28 {
		t.Errorf("host = %+v", host)
	}
}

func TestDefaults(t *testing.T) {
	in := load(t, hubText+formText("web", `  - id: a
    nameTemplate: " "
    targetNamespace: ""
    dependIds: null
    spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}
`))
	if got := in.Hubs[0].SyncInterval; got != 30*time.Second {
		t.Errorf("syncInterval = %v", got)
	}
	f := in.Forms[0]
	if want := (form.Rollout{ProgressDeadline: 600 * time.Second, OnFailure: form.StopOnFailure}); !reflect.DeepEqual(f.Rollout, want) {
		t.Errorf("rollout = %v", f.Rollout)
	}
	r := f.Resources[0]
	if diff := cmp.Diff(lynq.DefaultPolicy(), r.Policy); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
	if r.NameTemplate != (form.Text{}) || r.TargetNamespace != (form.Text{}) {
		t.Errorf("blank texts count: %v, %v", r.NameTemplate, r.TargetNamespace)
	}
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hub.yaml")
	server := endpoint.Connection{Host: "db", Username: "u", Database: "d", Table: "s.t"}
	for name, test := range map[string]struct {
		source   string
		want     endpoint.Connection
		password form.PasswordSource
	}{
		"mysql": {
			source:   "type: mysql, mysql: {host: db, username: u, database: d, table: s.t, passwordFrom: {env: PW}, passwordRef: {name: a, key: b}}",
			want:     with(server, endpoint.SourceMySQL, 3306),
			password: form.PasswordSource{Env: "PW"},
		},
		"postgresql": {
			source:   "type: postgresql, postgresql: {host: db, username: u, database: d, table: s.t, passwordFrom: {file: pw}}",
			want:     with(server, endpoint.SourcePostgreSQL, 5432),
			password: form.PasswordSource{File: filepath.Join(dir, "pw")},
		},
		"sqlite":   {source: "type: sqlite, sqlite: {path: ../x.db, table: t}", want: endpoint.Connection{Type: endpoint.SourceSQLite, Path: filepath.Join(filepath.Dir(dir), "x.db"), Table: "t"}},
		"absolute": {source: "type: csv, csv: {path: /rows.csv}", want: endpoint.Connection{Type: endpoint.SourceCSV, Path: "/rows.csv"}},
		"stdin":    {source: "type: json, json: {path: \"-\"}", want: endpoint.Connection{Type: endpoint.SourceJSON, Path: "-"}},
	} {
		t.Run(name, func(t *testing.T) {
			hub := strings.Replace(hubText, "type: csv, csv: {path: rows.csv}", test.source, 1)
			text := hub + formText("web", "  - {id: a, spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}\n")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			in, err := form.Load([]string{path}, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, in.Hubs[0].Source); diff != "" {
				t.Errorf("source (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.password, in.Hubs[0].Password, cmpopts.IgnoreFields(form.PasswordSource{}, "Pos")); diff != "" {
				t.Errorf("password (-want +got):\n%s", diff)
			}
		})
	}
}

func with(c endpoint.Connection, t endpoint.SourceType, port int) endpoint.Connection {
	c.Type, c.Port = t, port
	return c
}

func TestTLS(t *testing.T) {
	hub := strings.Replace(hubText, "type: csv, csv: {path: rows.csv}",
		"type: mysql, mysql: {host: h, username: u, database: d, table: t, tls: verify-full, caFile: ca.pem}", 1)
	in := load(t, hub+formText("web", "  - {id: a, spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}\n"))
	// Paths of a hub from standard input start at the working directory.
	if c := in.Hubs[0].Source; c.TLS != endpoint.TLSVerifyFull || c.CAFile != "ca.pem" {
		t.Errorf("source = %+v", c)
	}
}

// TestShapes loads the same hub and form in every possible shape.
func TestShapes(t *testing.T) {
	const hub = `{"apiVersion": "operator.lynq.sh/v1", "kind": "LynqHub", "metadata": {"name": "shop"},
	"spec": {"source": {"type": "csv", "csv": {"path": "rows.csv"}}, "valueMappings": {"uid": "id", "activate": "active"}}}`
	const web = `{"apiVersion": "operator.lynq.sh/v1", "kind": "LynqForm", "metadata": {"name": "web"}, "spec": {"hubId": "shop",
	"manifests": [{"id": "a", "spec": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}}]}}`
	for name, text := range map[string]string{
		"documents": hub + "\n---\n# nothing\n---\n" + web + "\n...\n",
		"list":      `{"apiVersion": "v1", "kind": "List", "items": [` + "\n\t" + hub + ",\n\t" + web + "]}",
		"own lists": `{"apiVersion": "operator.lynq.sh/v1", "kind": "LynqHubList", "items": [` + hub + "]}\n---\n" +
			`{"apiVersion": "operator.lynq.sh/v1", "kind": "LynqFormList", "metadata": {}, "items": [` + web + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			in := load(t, text)
			if len(in.Hubs) != 1 || len(in.Forms) != 1 || len(in.Warnings) != 0 {
				t.Errorf("inputs = %+v", in)
			}
		})
	}
}

func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	entry := "  - {id: a, spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}\n"
	write("hub.yml", hubText)
	write("form.yaml", formText("top", entry))
	write("kustomization.yaml", "resources: []")
	write("notes.txt", "not: read")
	write("sub/form.json", `{"apiVersion": "v1", "kind": "List", "items": []}`)
	write("sub/form.yaml", formText("below", entry))
	write(".git/form.yaml", formText("hidden", entry))
	if err := os.Symlink(filepath.Join(dir, "sub"), filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, recursive := range []bool{false, true} {
		in, err := form.Load([]string{dir, filepath.Join(dir, "hub.yml")}, recursive, nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range in.Forms {
			names = append(names, f.Name)
		}
		want := "top"
		if recursive {
			want = "below top"
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("recursive %v: forms = %s, want %s", recursive, got, want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	in, err := form.Load([]string{"-"}, false, iotest.ErrReader(fs.ErrPermission))
	if in == nil || err == nil || !strings.Contains(err.Error(), "stdin: cannot be read: permission denied (let this user read it)") {
		t.Errorf("Load = %v, %v", in, err)
	}
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.Symlink("loop.yaml", broken); err != nil {
		t.Fatal(err)
	}
	if _, err := form.Load([]string{filepath.Dir(broken)}, false, nil); err == nil || !strings.Contains(err.Error(), "broken.yaml") {
		t.Errorf("a link to nowhere: %v", err)
	}
	if _, err := form.Load([]string{"a\x00b"}, false, nil); err == nil || !strings.Contains(err.Error(), "a\x00b") {
		t.Errorf("an impossible path: %v", err)
	}
	if _, err := form.Load(nil, false, nil); err == nil || err.Error() != "-f: no input is given (name files or directories with hubs and forms)" {
		t.Errorf("no path: %v", err)
	}
}

func TestClusterScoped(t *testing.T) {
	in := load(t, hubText+formText("web", `  - {id: a, spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}
  - {id: b, nameTemplate: b, spec: {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: form.example.com, scope: Cluster, names: {kind: Zone, plural: zones}}}}
  - {id: c, nameTemplate: c, spec: {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: form.example.com, scope: Namespaced, names: {kind: House}}}}
  - {id: d, nameTemplate: d, spec: {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: "{{ .uid }}.example.com", scope: Cluster, names: {kind: Room, plural: rooms}}}}
`)+`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec: {group: example.com, scope: Cluster, names: {kind: Tenant}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec: {group: example.com, scope: Namespaced, names: {kind: App, plural: apps}}
`)
	want := map[form.GroupKind]bool{{Group: "example.com", Kind: "Tenant"}: true, {Group: "form.example.com", Kind: "Zone"}: true}
	if diff := cmp.Diff(want, in.ClusterScoped); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	plurals := map[form.GroupKind]string{{Group: "example.com", Kind: "App"}: "apps", {Group: "form.example.com", Kind: "Zone"}: "zones"}
	if diff := cmp.Diff(plurals, in.Plurals); diff != "" {
		t.Errorf("plurals (-want +got):\n%s", diff)
	}
}

func TestHub(t *testing.T) {
	in := &form.Inputs{Hubs: []*form.Hub{
		{Name: "one", Namespace: "red"},
		{Name: "two", Namespace: "blue"}, {Name: "two", Namespace: "red"},
	}}
	for _, test := range []struct {
		form form.Form
		want *form.Hub
	}{
		{form.Form{HubID: "one", Namespace: "blue"}, in.Hubs[0]},
		{form.Form{HubID: "two", Namespace: "red"}, in.Hubs[2]},
		{form.Form{HubID: "two"}, nil},
		{form.Form{HubID: "three"}, nil},
	} {
		if got := in.Hub(&test.form); got != test.want {
			t.Errorf("Hub(%+v) = %v, want %v", test.form, got, test.want)
		}
	}
}

func TestOrder(t *testing.T) {
	const spec = "spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}\n"
	for name, test := range map[string]struct{ entries, want string }{
		"as in the file": {"  - {id: c, " + spec + "  - {id: a, " + spec + "  - {id: b, " + spec, "c a b"},
		"dependencies":   {"  - {id: c, dependIds: [b], " + spec + "  - {id: a, " + spec + "  - {id: b, dependIds: [a], " + spec + "  - {id: d, " + spec, "a b c d"},
		"a namespace that waits": {
			"  - {id: a, " + spec + "  - {id: b, " + spec + "  - {id: ns, dependIds: [b], spec: {apiVersion: v1, kind: Namespace, metadata: {name: x}}}\n",
			"a b ns",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ids(load(t, hubText+formText("web", test.entries)).Forms[0]); got != test.want {
				t.Errorf("order = %s, want %s", got, test.want)
			}
		})
	}
}

func TestStringOnly(t *testing.T) {
	for _, test := range []struct {
		apiVersion, kind, path string
		want                   bool
	}{
		{"v1", "Pod", "metadata labels app", true},
		{"v1", "Pod", "labels app", true},
		{"apps/v1", "Deployment", "spec template metadata annotations a.b/c", true},
		{"apps/v1", "Deployment", "spec selector matchLabels app", true},
		{"apps/v1", "Deployment", "spec template spec nodeSelector disk", true},
		{"apps/v1", "Deployment", "spec template spec containers [] args []", true},
		{"example.com/v1", "Thing", "spec command []", true},
		{"example.com/v1", "Thing", "spec env [] value", true},
		{"v1", "ConfigMap", "data a", true},
		{"v1", "ConfigMap", "binaryData a", true},
		{"v1", "Secret", "data a", true},
		{"v1", "Secret", "stringData a", true},
		{"v1", "ConfigMap", "stringData a", false},
		{"example.com/v1", "ConfigMap", "data a", false},
		{"v1", "ConfigMap", "spec data a", false},
		{"apps/v1", "Deployment", "spec replicas", false},
		{"apps/v1", "Deployment", "spec template spec containers [] env [] name", false},
		{"example.com/v1", "Thing", "spec values [] value", false},
		{"example.com/v1", "Thing", "spec properties labels type", false},
		{"v1", "Pod", "kind", false},
	} {
		t.Run(test.apiVersion, func(t *testing.T) {
			if got := form.StringOnly(test.apiVersion, test.kind, strings.Fields(test.path)); got != test.want {
				t.Errorf("StringOnly(%s, %s, %s) = %v", test.apiVersion, test.kind, test.path, got)
			}
		})
	}
}
