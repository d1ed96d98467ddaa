package kube_test

import (
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/lynqctl/lynqctl/internal/kube"
)

// unsent fails a test that sends a request.
type unsent struct{ t *testing.T }

func (u unsent) RoundTrip(r *http.Request) (*http.Response, error) {
	u.t.Errorf("%s %s is sent", r.Method, r.URL)
	return nil, http.ErrHandlerTimeout
}

// TestOutside wants a client with namespaces to answer requests about other namespaces, and
// about all, with Forbidden. An object that it doesn't see never looks absent.
func TestOutside(t *testing.T) {
	t.Parallel()
	client, err := kube.NewClient(&rest.Config{Host: "http://memory"}, kube.Options{Transport: unsent{t}, Namespaces: []string{"shop", "web"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"", "away"} {
		err := client.List(t.Context(), configMaps, namespace, "", func(*metav1.PartialObjectMetadata) func() { return nil })
		if !apierrors.IsForbidden(err) {
			t.Errorf("list in %q: %v", namespace, err)
		}
	}
	if _, err := client.Metadata(t.Context(), configMaps, "away", "a"); !apierrors.IsForbidden(err) {
		t.Errorf("get: %v", err)
	}
	if _, err := client.Leases().Get(t.Context(), "away", "a"); !apierrors.IsForbidden(err) {
		t.Errorf("get a Lease: %v", err)
	}
}
