package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// TestApplyCost counts the API requests of apply runs, which are the same on any machine. A
// change costs a write per object and two per inventory. No change costs only pages of
// lists.
func TestApplyCost(t *testing.T) {
	t.Parallel()
	bin := lynqctl(t)
	for _, test := range []struct {
		form    string
		nodes   int
		objects []string // of a node
	}{
		{"five.yaml", 40, []string{"configmaps", "deployments.apps", "ingresses.networking.k8s.io", "persistentvolumeclaims", "services"}},
		{"one.yaml", 501, []string{"configmaps"}}, // two pages
	} {
		t.Run(fmt.Sprintf("%d nodes", test.nodes), func(t *testing.T) {
			t.Parallel()
			c := newCosting(t, bin, test.form, test.nodes)
			// Two of the records are the hub's: the hub record and its history.
			c.apply(t, "first", cost{writes: perResource(test.nodes, test.objects...), records: 2*test.nodes + 2, others: 25})

			c.settle(t)
			more := morePages(test.nodes, len(test.objects))
			c.apply(t, "nothing changed", cost{others: 20 + more})

			c.change(20)
			c.apply(t, "20 rows changed", cost{writes: perResource(20, "configmaps"), records: 20, others: 25 + more})
		})
	}
}

// TestApplyCostOfReading wants one more read for an object whose policy needs its live
// content, only when the object changes.
func TestApplyCostOfReading(t *testing.T) {
	t.Parallel()
	bin := lynqctl(t)
	c := newCosting(t, bin, "live.yaml", 30)
	resources := []string{"configmaps", "services", "ingresses.networking.k8s.io"}
	c.apply(t, "first", cost{writes: perResource(30, resources...), records: 2*30 + 2, others: 25})
	c.apply(t, "nothing changed", cost{others: 20})
	c.change(20)
	c.apply(t, "20 rows changed", cost{writes: perResource(20, resources...), reads: perResource(20, resources...), records: 20, others: 25})
}

// TestApplyCostOfLeaving wants one more list for each kind of the nodes that leave, because
// people may have copied their objects without labels.
func TestApplyCostOfLeaving(t *testing.T) {
	t.Parallel()
	c := newCosting(t, lynqctl(t), "one.yaml", 40)
	c.apply(t, "first", cost{writes: perResource(40, "configmaps"), records: 2*40 + 2, others: 25})
	c.apply(t, "nothing changed", cost{others: 12})
	c.motd = c.motd[:30]
	c.apply(t, "10 rows left", cost{writes: map[string]int{"configmaps": 10, "events": 2 * 10}, records: 2 * 10, others: 12 + 3 + 1})
}

// TestTombstoneCost wants a read for a tombstone until its object is known to be gone.
// After that, it costs nothing.
func TestTombstoneCost(t *testing.T) {
	t.Parallel()
	const rows = 30
	c := newCosting(t, lynqctl(t), "tombstones.yaml", rows)
	var old strings.Builder
	for i := range rows {
		fmt.Fprintf(&old, "apiVersion: v1\nkind: Secret\nmetadata: {name: t%04d-old, labels: {tenant: t%04d}}\n---\n", i, i)
	}
	c.env.Kubectl(t, old.String(), "create", "-f", "-")
	c.apply(t, "first", cost{
		writes: map[string]int{"configmaps": rows, "secrets": rows}, reads: perResource(rows, "secrets"), records: 2*rows + 2, others: 25,
	})
	if left := c.env.Kubectl(t, "", "get", "secrets", "-o", "name"); left != "" {
		t.Errorf("there are still %s", left)
	}
	c.apply(t, "they are gone", cost{reads: perResource(rows, "secrets"), others: 20})
	c.apply(t, "they are known to be gone", cost{others: 20})
	c.motd = append(c.motd, "one more row")
	c.apply(t, "a row more", cost{writes: perResource(1, "configmaps"), reads: perResource(1, "configmaps", "secrets"), records: 2, others: 25})
}

// perResource returns the count n for each resource.
func perResource(n int, resources ...string) map[string]int {
	counts := map[string]int{}
	for _, r := range resources {
		counts[r] = n
	}
	return counts
}

// morePages returns how many additional pages the lists of a run have, if each node has an
// inventory, and one object of each kind.
func morePages(nodes, kinds int) int {
	const pageSize = 500
	return (kinds + 1) * ((nodes - 1) / pageSize)
}

