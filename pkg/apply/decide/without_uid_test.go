package decide

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestEntryWithoutUID checks an entry that a killed run left before it created the object,
// or that somebody forged. It deletes an object only if lynqctl wrote that.
func TestEntryWithoutUID(t *testing.T) {
	made := func(l *tracking.Live) { l.Fields = "f" }
	merged := func(l *tracking.Live) { l.Updated = true }
	elsewhere := func(l *tracking.Live) {
		l.Namespace, l.Owners = "other", nil
		l.Node, l.NodeNamespace, l.HubNamespace = "a-web", "ns", "ns"
	}
	for name, tt := range map[string]struct {
		change []func(*tracking.Live)
		want   plan.Action
	}{
		"a copy of another object":                  {nil, plan.ActionRelease},
		"a copy in another namespace":               {[]func(*tracking.Live){elsewhere}, plan.ActionRelease},
		"created by a run that was killed":          {[]func(*tracking.Live){made}, plan.ActionDelete},
		"created with merge":                        {[]func(*tracking.Live){merged}, plan.ActionDelete},
		"created in another namespace":              {[]func(*tracking.Live){elsewhere, made}, plan.ActionDelete},
		"created, and another node has it":          {[]func(*tracking.Live){made, func(l *tracking.Live) { l.PartOf, l.Owners = "applyset-x", nil }}, plan.ActionRelease},
		"created, and the tracking is gone":         {[]func(*tracking.Live){made, func(l *tracking.Live) { l.Hub = "" }}, plan.ActionRelease},
		"created, and it retains itself":            {[]func(*tracking.Live){made, func(l *tracking.Live) { l.DeletionPolicy = lynq.DeleteRetain }}, plan.ActionOrphan},
		"a copy that says that it was created once": {[]func(*tracking.Live){func(l *tracking.Live) { l.CreatedOnce = true }}, plan.ActionRelease},
	} {
		t.Run(name, func(t *testing.T) {
			for _, leaves := range []bool{true, false} {
				s := newShop()
				inv := s.has("a", "x")
				l := s.in.Observed.Live[shopRef("x")]
				l.Fields = ""
				for _, change := range tt.change {
					change(l)
				}
				delete(s.in.Observed.Live, shopRef("x"))
				s.in.Observed.Live[l.Ref] = l
				inv.Entries[0] = inventory.Entry{Ref: l.Ref, ID: "x", APIVersion: "v1", Lifecycle: inv.Entries[0].Lifecycle}
				s.wants("b")
				if !leaves {
					s.wants("a")
				}
				p := Decide(s.in, Limits{AllowEmpty: true})
				n := &p.Nodes[len(p.Nodes)-1]
				step := &n.Steps[0]
				if step.Action != tt.want {
					t.Errorf("%s, the row leaves: %v: %s (%s) %s, want %s", name, leaves, step.Action, step.Reason, step.Message, tt.want)
				}
				if again := Again(p, n, inv, step, l); again.Action != tt.want {
					t.Errorf("%s, again: %s, want %s", name, again.Action, tt.want)
				}
			}
		})
	}
}

// TestRenderedWithoutUID checks an object that the form renders, with such an entry. A run
// that was killed after it created the object continues. Nothing recreates or purges an
// object that lynqctl didn't write.
func TestRenderedWithoutUID(t *testing.T) {
	for name, tt := range map[string]struct {
		written bool
		policy  lynq.Policy
		want    plan.Action
		adopted bool
	}{
		"written":                     {true, lynq.Policy{}, plan.ActionUpdate, false},
		"written, adopts nothing":     {true, lynq.Policy{Adoption: lynq.AdoptNever}, plan.ActionUpdate, false},
		"a copy":                      {false, lynq.Policy{}, plan.ActionUpdate, false},
		"a copy, adopts nothing":      {false, lynq.Policy{Adoption: lynq.AdoptNever}, plan.ActionBlock, false},
		"written, and purged later":   {true, lynq.Policy{PurgeOrder: new(int)}, plan.ActionUpdate, false},
		"a copy, and purged later":    {false, lynq.Policy{PurgeOrder: new(int)}, plan.ActionUpdate, true},
		"written, and recreated":      {true, lynq.Policy{Lifecycle: lynq.Lifecycle{Patch: lynq.PatchRecreate}}, plan.ActionRecreate, false},
		"a copy, and never recreated": {false, lynq.Policy{Lifecycle: lynq.Lifecycle{Patch: lynq.PatchRecreate}}, plan.ActionUpdate, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			inv := s.has("a", "x")
			inv.Entries[0].UID, inv.Entries[0].Digest = "", ""
			if !tt.written {
				s.in.Observed.Live[shopRef("x")].Fields = ""
			}
			n := s.wants("a", "x")
			p := tt.policy
			if p.Patch == "" {
				p.Patch = lynq.PatchApply
			}
			p.Conflict, p.Deletion = lynq.ConflictStuck, lynq.DeleteDelete
			n.Objects[0].Policy = &p
			step := Decide(s.in, Limits{}).Nodes[0].Steps[0]
			if step.Action != tt.want || step.Adopted != tt.adopted {
				t.Errorf("%s: %s (%s) %s, adopted %v, want %s and %v", name, step.Action, step.Reason, step.Message, step.Adopted, tt.want, tt.adopted)
			}
			if step.Action == plan.ActionBlock && (step.Reason != plan.ReasonUnowned || !strings.Contains(step.Message, "lynqctl didn't create it")) {
				t.Errorf("%s: %s %q", name, step.Reason, step.Message)
			}
		})
	}
}
