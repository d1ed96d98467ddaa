package plan

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/test/sites"
)

// rendered returns a rendered node with one object.
func rendered(t *testing.T, text string, change func(*lynq.Object)) *lynq.Node {
	t.Helper()
	o := lynq.Object{
		Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}, ID: "config", APIVersion: "v1",
		Body: encoded(t, sites.Parse(t, text)), Policy: new(lynq.DefaultPolicy()), DependIDs: []string{"other"},
	}
	if change != nil {
		change(&o)
	}
	return &lynq.Node{NodeID: lynq.NodeID{Name: "acme-web", Namespace: "ns", UID: "acme", Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}}, Objects: []lynq.Object{o}}
}

// encoded returns a body, or nil for an object that can't have one.
func encoded(t *testing.T, content map[string]any) manifest.Body {
	t.Helper()
	b, err := manifest.Encode(content)
	if err != nil && !errors.Is(err, manifest.ErrNoMetadata) {
		t.Fatal(err)
	}
	return b
}

func made(t *testing.T, n *lynq.Node) *Object {
	t.Helper()
	node, err := Make(n)
	if err != nil {
		t.Fatal(err)
	}
	return &node.Objects[0]
}

const acmeConfig = "{apiVersion: v1, kind: ConfigMap, metadata: {name: acme, namespace: ns, labels: {lynq.sh/hub: crm}}, data: {a: '1', b: <&>}}"

func TestMake(t *testing.T) {
	n, err := Make(rendered(t, acmeConfig, nil))
	if err != nil {
		t.Fatal(err)
	}
	if n.Key() != (lynq.NodeKey{Namespace: "ns", Name: "acme-web"}) || n.Hub.Name != "crm" || n.Form.Name != "web" || n.UID != "acme" {
		t.Errorf("%+v", n)
	}
	o := n.Objects[0]
	partOf := inventory.ID("ns", "lynqnode-acme-web")
	want := `{"metadata":{"labels":{"applyset.kubernetes.io/part-of":"` + partOf + `","lynq.sh/hub":"crm"},"name":"acme","namespace":"ns"},` +
		`"apiVersion":"v1","data":{"a":"1","b":"<&>"},"kind":"ConfigMap"}`
	if diff := cmp.Diff(want, string(o.Body)); diff != "" {
		t.Error(diff)
	}
	if o.String() != "ConfigMap/ns/acme" || o.APIVersion != "v1" || o.ID != "config" || !o.Owned || !slices.Equal(o.DependIDs, []string{"other"}) {
		t.Errorf("%+v", o)
	}
	// With the node's labels, the inventory doesn't own it.
	labelled := strings.Replace(acmeConfig, "lynq.sh/hub: crm", "lynq.sh/hub: crm, lynq.sh/node: acme-web", 1)
	if o := made(t, rendered(t, labelled, nil)); o.Owned {
		t.Error("an object that bears its node's labels is taken for one that the record owns")
	}
	// There may be no labels at all.
	bare := made(t, rendered(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: acme}}", nil))
	if !strings.Contains(string(bare.Body), partOf) {
		t.Errorf("%s", bare.Body)
	}
}

// TestDigestOfNode checks the digest of an object that is written again with its node. Only
// that one covers the node.
func TestDigestOfNode(t *testing.T) {
	of := func(onNode bool, row, template string) string {
		n := rendered(t, acmeConfig, func(o *lynq.Object) { o.Policy.OnNodeChange, o.Template = onNode, template })
		n.Row = row
		return made(t, n).Digest
	}
	if of(false, "r1", "t1") != made(t, rendered(t, acmeConfig, nil)).Digest {
		t.Error("it changes without being asked for")
	}
	seen := map[string]bool{of(false, "", ""): true}
	for _, c := range [][2]string{{"r1", "t1"}, {"r2", "t1"}, {"r1", "t2"}, {"", "t1"}} {
		d := of(true, c[0], c[1])
		if seen[d] || len(d) != 16 {
			t.Errorf("row %s, template %s: %s", c[0], c[1], d)
		}
		seen[d] = true
	}
}

