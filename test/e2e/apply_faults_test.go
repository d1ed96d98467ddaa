package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// faultRows is small, so that each fault affects a good part of a run.
const faultRows = 5

// fault is a temporary fault between lynqctl and the API server.
type fault struct {
	rules []faultproxy.Rule
	http1 bool
	once  bool // not again for changed objects, because all runs read the same
}

// target is a verb and a resource.
type target = faultproxy.Key

// The requests of a run, by purpose.
func reads() []target {
	return []target{
		{Verb: "get", Resource: "/api"}, {Verb: "get", Resource: "/apis"},
		{Verb: "get", Resource: "leases.coordination.k8s.io"}, {Verb: "get", Resource: "configmaps"},
		{Verb: "list", Resource: "configmaps"}, {Verb: "list", Resource: "deployments.apps"}, {Verb: "list", Resource: "services"},
		{Verb: "watch", Resource: "deployments.apps"},
	}
}

func objectWrites() []target {
	return []target{
		{Verb: "patch", Resource: "configmaps"}, {Verb: "patch", Resource: "services"}, {Verb: "patch", Resource: "deployments.apps"},
		{Verb: "delete", Resource: "configmaps"}, {Verb: "delete", Resource: "deployments.apps"},
	}
}

func recordWrites() []target {
	return []target{
		{Verb: "create", Resource: "configmaps"}, {Verb: "update", Resource: "configmaps"}, {Verb: "delete", Resource: "configmaps"},
		{Verb: "create", Resource: "leases.coordination.k8s.io"}, {Verb: "update", Resource: "leases.coordination.k8s.io"},
	}
}

// each returns a rule for each target. It applies to two requests.
func each(targets []target, rule faultproxy.Rule) []faultproxy.Rule {
	rules := make([]faultproxy.Rule, len(targets))
	for i, t := range targets {
		rules[i] = rule
		rules[i].Verb, rules[i].Resource, rules[i].Times = t.Verb, t.Resource, 2
	}
	return rules
}

// passingFaults returns the faults that a run survives.
func passingFaults() map[string]fault {
	faults := map[string]fault{
		"slow server": {rules: []faultproxy.Rule{{Delay: 50 * time.Millisecond}}},
		"watch 410":   {rules: each([]target{{Verb: "watch", Resource: "deployments.apps"}}, faultproxy.Rule{Status: http.StatusGone})},
	}
	for _, status := range []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		rule := faultproxy.Rule{Status: status}
		if status == http.StatusTooManyRequests {
			rule.RetryAfter = 1
		}
		faults[fmt.Sprintf("reads %d", status)] = fault{rules: each(reads(), rule), once: true}
		faults[fmt.Sprintf("writes %d", status)] = fault{rules: each(slices.Concat(objectWrites(), recordWrites()), rule)}
	}
	for _, end := range []faultproxy.End{faultproxy.CutBefore, faultproxy.CutAfter} {
		rule := faultproxy.Rule{End: end}
		for _, http1 := range []bool{false, true} {
			name := map[bool]string{false: "HTTP/2", true: "HTTP/1"}[http1]
			faults[fmt.Sprintf("objects %s %s", end, name)] = fault{rules: each(objectWrites(), rule), http1: http1}
			faults[fmt.Sprintf("records %s %s", end, name)] = fault{rules: each(recordWrites(), rule), http1: http1}
		}
		faults[fmt.Sprintf("reads %s", end)] = fault{rules: each(reads(), rule), once: true}
	}
	for _, events := range []int{0, 2} {
		rule := faultproxy.Rule{End: faultproxy.CloseAfter, Events: events}
		faults[fmt.Sprintf("watch closed after %d", events)] = fault{rules: each([]target{{Verb: "watch", Resource: "deployments.apps"}}, rule)}
	}
	return faults
}

// TestApplyFaults wants a run to survive passing faults, while it creates objects and while
// it changes them. It creates nothing twice, and the inventories are right.
func TestApplyFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range passingFaults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, shopInputs, faultRows, faultproxy.Options{HTTP1: fault.http1})
			s.faulted(t, fault.rules)
			made := s.look(t)

			s.rows["t001"] = "pro"
			delete(s.rows, "t002")
			s.rows["t100"] = "free"
			s.writeRows(t)
			if fault.once {
				s.faulted(t, nil)
			} else {
				s.faulted(t, fault.rules)
			}

			s.sameObjects(t, made)
			s.madeOnce(t)
			s.met(t, fault.rules)
			s.settled(t)
		})
	}
}

