package formtest

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// Load reads a form. resources is a YAML list of its resources.
func Load(t *testing.T, resources string) *form.Form {
	t.Helper()
	return LoadAll(t, "", resources)[0]
}

// LoadAll reads forms with the names a, b, and so on.
func LoadAll(t *testing.T, spec string, resources ...string) []*form.Form {
	t.Helper()
	var b strings.Builder
	b.WriteString(`
apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: hub}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
`)
	for i, r := range resources {
		b.WriteString("---\napiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: " + string(rune('a'+i)) + "}\nspec:\n  hubId: hub\n" + spec + "  manifests:\n")
		for _, line := range strings.Split(strings.Trim(r, "\n"), "\n") {
			b.WriteString("  " + strings.TrimPrefix(line, "\t") + "\n")
		}
	}
	in, err := form.Load([]string{"-"}, false, strings.NewReader(b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return in.Forms
}

// Object returns a form's resource of some kind. fields are extra fields of the resource.
func Object(apiVersion, kind, id, fields string) string {
	return "- {id: " + id + ", nameTemplate: \"{{ .uid }}-" + id + "\", spec: {apiVersion: " + apiVersion + ", kind: " + kind + "}, " + fields + "}\n"
}

// ConfigMap returns a form's resource with a ConfigMap.
func ConfigMap(id, fields string) string { return Object("v1", "ConfigMap", id, fields) }
