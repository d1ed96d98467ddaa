package decide

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/onenode"
)

// restoreScene has one node with an inventory that may be lost.
type restoreScene struct{ *onenode.Scene }

func newRestoreScene() *restoreScene { return &restoreScene{onenode.New()} }

// TestRestore checks which inventories are restored, and which objects get their owner
// reference back.
func TestRestore(t *testing.T) {
	unseen := map[lynq.Ref]error{}
	for name, tt := range map[string]struct {
		change func(s *restoreScene)
		want   string
	}{
		"as recorded": {func(*restoreScene) {}, ""},
		"retained":    {(*restoreScene).Retained, ""},

		"deleted":                      {func(s *restoreScene) { s.deleted() }, "Deleted acme"},
		"deleted, tracked by labels":   {func(s *restoreScene) { s.deleted(); s.Retained() }, "Deleted"},
		"deleted, its object gone":     {func(s *restoreScene) { s.deleted(); s.Live = nil }, "Deleted"},
		"deleted, of another tool now": {func(s *restoreScene) { s.deleted(); s.Live.Few = &tracking.Rare{Foreign: "kapp app 1"} }, "Deleted acme"},
		"deleted, and detached":        {func(s *restoreScene) { s.deleted(); s.Live.Owners = nil }, "Deleted acme"},
		"deleted, of no finalizer": {func(s *restoreScene) { s.deleted(); s.Inventory.Finalizer = false },
			"inventory ns/lynqnode-acme-web is being deleted, and a finalizer blocks that (run again when it is deleted)"},
		"deleted, held by others": {func(s *restoreScene) {
			s.deleted()
			s.Inventory.Others = &inventory.Others{Finalizers: []string{"example.com/audit"}}
		},
			"inventory ns/lynqnode-acme-web is being deleted, and example.com/audit blocks that (run again when it is deleted)"},
		"deleted, and not seen": {func(s *restoreScene) { s.deleted(); unseen[s.Live.Ref] = errors.New("may not be listed") },
			"inventory ns/lynqnode-acme-web was deleted, and lynqctl can't restore it yet: may not be listed. Until then lynqctl keeps the inventory, and changes nothing of the node"},
		"deleted, of a kind that is not served": {func(s *restoreScene) {
			s.deleted()
			unseen[s.Live.Ref], s.Live = &plan.UnservedError{Group: "example.com", Kind: "Plan", Definition: "plans.example.com"}, nil
		},
			"inventory ns/lynqnode-acme-web was deleted, and lynqctl can't restore it yet: the server doesn't serve kind Plan.example.com, which CustomResourceDefinition plans.example.com defines (serve a version of it, then run again). Until then lynqctl keeps the inventory, and changes nothing of the node"},
		"deleted, with an excluded object": {func(s *restoreScene) { s.deleted(); s.Entry.Excluded = true },
			"inventory ns/lynqnode-acme-web was deleted, and lynqctl can't restore it yet: ConfigMap/ns/acme belongs to it and must not change: it was excluded when its form was last applied (remove the rule or the owner reference, then run again). Until then lynqctl keeps the inventory, and changes nothing of the node"},
		"deleted, excluded and detached":     {func(s *restoreScene) { s.deleted(); s.Entry.Excluded, s.Live.Owners = true, nil }, "Deleted"},
		"detached, and excluded":             {func(s *restoreScene) { s.Entry.Excluded, s.Live.Owners = true, nil }, ""},
		"gone, of a kind that is not served": {func(s *restoreScene) { s.Inventory.UID = ""; unseen[s.Live.Ref], s.Live = &plan.UnservedError{}, nil }, "Gone"},
		"a copy is left":                     {func(s *restoreScene) { s.Inventory.UID, s.Inventory.Copy, s.Live.Owners = "", "copy", nil }, "Deleted acme"},
		"gone":                               {func(s *restoreScene) { s.Inventory.UID = "" }, "Gone acme"},

		"detached":                       {func(s *restoreScene) { s.Live.Owners = nil }, "OwnerReferences acme"},
		"detached, with other owners":    {func(s *restoreScene) { s.Live.Owners = []types.UID{"other"} }, "OwnerReferences acme"},
		"another object":                 {func(s *restoreScene) { s.Live.Owners, s.Live.UID = nil, "u2" }, ""},
		"without a hub":                  {func(s *restoreScene) { s.Live.Owners, s.Live.Hub = nil, "" }, ""},
		"of another node":                {func(s *restoreScene) { s.Live.Owners, s.Live.PartOf = nil, "applyset-x-v1" }, ""},
		"of another tool":                {func(s *restoreScene) { s.Live.Owners, s.Live.Few = nil, &tracking.Rare{Foreign: "kapp app 1"} }, ""},
		"retained in the inventory":      {func(s *restoreScene) { s.Live.Owners, s.Entry.Deletion = nil, lynq.DeleteRetain }, ""},
		"in another namespace":           {func(s *restoreScene) { s.Live.Owners, s.Entry.Namespace, s.Live.Namespace = nil, "else", "else" }, ""},
		"detached, and an orphan":        {func(s *restoreScene) { s.Live.Owners, s.Live.Orphaned = nil, true }, ""},
		"detached, and unmanaged":        {func(s *restoreScene) { s.Live.Owners, s.Live.Unmanaged = nil, true }, ""},
		"detached, and deleted":          {func(s *restoreScene) { s.Live.Owners, s.Live.Deleting = nil, true }, ""},
		"detached, and has labels":       {func(s *restoreScene) { s.Live.Owners, s.Live.Node, s.Live.NodeNamespace = nil, "acme-web", "ns" }, ""},
		"detached, and an inventory":     {func(s *restoreScene) { s.Live.Owners, s.Live.Record = nil, true }, ""},
		"deleted, and owns an inventory": {func(s *restoreScene) { s.deleted(); s.Live.Record = true }, "Deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRestoreScene()
			clear(unseen)
			tt.change(s)
			seen := &plan.Observed{Live: s.Observed(), Unknown: unseen}
			if got := restored(Restorations([]*inventory.Inventory{s.Inventory}, seen)); got != tt.want {
				t.Errorf("%s: %q, want %q", name, got, tt.want)
			}
		})
	}
}

