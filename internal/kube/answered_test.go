package kube_test

import (
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestAPIVerb wants the verbs of Kubernetes' rules, for paths of any server.
func TestAPIVerb(t *testing.T) {
	for _, c := range []struct {
		method, path string
		watch        bool
		want         string
	}{
		{http.MethodGet, "/api/v1/namespaces/shop/configmaps/a", false, "get"},
		{http.MethodGet, "/api/v1/namespaces/shop/configmaps", false, "list"},
		{http.MethodGet, "/api/v1/namespaces/shop/configmaps", true, "watch"},
		{http.MethodGet, "/apis/apps/v1/deployments", false, "list"},
		{http.MethodGet, "/apis/apps/v1/namespaces/shop/deployments/web", false, "get"},
		{http.MethodGet, "/api/v1/namespaces", false, "list"},
		{http.MethodGet, "/api/v1/namespaces/shop", false, "get"},
		{http.MethodGet, "/k8s/clusters/c-1/api/v1/nodes", false, "list"},
		{http.MethodGet, "/apis", false, "get"},
		{http.MethodGet, "/api/v1", false, "get"},
		{http.MethodGet, "/apis/apps/v1", false, "get"},
		{http.MethodGet, "/version", false, "get"},
		{http.MethodPost, "/api/v1/namespaces/shop/configmaps", false, "create"},
		{http.MethodPut, "/api/v1/namespaces/shop/configmaps/a", false, "update"},
		{http.MethodPatch, "/api/v1/namespaces/shop", false, "patch"},
		{http.MethodDelete, "/api/v1/namespaces/shop/configmaps/a", false, "delete"},
		{http.MethodDelete, "/api/v1/namespaces/shop/configmaps", false, "deletecollection"},
		{"TRACE", "/api", false, "trace"},
	} {
		t.Run(c.method, func(t *testing.T) {
			if got := kube.APIVerb(c.method, c.path, c.watch); got != c.want {
				t.Errorf("%s %s: %s, want %s", c.method, c.path, got, c.want)
			}
		})
	}
}

// TestAnswered wants a report of each try, even without an answer.
func TestAnswered(t *testing.T) {
	type answer struct {
		verb   string
		status int
	}
	var got []answer
	transport := roundTripper(func(*http.Request) (*http.Response, error) { return nil, http.ErrHandlerTimeout })
	client, err := kube.NewClient(&rest.Config{Host: "http://127.0.0.1:1", Transport: transport}, kube.Options{
		Answered: func(verb string, status int) { got = append(got, answer{verb, status}) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Metadata(t.Context(), lynq.APIResource{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true}, "shop", "a"); err == nil {
		t.Fatal("no error")
	}
	if want := []answer{{"get", 0}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	transport = func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody, Header: http.Header{}}, nil
	}
	got = nil
	client, err = kube.NewClient(&rest.Config{Host: "http://127.0.0.1:1", Transport: transport}, kube.Options{
		Answered: func(verb string, status int) { got = append(got, answer{verb, status}) },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := lynq.APIResource{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true}
	if _, err := client.DeleteObject(t.Context(), r, "shop", "a", metav1.DeleteOptions{}); err == nil {
		t.Fatal("no error")
	}
	if want := []answer{{"delete", http.StatusForbidden}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
