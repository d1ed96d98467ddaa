package render_test

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

const digested = `apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web, namespace: shop}
spec:
  hubId: crm
  configMaps:
  - id: r
    nameTemplate: "{{ .uid }}"
    labelsTemplate: {tier: "{{ .a }}"}
    ignoreFields: [$.data.x]
    spec:
      apiVersion: v1
      kind: ConfigMap
      immutable: false
      data: {plain: "{{ .a }}-{{ .b }}", made: "{{ .a | upper }}", fixed: one, list: "x"}
`

// template returns the digest of the form's only resource for a row.
func template(t *testing.T, hub, form string, o render.Options, a string) string {
	t.Helper()
	n, problems := compileAll(t, load(t, hub+form), o)[0].Node(lynq.Row{Values: []string{a, "1", "b", "http://acme", "acme"}})
	if len(problems) > 0 {
		t.Fatal(problems.Err())
	}
	return n.Objects[0].Template
}

// TestTemplateDigest checks that the digest covers the whole template of an object, and
// nothing of the row. Clusters store it, so the value here must not change.
func TestTemplateDigest(t *testing.T) {
	const want = "012cd3c6bdd9eeff"
	if got := template(t, hubYAML, digested, render.Options{}, "gold"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(digested) }
	for name, same := range map[string]string{
		"another row":           template(t, hubYAML, digested, render.Options{}, "silver"),
		"a comment":             template(t, hubYAML, swap("    spec:", "    # why\n    spec:"), render.Options{}, "gold"),
		"keys in another order": template(t, hubYAML, swap(`fixed: one, list: "x"`, "list: 'x', fixed: one"), render.Options{}, "gold"),
		"how long to wait":      template(t, hubYAML, swap("    ignore", "    timeoutSeconds: 7\n    ignore"), render.Options{}, "gold"),
		"a mapping of others":   template(t, strings.Replace(hubYAML, "b: b}", "b: b, c: url}", 1), digested, render.Options{}, "gold"),
	} {
		t.Run(name, func(t *testing.T) {
			if same != want {
				t.Errorf("%s, want %s", same, want)
			}
		})
	}
	seen := map[string]string{want: "what it was"}
	for name, other := range map[string]string{
		"a value":           template(t, hubYAML, swap("fixed: one", "fixed: two"), render.Options{}, "gold"),
		"a type":            template(t, hubYAML, swap("immutable: false", "immutable: null"), render.Options{}, "gold"),
		"a field less":      template(t, hubYAML, swap("fixed: one, ", ""), render.Options{}, "gold"),
		"a template":        template(t, hubYAML, swap("| upper", "| lower"), render.Options{}, "gold"),
		"a name":            template(t, hubYAML, swap(`nameTemplate: "{{ .uid }}"`, `nameTemplate: "{{ .uid }}x"`), render.Options{}, "gold"),
		"another namespace": template(t, hubYAML, swap("    label", "    targetNamespace: far\n    label"), render.Options{}, "gold"),
		"a label":           template(t, hubYAML, swap("tier:", "plan:"), render.Options{}, "gold"),
		"an annotation":     template(t, hubYAML, swap("labelsTemplate", "annotationsTemplate"), render.Options{}, "gold"),
		"an id":             template(t, hubYAML, swap("id: r", "id: s"), render.Options{}, "gold"),
		"a policy":          template(t, hubYAML, swap("    ignore", "    deletionPolicy: Retain\n    ignore"), render.Options{}, "gold"),
		"a strategy":        template(t, hubYAML, swap("    ignore", "    patchStrategy: merge\n    ignore"), render.Options{}, "gold"),
		"an ignored field":  template(t, hubYAML, swap("$.data.x", "$.data.y"), render.Options{}, "gold"),
		"the namespace":     template(t, hubYAML, digested, render.Options{Namespace: "far"}, "gold"),
		"other columns":     template(t, strings.Replace(hubYAML, "{a: a, b: b}", "{a: b, b: a}", 1), digested, render.Options{}, "gold"),
	} {
		t.Run(name, func(t *testing.T) {
			if before, known := seen[other]; known {
				t.Errorf("it is the digest of %s", before)
			}
			seen[other] = name
		})
	}
}

// TestTemplateDigestOfSwappedColumns checks that the digest changes if two columns swap
// their variables.
func TestTemplateDigestOfSwappedColumns(t *testing.T) {
	for _, data := range []string{`x: "{{ .a }}-{{ .b }}"`, `x: "{{ .a | upper }}{{ .b }}"`, `x: "{{ print .a .b | trunc 3 }}"`, `x: "{{ .a | int }}"`} {
		t.Run(data, func(t *testing.T) {
			form := configMap(data)
			swapped := strings.Replace(hubYAML, "{a: a, b: b}", "{a: b, b: a}", 1)
			a, b := compileAll(t, load(t, hubYAML+form), render.Options{})[0], compileAll(t, load(t, swapped+form), render.Options{})[0]
			row := lynq.Row{Values: []string{"7", "1", "7", "http://acme", "acme"}}
			one, problems := a.Node(row)
			two, more := b.Node(row)
			if err := append(problems, more...).Err(); err != nil {
				t.Fatal(err)
			}
			if one.Objects[0].Template == two.Objects[0].Template {
				t.Errorf("%s: the same digest", data)
			}
		})
	}
}
