package plan

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// namedContainers limits how many containers of a kind Along names.
const namedContainers = 5

// Along names the objects to delete that take others along: "among them 2 Namespaces (acme,
// bolt) with everything in them". It returns "" if there are none.
func Along(nodes []NodePlan) string {
	names := map[string][]string{}
	for i := range nodes {
		steps := nodes[i].Steps
		for k := range steps {
			s := &steps[k]
			if ref := s.Ref(); s.Deletes() && s.Action != ActionRecreate && tracking.TakesAlong(ref) != "" && !slices.Contains(names[ref.Kind], ref.Name) {
				names[ref.Kind] = append(names[ref.Kind], ref.Name)
			}
		}
	}
	var parts []string
	for _, kind := range []string{"Namespace", "Project", "CustomResourceDefinition"} {
		all := names[kind]
		if len(all) == 0 {
			continue
		}
		slices.Sort(all)
		what := " with everything in it"
		switch {
		case kind == "CustomResourceDefinition":
			what = " with all objects of that kind"
		case len(all) > 1:
			what = " with everything in them"
		}
		who := strings.Join(all[:min(len(all), namedContainers)], ", ")
		if len(all) > namedContainers {
			who += ", ..."
		}
		parts = append(parts, phrase.Count(len(all), kind)+" ("+who+")"+what)
	}
	if len(parts) == 0 {
		return ""
	}
	return "among them " + strings.Join(parts, " and ")
}
