package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestShared wants one problem for many nodes, whatever names and numbers it contains. A
// problem that only objects of one node share doesn't count.
func TestShared(t *testing.T) {
	failed := func(uid string, problems ...string) report.NodeResult {
		return report.NodeResult{NodeID: lynq.NodeID{Form: lynq.FormKey{Name: "web"}, Namespace: "shop", Name: uid + "-web"}, Problems: report.ProblemsIn(strings.Join(problems, "\n"))}
	}
	var all []report.NodeResult
	for i, uid := range []string{"a", "acme", "bolt", "coil", "dyno"} {
		all = append(all, failed(uid,
			fmt.Sprintf("Deployment/shop/%s-app: pods %q is forbidden: exceeded quota, used: %d", uid, uid+"-app-5d8f9c", i),
			fmt.Sprintf("Service/shop/%s: port %d is taken by %s", uid, i, []string{"x", "y", "z", "u", "v"}[i])))
	}
	all = append(all, failed("one", "Secret/shop/one: no", "Secret/shop/two: no"), failed("two", "ConfigMap/shop/one: no"),
		failed("seven", "row \"seven\": port is not a number"), failed("other", "row \"other\": port is not a number"), failed("third", "row \"third\": port is not a number"))
	var got []string
	for _, s := range shared(all) {
		got = append(got, s.line())
	}
	want := []string{
		`5 nodes (a-web, acme-web, bolt-web, and 2 more): for example, pods "a-app-5d8f9c" is forbidden: exceeded quota, used: 0`,
		`3 nodes (seven-web, other-web, third-web): for example, row "seven": port is not a number`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
