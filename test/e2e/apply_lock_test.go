package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// lockInputs returns a shop's inputs whose run lasts until the test lets it end. Its
// Deployments aren't ready, and another object depends on them.
func lockInputs() string {
	return strings.NewReplacer(
		"replicas: 0", "replicas: 1",
		`plan: "{{ .plan }}"}}
            spec`, `plan: "{{ .plan }}", test.lynq.sh/never-ready: "true"}}
            spec`,
		"configMaps:\n", `configMaps:
    - id: after
      nameTemplate: "{{ .uid }}-after"
      dependIds: [server]
      spec: {apiVersion: v1, kind: ConfigMap, data: {plan: "{{ .plan }}"}}
`).Replace(shopInputs)
}

// startWaiting starts an apply, and returns when it waits for a Deployment.
func (s *shop) startWaiting(t *testing.T) *running {
	t.Helper()
	r := s.startApply(t)
	s.Wait(t, "deployment/t000-server", harness.PathEquals(".status.replicas", "1"))
	return r
}

// letReady lets the pods of lockInputs become ready.
func (s *shop) letReady(t *testing.T) {
	t.Helper()
	s.Kubectl(t, "", "label", "pods", "--all", "test.lynq.sh/never-ready-")
}

// pid names a process as messages for waiting runs do.
func pid(r *running) string { return fmt.Sprintf("pid %d", r.cmd.Process.Pid) }

// TestApplyTogether starts two runs on one hub. The second one waits for the first, or is
// refused.
func TestApplyTogether(t *testing.T) {
	t.Parallel()
	s := newShop(t, lockInputs(), 1, faultproxy.Options{})
	first := s.startWaiting(t)
	second := s.startApply(t)
	second.said(t, "waiting up to 5m0s for another run on hub")
	second.said(t, pid(first))

	s.proxy.Reset()
	s.apply(t, "--lock-timeout=0s").want(t, 3, "is locked by another run", pid(first), "--lock-timeout", "nothing changed")
	for _, r := range s.proxy.Records() {
		if r.IsWrite() && !r.Renews { // the first one renews its Lease
			t.Errorf("a run wrote while another had the hub: %+v", r.Request)
		}
	}
	if holder := s.Get(t, "lease/"+s.leaseName()); !strings.Contains(fmt.Sprint(holder), fmt.Sprint(first.cmd.Process.Pid)) {
		t.Errorf("the first run no longer has the hub: %v", holder)
	}

	s.letReady(t)
	first.want(t, 0)
	second.want(t, 0)
	s.settled(t)
}

// TestApplyHolderKilled wants the Lease of a killed run to expire, so that a waiting run
// continues.
func TestApplyHolderKilled(t *testing.T) {
	t.Parallel()
	s := newShop(t, lockInputs(), 1, faultproxy.Options{})
	first := s.startWaiting(t)
	second := s.startApply(t, "--wait=false")
	second.said(t, pid(first))
	kill(t, first, syscall.SIGKILL)
	complain(t, s.look(t).unnamed())
	second.want(t, 0)
	s.settled(t)
}

// TestApplyLeaseLost wants a run to write nothing more after another client took its Lease.
func TestApplyLeaseLost(t *testing.T) {
	t.Parallel()
	s := newShop(t, lockInputs(), 1, faultproxy.Options{})
	r := s.startWaiting(t)
	s.proxy.Reset()
	s.Kubectl(t, "", "patch", "lease", s.leaseName(), "--type=merge", "-p", `{"spec":{"holderIdentity":"somebody else"}}`)
	r.want(t, 1, "lost Lease "+s.Namespace+"/"+s.leaseName(), "it is no longer ours (somebody else)", "lynqctl writes nothing more")
	told := false
	for _, record := range slices.Backward(s.proxy.Records()) {
		if record.Resource == "leases.coordination.k8s.io" {
			told = true
			break // it can't know that before it asked for its Lease
		}
		if record.IsWrite() && record.Manager == "lynq" {
			t.Errorf("it wrote after that: %+v", record.Request)
		}
	}
	if !told {
		t.Error("it did not ask for its Lease")
	}
	s.Absent(t, "configmap/t000-after")
	shot := s.look(t)
	complain(t, shot.unnamed())
	if holder, _, _ := unstructured.NestedString(shot.lease.Object, "spec", "holderIdentity"); holder != "somebody else" {
		t.Errorf("it took the Lease from %q", holder)
	}

	s.deleteLease(t)
	s.letReady(t)
	s.apply(t).want(t, 0)
	s.settled(t)
}

// TestApplyOvertaken lets another run start and end after a run read its rows. The run must
// read its rows and the cluster again, whatever the other run's clock showed, and whether or
// not that run saved the hub record.
func TestApplyOvertaken(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 1, faultproxy.Options{})
	s.apply(t, "--wait=false").want(t, 0)
	for what, record := range map[string]string{
		"a run whose clock is behind": `{"data":{"time":"2001-02-03T04:05:06Z"}}`,
		"a run that saved nothing":    string(s.look(t).recordData(t)),
	} {
		arrived, goOn := make(chan struct{}), make(chan struct{})
		s.proxy.SetRules(faultproxy.Rule{Verb: "update", Resource: "leases.coordination.k8s.io", Times: 1, Before: func() {
			close(arrived)
			<-goOn
		}})
		s.rows["t000"] = "silver"
		s.writeRows(t)
		overtaken := s.startApply(t, "--wait=false")
		<-arrived
		s.rows["t000"] = "gold"
		s.writeRows(t)
		s.apply(t, "--wait=false").want(t, 0)
		s.Kubectl(t, "", "patch", "configmap", "lynqhub-"+s.hub(), "--type=merge", "-p", record)
		s.proxy.Reset()
		close(goOn)
		overtaken.want(t, 0)
		if n := s.configMapLists(); n < 2 {
			t.Errorf("%s: %d lists of inventories and ConfigMaps followed the Lease, want both", what, n)
		}
		if got := s.Kubectl(t, "", "get", "configmap", "t000-settings", "-o", "jsonpath={.data.plan}"); got != "gold" {
			t.Errorf("%s: the older row %q was applied over the newer one", what, got)
		}
		s.settled(t)
	}
}

// configMapLists counts the lists of ConfigMaps since the last reset.
func (s *shop) configMapLists() (n int) {
	for _, r := range s.proxy.Records() {
		if r.Verb == "list" && r.Resource == "configmaps" {
			n++
		}
	}
	return n
}

// recordData returns a merge patch that restores the hub record's current data.
func (s *snapshot) recordData(t *testing.T) []byte {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"data": s.record.Object["data"]})
	if err != nil {
		t.Fatal(err)
	}
	return patch
}