// faulted applies during a fault, and checks the inventories.
func (s *shop) faulted(t *testing.T, rules []faultproxy.Rule) {
	t.Helper()
	s.proxy.SetRules(rules...)
	s.apply(t).want(t, 0)
	objects, nodes := s.desired(t)
	complain(t, s.look(t).unsettled(objects, nodes))
}

// sameObjects fails the test if someone created an existing object again.
func (s *shop) sameObjects(t *testing.T, before *snapshot) {
	t.Helper()
	for ref, o := range s.look(t).objects {
		if was := before.objects[ref]; was != nil && was.GetUID() != o.GetUID() {
			t.Errorf("%s was made anew", ref)
		}
	}
}

// madeOnce fails the test if the server created one object twice.
func (s *shop) madeOnce(t *testing.T) {
	t.Helper()
	made := map[string]int{}
	for _, r := range s.proxy.Records() {
		if r.Status != http.StatusCreated || r.Name == "" { // a POST doesn't contain the name
			continue
		}
		if made[r.Resource+"/"+r.Name]++; made[r.Resource+"/"+r.Name] == 2 {
			t.Errorf("%s/%s was made twice", r.Resource, r.Name)
		}
	}
}

// met fails the test if a rule never matched a request, because it then tested nothing.
func (s *shop) met(t *testing.T, rules []faultproxy.Rule) {
	t.Helper()
	records := s.proxy.Records()
	for _, rule := range rules {
		if rule.Verb != "" && !slices.ContainsFunc(records, func(r faultproxy.Record) bool {
			return r.Faulted && r.Verb == rule.Verb && r.Resource == rule.Resource
		}) {
			t.Errorf("no %s %s was met", rule.Verb, rule.Resource)
		}
	}
}

// TestApplyLastingFault wants a lasting fault to stop one object of each node, and those
// that depend on it. The run does the rest, and the next run completes it.
func TestApplyLastingFault(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rule faultproxy.Rule
		says []string
		done []string // kinds
		not  []string
	}{
		"server error": {
			rule: faultproxy.Rule{Verb: "patch", Resource: "deployments.apps", Status: http.StatusInternalServerError},
			says: []string{"-server  create failed", "apply deployments.apps NS/t00", "fault proxy: 500", "(tried 7 times)",
				"5 nodes (t000-app, t001-app, ", "error: 5 nodes failed"},
			done: []string{"ConfigMap/NS/t003-settings", "Service/NS/t003-web"},
			not:  []string{"Deployment/NS/t003-server"},
		},
		"refused": {
			rule: faultproxy.Rule{Verb: "patch", Resource: "configmaps", Status: http.StatusUnprocessableEntity},
			says: []string{"apply configmaps NS/t00", "fault proxy: 422", "5 nodes (t000-app, t001-app, ", "error: 5 nodes failed"},
			done: []string{"Service/NS/t003-web"},
			not:  []string{"ConfigMap/NS/t003-settings", "Deployment/NS/t003-server"}, // it depends on the other
		},
		"records": {
			rule: faultproxy.Rule{Verb: "create", Resource: "configmaps", Status: http.StatusForbidden},
			says: []string{"save the inventory of node NS/t00", "fault proxy: 403", "5 nodes failed"},
			not:  []string{"ConfigMap/NS/t003-settings", "Service/NS/t003-web", "Deployment/NS/t003-server"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, shopInputs, faultRows, faultproxy.Options{})
			here := func(texts []string) []string {
				out := make([]string, len(texts))
				for i, text := range texts {
					out[i] = strings.ReplaceAll(text, "NS", s.Namespace)
				}
				return out
			}
			s.proxy.SetRules(tt.rule)
			s.apply(t).want(t, 1, here(tt.says)...)
			shot := s.look(t)
			complain(t, shot.unnamed())
			complain(t, shot.unconfirmed())
			for _, ref := range here(tt.done) {
				if shot.objects[ref] == nil {
					t.Errorf("%s was not made", ref)
				}
			}
			for _, ref := range here(tt.not) {
				if shot.objects[ref] != nil {
					t.Errorf("%s was made", ref)
				}
			}
			s.proxy.SetRules()
			s.apply(t).want(t, 0)
			s.settled(t)
		})
	}
}
