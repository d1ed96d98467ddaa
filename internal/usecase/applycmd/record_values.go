package applycmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
)

// RecordValues says whether inventories record the rows' extra values.
type RecordValues string

// The values of --record-values.
const (
	RecordNone    RecordValues = ""
	RecordChecked RecordValues = "true"  // refuses columns that look like secrets
	RecordPlain   RecordValues = "plain" // records every column
)

// check refuses to record values that must not be in a ConfigMap.
func (v RecordValues) check(hubs []load.HubPrograms) error {
	if v != RecordChecked {
		return nil
	}
	for i := range hubs {
		if columns := secretColumns(&hubs[i]); len(columns) > 0 {
			return session.BadUsage(fmt.Errorf("--record-values would write secret columns of hub %q into ConfigMaps: %s. Their names or a Secret of a form tell that they are secret (leave them out of extraValueMappings, or --record-values out; --record-values=plain records them)",
				hubs[i].Hub.Name, strings.Join(columns, ", ")))
		}
	}
	return nil
}

// secretColumns returns the columns that the run would record although they are secrets.
// Their names say so, or a form puts them into a Secret.
func secretColumns(h *load.HubPrograms) []string {
	var inSecrets, columns []string
	for _, p := range h.Programs {
		for _, r := range p.Form.Resources {
			if r.APIVersion != "v1" || r.Kind != "Secret" {
				continue
			}
			for _, f := range p.Fields(r.ID) {
				if f.Path[0] == "data" || f.Path[0] == "stringData" {
					inSecrets = append(inSecrets, f.Columns...)
				}
			}
		}
	}
	for _, m := range h.Hub.Mappings {
		if isExtra(m) && !h.Hub.Secret(m.Column) && (draft.LooksSecret(m.Variable) || draft.LooksSecret(m.Column) || slices.Contains(inSecrets, m.Column)) {
			columns = append(columns, m.Column)
		}
	}
	return columns
}

// isExtra reports whether the operator records a mapping as an extra value.
func isExtra(m form.Mapping) bool {
	return m.Variable != "uid" && m.Variable != "activate" && m.Variable != "hostOrUrl"
}
