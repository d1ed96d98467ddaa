package apply_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/sites"
)

// TestStrategyTable checks, for each strategy, conflictPolicy and ignoreFields, the values of
// fields and their managers after another tool took one of them.
//
// lynqctl writes a=1 and b=1. The tool applies b=2. Then the form says a=2. Beside that,
// kubectl may have added c=3.
func TestStrategyTable(t *testing.T) {
	base := newLone(t)
	form := func(a string) map[string]any {
		return sites.Parse(t, "{apiVersion: v1, kind: ConfigMap, data: {a: '"+a+"', b: '1'}}")
	}
	cases := 0
	for _, strategy := range lynq.PatchStrategies() {
		for _, conflict := range []lynq.ConflictPolicy{lynq.ConflictStuck, lynq.ConflictForce} {
			for _, ignored := range []bool{false, true} {
				for _, kubectl := range []bool{false, true} {
					cases++
					p := policyOf(strategy, conflict)
					if ignored {
						p.IgnoreFields = []string{"$.data.b"}
					}
					c := base.of(fmt.Sprintf("c%d", cases), p, form("1"))
					title := fmt.Sprintf("%s, %s, ignored %t, kubectl %t", strategy, conflict, ignored, kubectl)
					if outcome, says := c.apply(form("1")); outcome != report.OutcomeDone {
						t.Fatalf("%s: %s: %s", title, outcome, says)
					}
					c.applied("tool", "{data: {b: '2'}}")
					if kubectl {
						c.patch("kubectl-client-side-apply", `{"data":{"c":"3"}}`)
					}
					before := c.get()
					outcome, says := c.apply(form("2"))
					want := tableOf(strategy, conflict, ignored, kubectl)
					got := rowOf(c.get(), outcome, before)
					if got != want {
						t.Errorf("%s: %s\n got %+v\nwant %+v", title, says, got, want)
					}
				}
			}
		}
	}
	if cases != 40 {
		t.Errorf("%d cases", cases)
	}
}

// row is a line of the table: the outcome, the values, and the managers of b and c.
type row struct {
	outcome    report.Outcome
	data       string
	b, c       string
	recreation bool
}

// tableOf is the table.
func tableOf(s lynq.PatchStrategy, conflict lynq.ConflictPolicy, ignored, kubectl bool) row {
	c, of := "", ""
	if kubectl {
		c, of = " c=3", "kubectl-client-side-apply"
	}
	force := conflict == lynq.ConflictForce
	refused := !force && !ignored
	switch {
	case refused:
		return row{report.OutcomeConflicted, "a=1 b=2" + c, "tool", of, false}
	case s == lynq.PatchRecreate:
		return row{report.OutcomeDone, "a=2 b=1", "lynq", "", true}
	case s == lynq.PatchOverride, s == lynq.PatchReplace:
		c, of = "", ""
	}
	if ignored {
		return row{report.OutcomeDone, "a=2 b=2" + c, "tool", of, false}
	}
	return row{report.OutcomeDone, "a=2 b=1" + c, "lynq", of, false}
}

func rowOf(u *unstructured.Unstructured, outcome report.Outcome, before *unstructured.Unstructured) row {
	data, _, _ := unstructured.NestedStringMap(u.Object, "data")
	var values []string
	for key, value := range data {
		values = append(values, key+"="+value)
	}
	slices.Sort(values)
	return row{outcome, strings.Join(values, " "), managersOf(u, "data", "b"), managersOf(u, "data", "c"), u.GetUID() != before.GetUID()}
}

// managersOf returns the managers of a field.
func managersOf(u *unstructured.Unstructured, path ...any) string {
	var names []string
	for _, e := range u.GetManagedFields() {
		set := fieldpath.NewSet()
		if raw := e.FieldsV1.GetRawReader(); set.FromJSON(raw) == nil && set.Has(fieldpath.MakePathOrDie(path...)) {
			names = append(names, e.Manager)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}
