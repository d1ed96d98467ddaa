package e2e_test

import (
	"net/http"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// hookedInputs are two hooks, one after the other, and what they are to go before.
const hookedInputs = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: HUB}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: app}
spec:
  hubId: HUB
  configMaps:
    - {id: data, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ConfigMap}}
  jobs:
    - id: backup
      nameTemplate: "{{ .uid }}-backup"
      runOn: Delete
      timeoutSeconds: 60
      spec: {apiVersion: batch/v1, kind: Job, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: example.com/a}]}}}}
    - id: report
      nameTemplate: "{{ .uid }}-report"
      dependIds: [backup]
      runOn: Delete
      timeoutSeconds: 60
      spec: {apiVersion: batch/v1, kind: Job, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: example.com/a}]}}}}
`

// TestHookKilled deletes a node that has hooks, and kills the run before each of its
// writes in turn. As long as a hook has not completed all of the node is there, each hook
// is made once whenever that is, and the next run ends as one that nothing disturbed.
func TestHookKilled(t *testing.T) {
	t.Parallel()
	s := newShop(t, hookedInputs, 1, faultproxy.Options{})
	remove := []string{"delete", "node", "t000-app", "-n", s.Namespace, "--yes", "--ignore-not-found", "--cascade=foreground", "--events=false"}
	for write := 1; ; write++ {
		s.start(t, "apply", "-f", s.dir, "--events=false").want(t, 0)
		s.proxy.Reset()
		killed := s.killedBefore(t, write, remove...)
		made := s.jobsMade()
		if killed {
			if made < 2 { // nothing goes before all hooks have completed
				s.Get(t, "configmap/t000")
			}
			s.deleteLease(t)
			s.proxy.Reset()
			s.start(t, remove...).want(t, 0)
			made += s.jobsMade()
		}
		if made != 2 {
			t.Errorf("%d Jobs were made for 2 hooks", made)
		}
		for _, gone := range []string{"configmap/t000", "job/t000-backup", "job/t000-report", "configmap/" + inventory.Name("t000-app")} {
			s.Absent(t, gone)
		}
		if t.Failed() {
			t.Fatalf("after a kill before write %d", write)
		}
		if !killed {
			if write <= leastWrites {
				t.Errorf("only %d runs were killed: a deletion with hooks has more writes", write-1)
			}
			return
		}
	}
}

// jobsMade counts the Jobs that were created since the proxy was reset.
func (s *shop) jobsMade() int {
	made := 0
	for _, r := range s.proxy.Records() {
		if r.Resource == "jobs.batch" && r.Verb == "patch" && !r.DryRun && r.Status == http.StatusCreated {
			made++
		}
	}
	return made
}
