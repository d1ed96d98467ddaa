package render

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// longEnough is the length from which a value isn't in a text by chance.
const longEnough = 8

// shown refuses objects of charts that show values of secret columns: in their names, and with
// Options.Strict anywhere outside a Secret.
func (f *frame) shown(resources []*form.Resource) lynq.Problems {
	var problems lynq.Problems
	for i, value := range f.row.Values {
		if len(value) < longEnough || !f.base.secret(i) || i == f.base.uid {
			continue
		}
		secrets := []string{value, base64.StdEncoding.EncodeToString([]byte(value))}
		for _, r := range resources {
			if c := f.base.chartOf(r.ID); c == nil || !c.sensitive {
				continue
			}
			about := r.Manifest.Field("metadata")
			switch {
			case shows(about.Field("name"), secrets) || shows(about.Field("namespace"), secrets):
				problems.Add(r.Pos, "set a value of the chart for names that isn't secret",
					"form %q, chart %q: the name of an object shows the value of secret column %s, and every output shows names", f.base.Form.Name, r.Chart.ID, f.base.secretName(i))
			case f.base.options.Strict && (shows(about, secrets) || (r.Kind != "Secret" || r.APIVersion != "v1") && shows(r.Manifest, secrets)):
				problems.Add(r.Pos, "have the chart refer to a Secret",
					"form %q, resource %q: it shows the value of secret column %s outside a Secret", f.base.Form.Name, r.ID, f.base.secretName(i))
			}
		}
	}
	return problems
}

// shows reports whether a text in a value contains one of the secrets.
func shows(v *document.Value, secrets []string) bool {
	if v == nil {
		return false
	}
	has := func(text string) bool {
		return slices.ContainsFunc(secrets, func(secret string) bool { return strings.Contains(text, secret) })
	}
	return has(v.Str) || slices.ContainsFunc(v.Items, func(item *document.Value) bool { return shows(item, secrets) }) ||
		slices.ContainsFunc(v.Fields, func(field document.Field) bool { return has(field.Key) || shows(field.Value, secrets) })
}
