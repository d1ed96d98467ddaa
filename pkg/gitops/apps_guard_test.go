package gitops

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAppChange checks which changes of an object's identity the guard finds. Names of a
// node's objects come from the node and its resources, in the form's order.
func TestAppChange(t *testing.T) {
	doc := func(kind, namespace, name, project string) string {
		return "kind: " + kind + "\nmetadata:\n  name: " + name + "\n  namespace: " + namespace + "\nspec:\n" + project
	}
	app := doc("Application", "argocd", "a", "  project: x\n")
	set := func(url, path string) string {
		return doc("ApplicationSet", "argocd", "a", "  generators: [{git: {repoURL: "+url+", revision: main, directories: [{path: \""+path+"\"}, {path: apps, exclude: true}]}}]\n")
	}
	for _, test := range []struct {
		name          string
		before, after string
		named         bool
		want          string
	}{
		{"it is the same", app, app + "more: x\n", true, ""},
		{"another name", app, doc("Application", "argocd", "b", "  project: x\n"), true,
			"Application argocd/a would become argocd/b, and the target may delete what the old one applied"},
		{"another name of a node's", app, doc("Application", "argocd", "b", "  project: x\n"), false, ""},
		{"another namespace of a node's", app, doc("Application", "eu", "a", "  project: x\n"), false,
			"Application argocd/a would become eu/a, and the target may delete what the old one applied"},
		{"another project", app, doc("Application", "argocd", "a", "  project: y\n"), false, "Application argocd/a would leave project x for y"},
		{"another project of all", doc("ApplicationSet", "argocd", "a", "  template: {spec: {project: x}}\n"), doc("ApplicationSet", "argocd", "a", "  template: {spec: {project: y}}\n"), true,
			"ApplicationSet argocd/a would leave project x for y"},
		{"another cluster", doc("Application", "argocd", "a", "  destination: {server: https://x}\n"), doc("Application", "argocd", "a", "  destination: {name: prod}\n"), false,
			"Application argocd/a would leave cluster https://x for prod, where every tenant starts empty"},
		{"another cluster of all", doc("ApplicationSet", "argocd", "a", "  template: {spec: {destination: {name: x}}}\n"), doc("ApplicationSet", "argocd", "a", "  template: {spec: {destination: {name: y}}}\n"), true,
			"ApplicationSet argocd/a would leave cluster x for y, where every tenant starts empty"},
		{"one in a file of several", doc("GitRepository", "flux", "a", "  x: y\n") + separator + doc("Kustomization", "flux", "a-apps", "  x: y\n"),
			doc("Kustomization", "flux", "b-apps", "  x: y\n"), true,
			"Kustomization flux/a-apps would become flux/b-apps, and the target may delete what the old one applied"},
		{"a repository that people keep themselves", doc("GitRepository", "flux", "a", "  x: y\n") + separator + doc("Kustomization", "flux", "a-apps", "  x: y\n"),
			doc("Kustomization", "flux", "a-apps", "  x: y\n"), true, ""},
		{"another folder of the generator", set("x", "tenants/*"), set("x", "tenants/*/*"), true,
			"ApplicationSet argocd/a would find other folders: x at main tenants/*/* instead of x at main tenants/*, and Argo CD deletes the Applications of the others"},
		{"another repository of the generator", set("x", "*"), set("y", "*"), true,
			"ApplicationSet argocd/a would find other folders: y at main * instead of x at main *, and Argo CD deletes the Applications of the others"},
		{"the same generator", set("x", "*"), set("x", "*"), true, ""},
		{"what others broke", "a: b: c", app, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := appChange([]byte(test.before), []byte(test.after), test.named); got != test.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// oneSet is an ApplicationSet.
type oneSet struct{ oneApp }

func (oneSet) Generated(folder string) string { return folder }

// TestUnspoken checks that an ApplicationSet speaks for nodes from a time when their hub had
// no namespace only if the run renders all of them. Others may be of another hub.
func TestUnspoken(t *testing.T) {
	later := func(uid string) *Node {
		n := rowNode("crm", uid, "1")
		n.Hub.Namespace, n.Form.Namespace = "eu", "eu"
		return n
	}
	elsewhere := later("beta")
	elsewhere.Namespace, elsewhere.Objects = "eu", []Object{settingsObject("eu", "beta", "1")}
	const apps = "apps/applicationset/applicationset.yaml"
	for name, test := range map[string]struct {
		apps  Apps
		nodes []*Node
		want  []string
	}{
		"all rows":            {oneSet{apps}, []*Node{later("acme"), later("beta")}, nil},
		"a row is gone":       {oneSet{apps}, []*Node{later("acme")}, []string{"beta-web"}},
		"another namespace":   {oneSet{apps}, []*Node{later("acme"), elsewhere}, []string{"beta-web"}},
		"other Applications":  {oneApp(apps), []*Node{later("acme")}, nil},
		"without --emit-apps": {nil, []*Node{later("acme")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			before := inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")})
			before.Apps = test.apps
			s.run(before)
			in := inputOf(test.nodes)
			in.Apps = test.apps
			_, p := s.plan(in)
			var got []string
			for _, r := range Refuse(in, p) {
				got = append(got, r.Path)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}
