package render_test

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// digestedRow returns the digest of a row, and that of the form's only resource.
func digestedRow(t *testing.T, hub, form string, values ...string) (row, template string) {
	t.Helper()
	n, problems := compileAll(t, load(t, hub+form), render.Options{})[0].Node(lynq.Row{Values: values})
	if len(problems) > 0 {
		t.Fatal(problems.Err())
	}
	return n.Row, n.Objects[0].Template
}

// TestRowDigest checks that the digest covers each mapped column and the variables.
// Without a resource that needs it, there is none. Clusters store it in the digests of
// objects, so the value here must not change. Many hash rounds make guessing values slow.
func TestRowDigest(t *testing.T) {
	const want = "c7eb5404bba4d68eacc09ed1c1ecb1f7"
	form := strings.Replace(digested, "    spec:", "    reconcilePolicy: OnObjectOrNodeChange\n    spec:", 1)
	values := []string{"gold", "1", "b", "http://acme", "acme"}
	row, template := digestedRow(t, hubYAML, form, values...)
	if row != want {
		t.Errorf("%q, want %q", row, want)
	}
	if again, _ := digestedRow(t, hubYAML, form, values...); again != row {
		t.Errorf("%s, and then %s", row, again)
	}
	seen := map[string]string{row: "what it was"}
	for i := range values {
		other := append([]string(nil), values...)
		other[i] += "x"
		if i == 1 {
			other[i] = "true" // so that the row stays active
		}
		got, same := digestedRow(t, hubYAML, form, other...)
		if before, known := seen[got]; known || same != template {
			t.Errorf("column %d: row %s is that of %q, template %s, want %s", i, got, before, same, template)
		}
		seen[got] = "column"
	}
	if named, _ := digestedRow(t, strings.Replace(hubYAML, "{a: a, b: b}", "{a: a, c: b}", 1), strings.ReplaceAll(form, ".b", ".c"), values...); seen[named] != "" {
		t.Error("a variable of another name does not show")
	}
	if none, _ := digestedRow(t, hubYAML, digested, values...); none != "" {
		t.Errorf("%s, and nothing asks for it", none)
	}
}

// TestTemplateDigestWithForm checks that the template's digest covers the whole form if
// the object follows its form.
func TestTemplateDigestWithForm(t *testing.T) {
	form := strings.Replace(digested, "    spec:", "    reconcilePolicy: OnObjectOrNodeChange\n    spec:", 1)
	values := []string{"gold", "1", "b", "http://acme", "acme"}
	_, before := digestedRow(t, hubYAML, form, values...)
	if _, same := digestedRow(t, hubYAML, strings.Replace(form, "  configMaps:", "  # why\n  configMaps:", 1), values...); same != before {
		t.Error("a comment is a change")
	}
	other := "  - id: other\n    nameTemplate: other\n    spec: {apiVersion: v1, kind: ConfigMap}\n"
	for name, changed := range map[string]string{
		"another resource": form + other,
		"a wait":           strings.Replace(form, "    spec:", "    timeoutSeconds: 7\n    spec:", 1),
		"a rollout":        strings.Replace(form, "  configMaps:", "  rollout: {maxSkew: 3}\n  configMaps:", 1),
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := digestedRow(t, hubYAML, changed, values...); got == before {
				t.Errorf("%s does not show", name)
			}
		})
	}
}
