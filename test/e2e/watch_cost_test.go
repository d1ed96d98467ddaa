package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// TestWatchCost counts the requests of a watch after a change: a read of each object of the
// node, and the writes of apply. It must send no list, whatever the number of nodes.
func TestWatchCost(t *testing.T) {
	t.Parallel()
	c := newCosting(t, lynqctl(t), "five.yaml", 40)
	objects := []string{"configmaps", "deployments.apps", "ingresses.networking.k8s.io", "persistentvolumeclaims", "services"}
	c.apply(t, "first", cost{writes: perResource(40, objects...), records: 2*40 + 2, others: 25})
	c.settle(t)
	s := &shop{Env: c.env, bin: c.bin, dir: c.inputs, proxy: c.proxy}
	w := s.start(t, "watch", "-f", c.inputs)
	// The cost of a write that conflicts and is forced. The others read and save the hub
	// record, and save its history.
	edited := cost{writes: perResource(2, "configmaps"), reads: perResource(1, objects...), records: 1, others: 3, namespaces: 1}
	for i := range 40 {
		ref, plain := fmt.Sprintf("configmap/t%04d-web", i), harness.PathEquals(".data.motd", c.motd[i])
		c.proxy.Reset()
		c.direct.Kubectl(t, "", "patch", ref, "--type=merge", "--patch={\"data\":{\"motd\":\"edited\"}}")
		c.direct.Wait(t, ref, plain)
		s.until(t, w, func(records []faultproxy.Record) bool { return slices.ContainsFunc(records, isHistorySaved) })
		got := costOf(slices.DeleteFunc(c.proxy.Records(), func(r faultproxy.Record) bool { return r.Resource == "leases.coordination.k8s.io" }))
		diff := cmp.Diff(edited, got, cmp.AllowUnexported(cost{}), cmpopts.EquateEmpty())
		if diff == "" {
			break
		}
		// The first rounds are about all nodes, because the watches began after the last
		// read. So is the round after a watch that broke and began again.
		if i == 39 {
			t.Errorf("an edit: (-want +got):\n%s\nall there were:\n%s", diff, table(faultproxy.Count(c.proxy.Records())))
		}
	}
	kill(t, w, syscall.SIGTERM)
	w.want(t, 130)
}

// isHistorySaved reports whether a request writes the history of a hub, which ends a round
// that changed something.
func isHistorySaved(r faultproxy.Record) bool {
	return r.Verb == "update" && r.Resource == "configmaps" && strings.HasPrefix(r.Name, "lynqhistory-")
}

// isHubSaved reports whether a request writes the hub record.
func isHubSaved(r faultproxy.Record) bool {
	return r.Verb == "update" && r.Resource == "configmaps" && strings.HasPrefix(r.Name, "lynqhub-")
}
