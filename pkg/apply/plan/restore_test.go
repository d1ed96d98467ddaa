package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestRestore: which inventories are to be restored, and which objects get their owner
// reference.
func TestRestore(t *testing.T) {
	unseen := map[lynq.Ref]error{}
	for name, tt := range map[string]struct {
		change func(s *verifyScene)
		want   string
	}{
		"as recorded": {func(*verifyScene) {}, ""},
		"retained":    {(*verifyScene).retained, ""},

		"deleted":                      {func(s *verifyScene) { s.deleted() }, "Deleted acme"},
		"deleted, tracked by labels":   {func(s *verifyScene) { s.deleted(); s.retained() }, "Deleted"},
		"deleted, its object gone":     {func(s *verifyScene) { s.deleted(); s.live = nil }, "Deleted"},
		"deleted, of another tool now": {func(s *verifyScene) { s.deleted(); s.live.Foreign = "kapp app 1" }, "Deleted acme"},
		"deleted, and detached":        {func(s *verifyScene) { s.deleted(); s.live.Owners = nil }, "Deleted acme"},
		"deleted, of no finalizer": {func(s *verifyScene) { s.deleted(); s.inv.Finalizer = false },
			"inventory ns/lynqnode-acme-web is being deleted, and a finalizer holds it (run again when it is gone)"},
		"deleted, held by others": {func(s *verifyScene) {
			s.deleted()
			s.inv.Others = &inventory.Others{Finalizers: []string{"example.com/audit"}}
		},
			"inventory ns/lynqnode-acme-web is being deleted, and example.com/audit holds it (run again when it is gone)"},
		"deleted, and not seen": {func(s *verifyScene) { s.deleted(); unseen[s.live.Ref] = errors.New("may not be listed") },
			"inventory ns/lynqnode-acme-web was deleted, and lynqctl can't restore it yet: may not be listed. Until then lynqctl keeps the inventory, and changes nothing of the node"},
		"deleted, of a kind that is not served": {func(s *verifyScene) {
			s.deleted()
			unseen[s.live.Ref], s.live = &UnservedError{Group: "example.com", Kind: "Plan", Definition: "plans.example.com"}, nil
		},
			"inventory ns/lynqnode-acme-web was deleted, and lynqctl can't restore it yet: the server doesn't serve kind Plan.example.com, which CustomResourceDefinition plans.example.com defines (serve a version of it, then run again). Until then lynqctl keeps the inventory, and changes nothing of the node"},
		"deleted, with an excluded object": {func(s *verifyScene) { s.deleted(); s.entry.Excluded = true },
			"inventory ns/lynqnode-acme-web was deleted, and lynqctl can't restore it yet: ConfigMap/ns/acme belongs to it and must not change: it was excluded when its form was last applied (remove the rule or the owner reference, then run again). Until then lynqctl keeps the inventory, and changes nothing of the node"},
		"deleted, excluded and detached":     {func(s *verifyScene) { s.deleted(); s.entry.Excluded, s.live.Owners = true, nil }, "Deleted"},
		"detached, and excluded":             {func(s *verifyScene) { s.entry.Excluded, s.live.Owners = true, nil }, ""},
		"gone, of a kind that is not served": {func(s *verifyScene) { s.inv.UID = ""; unseen[s.live.Ref], s.live = &UnservedError{}, nil }, "Gone"},
		"a copy is left":                     {func(s *verifyScene) { s.inv.UID, s.inv.Copy, s.live.Owners = "", "copy", nil }, "Deleted acme"},
		"gone":                               {func(s *verifyScene) { s.inv.UID = "" }, "Gone acme"},

		"detached":                       {func(s *verifyScene) { s.live.Owners = nil }, "OwnerReferences acme"},
		"detached, with other owners":    {func(s *verifyScene) { s.live.Owners = []types.UID{"other"} }, "OwnerReferences acme"},
		"another object":                 {func(s *verifyScene) { s.live.Owners, s.live.UID = nil, "u2" }, ""},
		"without a hub":                  {func(s *verifyScene) { s.live.Owners, s.live.Hub = nil, "" }, ""},
		"of another node":                {func(s *verifyScene) { s.live.Owners, s.live.PartOf = nil, "applyset-x-v1" }, ""},
		"of another tool":                {func(s *verifyScene) { s.live.Owners, s.live.Foreign = nil, "kapp app 1" }, ""},
		"retained in the inventory":      {func(s *verifyScene) { s.live.Owners, s.entry.Deletion = nil, lynq.DeleteRetain }, ""},
		"in another namespace":           {func(s *verifyScene) { s.live.Owners, s.entry.Namespace, s.live.Namespace = nil, "else", "else" }, ""},
		"detached, and an orphan":        {func(s *verifyScene) { s.live.Owners, s.live.Orphaned = nil, true }, ""},
		"detached, and unmanaged":        {func(s *verifyScene) { s.live.Owners, s.live.Unmanaged = nil, true }, ""},
		"detached, and deleted":          {func(s *verifyScene) { s.live.Owners, s.live.Deleting = nil, true }, ""},
		"detached, and has labels":       {func(s *verifyScene) { s.live.Owners, s.live.Node, s.live.NodeNamespace = nil, "acme-web", "ns" }, ""},
		"detached, and an inventory":     {func(s *verifyScene) { s.live.Owners, s.live.Record = nil, true }, ""},
		"deleted, and owns an inventory": {func(s *verifyScene) { s.deleted(); s.live.Record = true }, "Deleted"},
	} {
		s := newVerifyScene()
		clear(unseen)
		tt.change(s)
		seen := &Observed{Live: map[lynq.Ref]*Live{}, Unknown: unseen}
		if s.live != nil {
			seen.Live[s.live.Ref] = s.live
		}
		if got := restored(Restore([]*inventory.Inventory{s.inv}, seen)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// deleted is an inventory whose deletion our finalizer holds.
func (s *verifyScene) deleted() { s.inv.Deleting, s.inv.Finalizer = true, true }

// restored is what would be restored, in words.
func restored(found []Restoration, errs []error) string {
	var words []string
	for _, r := range found {
		words = append(words, string(r.Loss))
		for _, o := range r.Objects {
			words = append(words, o.Entry.Name)
		}
	}
	for _, err := range errs {
		words = append(words, err.Error())
	}
	return strings.Join(words, " ")
}

// TestMoved: what a change of owner references leaves as recorded, and what others
// changed before stays a difference.
func TestMoved(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(r *inventory.Entry, then *Live)
		want   string
	}{
		"applied":              {func(*inventory.Entry, *Live) {}, "8 f2"},
		"applied, and drifted": {func(_ *inventory.Entry, then *Live) { then.Fields = "else" }, "7 f1"},
		"merged":               {func(r *inventory.Entry, _ *Live) { r.Patch, r.Fields = lynq.PatchMerge, "" }, "8 "},
		"merged, and changed": {func(r *inventory.Entry, then *Live) {
			r.Patch, r.Fields, then.ResourceVersion = lynq.PatchMerge, "", "else"
		}, "7 "},
		"another object": {func(_ *inventory.Entry, then *Live) { then.UID = "u2" }, "7 f1"},
		"not confirmed":  {func(r *inventory.Entry, _ *Live) { r.UID = "" }, "7 f1"},
	} {
		s := newVerifyScene()
		r, then := *s.entry, *s.live
		tt.change(&r, &then)
		now := then
		now.ResourceVersion, now.Fields = "8", "f2"
		moved := Moved(r, &then, &now)
		if got := fmt.Sprint(moved.ResourceVersion, " ", moved.Fields); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
