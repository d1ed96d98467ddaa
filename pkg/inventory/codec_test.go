package inventory_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// entry returns the entry of an object that a run wrote and saw ready.
func entry(group, version, kind, namespace, name, id string) inventory.Entry {
	apiVersion := version
	if group != "" {
		apiVersion = group + "/" + version
	}
	return inventory.Entry{
		Ref: lynq.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}, ID: id, APIVersion: apiVersion,
		UID: "0c9d7b52-8a8d-4b6e-9f0e-3f6d1f9b2a11", Digest: "00112233aabbccdd", Template: "8899aabbccddeeff", Generation: 3, ResourceVersion: "4711",
		Fields: "ffeeddcc99887766", Lifecycle: lynq.Lifecycle{Creation: lynq.CreateWhenNeeded, Deletion: lynq.DeleteDelete, Conflict: lynq.ConflictStuck, Patch: lynq.PatchApply},
		Ready: true,
	}
}

// acme returns an inventory with all features.
func acme() *inventory.Inventory {
	web := entry("apps", "v1", "Deployment", "shop", "acme-web", "web")
	web.Order = 2
	role := entry("rbac.authorization.k8s.io", "v1", "ClusterRole", "", "shop:acme@eu", "role")
	role.Deletion = lynq.DeleteRetain
	intent := inventory.Entry{
		Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "other", Name: "acme"}, ID: "settings", APIVersion: "v1",
		Lifecycle: lynq.Lifecycle{Creation: lynq.CreateOnce, Deletion: lynq.DeleteDelete, Conflict: lynq.ConflictForce, Patch: lynq.PatchMerge}, Order: 1,
	}
	return &inventory.Inventory{
		Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: "customers"}, Form: lynq.FormKey{Namespace: "forms", Name: "web"}, UID: "acme", Namespace: "shop", Name: "acme-web"}, Activate: "true",
		TemplateGeneration: 7, RolloutStart: noon, Finalizer: true, Version: "v1.2.3",
		Entries: []inventory.Entry{role, intent, web},
		Status: inventory.Status{Desired: 3, Ready: 2, Failed: 1, Conditions: []inventory.Condition{
			{Type: inventory.ConditionDegraded, Status: "True", Reason: "Failed", Message: `ConfigMap <other/acme>: "no" & never`, LastTransitionTime: noon},
			{Type: inventory.ConditionReady, Status: "False", Reason: "Failed", LastTransitionTime: noon.Add(-time.Hour)},
		}},
	}
}

func encode(t testing.TB, inv *inventory.Inventory) *corev1.ConfigMap {
	t.Helper()
	cm, err := inventory.Encode(inv)
	if err != nil {
		t.Fatal(err)
	}
	return cm
}

