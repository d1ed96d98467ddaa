package decide

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// replaceScene is a deleted inventory that waits for our finalizer, with an object that it
// owns and one that labels track.
type replaceScene struct {
	inv            *inventory.Inventory
	seen           *plan.Observed
	owned, tracked *tracking.Live
	rules          lynq.Exclusions
}

func newReplaceScene() *replaceScene {
	s := &replaceScene{
		owned:   &tracking.Live{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "owned"}, UID: "u1", Hub: "crm", Owners: []types.UID{"inv"}},
		tracked: &tracking.Live{Ref: lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "tracked"}, UID: "u2", Hub: "crm", Node: "acme-web", NodeNamespace: "ns"},
	}
	s.inv = &inventory.Inventory{
		Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: "ns", Name: "acme-web"}, UID: "inv", Deleting: true, Finalizer: true,
		Entries: []inventory.Entry{{Ref: s.owned.Ref, ID: "owned", UID: "u1"}, {Ref: s.tracked.Ref, ID: "tracked", UID: "u2", Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteRetain}}},
	}
	s.seen = &plan.Observed{
		Live:    map[lynq.Ref]*tracking.Live{s.owned.Ref: s.owned, s.tracked.Ref: s.tracked},
		Unknown: map[lynq.Ref]error{}, Unlisted: map[lynq.Ref]*tracking.Live{},
	}
	return s
}

// unseen makes an object unreadable, with an error.
func (s *replaceScene) unseen(l *tracking.Live, why error) {
	delete(s.seen.Live, l.Ref)
	s.seen.Unknown[l.Ref] = why
}

// copied returns a user's copy of the owned object.
func (s *replaceScene) copied() *tracking.Live {
	l := *s.owned
	l.Name, l.UID = "copy", "u3"
	s.seen.Unlisted[l.Ref] = &l
	return &l
}

func (s *replaceScene) replaced() string {
	rules := s.rules
	r := plan.Replace(s.inv, s.seen, s.seen.Referring()["inv"], func(e *inventory.Entry) string {
		if rule := rules.Find(e.Ref); rule != nil {
			return "a rule excludes it"
		}
		return ""
	})
	if r.Stays != nil {
		text, _, _ := strings.Cut(r.Stays.Error(), ". Until then")
		return "stays: " + strings.TrimPrefix(text, "inventory ns/lynqnode-acme-web was deleted, and lynqctl can't restore it yet: ")
	}
	var words []string
	for _, o := range r.Moves {
		words = append(words, "move "+o.Live.Name)
	}
	for _, l := range r.Unlisted {
		words = append(words, "free "+l.Name)
	}
	return strings.Join(words, ", ")
}

// TestReplace checks that lynqctl deletes an inventory only if it has read all of its
// objects, and no object refers to it any more.
func TestReplace(t *testing.T) {
	forbidden, crd := errors.New("may not be listed"), &plan.UnservedError{Group: "example.com", Kind: "Plan", Definition: "plans.example.com"}
	const unserved = "stays: the server doesn't serve kind Plan.example.com, which CustomResourceDefinition plans.example.com defines (serve a version of it, then run again)"
	const mustNot = " belongs to it and must not change: a rule excludes it (remove the rule or the owner reference, then run again)"
	for name, tt := range map[string]struct {
		change func(s *replaceScene)
		want   string
	}{
		"all seen":         {func(*replaceScene) {}, "move owned"},
		"gone":             {func(s *replaceScene) { delete(s.seen.Live, s.owned.Ref) }, ""},
		"detached":         {func(s *replaceScene) { s.owned.Owners = nil }, ""},
		"with more owners": {func(s *replaceScene) { s.owned.Owners = []types.UID{"other", "inv"} }, "move owned"},
		"labels, and an owner reference all the same": {func(s *replaceScene) { s.tracked.Owners = []types.UID{"inv"} }, "move owned, move tracked"},
		"a hook that was begun": {func(s *replaceScene) {
			s.inv.Hooks, s.inv.Entries = []inventory.Entry{{Ref: s.owned.Ref, Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}, Phase: inventory.PhaseRunning}}, nil
		}, "move owned"},

		"may not be seen":                  {func(s *replaceScene) { s.unseen(s.owned, forbidden) }, "stays: may not be listed"},
		"tracked by labels, and unseen":    {func(s *replaceScene) { s.unseen(s.tracked, forbidden) }, "stays: may not be listed"},
		"a kind that is not served":        {func(s *replaceScene) { s.unseen(s.owned, crd) }, unserved},
		"a kind that nothing defines":      {func(s *replaceScene) { s.unseen(s.owned, &plan.UnservedError{Group: "example.com", Kind: "Plan"}) }, "stays: the server no longer serves kind Plan.example.com, and its objects may still exist (have it served again, for example by its APIService, then run again)"},
		"retained on apply and not served": {func(s *replaceScene) { s.inv.Entries[0].Deletion = lynq.DeleteRetainOnApply; s.unseen(s.owned, crd) }, unserved},
		"two reasons":                      {func(s *replaceScene) { s.unseen(s.owned, crd); s.unseen(s.tracked, forbidden) }, unserved + " (and 1 more)"},
		"one reason for two objects":       {func(s *replaceScene) { s.unseen(s.owned, crd); s.unseen(s.tracked, crd) }, unserved},

		"excluded":                    {func(s *replaceScene) { s.exclude("owned") }, "stays: ConfigMap/ns/owned" + mustNot},
		"excluded, and detached":      {func(s *replaceScene) { s.exclude("owned"); s.owned.Owners = nil }, ""},
		"excluded, tracked by labels": {func(s *replaceScene) { s.exclude("tracked") }, "move owned"},
		"excluded, and not served":    {func(s *replaceScene) { s.exclude("owned"); s.unseen(s.owned, crd) }, unserved},

		"a copy by a person":              {func(s *replaceScene) { s.copied() }, "move owned, free copy"},
		"a copy that is another node's":   {func(s *replaceScene) { s.seen.Live[s.copied().Ref] = s.copied() }, "move owned, free copy"},
		"a copy of another inventory's":   {func(s *replaceScene) { s.copied().Owners = []types.UID{"other"} }, "move owned"},
		"a copy that is excluded":         {func(s *replaceScene) { s.copied(); s.exclude("copy") }, "stays: ConfigMap/ns/copy" + mustNot},
		"a copy marked unmanaged":         {func(s *replaceScene) { s.copied().Unmanaged = true }, "move owned, free copy"},
		"a record that was made an entry": {func(s *replaceScene) { s.owned.Record = true }, "free owned"},

		"held by another client": {func(s *replaceScene) { s.inv.Others = &inventory.Others{Finalizers: []string{"example.com/audit"}} },
			"stays: inventory ns/lynqnode-acme-web is being deleted, and example.com/audit blocks that (run again when it is deleted)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newReplaceScene()
			tt.change(s)
			if got := s.replaced(); got != tt.want {
				t.Errorf("%s: %q, want %q", name, got, tt.want)
			}
		})
	}
}

