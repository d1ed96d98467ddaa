package plan

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestAlong checks that only deletions of existing containers are named, each once, and
// that many are cut.
func TestAlong(t *testing.T) {
	namespace, project := lynq.Ref{Kind: "Namespace"}, lynq.Ref{Group: "project.openshift.io", Kind: "Project"}
	crd, config := lynq.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, lynq.Ref{Kind: "ConfigMap", Namespace: "a"}
	for _, tt := range []struct {
		action Action
		ref    lynq.Ref
		names  string
		want   string
	}{
		{ActionDelete, namespace, "acme", "among them 1 Namespace (acme) with everything in it"},
		{ActionCollect, namespace, "bolt acme acme", "among them 2 Namespaces (acme, bolt) with everything in them"},
		{ActionPurge, project, "acme", "among them 1 Project (acme) with everything in it"},
		{ActionDelete, crd, "widgets.example.com", "among them 1 CustomResourceDefinition (widgets.example.com) with all objects of that kind"},
		{ActionDelete, namespace, "a b c d e f", "among them 6 Namespaces (a, b, c, d, e, ...) with everything in them"},
		{ActionDelete, config, "acme", ""},
		{ActionOrphan, namespace, "acme", ""},
		{ActionRecreate, namespace, "acme", ""},
	} {
		t.Run(string(tt.action), func(t *testing.T) {
			n := NodePlan{}
			for _, name := range strings.Fields(tt.names) {
				ref := tt.ref
				ref.Name = name
				n.Steps = append(n.Steps, Step{Action: tt.action, Entry: &inventory.Entry{Ref: ref}, Live: &tracking.Live{}})
			}
			if got := Along([]NodePlan{n}); got != tt.want {
				t.Errorf("%s %s: got %q, want %q", tt.action, tt.names, got, tt.want)
			}
		})
	}
}
