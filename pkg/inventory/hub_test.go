package inventory_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

func customers() *inventory.Hub {
	return &inventory.Hub{
		Name: "customers", Namespace: "shop", Rows: 12, Active: 10, Inactive: 2, Nodes: 20,
		Columns: []string{"id", "active", `a "b" <c>`}, Time: noon, Version: "v1.2.3", Finalizer: true, Namespaces: []string{"eu", "us"},
		NamespaceDefaults: []lynq.NamespaceDefault{{Kind: "ConfigMap", Name: "corp-*"}}, Tombstones: []string{"0123456789ab", "ffffffffffff"},
		Leaving:   []inventory.Leaving{{Since: noon, Nodes: []string{inventory.NodeDigest("shop", "acme-web")}}},
		Deletions: []inventory.Deletions{{Time: noon, Nodes: []string{inventory.NodeDigest("shop", "acme-web")}}, {Time: noon.Add(time.Second), More: 2}},
	}
}

func encodeHub(t testing.TB, h *inventory.Hub) *corev1.ConfigMap {
	t.Helper()
	cm, err := inventory.EncodeHub(h)
	if err != nil {
		t.Fatal(err)
	}
	return cm
}

func TestEncodeHub(t *testing.T) {
	got, err := yaml.Marshal(encodeHub(t, customers()))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "hub.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h := customers()
	h.Time = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := inventory.EncodeHub(h); err == nil || !strings.Contains(err.Error(), "record of hub shop/customers: time") {
		t.Errorf("got %v", err)
	}
}

func TestHubRoundTrip(t *testing.T) {
	full := customers()
	full.UID, full.ResourceVersion = "u", "7"
	full.Others = &inventory.Others{Labels: map[string]string{"team": "red"}, Data: map[string]string{"note": "x"}}
	interrupted := customers()
	interrupted.Interrupted = noon.Add(time.Minute)
	interrupted.Absent = []inventory.AbsentForm{{Form: lynq.FormKey{Namespace: "shop", Name: "old"}, Nodes: 2}}
	interrupted.Rollouts = []inventory.Rollout{{Form: lynq.FormKey{Name: "web"}, Phase: inventory.RolloutStopped, Updated: 2, Total: 5}}
	interrupted.SetUnrendered([]inventory.Unrendered{{Node: lynq.NodeID{Form: lynq.FormKey{Name: "web"}, UID: "a", Namespace: "shop", Name: "a-web"}, Message: strings.Repeat("ä", 1000)}})
	if got := len(interrupted.Unrendered[0].Message); got > 512 {
		t.Errorf("a message has %d bytes", got)
	}
	held := customers()
	held.Approved = "d1"
	held.Held = &inventory.HeldDeletions{Guard: "max-delete", Message: strings.Repeat("ä", 1000), Digest: "d2", Since: noon, Deleted: 7, Orphaned: 1}
	many := make([]string, 150)
	for i := range many {
		many[i] = fmt.Sprintf("shop/%03d-web", i)
	}
	held.Held.SetNodes(many, []string{"shop/a-web"})
	if h := held.Held; h.Going() != 150 || len(h.Nodes) != 100 || h.Narrowed() != 1 || len(h.Message) > 512 {
		t.Errorf("held: %+v", h)
	}
	for _, want := range []*inventory.Hub{full, interrupted, held, {Name: "a", Namespace: "b"}} {
		got, err := inventory.DecodeHub(encodeHub(t, want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(inventory.Hub{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestEqualHubsDeletions checks that a record with other deletions isn't equal, so that
// lynqctl saves it.
func TestEqualHubsDeletions(t *testing.T) {
	for name, edit := range map[string]func(*inventory.Hub){
		"none":           func(h *inventory.Hub) { h.Deletions = nil },
		"another time":   func(h *inventory.Hub) { h.Deletions[0].Time = noon.Add(time.Hour) },
		"another node":   func(h *inventory.Hub) { h.Deletions[0].Nodes = []string{"0123456789ab"} },
		"none leaves":    func(h *inventory.Hub) { h.Leaving = nil },
		"another leaves": func(h *inventory.Hub) { h.Leaving[0].Nodes = []string{"0123456789ab"} },
		"another since":  func(h *inventory.Hub) { h.Leaving[0].Since = noon.Add(time.Hour) },
		"another number": func(h *inventory.Hub) { h.Deletions[1].More = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			h := customers()
			edit(h)
			if inventory.EqualHubs(h, customers()) {
				t.Errorf("the records are equal")
			}
		})
	}
	if !inventory.EqualHubs(customers(), customers()) {
		t.Error("a record differs from itself")
	}
}

func TestDecodeHubRefuses(t *testing.T) {
	for want, edit := range map[string]func(*corev1.ConfigMap){
		"data.format: it is missing":                                         func(cm *corev1.ConfigMap) { cm.Data = nil },
		"data.rows: it is missing":                                           func(cm *corev1.ConfigMap) { delete(cm.Data, "rows") },
		"data.rows: invalid character":                                       func(cm *corev1.ConfigMap) { cm.Data["rows"] = "x" },
		"data.lastRun: invalid character":                                    func(cm *corev1.ConfigMap) { cm.Data["lastRun"] = "x" },
		"data.deletions: invalid character":                                  func(cm *corev1.ConfigMap) { cm.Data["deletions"] = "x" },
		"data.columns: json: cannot unmarshal":                               func(cm *corev1.ConfigMap) { cm.Data["columns"] = "{}" },
		`data.time: "" is not an RFC 3339 time`:                              func(cm *corev1.ConfigMap) { delete(cm.Data, "time") },
		"metadata.labels: they are not those of this hub's record":           func(cm *corev1.ConfigMap) { cm.Labels[wellknown.LabelHub] = "x" },
		"data.format: a newer lynqctl wrote it: it has format 2, and this l": func(cm *corev1.ConfigMap) { cm.Data["format"] = "2" },
	} {
		t.Run(want, func(t *testing.T) {
			cm := encodeHub(t, customers())
			edit(cm)
			h, err := inventory.DecodeHub(cm)
			var broken *inventory.UnreadableError
			if !errors.As(err, &broken) || h != nil || !strings.HasPrefix(err.Error(), "ConfigMap shop/lynqhub-customers: "+want) {
				t.Errorf("got %v, %v\nwant %s", h, err, want)
			}
		})
	}
}

// TestRowNotes checks that notes about rows don't change, and that lynqctl saves new ones.
func TestRowNotes(t *testing.T) {
	h := customers()
	h.RowNotes = `{"key":"k"}`
	if inventory.EqualHubs(h, customers()) {
		t.Error("a record with other notes counts as the same")
	}
	cm := encodeHub(t, h)
	got, err := inventory.DecodeHub(cm)
	if err != nil || got.RowNotes != h.RowNotes {
		t.Errorf("notes %q, error %v", got.RowNotes, err)
	}
	if _, there := encodeHub(t, customers()).Data["rowNotes"]; there {
		t.Error("a record without notes has some")
	}
}