// TestDigestOfPolicies checks that lynqctl writes an object again for a changed policy only
// if the table says so.
func TestDigestOfPolicies(t *testing.T) {
	before := made(t, rendered(t, acmeConfig, nil)).Digest
	others := map[lynq.PolicyKind]string{lynq.WavePolicy: "7", lynq.SecondsPolicy: "7", lynq.IntervalPolicy: "1h"}
	for _, f := range lynq.Policies() {
		values := f.Values
		switch f.Kind {
		case lynq.OtherPolicy:
			continue // TestDigest covers ignoreFields
		case lynq.FlagPolicy:
			values = []string{strconv.FormatBool(f.Default == "false")}
		case lynq.WordPolicy:
		default:
			values = []string{others[f.Kind]}
		}
		for _, value := range values {
			changed := made(t, rendered(t, acmeConfig, func(o *lynq.Object) { f.Set(o.Policy, value) })).Digest != before
			if node := value == string(lynq.OnObjectOrNodeChange); changed != (f.Written && value != f.Default || node) {
				t.Errorf("%s: %s: the object would be written again: %t", f.Field, value, changed)
			}
		}
	}
}

// TestDigest checks that lynqctl writes an object again when its manifest or the way to
// write it changes, and for no other reason.
func TestDigest(t *testing.T) {
	before := made(t, rendered(t, acmeConfig, nil)).Digest
	if len(before) != 16 || made(t, rendered(t, acmeConfig, nil)).Digest != before {
		t.Fatalf("digest %q", before)
	}
	with := func(value any, fields ...string) func(*lynq.Object) {
		return func(o *lynq.Object) {
			content, err := o.Body.Content()
			if err != nil {
				t.Fatal(err)
			}
			o.Body = encoded(t, sites.With(content, value, fields...))
		}
	}
	content := func(fields ...string) func(*lynq.Object) { return with("new", fields...) }
	policy := func(set func(*lynq.Policy)) func(*lynq.Object) { return func(o *lynq.Object) { set(o.Policy) } }
	ignore := func(paths ...string) func(*lynq.Object) {
		return policy(func(p *lynq.Policy) { p.IgnoreFields = paths })
	}
	different := map[string]func(*lynq.Object){
		"a value":        content("data", "a"),
		"a new value":    content("data", "c"),
		"a label":        content("metadata", "labels", "tier"),
		"an annotation":  content("metadata", "annotations", "a"),
		"a value less":   with(nil, "data", "a"),
		"type":           with(int64(1), "data", "a"),
		"apiVersion":     content("apiVersion"),
		"merge":          policy(func(p *lynq.Policy) { p.Patch = lynq.PatchMerge }),
		"replace":        policy(func(p *lynq.Policy) { p.Patch = lynq.PatchReplace }),
		"ignored":        ignore("$.data.a"),
		"ignored more":   ignore("$.data.a", "$.data.b"),
		"ignored as one": ignore("$.data.a$.data.b"),
	}
	seen := map[string]string{before: "before"}
	for _, name := range slices.Sorted(maps.Keys(different)) {
		d := made(t, rendered(t, acmeConfig, different[name])).Digest
		if same, ok := seen[d]; ok {
			t.Errorf("%s: the same digest as %s", name, same)
		}
		seen[d] = name
	}
	for name, change := range map[string]func(*lynq.Object){
		"conflict policy": policy(func(p *lynq.Policy) { p.Conflict = lynq.ConflictForce }),
		"waiting":         policy(func(p *lynq.Policy) { p.Unwaited, p.Timeout, p.SkipOnDependencyFailure = true, time.Second, false }),
		"dependencies":    func(o *lynq.Object) { o.DependIDs = nil },
	} {
		t.Run(name, func(t *testing.T) {
			if made(t, rendered(t, acmeConfig, change)).Digest != before {
				t.Errorf("%s: the object would be written anew", name)
			}
		})
	}
	other := rendered(t, acmeConfig, nil)
	other.Name = "other-web"
	if made(t, other).Digest == before {
		t.Error("another node: the object would not be written anew")
	}
	// The order of a manifest's fields doesn't matter.
	turned := "{kind: ConfigMap, data: {b: <&>, a: '1'}, metadata: {labels: {lynq.sh/hub: crm}, namespace: ns, name: acme}, apiVersion: v1}"
	if made(t, rendered(t, turned, nil)).Digest != before {
		t.Error("the order of fields counts")
	}
}

