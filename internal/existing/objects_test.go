package existing_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/internal/existing"
)

func live(name string, content map[string]any) existing.Live {
	return existing.Live{Metadata: &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}, Content: &unstructured.Unstructured{Object: content}}
}

// TestTenant wants whole parts of names, because acme and acmecorp are two tenants.
func TestTenant(t *testing.T) {
	for want, names := range map[string]string{"acme": "acme acme-web", "acme-eu": "acme-eu-web acme-eu-db", "": "acme acmecorp", "one": "one"} {
		t.Run(want, func(t *testing.T) {
			var objects []existing.Live
			for name := range strings.FieldsSeq(names) {
				objects = append(objects, live(name, nil))
			}
			if got := existing.Tenant(objects); got != want {
				t.Errorf("%s: %q, want %q", names, got, want)
			}
		})
	}
}

// TestKeptDefaults wants fields that look like defaults to stay where they mean something.
func TestKeptDefaults(t *testing.T) {
	pod := map[string]any{
		"initContainers": []any{map[string]any{"name": "proxy", "image": "acme/proxy:latest", "restartPolicy": "Always", "imagePullPolicy": "IfNotPresent"}},
		"containers":     []any{map[string]any{"name": "acme-web", "image": "acme:1", "imagePullPolicy": "IfNotPresent"}},
		"volumes":        []any{map[string]any{"name": "tmp", "emptyDir": map[string]any{}}},
		"restartPolicy":  "Always",
	}
	form, err := existing.Form(existing.Names{Name: "web", Hub: "crm"}, []existing.Live{live("acme", map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "acme", "labels": map[string]any{"a": "acmecorp"}},
		"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"creationTimestamp": nil}, "spec": pod}},
	})}, "acme")
	if err != nil {
		t.Fatal(err)
	}
	for text, count := range map[string]int{
		"restartPolicy: Always": 1, "imagePullPolicy: IfNotPresent": 1, "emptyDir: {}": 1, "creationTimestamp": 0,
		"image: acme:1": 1, "image: acme/proxy:latest": 1, "name: '{{ .uid }}-web'": 1, "a: acmecorp": 1,
	} {
		t.Run(text, func(t *testing.T) {
			if n := strings.Count(form, text); n != count {
				t.Errorf("%d times %q in:\n%s", n, text, form)
			}
		})
	}
}
