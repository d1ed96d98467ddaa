package applycmd

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/orphan"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// TestTrackedNames wants a node without an inventory to keep the name on its objects, from
// a label or an ApplySet. The name doesn't count if a node of another form of the run could
// have it.
func TestTrackedNames(t *testing.T) {
	labelled := orphan.Orphan{Live: &tracking.Live{}}
	labelled.From.Namespace, labelled.From.Name = "shop", "acme-eu-web"
	owned := orphan.Orphan{Live: &tracking.Live{PartOf: inventory.ID("shop", inventory.Name("acme-eu-web"))}}
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
		t.Run(name, func(t *testing.T) {
			var h load.HubPrograms
			var program *render.Program
			for _, f := range strings.Fields(c.forms) {
				p := &render.Program{Form: &form.Form{Name: f}, Namespace: c.namespace}
				if h.Programs = append(h.Programs, p); f == "eu-web" {
					program = p
				}
			}
			if got := TrackedNames(c.stranded, []load.HubPrograms{h})(program, "acme-eu-web"); got != c.want {
				t.Errorf("%s: %v", name, got)
			}
		})
	}
}
