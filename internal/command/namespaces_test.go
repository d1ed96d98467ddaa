package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
)

// allowed is a rule of a Role.
type allowed struct {
	namespace string
	rbacv1.PolicyRule
}

// asked is a request in the terms of such rules.
type asked struct{ verb, group, resource, namespace, name string }

// confined is the server for a person who has only the permissions of some Roles. It judges
// requests as a real server does.
type confined struct {
	http.RoundTripper
	rules []allowed

	mu      sync.Mutex
	refused []asked
	writes  int
}

// askedOf returns what a request asks for. ok is false for questions about the API itself.
func askedOf(r *http.Request) (a asked, ok bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		a.group, parts = parts[1], parts[3:]
	default:
		return a, false
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		a.namespace = parts[1]
		if len(parts) > 2 {
			parts = parts[2:]
		}
	}
	a.resource = parts[0]
	if len(parts) > 1 {
		a.name = parts[1]
	}
	a.verb = map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete", http.MethodGet: "get"}[r.Method]
	if a.verb == "get" && a.name == "" {
		a.verb = "list"
	}
	if r.URL.Query().Get("watch") == "true" {
		a.verb = "watch"
	}
	return a, a.group != "authorization.k8s.io"
}

func (r *allowed) allows(a asked) bool {
	return r.namespace == a.namespace && slices.Contains(r.Verbs, a.verb) && slices.Contains(r.APIGroups, a.group) && slices.Contains(r.Resources, a.resource) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, a.name))
}

// RoundTrip refuses what no rule allows.
func (c *confined) RoundTrip(r *http.Request) (*http.Response, error) {
	a, ok := askedOf(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.resource == "selfsubjectaccessreviews" {
		return c.review(r)
	}
	if ok && !slices.ContainsFunc(c.rules, func(rule allowed) bool { return rule.allows(a) }) {
		c.refused = append(c.refused, a)
		status := apierrors.NewForbidden(schema.GroupResource{Group: a.group, Resource: a.resource}, a.name, fmt.Errorf("User %q cannot %s resource", "jane", a.verb)).Status()
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		body, err := json.Marshal(status)
		return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, err
	}
	if ok && a.verb != "get" && a.verb != "list" && a.verb != "watch" && a.resource != "leases" && a.resource != "events" && !r.URL.Query().Has("dryRun") {
		c.writes++
	}
	return c.RoundTripper.RoundTrip(r)
}

// review answers whether the person has a permission.
func (c *confined) review(r *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	review := &authorizationv1.SelfSubjectAccessReview{}
	codec := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	if _, _, err := codec.Decode(sent, nil, review); err != nil {
		return nil, err
	}
	of := review.Spec.ResourceAttributes
	a := asked{of.Verb, of.Group, of.Resource, of.Namespace, of.Name}
	review.Status.Allowed = slices.ContainsFunc(c.rules, func(rule allowed) bool { return rule.allows(a) })
	var body bytes.Buffer
	err = codec.Encode(review, &body)
	return &http.Response{StatusCode: http.StatusCreated, Header: http.Header{"Content-Type": {runtime.ContentTypeProtobuf}}, Body: io.NopCloser(&body), Request: r}, err
}

// tenant is a person with Roles in namespace shop, and an administrator.
type tenant struct {
	*answered
	objects dynamic.Interface
	rules   []allowed
}

const tenantForm = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: crm, namespace: shop}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  configMaps:
    - id: settings
      nameTemplate: "{{ .uid }}"
      spec: {apiVersion: v1, kind: ConfigMap, data: {plan: gold}}
`

// farAway is a resource in a namespace in which the person has no permissions.
const farAway = `    - id: far
      nameTemplate: "{{ .uid }}"
      targetNamespace: away
      spec: {apiVersion: v1, kind: ConfigMap, data: {plan: gold}}
