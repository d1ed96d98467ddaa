package monitoring

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/rules"
)

var alertsFile = filepath.Join(root, "deploy", "monitoring", "alerts.yaml")

// alertCase says when an alert fires in the recorded run.
type alertCase struct {
	phase string // in which it fires
	over  string // at the end of which it no longer fires, "" if rates remember it longer
	// derived changes the input. It is nil if the recorded run shows the alert. With it,
	// the recorded run itself must not show the alert.
	derived func(*sample)
}

// afterwards isn't a phase of the recording: nothing scrapes any more.
const afterwards = "afterwards"

// change returns a derived input with other values of a metric, in the named phases.
func change(name string, phases []string, f func(*sample)) func(*sample) {
	return func(s *sample) {
		if s.name() == name && (phases == nil || slices.Contains(phases, s.phase)) {
			f(s)
		}
	}
}

func alertCases() map[string]alertCase {
	broken := []string{"broken"}
	none := func(s *sample) { s.value = 0 }
	// The hour before was like the phase.
	hourAgo := func(s *sample) { s.value -= 3600 }
	return map[string]alertCase{
		"LynqNodeDegraded":             {phase: "broken", over: "repaired"},
		"LynqNodeResourcesFailed":      {phase: "broken", over: "repaired"},
		"LynqNodeNotReady":             {phase: "broken", over: "repaired"},
		"LynqNodeResourcesConflicted":  {phase: "broken", over: "repaired"},
		"LynqNodeNewConflictsDetected": {phase: "broken", over: "end"},
		"LynqNodeReconciliationErrors": {phase: "broken", over: "unreadable"},
		"HighApplyFailureRate":         {phase: "broken", over: "unreadable"},
		"HubNodesFailure":              {phase: "broken", over: "repaired"},
		"LynqctlNodesBackingOff":       {phase: "broken", over: "repaired"},
		"LynqctlFight":                 {phase: "broken", over: "end"},
		"LynqctlDeletionsHeld":         {phase: "held", over: "readable"},
		"LynqctlInputsBad":             {phase: "held", over: "readable"},
		"LynqctlSourceFailing":         {phase: "unreadable", over: "readable"},
		"LynqctlNoLeader":              {phase: "by-hand", over: "end"},
		"LynqctlTombstoneStuck":        {phase: "broken"},
		"LynqctlAbsent":                {phase: afterwards},

		// Interrupted runs, instead of failed ones.
		"LynqNodeStatusUnknown": {phase: "broken", over: "repaired", derived: change("lynqctl_node_conditions", broken, func(s *sample) {
			if s.labels["type"] == "Ready" {
				s.labels["status"] = map[string]string{"True": "True", "False": "Unknown", "Unknown": "False"}[s.labels["status"]]
			}
		})},
		// Failed nodes still wait.
		"LynqNodeResourcesMismatch": {phase: "broken", over: "repaired", derived: change("lynqnode_resources_failed", broken, none)},
		"HubDesiredCountMismatch":   {phase: "broken", over: "repaired", derived: change("hub_failed", broken, none)},
		// A hub in which more nodes fail.
		"HubManyNodesFailure":      {phase: "broken", over: "repaired", derived: change("hub_failed", broken, func(s *sample) { s.value *= 3 })},
		"LynqNodeHighConflictRate": {phase: "broken", over: "end", derived: change("lynqnode_conflicts_total", nil, func(s *sample) { s.value *= 200 })},
		// Each node took more than two minutes.
		"LynqNodeReconciliationSlow": {phase: "broken", over: "unreadable", derived: change("lynqnode_reconcile_duration_seconds_bucket", nil, func(s *sample) {
			if slices.Contains([]string{"0.1", "0.5", "1", "2", "5", "10", "30", "60", "120"}, strings.TrimSuffix(s.labels["le"], ".0")) {
				s.value = 0
			}
		})},
		"LynqctlSourceStale": {phase: "unreadable", over: "readable", derived: change("lynqctl_source_last_success_timestamp_seconds", []string{"unreadable"}, hourAgo)},
		"LynqctlRunStale":    {phase: "unreadable", over: "end", derived: change("lynqctl_run_last_success_timestamp_seconds", []string{"unreadable"}, hourAgo)},
	}
}

func TestAlerts(t *testing.T) {
	t.Parallel()
	r := readRun(t)
	asRecorded := fired(t, r, nil)
	cases := alertCases()
	if got, want := slices.Sorted(maps.Keys(alertRules(t))), slices.Sorted(maps.Keys(cases)); !slices.Equal(got, want) {
		t.Fatalf("the rules have\n%q, the test\n%q", got, want)
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, at := cases[name], asRecorded
			if c.derived != nil {
				if times := asRecorded[name]; len(times) > 0 {
					t.Errorf("it fires without being derived, at %s", times)
				}
				at = fired(t, r, c.derived)
			}
			if !within(t, r, at[name], c.phase) {
				t.Errorf("it does not fire in phase %s, but at %s", c.phase, at[name])
			}
			if within(t, r, at[name], "well") {
				t.Errorf("it fires when all is well, at %s", at[name])
			}
			if c.over != "" {
				_, till := r.phase(t, c.over)
				if slices.Contains(at[name], till) {
					t.Errorf("it still fires at the end of phase %s: %s", c.over, at[name])
				}
			}
		})
	}
}

