package e2e_test

import (
	"net/http"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// hookedInputs has two hooks, one after the other, and the objects whose deletion they
// precede.
const hookedInputs = formInputs + `  configMaps:
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

// killedHooks deletes a node with hooks. Until a hook has completed, all of the node must
// exist, and lynqctl creates each hook once.
func killedHooks(t *testing.T) *kills {
	t.Helper()
	s := newShop(t, hookedInputs, 1, faultproxy.Options{})
	return &kills{
		shop: s, least: 8,
		args: []string{"delete", "node", "t000-app", "-n", s.Namespace, "--yes", "--ignore-not-found", "--cascade=foreground", "--events=false"},
		begin: func(t *testing.T, _ int) {
			t.Helper()
			s.start(t, "apply", "-f", s.dir, "--events=false").want(t, 0)
		},
		left: func(t *testing.T, killed bool) {
			t.Helper()
			if answered, _ := s.jobsMade(); killed && answered < 2 { // nothing is deleted before all hooks have completed
				s.Get(t, "configmap/t000")
			}
		},
		whole: func(t *testing.T) {
			t.Helper()
			if _, made := s.jobsMade(); made != 2 {
				t.Errorf("%d Jobs were made for 2 hooks", made)
			}
			for _, gone := range []string{"configmap/t000", "job/t000-backup", "job/t000-report", "configmap/" + inventory.Name("t000-app")} {
				s.Absent(t, gone)
			}
		},
	}
}

// jobsMade counts the creations of Jobs since the proxy's reset that lynqctl saw answered,
// and all of them. A process that is killed while it renews its Lease may have sent a
// creation whose answer nobody got.
func (s *shop) jobsMade() (answered, made int) {
	names, unanswered := map[string]bool{}, map[string]bool{}
	for _, r := range s.proxy.Records() {
		switch {
		case r.Resource != "jobs.batch" || r.Verb != "patch" || r.DryRun:
		case r.Status == http.StatusCreated:
			names[r.Name] = true
			answered++
		case r.Status == 0:
			unanswered[r.Name] = true
		}
	}
	made = answered
	for name := range unanswered {
		if !names[name] {
			made++
		}
	}
	return answered, made
}