func TestMakeSecret(t *testing.T) {
	secret := func(text string) *Object {
		return made(t, rendered(t, text, func(o *lynq.Object) { o.Kind = "Secret" }))
	}
	plain := secret("{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: b}}")
	if text := string(plain.Body); !strings.Contains(text, `"data":{"a":"Yg=="}`) || strings.Contains(text, "stringData") {
		t.Error(text)
	}
	if encoded := secret("{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: Yg==}}"); encoded.Digest != plain.Digest {
		t.Error("the same Secret has two digests")
	}
	// A value that isn't text isn't lost, because the server refuses it.
	if text := string(secret("{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: 5}}").Body); !strings.Contains(text, `"stringData":{"a":5}`) {
		t.Error(text)
	}
}

func TestMakeRefuses(t *testing.T) {
	for field, value := range map[string]string{
		"ownerReferences": "[{uid: u}]", "uid": "u", "resourceVersion": "'1'", "managedFields": "[]",
		"generation": "1", "creationTimestamp": "2024-01-01T00:00:00Z", "deletionTimestamp": "2024-01-01T00:00:00Z", "selfLink": "x",
	} {
		t.Run(field, func(t *testing.T) {
			for _, value := range []string{value, "null"} {
				_, err := Make(rendered(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: acme, "+field+": "+value+"}}", nil))
				want := `resource "config": ConfigMap/ns/acme: a form cannot set metadata.` + field + ` (remove it)`
				if err == nil || err.Error() != want {
					t.Errorf("%s: %v, want %s", value, err, want)
				}
			}
		})
	}
	if _, err := Make(rendered(t, "{apiVersion: v1, kind: ConfigMap}", nil)); err == nil {
		t.Error("no metadata is taken")
	}
}

// A StatefulSet has data if Kubernetes deletes volume claims with it, and so does a
// resource with holdsData. Later resources of a form have a higher order, and are deleted
// first.
func TestMakeHoldsData(t *testing.T) {
	const set = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: acme}, spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: %s}}}"
	stateful := func(o *lynq.Object) {
		o.Ref = lynq.Ref{Group: "apps", Kind: "StatefulSet", Namespace: "ns", Name: "acme"}
	}
	marked := func(o *lynq.Object) { o.Policy.Data = true }
	for name, tt := range map[string]struct {
		text   string
		change func(*lynq.Object)
		want   bool
	}{
		"a set that takes its claims":   {strings.Replace(set, "%s", "Delete", 1), stateful, true},
		"a set that leaves its claims":  {strings.Replace(set, "%s", "Retain", 1), stateful, false},
		"a ConfigMap":                   {acmeConfig, nil, false},
		"a ConfigMap that a form marks": {acmeConfig, marked, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := made(t, rendered(t, tt.text, tt.change))
			if o.HoldsData() != tt.want || NewEntry(o).Data != tt.want {
				t.Errorf("%s holds data: %t, and is recorded so: %t", name, o.HoldsData(), NewEntry(o).Data)
			}
		})
	}
	n := rendered(t, acmeConfig, func(o *lynq.Object) { o.ID = "other" })
	after := rendered(t, acmeConfig, func(o *lynq.Object) { o.Name = "later" })
	n.Objects = append(n.Objects, after.Objects...)
	node, err := Make(n)
	if err != nil {
		t.Fatal(err)
	}
	if node.Objects[0].Order != 0 || node.Objects[1].Order != 1 {
		t.Errorf("their orders are %d and %d", node.Objects[0].Order, node.Objects[1].Order)
	}
}
