package faultproxy_test

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

func TestParse(t *testing.T) {
	tests := []struct {
		method, url string
		want        faultproxy.Request
	}{
		{"GET", "/api/v1/namespaces/n/pods", faultproxy.Request{Verb: "list", Resource: "pods", Namespace: "n"}},
		{"GET", "/api/v1/pods", faultproxy.Request{Verb: "list", Resource: "pods"}},
		{"GET", "/api/v1/pods?continue=abc&limit=5", faultproxy.Request{Verb: "list", Resource: "pods", Continue: true}},
		{"GET", "/api/v1/pods?watch=true", faultproxy.Request{Verb: "watch", Resource: "pods"}},
		{"GET", "/api/v1/pods?watch=1", faultproxy.Request{Verb: "watch", Resource: "pods"}},
		{"GET", "/api/v1/pods?watch=false", faultproxy.Request{Verb: "list", Resource: "pods"}},
		{"GET", "/api/v1/namespaces/n/pods/p", faultproxy.Request{Verb: "get", Resource: "pods", Namespace: "n", Name: "p"}},
		{"GET", "/api/v1/namespaces/n/pods/p/log", faultproxy.Request{Verb: "get", Resource: "pods/log", Namespace: "n", Name: "p"}},
		{"POST", "/apis/apps/v1/namespaces/n/deployments?dryRun=All&fieldManager=lynq", faultproxy.Request{
			Verb: "create", Resource: "deployments.apps", Namespace: "n", DryRun: true, Manager: "lynq"}},
		{"PATCH", "/apis/apps/v1/namespaces/n/deployments/d/scale", faultproxy.Request{
			Verb: "patch", Resource: "deployments.apps/scale", Namespace: "n", Name: "d"}},
		{"PUT", "/apis/a.b/v1/things/t", faultproxy.Request{Verb: "update", Resource: "things.a.b", Name: "t"}},
		{"DELETE", "/apis/a.b/v1/things/t", faultproxy.Request{Verb: "delete", Resource: "things.a.b", Name: "t"}},
		{"DELETE", "/apis/a.b/v1/things", faultproxy.Request{Verb: "deletecollection", Resource: "things.a.b"}},
		{"GET", "/api/v1/namespaces", faultproxy.Request{Verb: "list", Resource: "namespaces"}},
		{"POST", "/api/v1/namespaces", faultproxy.Request{Verb: "create", Resource: "namespaces"}},
		{"GET", "/api/v1/namespaces/n", faultproxy.Request{Verb: "get", Resource: "namespaces", Namespace: "n", Name: "n"}},
		{"PUT", "/api/v1/namespaces/n/finalize", faultproxy.Request{Verb: "update", Resource: "namespaces/finalize", Name: "n"}},
		{"GET", "/apis", faultproxy.Request{Verb: "get", Resource: "/apis"}},
		{"GET", "/api/v1", faultproxy.Request{Verb: "get", Resource: "/api/v1"}},
		{"GET", "/apis/apps/v1", faultproxy.Request{Verb: "get", Resource: "/apis/apps/v1"}},
		{"GET", "/openapi/v3", faultproxy.Request{Verb: "get", Resource: "/openapi/v3"}},
		{"GET", "/", faultproxy.Request{Verb: "get", Resource: "/"}},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.url, func(t *testing.T) {
			u, err := url.Parse(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, faultproxy.Parse(tt.method, u)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestIsWrite(t *testing.T) {
	for verb, want := range map[string]bool{
		"get": false, "list": false, "watch": false,
		"create": true, "update": true, "patch": true, "delete": true, "deletecollection": true,
	} {
		t.Run(verb, func(t *testing.T) {
			if got := (faultproxy.Request{Verb: verb}).IsWrite(); got != want {
				t.Errorf("%s: %v, want %v", verb, got, want)
			}
			if (faultproxy.Request{Verb: verb, DryRun: true}).IsWrite() {
				t.Errorf("%s with dryRun counts as a write", verb)
			}
		})
	}
}
