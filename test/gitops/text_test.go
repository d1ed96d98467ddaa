package gitops

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/kustomize"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// textForm puts two columns into every place that accepts any text.
const textForm = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: texts}
spec:
  source: {type: json, json: {path: rows.json}}
  valueMappings: {uid: id, activate: active}
  extraValueMappings: {a: a, b: b}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: texts
  configMaps:
    - id: text
      nameTemplate: "{{ .uid }}"
      annotationsTemplate: {example.com/text: "{{ .a }}"}
      spec: {apiVersion: v1, kind: ConfigMap, data: {a: "{{ .a }}", b: "{{ .a }}{{ .b }}", c: "costs ${{ .b }}", d: "{{ .b | upper }}\nlast line\n"}}
  manifests:
    - id: thing
      nameTemplate: "{{ .uid }}"
      spec: {apiVersion: example.com/v1, kind: Thing, spec: {list: ["{{ .a }}", ["{{ .b }}"], {a: "{{ .b }}"}], text: "{{ .a }}"}}
`

// pieces returns texts that YAML, JSON, shells and file systems find hard to read.
func pieces() []string {
	return append(strings.Split("a - : # ' \" \\ { } [ ] $ $ ${ ${plan} $$ | > % @ & * ! ? , ` 0 1 e _ . true y on null = << ~ --- ...", " "),
		" ", "\t", "\n", "\r", "\x00", "\x01", "\x1b", "\u00a0", "\u00ad", "\u2028", "\u2029", "\ufeff", "\ufffd", "é", "😀", "\U0001fffe", strings.Repeat("word ", 30))
}

// lost returns the characters that kustomize can't preserve.
func lost() []string {
	return []string{"\x7f", "\u0080", "\u0085", "\u009f", "\ufffe", "\uffff"}
}

func randomText(random *rand.Rand, from []string) string {
	var b strings.Builder
	for range random.IntN(9) {
		b.WriteString(from[random.IntN(len(from))])
	}
	return b.String()
}

// TestTexts wants the tree to build for any rows. Neither kustomize nor Flux's substitution
// of variables may change an object.
func TestTexts(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	r := newRepository(t, "default")
	r.write(t, "forms.yaml", textForm)
	var rows []map[string]string
	for i := range 300 {
		a := randomText(random, pieces())
		if strings.Contains(a, "\n") {
			a = strings.TrimLeft(a, "\t") // TestTextsLost
		}
		b := randomText(random, pieces())
		a, b = strings.TrimRight(a, "\u2028\u2029"), strings.TrimRight(b, "\u2028\u2029")
		rows = append(rows, map[string]string{"id": fmt.Sprintf("t%d", i), "active": "1", "a": a, "b": b})
	}
	r.write(t, "rows.json", string(encode(t, rows)))
	wanted := byKey(t, objects(t, []byte(r.render(t))))
	if len(wanted) != 2*len(rows) {
		t.Fatalf("the stream has %d objects", len(wanted))
	}
	for _, target := range []string{"plain", "argo", "flux"} {
		r.renderTree(t, "--target="+target)
		built := built(t, r, target == "flux")
		for _, key := range slices.Sorted(maps.Keys(wanted)) {
			if diff := cmp.Diff(contentOf(wanted[key]), contentOf(built[key])); diff != "" {
				t.Errorf("%s: %s:\n%s", target, key, diff)
			}
		}
	}
}

// TestTextsLost wants a report about rows with a character that kustomize can't preserve.
// The tree of the others must build.
func TestTextsLost(t *testing.T) {
	t.Parallel()
	r := newRepository(t, "default")
	r.write(t, "forms.yaml", textForm)
	rows := []map[string]string{{"id": "good", "active": "1", "a": "x", "b": "y"}}
	for i, s := range lost() {
		rows = append(rows, map[string]string{"id": fmt.Sprintf("t%d", i), "active": "1", "a": "x" + s, "b": "y"})
	}
	rows = append(rows, map[string]string{"id": "ended", "active": "1", "a": "x\ny\u2029", "b": "y"})
	rows = append(rows, map[string]string{"id": "tabbed", "active": "1", "a": "\tx\n", "b": "y"})
	r.write(t, "rows.json", string(encode(t, rows)))
	stderr := r.fails(t, 1, "--output-dir", r.tree(), "--keep-going")
	for i, s := range lost() {
		want := fmt.Sprintf(`row "t%d": kustomize cannot build an object with the character %U`, i, []rune(s)[0])
		if !strings.Contains(stderr, want) {
			t.Errorf("not told: %s\n%s", want, stderr)
		}
	}
	if ended := `row "ended": kustomize cannot build an object with the character U+2029`; !strings.Contains(stderr, ended) {
		t.Errorf("not told: %s\n%s", ended, stderr)
	}
	const tabbed = `row "tabbed": kustomize cannot build an object with an annotation of several lines that begins with a tab`
	if !strings.Contains(stderr, tabbed) {
		t.Errorf("not told: %s\n%s", tabbed, stderr)
	}
	if got := len(built(t, r, false)); got != 2 {
		t.Errorf("%d objects of the good row", got)
	}
}

// built returns kustomize's objects of the tree, and Flux's if a Kustomization has
// variables.
func built(t *testing.T, r *repository, substitute bool) map[string]any {
	t.Helper()
	m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), r.tree())
	if err != nil {
		t.Fatal(err)
	}
	k := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"postBuild": map[string]any{"substitute": map[string]any{"plan": "substituted"}}}}}
	for _, o := range m.Resources() {
		if !substitute {
			break
		}
		out, err := kustomize.SubstituteVariables(t.Context(), nil, k, o)
		if err != nil {
			t.Fatalf("%s: %v", o.CurId(), err)
		}
		if out != nil {
			if _, err := m.Replace(out); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, err := m.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return byKey(t, objects(t, text))
}

// contentOf returns an object without the annotations of a target.
func contentOf(object any) any {
	o, _ := object.(map[string]any)
	text, _, _ := unstructured.NestedString(o, "metadata", "annotations", "example.com/text")
	content := maps.Clone(o)
	delete(content, "metadata")
	return []any{text, content}
}