// deleted marks the inventory as deleted and blocked by our finalizer.
func (s *restoreScene) deleted() { s.Inventory.Deleting, s.Inventory.Finalizer = true, true }

// restored describes the restorations in words.
func restored(found []plan.Restoration, errs []error) string {
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

// TestMoved checks that a change of owner references keeps the entry up to date. Earlier
// changes by others still differ.
func TestMoved(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(r *inventory.Entry, then *tracking.Live)
		want   string
	}{
		"applied":              {func(*inventory.Entry, *tracking.Live) {}, "8 f2"},
		"applied, and drifted": {func(_ *inventory.Entry, then *tracking.Live) { then.Fields = "else" }, "7 f1"},
		"merged":               {func(r *inventory.Entry, _ *tracking.Live) { r.Patch, r.Fields = lynq.PatchMerge, "" }, "8 "},
		"merged, and changed": {func(r *inventory.Entry, then *tracking.Live) {
			r.Patch, r.Fields, then.ResourceVersion = lynq.PatchMerge, "", "else"
		}, "7 "},
		"another object": {func(_ *inventory.Entry, then *tracking.Live) { then.UID = "u2" }, "7 f1"},
		"not confirmed":  {func(r *inventory.Entry, _ *tracking.Live) { r.UID = "" }, "7 f1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRestoreScene()
			r, then := *s.Entry, *s.Live
			tt.change(&r, &then)
			now := then
			now.ResourceVersion, now.Fields = "8", "f2"
			moved := plan.Moved(r, &then, &now)
			if got := fmt.Sprint(moved.ResourceVersion, " ", moved.Fields); got != tt.want {
				t.Errorf("%s: %q, want %q", name, got, tt.want)
			}
		})
	}
}
