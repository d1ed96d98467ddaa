package form

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// readSecretColumns reads spec.secretColumns, which names columns that the hub maps. The
// columns of uid and activation can't be secret, because every output shows them.
func readSecretColumns(spec *object, hub *Hub) {
	const field = "secretColumns"
	var columns []string
	for _, m := range hub.Mappings {
		columns = append(columns, m.Column)
	}
	for _, l := range hub.Lookups {
		columns = append(columns, l.Column)
	}
	for _, t := range spec.texts(field) {
		mapping := slices.IndexFunc(hub.Mappings, func(m Mapping) bool {
			return m.Column == t.Text && (m.Variable == "uid" || m.Variable == "activate")
		})
		of := slices.IndexFunc(hub.Mappings, func(m Mapping) bool { return m.Variable == t.Text })
		switch {
		case slices.Contains(hub.SecretColumns, t.Text):
			spec.fail(t.Pos, "remove one of them", "%s has column %q twice", spec.name(field), t.Text)
		case mapping >= 0:
			spec.fail(t.Pos, "remove it", "%s: column %q is valueMappings.%s, which every output shows", spec.name(field), t.Text, hub.Mappings[mapping].Variable)
		case t.Text == hub.Expires.Column && t.Text != "":
			spec.fail(t.Pos, "remove it", "%s: column %q is valueMappings.expires, which status shows", spec.name(field), t.Text)
		case t.Text == hub.PreviousUID.Column && t.Text != "":
			spec.fail(t.Pos, "remove it", "%s: column %q is valueMappings.previousUid, which messages show", spec.name(field), t.Text)
		case slices.Contains(columns, t.Text):
			hub.SecretColumns = append(hub.SecretColumns, t.Text)
		case of >= 0:
			spec.fail(t.Pos, "write its column, "+hub.Mappings[of].Column, "%s: %q is a template variable, not a column", spec.name(field), t.Text)
		default:
			fix := suggest.Fix(t.Text, columns)
			if fix == "" {
				fix = "map it in extraValueMappings, or remove it"
			}
			spec.fail(t.Pos, fix, "%s: column %q isn't mapped", spec.name(field), t.Text)
		}
	}
}

// Secret reports whether output must hide the values of a column.
func (h *Hub) Secret(column string) bool { return slices.Contains(h.SecretColumns, column) }

// HasSecrets reports whether the hub has secret columns, or a lookup with secret fields.
func (h *Hub) HasSecrets() bool {
	return len(h.SecretColumns) > 0 || slices.ContainsFunc(h.Lookups, func(l *Lookup) bool { return len(l.SecretColumns) > 0 })
}
