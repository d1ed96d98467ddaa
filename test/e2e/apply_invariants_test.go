package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// snapshot is the state of one hub in the API server. Objects must be listed before
// inventories. lynqctl records every object before it creates it, so no object may be newer
// than the inventories.
type snapshot struct {
	hub     string
	objects map[string]*unstructured.Unstructured // by Kind/Namespace/Name; without records
	nodes   []*unstructured.Unstructured          // the inventories
	copies  []*unstructured.Unstructured          // of inventories that lynqctl restores
	record  *unstructured.Unstructured            // the hub record
	lease   *unstructured.Unstructured
}

// record has the needed parts of one inventory entry.
type record struct {
	Key    string `json:"key"`
	UID    string `json:"uid"`
	Digest string `json:"digest"`
	Phase  string `json:"phase"`
	of     *unstructured.Unstructured
}

// ref returns the key without the resource id: Kind/Namespace/Name.
func (r record) ref() string {
	ref, _, _ := strings.Cut(r.Key, "@")
	return ref
}

func refOf(o *unstructured.Unstructured) string {
	return o.GetKind() + "/" + o.GetNamespace() + "/" + o.GetName()
}

// records returns the entries of all inventories, by the object that they name.
func (s *snapshot) records() (map[string][]record, error) {
	all := map[string][]record{}
	for _, inv := range s.nodes {
		text, _, err := unstructured.NestedString(inv.Object, "data", "resources")
		if err != nil {
			return nil, err
		}
		var records []record
		if err := json.Unmarshal([]byte(text), &records); err != nil {
			return nil, fmt.Errorf("%s: %w", inv.GetName(), err)
		}
		for _, r := range records {
			r.of = inv
			all[r.ref()] = append(all[r.ref()], r)
		}
	}
	return all, nil
}

// tracked reports whether an object says that it belongs to a node of the hub.
func (s *snapshot) tracked(o *unstructured.Unstructured) bool {
	labels := o.GetLabels()
	owned := slices.ContainsFunc(s.nodes, func(inv *unstructured.Unstructured) bool {
		return len(o.GetOwnerReferences()) > 0 && o.GetOwnerReferences()[0].UID == inv.GetUID()
	})
	return labels[wellknown.LabelHub] == s.hub || labels[wellknown.LabelPartOf] != "" || labels[wellknown.LabelNode] != "" || owned
}

// unnamed returns tracked objects that no inventory lists, or more than one. None may
// exist, whenever a run ends.
func (s *snapshot) unnamed() []string {
	records, err := s.records()
	if err != nil {
		return []string{err.Error()}
	}
	var wrong []string
	for _, ref := range slices.Sorted(maps.Keys(s.objects)) {
		o, named := s.objects[ref], records[ref]
		switch {
		case !s.tracked(o):
		case len(named) != 1:
			wrong = append(wrong, fmt.Sprintf("%s bears our tracking, and %d records name it", ref, len(named)))
		case named[0].of.GetLabels()[wellknown.LabelApplySetID] != o.GetLabels()[wellknown.LabelPartOf]:
			wrong = append(wrong, fmt.Sprintf("%s is recorded by %s, and part of another ApplySet", ref, named[0].of.GetName()))
		}
	}
	return wrong
}

// unconfirmed returns entries without a uid, and a held Lease. None may exist after a run
// that ended by itself.
func (s *snapshot) unconfirmed() []string {
	records, err := s.records()
	if err != nil {
		return []string{err.Error()}
	}
	var wrong []string
	for _, ref := range slices.Sorted(maps.Keys(records)) {
		o := s.objects[ref]
		for _, r := range records[ref] {
			if o != nil && r.UID != string(o.GetUID()) {
				wrong = append(wrong, fmt.Sprintf("%s has uid %s, its record says %q", ref, o.GetUID(), r.UID))
			}
		}
	}
	return append(wrong, s.locked()...)
}

// locked reports a Lease with a holder.
func (s *snapshot) locked() []string {
	if s.lease == nil {
		return nil
	}
	if holder, _, _ := unstructured.NestedString(s.lease.Object, "spec", "holderIdentity"); holder != "" {
		return []string{"the Lease is held by " + holder}
	}
	return nil
}

