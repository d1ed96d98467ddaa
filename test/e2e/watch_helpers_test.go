package e2e_test

import (
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	_ "modernc.org/sqlite"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// watchedShop is a shop with rows in a SQLite file, so that no read sees half of a change.
// The watch reads the rows every second.
type watchedShop struct {
	*shop
	table *sql.DB
}

func watchedInputs() string {
	return strings.Replace(shopInputs, "{type: csv, csv: {path: rows.csv}}",
		"{type: sqlite, syncInterval: 1s, sqlite: {path: rows.db, table: tenants}}", 1)
}

// newWatchedShop creates a watchedShop with that many rows. It applies nothing.
func newWatchedShop(t *testing.T, env *harness.Env, rows int) *watchedShop {
	t.Helper()
	s := newShopIn(t, env, watchedInputs(), rows, faultproxy.Options{})
	table, err := sql.Open("sqlite", "file:"+s.tablePath()+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = table.Close() }) // the file disappears with the test
	if _, err := table.Exec("CREATE TABLE tenants (id TEXT PRIMARY KEY, active INTEGER, plan TEXT)"); err != nil {
		t.Fatal(err)
	}
	w := &watchedShop{shop: s, table: table}
	w.saveRows(t)
	return w
}

func (s *shop) tablePath() string { return filepath.Join(s.dir, "rows.db") }

// saveRows writes the rows to the table in one transaction.
func (s *watchedShop) saveRows(t *testing.T) {
	t.Helper()
	tx, err := s.table.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec("DELETE FROM tenants")
	for _, uid := range slices.Sorted(maps.Keys(s.rows)) {
		if err == nil {
			_, err = tx.Exec("INSERT INTO tenants VALUES (?, 1, ?)", uid, s.rows[uid])
		}
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// watch starts lynqctl watch on the shop's inputs.
func (s *shop) watch(t *testing.T, flags ...string) *running {
	t.Helper()
	return s.start(t, append([]string{"watch", "-f", s.dir, "--log-format=json"}, flags...)...)
}

// address returns the address of a watch's metrics, from its log.
func (r *running) address(t *testing.T) string {
	t.Helper()
	const says = "metrics and health at http://"
	r.said(t, says)
	_, rest, _ := strings.Cut(r.stderr.String(), says)
	address, _, _ := strings.Cut(rest, `"`)
	return address
}

// pollEvery is the interval at which a test checks a condition.
const pollEvery = 100 * time.Millisecond

// settleWithin limits how long a test waits for a watch. Nothing takes longer, even on a
// busy machine.
const settleWithin = 4 * time.Minute

// eventually waits until nothing is wrong. If that takes too long, it fails the test with
// the problems.
func eventually(t *testing.T, wrong func() []string) {
	t.Helper()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for deadline := time.Now().Add(settleWithin); ; <-tick.C {
		found := wrong()
		if len(found) == 0 {
			return
		}
		if time.Now().After(deadline) {
			complain(t, found)
			t.FailNow()
		}
	}
}

// follows waits until a watch has brought the cluster to what rows and form render.
func (s *shop) follows(t *testing.T) {
	t.Helper()
	objects, nodes := s.desired(t)
	s.becomes(t, objects, nodes)
}

// becomes waits until the cluster matches the desired objects. Tests use it while rows and
// form can't be read.
func (s *shop) becomes(t *testing.T, objects []*unstructured.Unstructured, nodes []string) {
	t.Helper()
	eventually(t, func() []string {
		shot := s.look(t)
		shot.lease = nil // the watch holds it
		return shot.unsettled(objects, nodes)
	})
}

// saysAgain waits until a process has said a text more often than before.
func (r *running) saysAgain(t *testing.T, text string, before int) {
	t.Helper()
	eventually(t, func() []string {
		select {
		case <-r.done:
			t.Fatalf("it ended with code %d:\n%s", r.code, r.stderr.String())
		default:
		}
		if strings.Count(r.stderr.String(), text) > before {
			return nil
		}
		return []string{fmt.Sprintf("it never said %q again:\n%s", text, r.stderr.String())}
	})
}

// shopObject is an object of a shop's node, with a field that the form sets.
type shopObject struct {
	kind   schema.GroupVersionResource
	suffix string
	edit   string // a merge patch, with %s for the field's value
}

func shopObjects() []shopObject {
	kinds := shopKinds()
	return []shopObject{
		{kinds[0], "-server", `{"spec":{"template":{"metadata":{"labels":{"plan":%q}}}}}`},
		{kinds[1], "-web", `{"metadata":{"annotations":{"plan":%q}}}`},
		{kinds[2], "-settings", `{"data":{"plan":%q}}`},
	}
}

// editByHand edits an object of a node like another client.
func (s *shop) editByHand(t *testing.T, uid string, o shopObject, value string) {
	t.Helper()
	s.patchByHand(t, uid, o, fmt.Appendf(nil, o.edit, value))
}

// patchByHand works like editByHand, with a merge patch.
func (s *shop) patchByHand(t *testing.T, uid string, o shopObject, patch []byte) {
	t.Helper()
	_, err := s.Dynamic.Resource(o.kind).Namespace(s.Namespace).Patch(t.Context(), uid+o.suffix, types.MergePatchType,
		patch, metav1.PatchOptions{FieldManager: "by-hand"})
	if err != nil {
		t.Fatal(err)
	}
}

// deleteByHand deletes an object like another client.
func (s *shop) deleteByHand(t *testing.T, kind schema.GroupVersionResource, name string) {
	t.Helper()
	background := metav1.DeletePropagationBackground
	err := s.Dynamic.Resource(kind).Namespace(s.Namespace).Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil {
		t.Fatal(err)
	}
}

// pick returns a random one of several.
func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

// writesObject reports whether a request writes an object of a node, and not a record,
// Lease or event.
func writesObject(r faultproxy.Request) bool {
	return r.IsWrite() && slices.Contains([]string{"deployments.apps", "services", "configmaps"}, r.Resource) && !writesRecord(r)
}

// writesRecord reports whether a request writes a record. A POST has no name, but lynqctl
// creates objects with patches.
func writesRecord(r faultproxy.Request) bool {
	record := slices.ContainsFunc([]string{"lynqnode-", "lynqcopy-", "lynqhub-", "lynqhistory-", "lynqplans-"}, func(prefix string) bool { return strings.HasPrefix(r.Name, prefix) })
	return r.IsWrite() && r.Resource == "configmaps" && (r.Verb == "create" || record)
}

// succeeded reports whether a request succeeded, and the client got the answer.
func succeeded(r faultproxy.Record) bool { return r.Status/100 == 2 && !r.Faulted }