func (s *replaceScene) exclude(name string) {
	s.rules = append(s.rules, lynq.Exclusion{Kind: "ConfigMap", Name: name}, lynq.Exclusion{Kind: "Secret", Name: name})
}

// TestReplaceDecided checks apply's decisions about the node of a deleted inventory with an
// active row, for any state of its form.
func TestReplaceDecided(t *testing.T) {
	crd := &plan.UnservedError{Group: "example.com", Kind: "Plan", Definition: "plans.example.com"}
	ruled := &lynq.Exclusion{Kind: "Deployment", Name: "*"}
	for name, tt := range map[string]struct {
		change func(in *Input, o *plan.Object)
		want   string // part of the reason to leave the node alone, "" if lynqctl replaces its inventory
	}{
		"seen":                           {func(*Input, *plan.Object) {}, ""},
		"not served, and wanted":         {func(in *Input, o *plan.Object) { in.unsee(o.Ref, crd) }, "doesn't serve kind Plan.example.com"},
		"not served, and dropped":        {func(in *Input, o *plan.Object) { in.unsee(o.Ref, crd); in.Desired.Nodes[0].Objects = nil }, "doesn't serve kind Plan.example.com"},
		"not served, and narrowed by -l": {func(in *Input, o *plan.Object) { in.unsee(o.Ref, crd); o.LeftOut, in.Scope.Narrowed = true, true }, "doesn't serve kind Plan.example.com"},
		"forbidden, and left out": {func(in *Input, o *plan.Object) {
			in.unsee(o.Ref, errors.New("403"))
			o.LeftOut, in.Scope.Narrowed = true, true
		}, "403"},
		"excluded": {func(in *Input, o *plan.Object) {
			o.Exclusion = ruled
			in.Desired.Exclude = map[lynq.FormKey]lynq.Exclusions{in.Desired.Forms[0]: {*ruled}}
		}, "must not change: it is excluded"},
		"excluded, and not served": {func(in *Input, o *plan.Object) { o.Exclusion = ruled; in.unsee(o.Ref, crd) }, "doesn't serve kind Plan.example.com"},
		"excluded before, and the rule is gone": {func(in *Input, _ *plan.Object) {
			in.Recorded.Inventories[0].Entries[0].Excluded = true
			in.Desired.Exclude = map[lynq.FormKey]lynq.Exclusions{}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := scene(ours, lynq.DefaultPolicy())
			in.Recorded.Inventories[0].Deleting, in.Recorded.Inventories[0].Finalizer = true, true
			tt.change(in, &in.Desired.Nodes[0].Objects[0])
			n := Decide(in, Limits{AllowEmpty: true}).Nodes[0]
			switch why := n.Desired.Failed; {
			case tt.want == "" && (why != nil || n.Replacement == nil || len(n.Replacement.Moves) != 1):
				t.Errorf("%s: %v, %+v; want its inventory replaced", name, why, n.Replacement)
			case tt.want != "" && (why == nil || !strings.Contains(why.Error(), tt.want) || len(n.Steps) > 0):
				t.Errorf("%s: %v, %d steps; want it left as it is: %s", name, why, len(n.Steps), tt.want)
			}
		})
	}
}

// unsee makes an object unreadable, with an error.
func (in *Input) unsee(ref lynq.Ref, why error) {
	in.Observed.Unknown = map[lynq.Ref]error{ref: why}
	delete(in.Observed.Live, ref)
}

// TestUnlookedAreSeen checks that lynqctl reads objects that did their work if it is about
// to delete the inventory.
func TestUnlookedAreSeen(t *testing.T) {
	s := newReplaceScene()
	s.inv.Entries[0].Phase, s.inv.Entries[0].UID = inventory.PhaseCompleted, ""
	inventories := []*inventory.Inventory{s.inv}
	if got := plan.Unlooked(nil, inventories); len(got) > 0 {
		t.Errorf("of a deleted inventory %v is not looked at", got)
	}
	s.inv.Deleting = false
	if got := plan.Unlooked(nil, inventories); !got[s.owned.Ref] {
		t.Errorf("of an inventory that stays %v is not looked at, want %s", got, s.owned.Ref)
	}
}
