package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// waveInputs has two objects whose work is done after wave 0, one of which a row changes.
// Three more objects come in waves.
const waveInputs = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: HUB}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
  extraValueMappings: {plan: plan}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: app}
spec:
  hubId: HUB
  configMaps:
    - {id: first, applyOrder: -1, deleteOrder: 1, nameTemplate: "{{ .uid }}-first", spec: {apiVersion: v1, kind: ConfigMap}}
    - {id: seed, purgeOrder: 0, nameTemplate: "{{ .uid }}-seed", spec: {apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}"}}}
    - {id: same, purgeOrder: 0, nameTemplate: "{{ .uid }}-same", spec: {apiVersion: v1, kind: ConfigMap}}
    - {id: app, applyOrder: 1, deleteOrder: -1, nameTemplate: "{{ .uid }}-app", spec: {apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}"}}}
    - {id: last, applyOrder: 1, nameTemplate: "{{ .uid }}-last", spec: {apiVersion: v1, kind: ConfigMap}}
`

// killedPurge applies while an object has to do its work again. The work must be done, its
// object gone, and the object of earlier work not created again.
func killedPurge(t *testing.T) *kills {
	t.Helper()
	s := newShop(t, waveInputs, 1, faultproxy.Options{})
	s.apply(t).want(t, 0)
	return &kills{
		shop: s, args: []string{"apply", "-f", s.dir}, least: 7,
		begin: func(t *testing.T, n int) {
			t.Helper()
			s.rows["t000"] = fmt.Sprintf("plan-%d", n)
			s.writeRows(t)
		},
		left: func(t *testing.T, _ bool) {
			t.Helper()
			complain(t, s.look(t).unnamed())
		},
		whole: func(t *testing.T) {
			t.Helper()
			if slices.ContainsFunc(s.proxy.Records(), func(r faultproxy.Record) bool { return r.IsWrite() && r.Name == "t000-same" }) {
				t.Error("what was done is done again")
			}
			s.purged(t, s.rows["t000"])
			before := s.look(t).versions()
			s.apply(t).want(t, 0)
			if after := s.look(t).versions(); !maps.Equal(before, after) {
				t.Errorf("a further apply changed %v", differing(before, after))
			}
		},
	}
}

// purged wants the same state as after an undisturbed run with a plan.
func (s *shop) purged(t *testing.T, plan string) {
	t.Helper()
	shot := s.look(t)
	var names []string
	for _, id := range []string{"first", "seed", "same", "app", "last"} {
		o := shot.objects["ConfigMap/"+s.Namespace+"/t000-"+id]
		if o == nil {
			continue
		}
		names = append(names, id)
		if data, _ := o.Object["data"].(map[string]any); id == "app" && data["plan"] != plan {
			t.Errorf("the application has %v, want %s", data, plan)
		}
	}
	if got := strings.Join(names, " "); got != "first app last" {
		t.Errorf("there are %s", got)
	}
	records, err := shot.records()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"seed", "same"} {
		named := records["ConfigMap/"+s.Namespace+"/t000-"+id]
		if len(named) != 1 || named[0].Phase != "Completed" || named[0].UID != "" || named[0].Digest == "" {
			t.Errorf("%s is recorded as %+v", id, named)
		}
	}
}

// killedWaves deletes a node. No object may be gone before those of earlier waves, and
// nothing may be left at the end.
func killedWaves(t *testing.T) *kills {
	t.Helper()
	s := newShop(t, waveInputs, 1, faultproxy.Options{})
	return &kills{
		shop: s, args: []string{"delete", "node", "t000-app", "-n", s.Namespace, "--yes", "--ignore-not-found"}, least: 4,
		begin: func(t *testing.T, _ int) {
			t.Helper()
			s.apply(t).want(t, 0)
		},
		left: func(t *testing.T, _ bool) {
			t.Helper()
			objects := s.look(t).objects
			gone := func(id string) bool { return objects["ConfigMap/"+s.Namespace+"/t000-"+id] == nil }
			if gone("last") && !gone("app") || gone("first") && !gone("last") {
				t.Errorf("gone: first %v, app %v, last %v", gone("first"), gone("app"), gone("last"))
			}
		},
		whole: func(t *testing.T) {
			t.Helper()
			if shot := s.look(t); len(shot.objects)+len(shot.nodes) > 0 {
				t.Errorf("left: %v, %d inventories", shot.versions(), len(shot.nodes))
			}
		},
	}
}
