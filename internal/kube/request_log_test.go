package kube_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// logged returns the log of two requests about a resource at a level. One request sends a
// body, and both get one.
func logged(t *testing.T, level int, r lynq.APIResource, name string, bodies bool) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"` + r.Kind + `","metadata":{"name":"db"},"data":{"answered":"` + strings.Repeat("b", 20_000) + `"}}`))
	}))
	defer server.Close()
	var log bytes.Buffer
	client, err := kube.NewClient(&rest.Config{Host: server.URL, BearerToken: "t0ken"}, kube.Options{Log: kube.RequestLog{Level: level, Out: &log}})
	if err != nil {
		t.Fatal(err)
	}
	client.LogBodies(bodies)
	if _, err := client.Get(t.Context(), r, "shop", name); err != nil {
		t.Fatal(err)
	}
	body := []byte(`{"apiVersion":"v1","kind":"` + r.Kind + `","metadata":{"name":"db"},"data":{"sent":"aGk="}}`)
	if _, err := client.Write(t.Context(), r, write.Request{Verb: write.Apply, Namespace: "shop", Name: name, Body: body}); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

// TestRequestLog wants kubectl's levels: 6 has URLs and status, 7 headers, and 8 bodies,
// which are cut. No level has credentials, or contents of Secrets.
func TestRequestLog(t *testing.T) {
	has := func(log string) [4]bool {
		return [4]bool{
			strings.Contains(log, `verb="GET" url="http://`) && strings.Contains(log, `/namespaces/shop/`),
			strings.Contains(log, `status="200 OK"`), strings.Contains(log, "Authorization"), strings.Contains(log, `"answered`) || strings.Contains(log, `sent`),
		}
	}
	for _, c := range []struct {
		level    int
		resource lynq.APIResource
		want     [4]bool
	}{
		{0, configMaps, [4]bool{}},
		{5, configMaps, [4]bool{}},
		{6, configMaps, [4]bool{true, true, false, false}},
		{7, configMaps, [4]bool{true, true, true, false}},
		{8, configMaps, [4]bool{true, true, true, true}},
		{99, configMaps, [4]bool{true, true, true, true}},
		{6, secrets, [4]bool{true, true, false, false}},
		{8, secrets, [4]bool{true, true, true, false}},
		{99, secrets, [4]bool{true, true, true, false}},
	} {
		log := logged(t, c.level, c.resource, "db", true)
		if got := has(log); got != c.want {
			t.Errorf("level %d, %s: URL, status, headers, bodies: %v, want %v\n%s", c.level, c.resource.Plural, got, c.want, log)
		}
		if strings.Contains(log, "t0ken") {
			t.Errorf("level %d, %s: the token is in the log:\n%s", c.level, c.resource.Plural, log)
		}
		if c.resource.Kind == "Secret" && (strings.Contains(log, "aGk=") || strings.Contains(log, "bbb")) {
			t.Errorf("level %d: the content of a Secret is in the log:\n%s", c.level, log)
		}
		if strings.Contains(log, strings.Repeat("b", 15_000)) {
			t.Errorf("level %d, %s: a body of 20 kB is not cut", c.level, c.resource.Plural)
		}
	}
}

// TestRequestLogWithoutBodies wants no bodies until lynqctl knows that they have no value
// of a secret column. lynqctl's own records never have one.
func TestRequestLogWithoutBodies(t *testing.T) {
	deployments := lynq.APIResource{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true}
	leases := lynq.APIResource{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Plural: "leases", Namespaced: true}
	for _, c := range []struct {
		resource lynq.APIResource
		name     string
		bodies   bool
	}{
		{configMaps, "db", false}, {deployments, "lynqnode-acme-web", false}, {secrets, "lynqhooks-acme-web", false},
		{configMaps, "lynqnode-acme-web", true}, {configMaps, "lynqhub-crm", true}, {leases, "lynqctl-crm", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := logged(t, 9, c.resource, c.name, false)
			if got := strings.Contains(log, "answered") || strings.Contains(log, "sent"); got != c.bodies {
				t.Errorf("%s %s: bodies are in the log: %t\n%s", c.resource.Plural, c.name, got, log)
			}
		})
	}
}
