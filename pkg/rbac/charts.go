package rbac

import (
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// computed notes charts whose templates compute kinds. Nobody knows these kinds without a row.
func (g *gatherer) computed(f Form) {
	for _, c := range f.Charts {
		if slices.ContainsFunc(c.Opened.Kinds, func(k form.ChartKind) bool { _, known := k.Known(); return !known }) {
			g.notes = append(g.notes, fmt.Sprintf("chart %s of form %s computes kinds or apiVersions, and rights for these are missing", c.ID, f.Name))
		}
	}
}
