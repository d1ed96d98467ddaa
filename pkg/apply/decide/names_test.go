package decide

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// viewed returns an object of a shop under its name in an extension's group.
func viewed(name string) lynq.Ref {
	return lynq.Ref{Group: "view.example.com", Kind: "Setting", Namespace: "ns", Name: name}
}

// views adds the name in the extension's group of an object that exists.
func (s *shop) views(name string) {
	l := *s.in.Observed.Live[shopRef(name)]
	l.Ref = viewed(name)
	s.in.Observed.Live[l.Ref] = &l
}

// wantsViews adds an active row with objects under their names in the extension's group.
func (s *shop) wantsViews(row string, objects ...string) *plan.Node {
	n := s.wants(row, objects...)
	for i := range n.Objects {
		n.Objects[i].Ref, n.Objects[i].APIVersion, n.Objects[i].Digest = viewed(n.Objects[i].Name), "view.example.com/v1", "d2"
	}
	return n
}

// TestOneObjectTwoNames checks that nothing deletes an object that a row renders under
// another name.
func TestOneObjectTwoNames(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(*shop)
		want    []string
	}{
		"a node changes the group": {func(s *shop) {
			s.has("a", "x")
			s.views("x")
			s.wantsViews("a", "x")
		}, []string{"a: Setting.view.example.com/ns/x update Changed"}},
		"a killed run had recorded both": {func(s *shop) {
			inv := s.has("a", "x")
			s.views("x")
			s.wantsViews("a", "x")
			inv.Entries = append(inv.Entries, inventory.Entry{Ref: viewed("x"), ID: "x"})
		}, []string{"a: Setting.view.example.com/ns/x update Changed"}},
		"a killed run had recorded both, and the row leaves": {func(s *shop) {
			inv := s.has("a", "x")
			s.views("x")
			kept := inv.Entries[0]
			kept.Ref, kept.Deletion = viewed("x"), lynq.DeleteRetain
			inv.Entries = append(inv.Entries, kept)
			s.wants("b")
		}, []string{"a: ConfigMap/ns/x orphan NodeGone", "a: Setting.view.example.com/ns/x orphan NodeGone"}},
		"other objects with the name": {func(s *shop) {
			s.has("a", "x")
			s.views("x")
			s.in.Observed.Live[viewed("x")].UID = "another"
			s.in.Observed.Live[viewed("x")].Hub, s.in.Observed.Live[viewed("x")].PartOf, s.in.Observed.Live[viewed("x")].Owners = "", "", nil
			s.wantsViews("a", "x")
		}, []string{"a: Setting.view.example.com/ns/x adopt Unowned", "a: ConfigMap/ns/x delete Removed"}},
		"it moves to another row": {func(s *shop) {
			s.has("a", "x")
			s.views("x")
			s.wants("a")
			s.wantsViews("b", "x")
		}, []string{"a: ConfigMap/ns/x skip Rendered", "b: Setting.view.example.com/ns/x update Moved"}},
		"another row has it now": {func(s *shop) {
			s.has("a", "x")
			s.views("x")
			b := s.has("b")
			s.wants("a")
			s.wantsViews("b", "x")
			for _, ref := range []lynq.Ref{shopRef("x"), viewed("x")} {
				s.in.Observed.Live[ref].Owners, s.in.Observed.Live[ref].PartOf = []types.UID{"inv-b"}, inventory.ID("ns", inventory.Name("b-web"))
			}
			b.Entries = []inventory.Entry{{Ref: viewed("x"), ID: "x", UID: "uid-x", Digest: "d2", Fields: "f", Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete, Patch: lynq.PatchApply}}}
		}, []string{"a: ConfigMap/ns/x release TakenOver", "b: Setting.view.example.com/ns/x keep UpToDate"}},
		"its row leaves, and another row renders it": {func(s *shop) {
			s.has("a", "x")
			s.views("x")
			s.wantsViews("b", "x")
		}, []string{"b: Setting.view.example.com/ns/x update Moved", "a: ConfigMap/ns/x skip Rendered"}},
		"two resources of a node": {func(s *shop) {
			s.has("a", "x")
			s.views("x")
			n := s.wants("a", "x")
			n.Objects = append(n.Objects, s.wantsViews("a", "x").Objects...)
			s.in.Desired.Nodes = s.in.Desired.Nodes[:1]
		}, []string{"a: ConfigMap/ns/x keep UpToDate", "a: Setting.view.example.com/ns/x block Foreign"}},
		"another name is excluded": {func(s *shop) {
			s.has("a", "x")
			s.views("x")
			s.wants("a")
			s.in.Desired.Exclude = map[lynq.FormKey]lynq.Exclusions{{Name: "web"}: {{Kind: "Setting", Name: "*"}}}
		}, []string{"a: ConfigMap/ns/x skip Excluded"}},
		"a hub beside renders it": {func(s *shop) {
			s.has("a", "x")
			s.wants("a")
			s.in.Desired.Elsewhere = NewSurvey([]*plan.Node{{NodeID: lynq.NodeID{Namespace: "ns", Name: "b-web"}, Objects: []plan.Object{{Ref: viewed("x")}}}})
			l := *s.in.Observed.Live[shopRef("x")]
			s.in.Beside = &plan.Observed{Live: map[lynq.Ref]*tracking.Live{viewed("x"): &l}}
		}, []string{"a: ConfigMap/ns/x skip Rendered"}},
		"a hub beside may render it": {func(s *shop) {
			s.has("a", "x")
			s.wants("a")
			s.in.Desired.Elsewhere = NewSurvey([]*plan.Node{{NodeID: lynq.NodeID{Namespace: "ns", Name: "b-web"}, Objects: []plan.Object{{Ref: viewed("x")}}}})
			s.in.Beside = &plan.Observed{Unknown: map[lynq.Ref]error{viewed("x"): errors.New("403")}}
		}, []string{"a: ConfigMap/ns/x skip Unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			tt.prepare(s)
			var got []string
			p := Decide(s.in, Limits{AllowEmpty: true})
			for i := range p.Nodes {
				n := &p.Nodes[i]
				for k := range n.Steps {
					step := &n.Steps[k]
					got = append(got, n.UID+": "+step.Ref().Full()+" "+string(step.Action)+" "+string(step.Reason))
					if again := Again(p, n, n.Inventory, step, step.Live); again.Action != step.Action {
						t.Errorf("%s: %s, and %s when its turn comes", name, got[len(got)-1], again.Action)
					}
					if step.Action == plan.ActionUpdate && step.NextEntry().UID != "uid-x" && step.Reason == plan.ReasonChanged {
						t.Errorf("%s: the next entry of %s lacks the uid", name, step.Ref())
					}
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: %q, want %q", name, got, tt.want)
			}
		})
	}
}

