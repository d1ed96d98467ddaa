package gitops

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"
)

// Loss is a policy that a target does not honour, or not wholly.
type Loss struct {
	Form     string `json:"form"`
	Resource string `json:"resource,omitempty"` // its id; "" is the form as a whole
	Policy   string `json:"policy"`             // as the form has it: "conflictPolicy: Stuck"
	Instead  string `json:"instead"`            // what will happen instead
}

// WriteLosses writes a table for people. What several resources of a form lose
// alike is one row.
func WriteLosses(w io.Writer, losses []Loss) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "FORM\tPOLICY\tRESOURCES\tINSTEAD")
	for _, row := range together(losses) {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", row.Form, row.Policy, row.Resource, row.Instead)
	}
	return t.Flush() // it has the errors of the others
}

// together joins losses that differ in their resource only, and names those.
func together(losses []Loss) []Loss {
	var rows []Loss
	at := map[Loss]int{}
	for _, l := range losses {
		key := Loss{Form: l.Form, Policy: l.Policy, Instead: l.Instead}
		i, known := at[key]
		switch {
		case !known:
			at[key] = len(rows)
			l.Resource = cmp.Or(l.Resource, "all")
			rows = append(rows, l)
		case l.Resource != "":
			rows[i].Resource += ", " + l.Resource
		}
	}
	return rows
}
