package engine

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// TestTrackedNames: a node whose inventory was lost has the name that its objects
// bear, be it that of a node or of an ApplySet, unless that could be a node of
// another form of the run.
func TestTrackedNames(t *testing.T) {
	labelled := orphan.Orphan{Live: &plan.Live{}}
	labelled.From.Namespace, labelled.From.Node = "shop", "acme-eu-web"
	owned := orphan.Orphan{Live: &plan.Live{PartOf: inventory.ID("shop", inventory.Name("acme-eu-web"))}}
	for name, c := range map[string]struct {
		stranded  []orphan.Orphan
		forms     string
		namespace string
		want      bool
	}{
		"a label":             {[]orphan.Orphan{labelled}, "eu-web", "shop", true},
		"an ApplySet":         {[]orphan.Orphan{owned}, "eu-web api", "shop", true},
		"nothing":             {nil, "eu-web", "shop", false},
		"another namespace":   {[]orphan.Orphan{labelled, owned}, "eu-web", "far", false},
		"another form fits":   {[]orphan.Orphan{labelled, owned}, "eu-web web", "shop", false},
		"another form, first": {[]orphan.Orphan{labelled, owned}, "web eu-web", "shop", false},
	} {
		var h HubPrograms
		var program *render.Program
		for _, f := range strings.Fields(c.forms) {
			p := &render.Program{Form: &form.Form{Name: f}, Namespace: c.namespace}
			if h.Programs = append(h.Programs, p); f == "eu-web" {
				program = p
			}
		}
		if got := trackedNames(c.stranded, []HubPrograms{h})(program, "acme-eu-web"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestUnknownNodes: what could be nodes of several forms is told how those with a
// dash in their names call theirs.
func TestUnknownNodes(t *testing.T) {
	const none = "--node: there is no node acme-eu-web (a node is an active row and a form, named UID-FORM)"
	for forms, want := range map[string]string{
		"web":        none,
		"eu-web":     none, // the node is there by either name, or not at all
		"eu-web web": none + "; row acme with form eu-web is called acme-eu-web-897520f7",
	} {
		if got := unknownNodes([]string{"acme-eu-web"}, strings.Fields(forms)).Err.Error(); got != want {
			t.Errorf("%s: %s", forms, got)
		}
	}
}
