package kinds

import (
	"os"
	"strings"
	"testing"
)

// TestFilledFields checks that the page on policies names every field of the table, and that
// each path has a field.
func TestFilledFields(t *testing.T) {
	page, err := os.ReadFile("../../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), `<a id="filled"></a>`)
	section, _, _ = strings.Cut(section, "<a id=")
	fields := 0
	for _, f := range fills() {
		kind, group, _ := strings.Cut(f.kind, ".")
		var line string
		for l := range strings.Lines(section) {
			if first, _, _ := strings.Cut(strings.TrimPrefix(l, "| "), " |"); strings.Contains(first, kind) {
				line += l
			}
		}
		for _, field := range FilledFields(group, kind) {
			fields++
			last := field.Path[len(field.Path)-1]
			if _, _, item := ItemOf(last); item {
				last = field.Path[len(field.Path)-2]
			}
			if last == Each || !strings.Contains(line, "`"+last+"`") {
				t.Errorf("docs/policies.md lacks %s of %s", last, f.kind)
			}
		}
	}
	if fields < 50 || FilledFields("example.com", "Service") != nil {
		t.Errorf("%d fields", fields)
	}
	if !FilledBy("rbac.authorization.k8s.io", "ClusterRole", "clusterrole-aggregation-controller") || FilledBy("", "Service", "kubectl-edit") {
		t.Error("the managers are wrong")
	}
}