// costing applies inputs of testdata/cost through a proxy that counts.
type costing struct {
	bin    string
	env    *harness.Env
	direct *harness.Env // without the proxy
	proxy  *faultproxy.Server
	inputs string   // directory
	motd   []string // one for each row
}

func newCosting(t *testing.T, bin, form string, nodes int) *costing {
	t.Helper()
	direct := cluster.Env(t)
	env, proxy := direct.Proxy(t, faultproxy.Options{})
	c := &costing{bin: bin, direct: direct, env: env, proxy: proxy, inputs: t.TempDir(), motd: make([]string, nodes)}
	for i := range c.motd {
		c.motd[i] = "hello"
	}
	for _, name := range []string{"hub.yaml", form} {
		text, err := os.ReadFile(filepath.Join("testdata", "cost", name))
		if err != nil {
			t.Fatal(err)
		}
		c.write(t, name, bytes.ReplaceAll(text, []byte("HUB"), []byte(env.Namespace)))
	}
	return c
}

func (c *costing) write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.inputs, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// change changes that many rows, spread over the table.
func (c *costing) change(rows int) {
	for i := range rows {
		c.motd[i*len(c.motd)/rows] = "changed"
	}
}

// settle waits until controllers have also written to deployments and claims.
func (c *costing) settle(t *testing.T) {
	t.Helper()
	for kind, path := range map[string]string{
		"deployments":            "{.status.observedGeneration}=1",
		"persistentvolumeclaims": "{.status.phase}=Bound",
	} {
		if c.env.Kubectl(t, "", "get", kind, "-o", "name") != "" {
			c.env.Kubectl(t, "", "wait", kind, "--all", "--timeout=5m", "--for=jsonpath="+path)
		}
	}
}

// cost counts the requests of a run.
type cost struct {
	writes  map[string]int // of objects, by resource
	reads   map[string]int // of single objects, by resource
	records int            // writes of inventories
	others  int            // a limit for all others
	// namespaces counts the checked namespaces, which is one for all runs here.
	namespaces int
}

// apply runs lynqctl apply once, and compares its cost.
func (c *costing) apply(t *testing.T, when string, want cost) {
	t.Helper()
	rows := []byte("id,active,motd\n")
	for i, motd := range c.motd {
		rows = fmt.Appendf(rows, "t%04d,1,%s\n", i, motd)
	}
	c.write(t, "rows.csv", rows)
	c.proxy.Reset()
	cmd := exec.CommandContext(t.Context(), c.bin, "apply", "-f", c.inputs, "--wait=false", "--max-change=100%")
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+c.env.Kubeconfig)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", when, err, out)
	}
	requests := c.proxy.Records()
	want.namespaces = 1
	got := costOf(requests)
	diff := cmp.Diff(want, got, cmp.AllowUnexported(cost{}), cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(cost{}, "others"))
	if diff != "" || got.others > want.others {
		t.Errorf("%s: (-want +got):\n%s\n%d other requests, want at most %d; all there were:\n%s\nwithout success:\n%v",
			when, diff, got.others, want.others, table(faultproxy.Count(requests)),
			slices.DeleteFunc(requests, func(r faultproxy.Record) bool { return r.Status/100 == 2 }))
	}
}

// costOf sorts requests. The Lease, the hub record and its history count as others, except
// the requests that create the latter two, which have no name. Renewals of the Lease don't
// count, because their number depends on the time of a run. Nor do writes that a busy API
// server gave up: lynqctl repeats them, and first looks for what it created.
func costOf(requests []faultproxy.Record) cost {
	got := cost{writes: map[string]int{}, reads: map[string]int{}}
	looked := map[string]int{}
	for _, r := range requests {
		switch {
		case r.Renews:
		case r.IsWrite() && r.Status == http.StatusGatewayTimeout:
			if r.Verb == "create" {
				looked[r.Resource]++
			}
		case r.Resource == "leases.coordination.k8s.io", strings.HasPrefix(r.Name, "lynqhub-"), strings.HasPrefix(r.Name, "lynqhistory-"),
			r.Verb == "list", r.Name == "" && !r.IsWrite():
			got.others++
		case r.Resource == "namespaces":
			got.namespaces++
		case !r.IsWrite():
			got.reads[r.Resource]++
		case r.Resource == "configmaps" && (r.Name == "" || strings.HasPrefix(r.Name, "lynqnode-")):
			got.records++
		default:
			got.writes[r.Resource]++
		}
	}
	for resource, n := range looked {
		if got.reads[resource] = max(0, got.reads[resource]-n); got.reads[resource] == 0 {
			delete(got.reads, resource)
		}
	}
	return got
}
