package kube_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

func create(namespace, name string, body []byte) write.Request {
	return write.Request{Verb: write.Create, Namespace: namespace, Name: name, Body: body}
}

// TestErrorsHideSecrets wants no value of a Secret in errors, although the server quotes
// them.
func TestErrorsHideSecrets(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	secret := func(verb write.Verb, content map[string]any) write.Request {
		content["apiVersion"], content["kind"], content["metadata"] = "v1", "Secret", map[string]any{"name": "s"}
		return write.Request{Verb: verb, Namespace: c.Namespace, Name: "s", Body: jsonOf(content)}
	}
	const value = "hunter2hunter2"
	for _, test := range []struct {
		name  string
		write write.Request
		want  string
	}{
		{"a key", secret(write.Create, map[string]any{"stringData": map[string]any{"a b " + value: "x"}}), "it is about data["},
		{"a type", secret(write.Create, map[string]any{"type": value, "stringData": value}), "the server says BadRequest (HTTP status 400)"},
		{"no base64", secret(write.Create, map[string]any{"data": map[string]any{"k": value + "!"}}), "status 400): illegal base64 data at input byte 14; the rest"},
		{"no base64, applied", secret(write.Apply, map[string]any{"data": map[string]any{"k": value + "!"}}), "status 500): illegal base64 data at input byte 14; the rest"},
		{"a number", secret(write.Apply, map[string]any{"stringData": map[string]any{"k": 4242424242}}), "failed to create typed patch object: .stringData.k: expected string; the rest"},
		{"a number, created", secret(write.Create, map[string]any{"stringData": map[string]any{"k": 4242424242}}), "json: cannot unmarshal number into Go struct field Secret.stringData of type string; the rest"},
		{"a list", secret(write.Apply, map[string]any{"stringData": []any{value}}), "failed to create typed patch object: .stringData: expected map; the rest"},
		{"docker", secret(write.Create, map[string]any{"type": "kubernetes.io/dockerconfigjson", "stringData": map[string]any{".dockerconfigjson": value}}), "it is about data[.dockerconfigjson] (FieldValueInvalid)"},
	} {
		c.rules()
		_, err := c.Write(t.Context(), secrets, test.write)
		if n := c.requests("create", "secrets") + c.requests("patch", "secrets"); n != 1 {
			t.Errorf("%s: %d requests for what the server will never take", test.name, n)
		}
		status := &apierrors.StatusError{}
		if !errors.As(err, &status) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
			continue
		}
		all := err.Error() + string(jsonOf(status.ErrStatus))
		field := test.name == "a key" // errors show the names of keys
		if !field && strings.Contains(all, value) || strings.Contains(all, "4242424242") {
			t.Errorf("%s: the value is in %s", test.name, all)
		}
	}
	c.Kubectl(t, "", "create", "secret", "generic", "s", "--from-literal=k="+value)
	_, err := c.Write(t.Context(), secrets, secret(write.Apply, map[string]any{"stringData": map[string]any{"k": "new" + value}, "data": map[string]any{"k": "bmV3"}}))
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "kubectl-create"`) || strings.Contains(err.Error(), value) {
		t.Errorf("a conflict of managers: %v", err)
	}
	_, err = c.Write(t.Context(), secrets, secret(write.Create, map[string]any{}))
	if want := `secrets "s" already exists`; !apierrors.IsAlreadyExists(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	nobody := newClient(t, c.As(t, "nobody-"+c.Namespace))
	if _, err := nobody.Get(t.Context(), secrets, c.Namespace, "s"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `cannot get resource "secrets"`) {
		t.Errorf("got %v", err)
	}
}

// TestForeignAnswers asks a server that isn't a Kubernetes API. It wants no answer to count
// as "absent".
func TestForeignAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, contentType, body string
		code                    int
		want                    string
	}{
		{"page", "text/html", "<html>\n<h1>Sign in</h1>" + strings.Repeat("x", 200), 200, `begins with "<html>\n<h1>Sign in</h1>`},
		{"page for 404", "text/html", "<html><h1>Nothing here</h1>", 404, `HTTP status 404, but no Kubernetes API answered: "<html><h1>Nothing here</h1>"`},
		{"page for 403", "text/html", "<html>" + strings.Repeat("y ", 500), 403, `y y y ..."`},
		{"JSON", "application/json", `{"hello": "world"}`, 200, `it is of kind "", not PartialObjectMetadata`},
		{"another kind", "application/json", `{"kind": "Secret", "data": {"k": "hunter2"}}`, 200, `it is of kind "Secret"`},
		{"half", "application/json", `{"kind": "ConfigMap", "metadata": {`, 200, "lynqctl can't decode the answer"},
		{"half protobuf", "application/vnd.kubernetes.protobuf", "k8s\x00\x0a\xff", 200, "lynqctl can't decode the answer"},
		{"nothing", "application/json", "", 200, "lynqctl can't decode the answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				w.WriteHeader(c.code)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			client, err := kube.NewClient(&rest.Config{Host: server.URL}, kube.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, metaErr := client.Metadata(t.Context(), configMaps, "n", "m")
			_, getErr := client.Get(t.Context(), configMaps, "n", "m")
			if !strings.Contains(metaErr.Error(), c.want) {
				t.Errorf("got %v, want %s", metaErr, c.want)
			}
			_, resourceErr := client.Resource(t.Context(), "", "v1", "ConfigMap")
			for _, err := range []error{metaErr, getErr, resourceErr} {
				if err == nil || apierrors.IsNotFound(err) || meta.IsNoMatchError(err) || len(err.Error()) > 400 || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// TestMetadataOfWholeObjects reads from servers that can't send metadata alone.
func TestMetadataOfWholeObjects(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body := `{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m", "uid": "u"}, "data": {"a": "b"}}`
		if !strings.HasSuffix(r.URL.Path, "/m") {
			body = `{"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {}, "items": [{"metadata": {"name": "m", "uid": "u"}}]}`
		}
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	client, err := kube.NewClient(&rest.Config{Host: server.URL}, kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := client.Metadata(t.Context(), configMaps, "n", "m")
	if err != nil || one.UID != "u" || one.Kind != "ConfigMap" {
		t.Errorf("%v, %v", one, err)
	}
	listed, _, err := names(t.Context(), client, "n")
	if err != nil || len(listed) != 1 {
		t.Errorf("%v, %v", listed, err)
	}
}
