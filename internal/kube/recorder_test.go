package kube_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// TestEventSeries wants one event for what happens again, whichever Recorder tells it, and
// one for each object that it is about.
func TestEventSeries(t *testing.T) {
	t.Parallel()
	c := newThrough(t, faultproxy.Options{})
	at := time.Now().Truncate(time.Second)
	record := func(about, message string, later time.Duration) {
		t.Helper()
		r := c.Recorder("host") // each round has its own
		r.Record(t.Context(), report.KubernetesEvent{
			Namespace: c.Namespace, Inventory: "lynqnode-acme-web", UID: "u", Type: report.Warning, Reason: "Degraded",
			About: about, Message: message, Time: at.Add(later),
		})
		r.Flush(t.Context())
	}
	events := func() []string {
		t.Helper()
		lines := strings.Fields(c.Kubectl(t, "", "get", "events", "-o", `jsonpath={range .items[*]}{.count}:{.message}:{.reason}{"\n"}{end}`))
		slices.Sort(lines)
		return lines
	}
	want := func(step string, want ...string) {
		t.Helper()
		if got := events(); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", step, got, want)
		}
	}
	for i := range 9 {
		record("", fmt.Sprintf("why-%d", i), time.Duration(i)*time.Second)
	}
	want("retries", "9:why-8:Degraded")
	record("ConfigMap/a", "a", 0)
	record("ConfigMap/b", "b", 0)
	want("two objects", "1:a:Degraded", "1:b:Degraded", "9:why-8:Degraded")
	c.Kubectl(t, "", "delete", "events", "--all")
	record("", "again", 10*time.Second)
	want("the server forgot the event", "10:again:Degraded")
	c.rules(faultproxy.Rule{Verb: "patch", Resource: "events", Status: http.StatusForbidden})
	record("", "denied", 20*time.Second)
	want("nobody may patch", "10:again:Degraded")
	record("", "later", 2*time.Hour)
	record("", "soon-after", 2*time.Hour+time.Second)
	want("nobody may patch, and an hour has passed", "10:again:Degraded", "12:later:Degraded")
}