// TestEncode compares with complete ConfigMaps.
func TestEncode(t *testing.T) {
	odd := &inventory.Inventory{
		Node: lynq.NodeID{Hub: lynq.HubKey{Name: "customers"}, Form: lynq.FormKey{Name: "web"}, UID: "Ácme GmbH", Namespace: "shop", Name: "made-1"}, Activate: "false", Extra: `{"plan":"gold"}`,
	}
	for name, inv := range map[string]*inventory.Inventory{"acme": acme(), "empty": odd} {
		t.Run(name, func(t *testing.T) {
			got, err := yaml.Marshal(encode(t, inv))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEncodeDoesNotChange checks that the order of entries doesn't matter, and that Encode
// doesn't change the inventory.
func TestEncodeDoesNotChange(t *testing.T) {
	inv := acme()
	slices.Reverse(inv.Entries)
	before := inv.Clone()
	if diff := cmp.Diff(encode(t, acme()), encode(t, inv)); diff != "" {
		t.Errorf("the order of records shows:\n%s", diff)
	}
	if diff := cmp.Diff(before, inv); diff != "" {
		t.Errorf("it was changed:\n%s", diff)
	}
}

func TestEncodeRefuses(t *testing.T) {
	change := func(f func(*inventory.Inventory)) *inventory.Inventory {
		inv := acme()
		f(inv)
		return inv
	}
	for _, tt := range []struct {
		inv  *inventory.Inventory
		want string
	}{
		{change(func(i *inventory.Inventory) { i.Entries[0].ID = "a@b" }), `"ClusterRole/shop:acme@eu" with id "a@b"`},
		{change(func(i *inventory.Inventory) { i.Entries[0].Name = "" }), "cannot be recorded"},
		{change(func(i *inventory.Inventory) { i.Entries[0].Name = "a/b" }), "cannot be recorded"},
		{change(func(i *inventory.Inventory) { i.Entries[0].Kind = "a/b" }), "cannot be recorded"},
		{change(func(i *inventory.Inventory) { i.Entries[0].Group = "apps" }), "cannot be recorded"},
		{change(func(i *inventory.Inventory) { i.Entries[0].Deletion = "Retian" }), `deletion of ClusterRole/shop:acme@eu is "Retian", which is not one of its values`},
		{change(func(i *inventory.Inventory) { i.Entries[0].Digest = "\xff" }), "not valid UTF-8"},
		{change(func(i *inventory.Inventory) {
			again := i.Entries[2]
			again.ID = "web2"
			i.Entries = append(i.Entries, again)
		}), "Deployment/shop/acme-web is recorded twice"},
		{change(func(i *inventory.Inventory) { i.RolloutStart = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC) }), "start of the rollout"},
		{change(func(i *inventory.Inventory) {
			i.Status.Conditions[0].LastTransitionTime = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)
		}), "status"},
	} {
		_, err := inventory.Encode(tt.inv)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "inventory of node shop/acme-web") {
			t.Errorf("got %v, want %q in it", err, tt.want)
		}
	}
}

// TestRoundTrip checks that all kinds of inventories read back unchanged.
func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		want := arbitrary(random)
		got, err := inventory.Decode(encode(t, want))
		if err != nil {
			t.Fatalf("%v of %+v", err, want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if !inventory.Equal(want, got) {
			t.Fatalf("not equal: %+v", want)
		}
	}
}

// arbitrary returns a random valid inventory with strange texts.
func arbitrary(r *rand.Rand) *inventory.Inventory {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	text := func() string {
		return pick("", "a", `"`, `\`, "\n", "\x00", "\x7f", "é", "\u2028", "<&>", "日本", " b ", "]", ",\n]", "x/y", "@") + pick("", "z", `\u0041`)
	}
	name := func() string { return pick("a", "b", "c", "web-1", "a.b", "x:y", "q@r") + pick("", "0", "1", "2") }
	inv := &inventory.Inventory{
		Node: lynq.NodeID{Hub: lynq.HubKey{Name: name()}, Form: lynq.FormKey{Name: name()}, UID: name() + text(), Namespace: name()}, Activate: pick("", "true", "false"),
		TemplateGeneration: int64(r.IntN(3)), Extra: text(), Version: text(), UID: text(), ResourceVersion: text(), Finalizer: r.IntN(2) == 0,
		Status: inventory.Status{Desired: r.IntN(9), Ready: r.IntN(9), Failed: r.IntN(9), Skipped: r.IntN(9), Conflicted: r.IntN(9)},
	}
	inv.Node.Name = naming.NodeName(inv.Node.UID, inv.Node.Form.Name)
	if r.IntN(2) == 0 {
		inv.RolloutStart = noon.Add(time.Duration(r.IntN(1e9)) * time.Microsecond)
	}
	for range r.IntN(3) {
		inv.Status.Conditions = append(inv.Status.Conditions, inventory.Condition{
			Type: text(), Status: text(), Reason: text(), Message: text(), LastTransitionTime: noon.Add(time.Duration(r.IntN(1e9)) * time.Second),
		})
	}
	if r.IntN(4) == 0 {
		inv.Others = &inventory.Others{
			Labels: map[string]string{"team": text()}, Annotations: map[string]string{"note": text()}, Finalizers: []string{"example.com/keep"},
			Owners: []metav1.OwnerReference{{Name: "o"}}, Data: map[string]string{"note": text()}, BinaryData: map[string][]byte{"b": {1}},
		}
	}
	inv.Entries = arbitraryEntries(r, pick, text, name)
	return inv
}

func arbitraryEntries(r *rand.Rand, pick func(...string) string, text, name func() string) []inventory.Entry {
	var entries []inventory.Entry
	for range r.IntN(6) {
		rec := inventory.Entry{
			Ref: lynq.Ref{Group: pick("", "apps", "example.com"), Kind: pick("A", "B"), Namespace: pick("", "n", "m"), Name: name()},
			ID:  pick("", "a", "é", `"`), UID: text(), Digest: text(), Template: text(), Generation: r.Int64N(3) - 1, ResourceVersion: text(), Fields: text(),
			Lifecycle: lynq.Lifecycle{Creation: lynq.CreationPolicy(pick("", "WhenNeeded", "Once")), Deletion: lynq.DeletionPolicy(pick("", "Delete", "Retain")), Conflict: lynq.ConflictPolicy(pick("", "Stuck", "Force")), Patch: lynq.PatchStrategy(pick("", "apply", "merge", "replace")), DeleteOrder: r.IntN(3) - 1},

			Order: r.IntN(4), Phase: inventory.Phase(pick("", "Completed")), Ready: r.IntN(2) == 0, Adopted: r.IntN(4) == 0,
		}
		if r.IntN(4) == 0 {
			rec.Written = noon.Add(time.Duration(r.IntN(1e9)) * time.Second)
		}
		if rec.APIVersion = "v1"; rec.Group != "" {
			rec.APIVersion = rec.Group + "/v1"
		}
		if _, known := inventory.Find(entries, rec.Ref); !known {
			entries = append(entries, rec)
		}
	}
	slices.SortFunc(entries, func(a, b inventory.Entry) int {
		return strings.Compare(a.Key()+"\x00"+a.Group, b.Key()+"\x00"+b.Group)
	})
	return entries
}

// TestOthersAreKept checks that other clients' fields of a ConfigMap remain, but never
// replace ours.
func TestOthersAreKept(t *testing.T) {
	cm := encode(t, acme())
	cm.Labels["team"] = "red"
	cm.Annotations["note"] = "by hand"
	cm.Finalizers = append(cm.Finalizers, "example.com/keep")
	cm.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "parent", UID: "1"}}
	cm.Data["note"] = "more"
	cm.BinaryData = map[string][]byte{"blob": {0}}
	inv, err := inventory.Decode(cm)
	if err != nil {
		t.Fatal(err)
	}
	inv.Activate = "false"
	want := cm.DeepCopy()
	want.Annotations[wellknown.AnnotationActivate] = "false"
	if diff := cmp.Diff(want, encode(t, inv)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	inv.Others.Labels[wellknown.LabelHub] = "theirs"
	if got := encode(t, inv).Labels[wellknown.LabelHub]; got != "customers" {
		t.Errorf("the hub is %q", got)
	}
}