`

func newTenant(t *testing.T, managers *apiserver.Managers, flags ...string) *tenant {
	t.Helper()
	p := &tenant{answered: newAnswered(t, managers, answer{}, nil)}
	var err error
	if p.objects, err = dynamic.NewForConfig(&rest.Config{Host: "http://memory", Transport: p.server.Server, QPS: -1}); err != nil {
		t.Fatal(err)
	}
	away := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "away"}}}
	if _, err := p.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), away, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.write(t, "form.yaml", tenantForm)
	p.write(t, "rows.csv", "id\na\nb\n")
	code, said := p.run(t, append([]string{"rbac", "-f", p.dir, "--namespaces", "shop", "-o", "json"}, flags...)...)
	if code != 0 {
		t.Fatal(said)
	}
	var list struct {
		Items []struct {
			Kind     string
			Metadata metav1.ObjectMeta
			Rules    []rbacv1.PolicyRule
		}
	}
	if err := json.Unmarshal([]byte(said), &list); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, role := range list.Items {
		if role.Kind != "Role" {
			t.Errorf("a %s is printed", role.Kind)
		}
		for _, rule := range role.Rules {
			p.rules = append(p.rules, allowed{role.Metadata.Namespace, rule})
		}
	}
	return p
}

// as returns the server for the person.
func (p *tenant) as() *confined {
	return &confined{RoundTripper: p.server, rules: slices.Clone(p.rules)}
}

// without returns the server for the person without one verb of a rule.
func (p *tenant) without(rule int, verb string) *confined {
	c := p.as()
	c.rules[rule].Verbs = slices.DeleteFunc(slices.Clone(c.rules[rule].Verbs), func(v string) bool { return v == verb })
	return c
}

// names returns the names of ConfigMaps in a namespace.
func (p *tenant) names(t *testing.T, namespace string) []string {
	t.Helper()
	list, err := p.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range list.Items {
		if name := o.GetName(); !strings.HasPrefix(name, "lynqhistory-") && name != "kube-root-ca.crt" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (p *tenant) has(t *testing.T, namespace string, want ...string) {
	t.Helper()
	if got := p.names(t, namespace); !slices.Equal(got, want) {
		t.Errorf("namespace %s has %q, want %q", namespace, got, want)
	}
}

// TestKeepToNamespaces wants the Roles of rbac --namespaces to be enough for apply, from the
// first object to the last deletion, and lynqctl to ask for nothing else.
func TestKeepToNamespaces(t *testing.T) {
	t.Parallel()
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	p := newTenant(t, managers, "--for", "apply")
	for _, run := range []struct {
		rows string
		args []string
		want []string
	}{
		{"id\na\nb\n", []string{"--dry-run=client"}, nil},
		{"id\na\nb\n", nil, []string{"a", "b", "lynqhub-crm", "lynqnode-a-web", "lynqnode-b-web"}},
		{"id\na\n", nil, []string{"a", "lynqhub-crm", "lynqnode-a-web"}},
	} {
		p.write(t, "rows.csv", run.rows)
		as := p.as()
		code, said := p.runAs(t, as, append([]string{"apply", "-f", p.dir, "--namespaces", "shop", "--max-delete=1"}, run.args...)...)
		if code != 0 {
			t.Fatalf("%q: exit %d\n%s", run.args, code, said)
		}
		for _, a := range as.refused {
			if a.resource != "events" && a.resource != "customresourcedefinitions" {
				t.Errorf("%q asks for what no Role allows: %+v", run.args, a)
			}
		}
		p.has(t, "shop", run.want...)
	}
	// Without --namespaces, the same person can do nothing.
	as := p.as()
	if code, said := p.runAs(t, as, "apply", "-f", p.dir); code != 2 || as.writes > 0 {
		t.Errorf("exit %d, %d writes:\n%s", code, as.writes, said)
	}
}

// TestKeepToNamespacesRules wants apply to need each verb of each rule. Without one, a run
// fails or says that it could not do something.
func TestKeepToNamespacesRules(t *testing.T) {
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	for i, rule := range newTenant(t, managers, "--for", "apply").rules {
		if slices.Contains(rule.Resources, "lynqnodes") || slices.Contains(rule.Resources, "namespaces") || slices.Contains(rule.ResourceNames, "lynqplans-crm") {
			continue // for clusters with the operator, and for plan files
		}
		for _, verb := range rule.Verbs {
			t.Run(fmt.Sprint(rule.Resources, rule.ResourceNames, verb), func(t *testing.T) {
				p := newTenant(t, managers, "--for", "apply")
				code, said := p.runAs(t, p.without(i, verb), "apply", "-f", p.dir, "--namespaces", "shop")
				if code != 0 || strings.Contains(said, "cannot") {
					return
				}
				p.write(t, "rows.csv", "id\na\n")
				p.write(t, "form.yaml", strings.Replace(tenantForm, "gold", "free", 1))
				code, said = p.runAs(t, p.without(i, verb), "apply", "-f", p.dir, "--namespaces", "shop", "--max-delete=1")
				if code == 0 && !strings.Contains(said, "cannot") {
					t.Errorf("the runs need no such rule:\n%s", said)
				}
			})
		}
	}
}

// TestKeepToNamespacesUnseen lets a person without permissions in namespace away run what an
// administrator began there. What the run can't see is never deleted, adopted, or forgotten.
func TestKeepToNamespacesUnseen(t *testing.T) {
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	apply := []string{"apply", "--namespaces", "shop", "--max-delete=100%", "--allow-empty", "-f"}
	all := []string{"a", "b", "lynqhub-crm", "lynqnode-a-web", "lynqnode-b-web"}

	t.Run("objects", func(t *testing.T) {
		for name, after := range map[string]struct{ form, rows string }{
			"the same":            {tenantForm + farAway, "id\na\nb\n"},
			"a row is gone":       {tenantForm + farAway, "id\na\n"},
			"a resource is gone":  {tenantForm, "id\na\nb\n"},
			"every row is gone":   {tenantForm + farAway, "id\n"},
			"the object is other": {tenantForm + strings.Replace(farAway, "gold", "free", 1), "id\na\nb\n"},
		} {
			t.Run(name, func(t *testing.T) {
				p := newTenant(t, managers, "--for", "apply")
				p.write(t, "form.yaml", tenantForm+farAway)
				if code, said := p.run(t, "apply", "-f", p.dir); code != 0 {
					t.Fatal(said)
				}
				p.write(t, "form.yaml", after.form)
				p.write(t, "rows.csv", after.rows)
				as := p.as()
				code, said := p.runAs(t, as, append(apply, p.dir)...)
				if code == 0 || !strings.Contains(said, "this run works only in --namespaces shop") {
					t.Errorf("exit %d, and the run doesn't say what it can't see:\n%s", code, said)
				}
				p.has(t, "away", "a", "b")
				for _, want := range []string{"lynqnode-a-web", "lynqnode-b-web"} {
					if !slices.Contains(p.names(t, "shop"), want) {
						t.Errorf("%s is gone, though it lists an object that the run couldn't see:\n%s", want, said)
					}
				}
				for _, a := range as.refused {
					if a.namespace == "away" {
						t.Errorf("a request leaves the namespaces: %+v", a)
					}
				}
				// The administrator's next run still knows everything.
				if code, said := p.run(t, "apply", "-f", p.dir, "--max-delete=100%", "--allow-empty"); code != 0 {
					t.Errorf("exit %d\n%s", code, said)
				}
			})
		}
	})

	t.Run("objects without a namespace", func(t *testing.T) {
		p := newTenant(t, managers, "--for", "apply")
		p.write(t, "form.yaml", tenantForm+"  namespaces:\n    - {id: own, nameTemplate: \"own-{{ .uid }}\", spec: {apiVersion: v1, kind: Namespace}}\n")
		if code, said := p.run(t, "apply", "-f", p.dir); code != 0 {
			t.Fatal(said)
		}
		p.write(t, "rows.csv", "id\na\n")
		if code, said := p.runAs(t, p.as(), append(apply, p.dir)...); code == 0 {
			t.Errorf("the run says that it did everything:\n%s", said)
		}
		if _, err := p.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(t.Context(), "own-b", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if !slices.Contains(p.names(t, "shop"), "lynqnode-b-web") {
			t.Error("the inventory is gone, though it lists a Namespace that the run couldn't see")
		}
	})

	t.Run("nobody's object elsewhere", func(t *testing.T) {
		p := newTenant(t, managers, "--for", "apply")
		there := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}}
		away := p.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("away")
		before, err := away.Create(t.Context(), there, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p.write(t, "form.yaml", tenantForm+strings.Replace(farAway, "targetNamespace", "conflictPolicy: Force\n      targetNamespace", 1))
		if code, said := p.runAs(t, p.as(), append(apply, p.dir)...); code != 1 {
			t.Errorf("exit %d:\n%s", code, said)
		}
		if after, err := away.Get(t.Context(), "a", metav1.GetOptions{}); err != nil || after.GetResourceVersion() != before.GetResourceVersion() {
			t.Errorf("the object changed: %v", err)
		}
		p.has(t, "away", "a")
	})

	t.Run("nodes of a form elsewhere", func(t *testing.T) {
		p := newTenant(t, managers, "--for", "apply")
		elsewhere := strings.Replace(tenantForm, "metadata: {name: web}", "metadata: {name: web, namespace: away}", 1)
		p.write(t, "form.yaml", elsewhere)
		if code, said := p.run(t, "apply", "-f", p.dir); code != 0 {
			t.Fatal(said)
		}
		before := p.names(t, "away")
		for _, form := range []string{elsewhere, tenantForm} { // the files, or only the hub's record, name the namespace
			p.write(t, "form.yaml", form)
			as := p.as()
			code, said := p.runAs(t, as, append(apply, p.dir)...)
			if code != 2 || as.writes > 0 || !strings.Contains(said, "namespaces that --namespaces lacks: away") {
				t.Errorf("exit %d, %d writes:\n%s", code, as.writes, said)
			}
			p.has(t, "away", before...)
		}
	})

	t.Run("tombstones", func(t *testing.T) {
		p := newTenant(t, managers, "--for", "apply")
		if code, said := p.run(t, "apply", "-f", p.dir); code != 0 {
			t.Fatal(said)
		}
		p.write(t, "form.yaml", tenantForm+"  tombstones:\n    - {apiVersion: v1, kind: ConfigMap, nameTemplate: \"{{ .uid }}-old\", matchLabels: {old: \"true\"}}\n")
		as := p.as()
		code, said := p.runAs(t, as, append(apply, p.dir)...)
		if code != 2 || as.writes > 0 || !strings.Contains(said, "tombstones and --namespaces exclude each other") {
			t.Errorf("exit %d, %d writes:\n%s", code, as.writes, said)
		}
		p.has(t, "shop", all...)
	})
}