// TestOtherNames checks which names a run reads before it deletes objects.
func TestOtherNames(t *testing.T) {
	project := lynq.Ref{Group: "project.example.com", Kind: "Project", Name: "x"}
	for name, tt := range map[string]struct {
		prepare func(*shop)
		want    string
	}{
		"nothing else has the name":    {func(s *shop) { s.has("a", "x") }, ""},
		"an unread row renders a view": {func(s *shop) { s.has("a", "x"); s.in.Desired.Elsewhere = survey(viewed("x")) }, "Setting.view.example.com/ns/x"},
		"an excluded object": {func(s *shop) {
			s.has("a", "x")
			s.wantsViews("b", "x").Objects[0].Exclusion = &lynq.Exclusion{}
		}, "Setting.view.example.com/ns/x"},
		"another kind of Kubernetes": {func(s *shop) {
			s.has("a", "x")
			s.in.Desired.Elsewhere = survey(lynq.Ref{Kind: "Service", Namespace: "ns", Name: "x"})
		}, ""},
		"an unread row renders what a kept node has": {func(s *shop) {
			s.has("a", "x")
			s.wants("a", "x")
			s.in.Desired.Elsewhere = survey(viewed("x"))
		}, ""},
		"a cluster-scoped object of an extension may be a Namespace": {func(s *shop) {
			inv := s.has("a", "x")
			inv.Entries[0].Ref = project
			l := *s.in.Observed.Live[shopRef("x")]
			l.Ref, s.in.Observed.Live = project, map[lynq.Ref]*tracking.Live{project: &l}
		}, "Namespace/x"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			tt.prepare(s)
			var got []string
			for _, ref := range OtherNames(Decide(s.in, Limits{AllowEmpty: true})) {
				got = append(got, ref.Full())
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%s: %q, want %q", name, got, tt.want)
			}
		})
	}
}

func survey(ref lynq.Ref) *Survey {
	return NewSurvey([]*plan.Node{{NodeID: lynq.NodeID{Namespace: "ns", Name: "b-web"}, Objects: []plan.Object{{Ref: ref}}}})
}

// TestView checks that a view of a Namespace counts as one, and that nothing deletes it
// before lynqctl knows that.
func TestView(t *testing.T) {
	project, ns := lynq.Ref{Group: "project.example.com", Kind: "Project", Name: "x"}, lynq.Ref{Kind: "Namespace", Name: "x"}
	view := func() (*shop, *tracking.Live) {
		s := newShop()
		inv := s.has("a", "x")
		inv.Entries[0].Ref = project
		l := *s.in.Observed.Live[shopRef("x")]
		l.Ref, s.in.Observed.Live = project, map[lynq.Ref]*tracking.Live{project: &l}
		l.Owners, l.Node, l.NodeNamespace, l.HubNamespace = nil, "a-web", "ns", "ns"
		s.wants("a")
		return s, &l
	}
	s, l := view()
	same := *l
	s.in.Beside = &plan.Observed{Live: map[lynq.Ref]*tracking.Live{ns: &same}}
	p := Decide(s.in, Limits{AllowEmpty: true})
	step := &p.Nodes[0].Steps[0]
	if in, is := Container(p, step); step.Action != plan.ActionDelete || !is || in != ns || !step.Loss() {
		t.Errorf("%s (%s), container %s, loss %v", step.Action, step.Message, in, step.Loss())
	}
	s, _ = view()
	s.in.Beside = &plan.Observed{Live: map[lynq.Ref]*tracking.Live{ns: {Ref: ns, UID: "other"}}}
	p = Decide(s.in, Limits{AllowEmpty: true})
	if _, is := Container(p, &p.Nodes[0].Steps[0]); is || p.Nodes[0].Steps[0].Loss() {
		t.Error("another Namespace counts as the object")
	}
	s, _ = view()
	s.in.Beside = &plan.Observed{Unknown: map[lynq.Ref]error{ns: errors.New("403")}}
	if s := Decide(s.in, Limits{AllowEmpty: true}).Nodes[0].Steps[0]; s.Action != plan.ActionSkip || s.Reason != plan.ReasonUnknown {
		t.Errorf("unread: %s %s", s.Action, s.Reason)
	}
}