func TestDecodeDeleting(t *testing.T) {
	cm := encode(t, acme())
	cm.DeletionTimestamp = &metav1.Time{Time: noon}
	inv, err := inventory.Decode(cm)
	if err != nil || !inv.Deleting {
		t.Errorf("got %+v, %v", inv, err)
	}
}

// TestDecodeRefuses checks that the error for a manual edit names its place.
func TestDecodeRefuses(t *testing.T) {
	resources := func(old, new string) func(*corev1.ConfigMap) {
		return func(cm *corev1.ConfigMap) {
			cm.Data["resources"] = strings.Replace(cm.Data["resources"], old, new, 1)
		}
	}
	for name, tt := range map[string]struct {
		edit func(*corev1.ConfigMap)
		want string // after "ConfigMap shop/lynqnode-acme-web: "
	}{
		"no format":      {func(cm *corev1.ConfigMap) { delete(cm.Data, "format") }, "data.format: it is missing"},
		"bad format":     {func(cm *corev1.ConfigMap) { cm.Data["format"] = "one" }, `data.format: "one" is not a version`},
		"format 0":       {func(cm *corev1.ConfigMap) { cm.Data["format"] = "0" }, `data.format: "0" is not a version`},
		"no hub":         {func(cm *corev1.ConfigMap) { delete(cm.Labels, wellknown.LabelHub) }, "label lynq.sh/hub: it is missing"},
		"another hub":    {func(cm *corev1.ConfigMap) { cm.Labels[wellknown.LabelHub] = "x" }, `label lynq.sh/hub: it says "x", and annotation lynq.sh/hubId "customers"`},
		"no form":        {func(cm *corev1.ConfigMap) { delete(cm.Labels, wellknown.LabelTemplate) }, "label lynq.sh/template: it is missing"},
		"no uid":         {func(cm *corev1.ConfigMap) { delete(cm.Labels, wellknown.LabelUID) }, "label lynq.sh/uid: it is missing"},
		"another uid":    {func(cm *corev1.ConfigMap) { cm.Annotations[wellknown.AnnotationUID] = "b" }, `label lynq.sh/uid: it says "acme", and annotation lynq.sh/uid "b", which gives "b"`},
		"another row":    {func(cm *corev1.ConfigMap) { cm.Labels[wellknown.LabelUID] = "ghost" }, `metadata.labels: row "ghost" and form web make node ghost-web, not acme-web`},
		"another form":   {func(cm *corev1.ConfigMap) { cm.Labels[wellknown.LabelTemplate] = "tmp" }, `metadata.labels: row "acme" and form tmp make node acme-tmp, not acme-web`},
		"bad generation": {func(cm *corev1.ConfigMap) { cm.Annotations[wellknown.AnnotationTemplateGeneration] = "x" }, `annotation lynq.sh/template-generation: "x" is not a number`},
		"bad rollout":    {func(cm *corev1.ConfigMap) { cm.Annotations[wellknown.AnnotationRolloutUpdateStart] = "x" }, `annotation lynq.sh/rollout-update-start: "x" is not an RFC 3339 time`},
		"late rollout": {func(cm *corev1.ConfigMap) {
			cm.Annotations[wellknown.AnnotationRolloutUpdateStart] = "9999-12-31T23:59:59-01:00"
		}, `annotation lynq.sh/rollout-update-start: the year is out of range`},
		"no status":       {func(cm *corev1.ConfigMap) { delete(cm.Data, "status") }, "data.status: it is missing"},
		"bad status":      {func(cm *corev1.ConfigMap) { cm.Data["status"] = "{" }, "data.status: unexpected end of JSON"},
		"no resources":    {func(cm *corev1.ConfigMap) { delete(cm.Data, "resources") }, "data.resources: it is missing"},
		"empty":           {func(cm *corev1.ConfigMap) { cm.Data["resources"] = "" }, `data.resources line 1: it does not begin with a line "["`},
		"one line":        {func(cm *corev1.ConfigMap) { cm.Data["resources"] = "[]" }, `data.resources line 1: it does not begin with a line "["`},
		"bytes":           {func(cm *corev1.ConfigMap) { cm.Data["resources"] = "[\n\xff\n]" }, "data.resources line 1: it is not valid UTF-8"},
		"no end":          {func(cm *corev1.ConfigMap) { cm.Data["resources"] = strings.TrimSuffix(cm.Data["resources"], "\n]") }, `data.resources line 4: it does not end with a line "]"`},
		"more":            {func(cm *corev1.ConfigMap) { cm.Data["resources"] += "\nx" }, "data.resources line 6: the list has ended, but text follows"},
		"no comma":        {resources("},\n", "}\n"), "data.resources line 2: it lacks a comma, but another entry follows"},
		"last comma":      {resources("}\n]", "},\n]"), "data.resources line 4: the last entry ends with a comma"},
		"empty line":      {resources("},\n", "},\n\n"), `data.resources line 3: want '{' before ""`},
		"two on one line": {resources("},\n{", "},{"), `data.resources line 2: a line holds one entry; this follows: ",{`},
		"bad member":      {resources(`"digest"`, `"digset"`), `data.resources line 2: "digset" is not part of an entry`},
		"bad policy":      {resources(`"Retain"`, `"retain"`), `data.resources line 2: deletion is "retain"`},
		"bad key":         {resources("Deployment/shop/acme-web@web", "Deployment/shop/acme-web"), `data.resources line 4: key "Deployment/shop/acme-web" is neither`},
		"deep key":        {resources("Deployment/shop/", "Deployment/shop/x/"), `data.resources line 4: key "Deployment/shop/x/acme-web@web" is neither`},
		"no namespace":    {resources("Deployment/shop/", "Deployment//"), `data.resources line 4: key "Deployment//acme-web@web" is neither`},
		"no key":          {resources(`"key":"Deployment/shop/acme-web@web",`, ""), "data.resources line 4: it has no key"},
		"no apiVersion":   {resources(`"apiVersion":"apps/v1",`, ""), "data.resources line 4: Deployment/shop/acme-web@web has no apiVersion"},
		"bad number":      {resources(`"generation":3`, `"generation":3.5`), `data.resources line 2: "3.5" is not a whole number`},
		"adopted, unsure": {resources(`"ready":true`, `"adopted":1`), `data.resources line 2: "1" is neither true nor false`},
		"bad truth":       {resources(`"ready":true`, `"ready":yes`), `data.resources line 2: "yes" is neither true nor false`},
		"wrong type":      {resources(`"digest":"00112233aabbccdd"`, `"digest":null`), `data.resources line 2: want '"' before "null,`},
		"no quote":        {resources(`"deletion":"Retain"`, `"deletion":Retain`), `data.resources line 2: want '"' before "Retain`},
		"no end of text":  {resources(`"patch":"apply","ready":true},`, `"patch":"apply`), `data.resources line 2: a string does not end`},
		"control":         {resources(`Retain"`, "Ret\tain\""), `data.resources line 2: "Ret" has a control character`},
		"bad escape":      {resources(`Retain"`, `Ret\xain"`), `data.resources line 2: "Ret\\xain": invalid character`},
		"twice": {func(cm *corev1.ConfigMap) {
			cm.Data["resources"] = strings.Replace(cm.Data["resources"], "\n]", ",\n{\"key\":\"Deployment/shop/acme-web@x\",\"apiVersion\":\"apps/v1\"}\n]", 1)
		}, "data.resources line 6: Deployment/shop/acme-web is recorded twice"},
	} {
		t.Run(name, func(t *testing.T) {
			cm := encode(t, acme())
			tt.edit(cm)
			inv, err := inventory.Decode(cm)
			var broken *inventory.UnreadableError
			if !errors.As(err, &broken) || inv != nil {
				t.Errorf("got %v, %v", inv, err)
				return
			}
			if broken.Node.Name != "acme-web" || broken.Node.Namespace != "shop" || broken.Name != "lynqnode-acme-web" {
				t.Errorf("of %+v", broken)
			}
			if got := err.Error(); !strings.HasPrefix(got, "ConfigMap shop/lynqnode-acme-web: "+tt.want) ||
				!strings.HasSuffix(got, "(restore it as it was, or remove its finalizers and delete it with --cascade=orphan if lynqctl never made it; until then, lynqctl changes nothing of node shop/acme-web)") {
				t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
			}
		})
	}
}