// unsettled returns the differences between the cluster and the desired objects, and
// between inventories and the cluster. None may exist after a successful run.
func (s *snapshot) unsettled(desired []*unstructured.Unstructured, nodes []string) []string {
	records, err := s.records()
	if err != nil {
		return []string{err.Error()}
	}
	wrong := append(s.unnamed(), s.unconfirmed()...)
	wanted := map[string]bool{}
	for _, want := range desired {
		ref := refOf(want)
		wanted[ref] = true
		live := s.objects[ref]
		if live == nil {
			wrong = append(wrong, ref+" is desired, and doesn't exist")
			continue
		}
		wrong = append(wrong, missing(ref, want.Object, live.Object)...)
		wrong = append(wrong, s.mistracked(ref, live, records[ref])...)
	}
	for _, ref := range slices.Sorted(maps.Keys(records)) {
		if !wanted[ref] {
			wrong = append(wrong, ref+" is recorded, and not desired")
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(s.objects)) {
		if o := s.objects[ref]; !wanted[ref] && (s.tracked(o) || !orphaned(o)) {
			wrong = append(wrong, ref+" is neither desired nor marked as an orphan")
		}
	}
	for _, c := range s.copies {
		wrong = append(wrong, c.GetName()+" is still there")
	}
	return append(wrong, s.badRecords(nodes)...)
}

// orphaned reports whether an object that a node left behind can still be found.
func orphaned(o *unstructured.Unstructured) bool {
	return o.GetLabels()[wellknown.LabelOrphaned] == "true" && o.GetAnnotations()[wellknown.AnnotationOrphanedFrom] != ""
}

// mistracked says what is wrong with the tracking and the entry of a desired object.
func (s *snapshot) mistracked(ref string, o *unstructured.Unstructured, named []record) []string {
	if len(named) != 1 {
		return []string{fmt.Sprintf("%s is named by %d records", ref, len(named))}
	}
	var wrong []string
	if named[0].Digest == "" {
		wrong = append(wrong, ref+" is recorded as not written")
	}
	if o.GetLabels()[wellknown.LabelOrphaned] != "" || o.GetAnnotations()[wellknown.AnnotationOrphanedFrom] != "" {
		wrong = append(wrong, ref+" is desired, and bears an orphan's markers")
	}
	owners := o.GetOwnerReferences()
	switch retain := o.GetAnnotations()[wellknown.AnnotationDeletionPolicy] == string(lynq.DeleteRetain); {
	case retain && len(owners) > 0:
		wrong = append(wrong, ref+" is retained, and has an owner")
	case !retain && (len(owners) != 1 || owners[0].UID != named[0].of.GetUID() || owners[0].Controller == nil || !*owners[0].Controller):
		wrong = append(wrong, fmt.Sprintf("%s is not owned by its inventory alone: %v", ref, owners))
	}
	return wrong
}

// badRecords says what is wrong with the inventories themselves.
func (s *snapshot) badRecords(nodes []string) []string {
	var wrong []string
	have := []string{}
	for _, inv := range s.nodes {
		have = append(have, inv.GetName())
		if !slices.Equal(inv.GetFinalizers(), []string{wellknown.FinalizerNode}) || inv.GetDeletionTimestamp() != nil {
			wrong = append(wrong, fmt.Sprintf("%s: finalizers %q, deleted at %v", inv.GetName(), inv.GetFinalizers(), inv.GetDeletionTimestamp()))
		}
	}
	slices.Sort(have)
	want := []string{}
	for _, n := range nodes {
		want = append(want, "lynqnode-"+n)
	}
	slices.Sort(want)
	if !slices.Equal(want, have) {
		wrong = append(wrong, fmt.Sprintf("there are the inventories %q, want %q", have, want))
	}
	if s.record == nil || !slices.Equal(s.record.GetFinalizers(), []string{wellknown.FinalizerHub}) {
		wrong = append(wrong, "the hub's record is missing, or its finalizer is")
	}
	return wrong
}

// missing returns the rendered fields that differ in an object.
func missing(at string, want, have any) []string {
	switch want := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %v, want %v", at, have, want)}
		}
		var wrong []string
		for _, k := range slices.Sorted(maps.Keys(want)) {
			wrong = append(wrong, missing(at+"."+k, want[k], h[k])...)
		}
		return wrong
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(want) {
			return []string{fmt.Sprintf("%s is %v, want %v", at, have, want)}
		}
		var wrong []string
		for i := range want {
			wrong = append(wrong, missing(fmt.Sprintf("%s[%d]", at, i), want[i], h[i])...)
		}
		return wrong
	}
	if !reflect.DeepEqual(want, have) {
		return []string{fmt.Sprintf("%s is %v, want %v", at, have, want)}
	}
	return nil
}

