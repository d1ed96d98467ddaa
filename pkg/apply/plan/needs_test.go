package plan_test

import (
	"slices"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// TestProvides checks that only a Namespace and a CustomResourceDefinition of Kubernetes
// provide what other objects need.
func TestProvides(t *testing.T) {
	t.Parallel()
	const apis, definition = "apiextensions.k8s.io", `{"spec":{"group":"example.com","names":{"kind":"Site"}}}`
	for name, tt := range map[string]struct {
		ref  lynq.Ref
		body string
		want string
		of   lynq.Ref // an object that needs it
	}{
		"a namespace":                  {lynq.Ref{Kind: "Namespace", Name: "shop"}, "{}", "namespace/shop", config()},
		"another kind of the core":     {lynq.Ref{Kind: "ConfigMap", Name: "shop"}, "{}", "", lynq.Ref{}},
		"another group's namespace":    {lynq.Ref{Group: "example.com", Kind: "Namespace", Name: "shop"}, "{}", "", lynq.Ref{}},
		"a definition":                 {lynq.Ref{Group: apis, Kind: "CustomResourceDefinition"}, definition, "kind/Site.example.com", lynq.Ref{Group: "example.com", Kind: "Site"}},
		"another group's definition":   {lynq.Ref{Group: "example.com", Kind: "CustomResourceDefinition"}, definition, "", lynq.Ref{}},
		"another kind of its group":    {lynq.Ref{Group: apis, Kind: "Conversion"}, definition, "", lynq.Ref{}},
		"a definition without a group": {lynq.Ref{Group: apis, Kind: "CustomResourceDefinition"}, `{"spec":{"group":5,"names":{"kind":"Site"}}}`, "kind/", lynq.Ref{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := &plan.Object{Ref: tt.ref, Body: manifest.Body(tt.body)}
			got := plan.Provides(o)
			if got != tt.want {
				t.Errorf("%s: it provides %q, want %q", name, got, tt.want)
			}
			if tt.of != (lynq.Ref{}) && !slices.Contains(plan.Needs(&plan.Object{Ref: tt.of}), got) {
				t.Errorf("%s: %s doesn't need %q", name, tt.of, got)
			}
		})
	}
}
