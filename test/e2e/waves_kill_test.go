package e2e_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// waveInputs are two objects whose work is done after wave 0, one of which a row changes,
// and three that go in waves.
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

// TestPurgeKilled kills an apply before each of its writes in turn, while an object has
// to do its work again. Whenever that is, the next run ends as an undisturbed one does:
// the work was done, what did it is gone, and what did its work before is not made again.
func TestPurgeKilled(t *testing.T) {
	t.Parallel()
	s := newShop(t, waveInputs, 1, faultproxy.Options{})
	s.apply(t).want(t, 0)
	for write, killed := 1, true; killed; write++ {
		s.rows["t000"] = fmt.Sprintf("plan-%d", write)
		s.writeRows(t)
		killed = s.killedBefore(t, write, "apply", "-f", s.dir)
		complain(t, s.look(t).unnamed())
		s.deleteLease(t)
		again := s.apply(t)
		again.want(t, 0)
		if said := again.stderr.String(); strings.Contains(said, "t000-same") {
			t.Errorf("killed before write %d; then it was done again:\n%s", write, said)
		}
		s.purged(t, s.rows["t000"])
		before := s.look(t).versions()
		s.apply(t).want(t, 0)
		if after := s.look(t).versions(); !maps.Equal(before, after) {
			t.Errorf("a further apply changed %v", differing(before, after))
		}
		if t.Failed() {
			t.Fatalf("killed before write %d", write)
		}
		if !killed && write < 8 {
			t.Fatalf("a run sends %d writes only: there is too little to do for this test", write-1)
		}
	}
}

// purged checks that all is as after an undisturbed run with a plan.
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

// TestDeletionWavesKilled kills a deletion before each of its writes in turn. Whenever
// that is, no object is gone before those of earlier waves are, and the next run deletes
// the rest.
func TestDeletionWavesKilled(t *testing.T) {
	t.Parallel()
	s := newShop(t, waveInputs, 1, faultproxy.Options{})
	for write, killed := 1, true; killed; write++ {
		s.apply(t).want(t, 0)
		killed = s.killedBefore(t, write, "delete", "node", "t000-app", "-n", s.Namespace, "--yes")
		objects := s.look(t).objects
		gone := func(id string) bool { return objects["ConfigMap/"+s.Namespace+"/t000-"+id] == nil }
		if gone("last") && !gone("app") || gone("first") && !gone("last") {
			t.Errorf("killed before write %d, and gone: first %v, app %v, last %v", write, gone("first"), gone("app"), gone("last"))
		}
		s.deleteLease(t)
		if killed && len(s.look(t).nodes) > 0 {
			s.start(t, "delete", "node", "t000-app", "-n", s.Namespace, "--yes").want(t, 0)
		}
		shot := s.look(t)
		if len(shot.objects)+len(shot.nodes) > 0 || t.Failed() {
			t.Fatalf("killed before write %d; left: %v, %d inventories", write, shot.versions(), len(shot.nodes))
		}
		if !killed && write < 5 {
			t.Fatalf("a run sends %d writes only: there is too little to do for this test", write-1)
		}
	}
}
