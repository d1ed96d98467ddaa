package inventory

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// TestHooksAreRecorded checks that hooks are stored among the objects, with their runOn.
// They count as objects only after lynqctl started them.
func TestHooksAreRecorded(t *testing.T) {
	config := Entry{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}, ID: "data", APIVersion: "v1", UID: "u1"}
	job := Entry{Ref: lynq.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "acme"}, ID: "backup", APIVersion: "batch/v1", Digest: HookDigest([]byte("x")), Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}}
	begun := job
	begun.Name, begun.UID, begun.Phase = "bolt", "u2", PhaseFailed
	inv := &Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: "ns", Name: "acme-web"}, Activate: "true", Entries: []Entry{config}, Hooks: []Entry{job, begun}}
	cm, err := Encode(inv)
	if err != nil {
		t.Fatal(err)
	}
	if got := cm.Annotations[wellknown.AnnotationApplySetGroupKinds]; got != "ConfigMap,Job.batch" {
		t.Errorf("the ApplySet has %s", got)
	}
	got, err := Decode(cm)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]Entry{inv.Entries, inv.Hooks}, [][]Entry{got.Entries, got.Hooks}); diff != "" {
		t.Errorf("read back (-was +is):\n%s", diff)
	}
	if diff := cmp.Diff([]Entry{config, begun}, got.All()); diff != "" {
		t.Errorf("all that there may be (-want +got):\n%s", diff)
	}
	other := got.Clone()
	other.Hooks[0].Phase = PhaseRunning
	if Equal(got, other) || got.Hooks[0].Phase != "" {
		t.Error("a hook that began is no difference")
	}
	for _, bad := range []string{`"phase":"Failed"`, `"runOn":"Delete"`} {
		t.Run(bad, func(t *testing.T) {
			broken := cm.DeepCopy()
			broken.Data[keyResources] = strings.Replace(broken.Data[keyResources], bad, strings.ToUpper(bad), 1)
			if _, err := Decode(broken); err == nil {
				t.Errorf("%s was read in capitals", bad)
			}
		})
	}
}

// TestListsLike checks that objects of other kinds and namespaces, and objects that lynqctl
// purged, don't count.
func TestListsLike(t *testing.T) {
	entry := func(group, kind, namespace string) Entry {
		return Entry{Ref: lynq.Ref{Group: group, Kind: kind, Namespace: namespace, Name: "x"}, UID: "u"}
	}
	purged := entry("batch", "Job", "ns")
	purged.UID, purged.Phase = "", PhaseCompleted
	inv := &Inventory{Entries: []Entry{entry("", "ConfigMap", "ns"), entry("", "Secret", "elsewhere"), entry("example.com", "Service", "ns"), purged}}
	for o, want := range map[lynq.Ref]bool{
		{Kind: "ConfigMap", Namespace: "ns", Name: "copy"}:             true,
		{Kind: "ConfigMap", Namespace: "elsewhere", Name: "copy"}:      false,
		{Kind: "Secret", Namespace: "ns", Name: "copy"}:                false,
		{Kind: "Service", Namespace: "ns", Name: "copy"}:               false,
		{Group: "batch", Kind: "Job", Namespace: "ns", Name: "x-copy"}: false,
	} {
		if got := inv.ListsLike(o); got != want {
			t.Errorf("%s: %v, want %v", o, got, want)
		}
	}
}