func TestDecodeNotANode(t *testing.T) {
	for _, name := range []string{"settings", "lynqnode-"} {
		t.Run(name, func(t *testing.T) {
			cm := encode(t, acme())
			cm.Name = name
			_, err := inventory.Decode(cm)
			want := "ConfigMap shop/" + name + ": metadata.name: the inventory of a node is named lynqnode-NODE (restore it as it was, or remove its finalizers and delete it with --cascade=orphan if lynqctl never made it; until then, lynqctl changes nothing of this hub)"
			if err == nil || err.Error() != want {
				t.Errorf("got %v\nwant %s", err, want)
			}
		})
	}
}

func TestDecodeNewer(t *testing.T) {
	cm := encode(t, acme())
	cm.Data = map[string]string{"format": "2"}
	_, err := inventory.Decode(cm)
	var newer *inventory.NewerFormatError
	if !errors.As(err, &newer) || newer.Format != 2 {
		t.Fatalf("got %v", err)
	}
	want := "ConfigMap shop/lynqnode-acme-web: data.format: a newer lynqctl wrote it: it has format 2, and this lynqctl knows 1 (use that lynqctl; this one changes nothing of node shop/acme-web)"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

// TestDecodeTolerates accepts harmless edits.
func TestDecodeTolerates(t *testing.T) {
	cm := encode(t, acme())
	lines := strings.Split(cm.Data["resources"], "\n")
	lines[1], lines[2] = lines[2], lines[1]
	text := strings.Join(lines, " \r\n\t")
	text = strings.NewReplacer(`"ready":true`, ` "ready" : true `, `"order":2`, `"order": 2 `, "Deployment", `Deploym\u0065nt`).Replace(text)
	cm.Data["resources"] = text + "\n"
	got, err := inventory.Decode(cm)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(acme(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzDecode checks that a decoded inventory encodes, and then reads the same.
func FuzzDecode(f *testing.F) {
	cm := encode(f, acme())
	f.Add(cm.Data["resources"], cm.Data["status"], "acme", "", "7", "2026-07-01T12:00:00Z")
	f.Add("[\n]", "{}", "made", "Ácme", "0", "2026-07-01T12:00:00+02:00")
	f.Add("[\n{\"key\":\"A/b@\",\"apiVersion\":\"a/b/c\",\"generation\":-01}\n]", `{"conditions":[{}]}`, "-", "\xff", "", "")
	f.Fuzz(func(t *testing.T, resources, status, label, uid, generation, start string) {
		cm := encode(t, acme())
		cm.Data["resources"], cm.Data["status"] = resources, status
		cm.Labels[wellknown.LabelUID] = label
		cm.Annotations[wellknown.AnnotationTemplateGeneration] = generation
		cm.Annotations[wellknown.AnnotationRolloutUpdateStart] = start
		if uid != "" {
			cm.Annotations[wellknown.AnnotationUID] = uid
		}
		inv, err := inventory.Decode(cm)
		if err != nil {
			var broken *inventory.UnreadableError
			if !errors.As(err, &broken) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		again, err := inventory.Encode(inv)
		var large *inventory.TooLargeError
		if errors.As(err, &large) {
			return
		}
		if err != nil {
			t.Fatalf("%v\nof %+v", err, inv)
		}
		got, err := inventory.Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(inv, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func five() *inventory.Inventory {
	inv := acme()
	inv.Entries = nil
	for i, kind := range []string{"ConfigMap", "Deployment", "Ingress", "PersistentVolumeClaim", "Service"} {
		r := entry("example.com", "v1", kind, "shop", fmt.Sprintf("acme-web-%d", i), kind)
		r.Order = i
		inv.Entries = append(inv.Entries, r)
	}
	inv.Status.Conditions = append(inv.Status.Conditions, inventory.Condition{
		Type: inventory.ConditionProgressing, Status: "False", Reason: "Done", LastTransitionTime: noon,
	})
	return inv
}

// BenchmarkDecode decodes a node with five objects.
func BenchmarkDecode(b *testing.B) {
	cm := encode(b, five())
	b.SetBytes(int64(len(cm.Data["resources"]) + len(cm.Data["status"])))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := inventory.Decode(cm); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	inv := five()
	b.ReportAllocs()
	for b.Loop() {
		encode(b, inv)
	}
}