// sample returns a healthy hub with one node and one object.
func sample(t *testing.T) (*snapshot, []*unstructured.Unstructured) {
	t.Helper()
	read := func(text string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return o
	}
	s := &snapshot{
		hub: "shop",
		objects: map[string]*unstructured.Unstructured{"ConfigMap/ns/acme": read(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{
			"name":"acme","namespace":"ns","uid":"u1","labels":{"lynq.sh/hub":"shop","applyset.kubernetes.io/part-of":"set"},
			"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"lynqnode-acme","uid":"u0","controller":true}]},
			"data":{"plan":"pro","more":"by others"}}`)},
		nodes: []*unstructured.Unstructured{read(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{
			"name":"lynqnode-acme","namespace":"ns","uid":"u0","labels":{"applyset.kubernetes.io/id":"set"},
			"finalizers":["lynqnode.operator.lynq.sh/finalizer"]},
			"data":{"resources":"[{\"key\":\"ConfigMap/ns/acme@settings\",\"uid\":\"u1\",\"digest\":\"d\"}]"}}`)},
		record: read(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"lynqhub-shop","finalizers":["lynq.sh/hub-finalizer"]}}`),
		lease:  read(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"lynqctl-shop"},"spec":{}}`),
	}
	desired := read(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"acme","namespace":"ns","labels":{"lynq.sh/hub":"shop"}},"data":{"plan":"pro"}}`)
	return s, []*unstructured.Unstructured{desired}
}

// TestInvariants wants the checks of the other tests to find problems.
func TestInvariants(t *testing.T) {
	t.Parallel()
	const ref = "ConfigMap/ns/acme"
	resources := func(s *snapshot, text string) {
		s.nodes[0].Object["data"] = map[string]any{"resources": text}
	}
	for name, tt := range map[string]struct {
		harm func(s *snapshot)
		want string
	}{
		"nothing":        {func(*snapshot) {}, ""},
		"object gone":    {func(s *snapshot) { delete(s.objects, ref) }, "doesn't exist"},
		"field changed":  {func(s *snapshot) { s.objects[ref].Object["data"] = map[string]any{"plan": "free"} }, ".data.plan is free, want pro"},
		"object unnamed": {func(s *snapshot) { resources(s, "[]") }, "0 records name it"},
		"object named twice": {func(s *snapshot) {
			s.nodes = append(s.nodes, s.nodes[0])
		}, "2 records name it"},
		"another ApplySet": {func(s *snapshot) {
			s.objects[ref].SetLabels(map[string]string{wellknown.LabelHub: "shop", wellknown.LabelPartOf: "other"})
		}, "part of another ApplySet"},
		"record without object": {func(s *snapshot) {
			resources(s, `[{"key":"ConfigMap/ns/acme@settings","uid":"u1","digest":"d"},{"key":"Service/ns/old@web"}]`)
		}, "Service/ns/old is recorded, and not desired"},
		"record of another uid": {func(s *snapshot) {
			resources(s, `[{"key":"ConfigMap/ns/acme@settings","uid":"u7","digest":"d"}]`)
		}, `its record says "u7"`},
		"record unwritten": {func(s *snapshot) {
			resources(s, `[{"key":"ConfigMap/ns/acme@settings","uid":"u1"}]`)
		}, "recorded as not written"},
		"object left behind": {func(s *snapshot) {
			s.objects["Service/ns/old"] = &unstructured.Unstructured{Object: map[string]any{"kind": "Service"}}
		}, "Service/ns/old is neither desired"},
		"owner lost":     {func(s *snapshot) { s.objects[ref].SetOwnerReferences(nil) }, "is not owned by its inventory"},
		"finalizer lost": {func(s *snapshot) { s.nodes[0].SetFinalizers(nil) }, "lynqnode-acme: finalizers []"},
		"inventory too many": {func(s *snapshot) {
			s.nodes = append(s.nodes, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "lynqnode-old"},
				"data": map[string]any{"resources": "[]"}}})
		}, `"lynqnode-old"`},
		"copy left":      {func(s *snapshot) { s.copies = s.nodes }, "lynqnode-acme is still there"},
		"hub unrecorded": {func(s *snapshot) { s.record = nil }, "the hub's record is missing"},
		"Lease held": {func(s *snapshot) {
			s.lease.Object["spec"] = map[string]any{"holderIdentity": "me"}
		}, "the Lease is held by me"},
	} {
		s, desired := sample(t)
		tt.harm(s)
		got := strings.Join(s.unsettled(desired, []string{"acme"}), "\n")
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: found %q, want %q in it", name, got, tt.want)
		}
	}
}
