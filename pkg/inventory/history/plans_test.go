package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// TestPlansRoundTrip checks that a record keeps its plans and other clients' fields.
func TestPlansRoundTrip(t *testing.T) {
	cm := history.NewPlans(lynq.HubKey{Namespace: "shop", Name: "crm"})
	cm.UID, cm.Annotations = "u", map[string]string{"team": "red"}
	p, err := history.PlansOf(cm)
	if err != nil || p.UID != "u" || p.Began != 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	now := time.Date(2026, 3, 4, 4, 0, 0, 0, time.UTC)
	if !p.Begin("a", now) || p.Begin("a", now) || !p.Begin("b", now) || !p.End("a", now.Add(time.Minute)) || p.End("a", now) {
		t.Errorf("changes of %+v", p)
	}
	next, err := p.In(cm)
	if err != nil {
		t.Fatal(err)
	}
	got, err := history.PlansOf(next)
	if err != nil {
		t.Fatal(err)
	}
	want := &history.Plans{UID: "u", Began: 2, Runs: []history.PlanRun{{ID: "a", Number: 1, Began: now, Ended: now.Add(time.Minute)}, {ID: "b", Number: 2, Began: now}}}
	if diff := cmp.Diff(want, got); diff != "" || next.Annotations["team"] != "red" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPlansForget checks that a full record forgets the oldest plans, and remembers how
// many.
func TestPlansForget(t *testing.T) {
	p := &history.Plans{}
	for i := range 503 {
		p.End(fmt.Sprint(i), time.Time{}.Add(time.Hour))
	}
	if p.Began != 503 || p.Forgotten != 3 || len(p.Runs) != 500 || p.Find("2") != nil || p.Find("3") == nil {
		t.Errorf("began %d, forgotten %d, kept %d", p.Began, p.Forgotten, len(p.Runs))
	}
}

// TestPlansRefuse checks that a record that lynqctl can't read is an error.
func TestPlansRefuse(t *testing.T) {
	for want, edit := range map[string]func(*corev1.ConfigMap){
		"its labels aren't those of lynqctl's record (delete it, and make a new plan)": func(cm *corev1.ConfigMap) { delete(cm.Labels, wellknown.LabelRecord) },
		`data.format: "" is no format (delete`:                                         func(cm *corev1.ConfigMap) { cm.Data = nil },
		"data.plans: invalid character":                                                func(cm *corev1.ConfigMap) { cm.Data["plans"] = "x" },
		"a newer lynqctl wrote it: it has format 2, and this lynqctl knows 1 (use that lynqctl)": func(cm *corev1.ConfigMap) {
			cm.Data["format"] = "2"
		},
	} {
		t.Run(want, func(t *testing.T) {
			cm := history.NewPlans(lynq.HubKey{Namespace: "shop", Name: "crm"})
			edit(cm)
			if p, err := history.PlansOf(cm); p != nil || err == nil || !strings.HasPrefix(err.Error(), "ConfigMap shop/lynqplans-crm, which has the plans that ran: "+want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