// TestAlertsOnFile plays a file that one run wrote with --metrics-per-node, and that no
// other run replaces for more than an hour.
func TestAlertsOnFile(t *testing.T) {
	t.Parallel()
	series := readFileSeries(t)
	const read = `lynqctl_source_last_success_timestamp_seconds{hub="crm",namespace="shop"}`
	seconds, err := strconv.ParseFloat(series[read], 64)
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{began: time.UnixMilli(int64(seconds * 1000))}
	for at := scrapeEvery; r.playedAt(at).Sub(r.began) < 90*time.Minute; at += scrapeEvery {
		r.scrapes = append(r.scrapes, scrape{at, "node-exporter", "file", series})
	}
	at := fired(t, r, nil)
	for _, name := range []string{"LynqNodeDegraded", "LynqNodeResourcesFailed", "LynqNodeResourcesConflicted", "LynqNodeNotReady", "HubNodesFailure", "LynqctlSourceStale", "LynqctlTombstoneStuck"} {
		if !within(t, r, at[name], "file") {
			t.Errorf("%s does not fire, but %v", name, slices.Sorted(maps.Keys(at)))
		}
	}
	if first := at["LynqctlSourceStale"]; len(first) > 0 && slower*first[0] < time.Hour {
		t.Errorf("rows that were read %s ago are stale", slower*first[0])
	}
}

func within(t *testing.T, r *recording, times []time.Duration, phase string) bool {
	t.Helper()
	from, till := r.end(), time.Duration(1<<62)
	if phase != afterwards {
		from, till = r.phase(t, phase)
	}
	return slices.ContainsFunc(times, func(at time.Duration) bool { return from < at && at <= till })
}

// end returns the time of the last scrape.
func (r *recording) end() time.Duration { return r.scrapes[len(r.scrapes)-1].at }

// fired plays a recording to Prometheus' rule engine. It returns when each alert fires, in
// the time of the recording: at its scrapes, and for a while afterwards.
func fired(t testing.TB, r *recording, derive func(*sample)) map[string][]time.Duration {
	t.Helper()
	store := play(t, r, derive)
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: rules.EngineQueryFunc(newEngine(), store), Appendable: store, Queryable: store, Context: t.Context(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {}, Logger: promslog.NewNopLogger(), Parser: newParser(),
	})
	groups, errs := manager.LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, alertsFile)
	for _, err := range errs {
		t.Fatal(err)
	}
	times := map[string][]time.Duration{}
	for at := range r.moments() {
		for _, g := range groups {
			g.Eval(t.Context(), r.playedAt(at))
			for _, rule := range g.AlertingRules() {
				if err := rule.LastError(); err != nil {
					t.Fatalf("%s: %v", rule.Name(), err)
				}
				if isFiring(t, rule) {
					times[rule.Name()] = append(times[rule.Name()], at)
				}
			}
		}
	}
	return times
}

// moments returns the times at which rules are evaluated, in the time of the recording.
func (r *recording) moments() func(yield func(time.Duration) bool) {
	return func(yield func(time.Duration) bool) {
		last := time.Duration(-1)
		for _, s := range r.scrapes {
			if s.at > last && !yield(s.at) {
				return
			}
			last = max(last, s.at)
		}
		for range 30 {
			if last += scrapeEvery; !yield(last) {
				return
			}
		}
	}
}

// isFiring reports whether a rule fires now. If so, it checks that its texts are complete.
func isFiring(t testing.TB, rule *rules.AlertingRule) bool {
	t.Helper()
	firing := false
	for _, a := range rule.ActiveAlerts() {
		if a.State != rules.StateFiring {
			continue
		}
		firing = true
		a.Annotations.Range(func(l labels.Label) {
			for _, bad := range []string{"error expanding", "%!", "<no value>", "  ", " ,", "/,"} {
				if strings.Contains(l.Value, bad) {
					t.Errorf("%s: %s is %q", rule.Name(), l.Name, l.Value)
				}
			}
		})
	}
	return firing
}

// alertRules returns the rules of the file, by alert.
func alertRules(t testing.TB) map[string]rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(alertsFile, false, model.LegacyValidation, newParser(), promslog.NewNopLogger())
	for _, err := range errs {
		t.Fatal(err)
	}
	all := map[string]rulefmt.Rule{}
	for _, g := range groups.Groups {
		for _, rule := range g.Rules {
			if _, twice := all[rule.Alert]; twice || rule.Alert == "" {
				t.Errorf("group %s: alert %q appears twice, or has no name", g.Name, rule.Alert)
			}
			all[rule.Alert] = rule
		}
	}
	return all
}
