package render

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Exposed returns the places of a form outside Secrets that show values of secret columns.
func (p *Program) Exposed() lynq.Problems { return p.exposed }

// expose notes that an expression shows values of secret columns. All output contains the
// names of objects and the text of tombstones, so a secret there is an error.
func (c *compiler) expose(i int, at place, u use) {
	if at.inSecret {
		return
	}
	var secret []string
	for _, of := range c.program.exprs.Columns(i) {
		if c.program.secret(of) {
			secret = append(secret, c.program.secretName(of))
		}
	}
	if len(secret) == 0 {
		return
	}
	slices.Sort(secret)
	named := strings.Join(slices.Compact(secret), ", ")
	switch {
	case c.aside:
		c.fail(at, "use another column", "it shows the value of secret column %s, and every output shows tombstones", named)
	case u.name:
		c.fail(at, "use another column", "it shows the value of secret column %s, and every output shows names", named)
	default:
		c.program.exposed.Add(at.pos, "move it to a Secret, and refer to the Secret here", "%s: it shows the value of secret column %s outside a Secret", c.program.subject(at), named)
	}
}

// SecretValues returns a row's values of the hub's secret columns. The row has the order of
// Columns.
func SecretValues(h *form.Hub, row []string) []string {
	if len(h.SecretColumns) == 0 {
		return nil
	}
	var values []string
	for i, column := range Columns(h) {
		if h.Secret(column) {
			values = append(values, strings.Clone(row[i])) // the clone doesn't keep the rest of the row
		}
	}
	return values
}
