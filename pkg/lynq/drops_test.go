package lynq_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestDrops tells the resources that a row doesn't get from those that the form no longer has.
func TestDrops(t *testing.T) {
	for _, c := range []struct {
		what         []string
		id, template string
		want         bool
	}{
		{[]string{"service"}, "service", "x", true},
		{[]string{"service"}, "service-b", "x", false},
		{nil, "service", "x", false},
		{[]string{lynq.DropsChart("app", "")}, "app-configmap", "x", true},
		{[]string{lynq.DropsChart("app", "")}, "app", "x", false},
		{[]string{lynq.DropsChart("app", "")}, "apple-configmap", "x", false},
		{[]string{lynq.DropsChart("app", "x")}, "app-configmap", "x", true},
		{[]string{lynq.DropsChart("app", "x")}, "app-configmap", "y", false},
		{[]string{lynq.DropsChart("app", "x")}, "app-configmap", "", false},
	} {
		t.Run(c.id, func(t *testing.T) {
			if got := lynq.Drops(c.what, c.id, c.template); got != c.want {
				t.Errorf("%v drops %s of %q: %v", c.what, c.id, c.template, got)
			}
		})
	}
}

// TestDropsSince wants objects of a chart to count as dropped by the row only if the chart is the
// same, or if the row doesn't get it at all.
func TestDropsSince(t *testing.T) {
	entries := []string{"service", lynq.DropsChart("app", "x"), lynq.DropsChart("db", "")}
	for _, same := range []bool{false, true} {
		since := lynq.DropsSince(entries, same)
		for id, want := range map[string]bool{"service": true, "app-service": same, "db-service": true, "other": false} {
			if got := lynq.Drops(since, id, ""); got != want {
				t.Errorf("with the same charts %v, it drops %s: %v", same, id, got)
			}
		}
	}
}
