package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

var acme = NodeKey{"ns", "acme-web"}

// givenUp says whether, and how, a person gave up on an object.
type givenUp string

const (
	kept      givenUp = ""
	named     givenUp = "given up"
	unlooked  givenUp = "given up, and it could not be looked at"
	unlookErr         = "its kind is not served"
)

// goesAs is the table: what becomes of a recorded object whose node somebody
// deleted.
func goesAs(at situation, p lynq.Policy, c Cascade, g givenUp) verdict {
	switch {
	case at == vanished && g == unlooked:
		return verdict{ActionRelease, ReasonGivenUp}
	case at == vanished:
		return verdict{ActionRelease, ReasonAlreadyGone}
	case g != kept:
		return verdict{ActionOrphan, ReasonGivenUp}
	case at == recreated: // by its uid it is not what was recorded
		return verdict{ActionRelease, ReasonTakenOver}
	case at == handsOff && p.Deletion == lynq.DeleteDelete: // it must not go with the inventory
		return verdict{ActionTrack, ReasonUnmanaged}
	case at == handsOff:
		return verdict{ActionSkip, ReasonUnmanaged}
	case c == CascadeOrphan || p.Deletion == lynq.DeleteRetain:
		return verdict{ActionOrphan, ReasonNodeDeleted}
	case c == CascadeBackground && at != policyMoved: // that one is tracked by labels
		return verdict{ActionCollect, ReasonNodeDeleted}
	}
	return verdict{ActionDelete, ReasonNodeDeleted}
}

// TestDeletedNode decides every combination of deletion policy, cascade and
// giving up, in every situation.
func TestDeletedNode(t *testing.T) {
	recorded := []situation{vanished, ours, drift, formChanged, policyMoved, recreated, unconfirmed, goingAway, handsOff}
	for _, deletion := range []lynq.DeletionPolicy{lynq.DeleteDelete, lynq.DeleteRetain} {
		for _, cascade := range []Cascade{CascadeOrdered, CascadeBackground, CascadeForeground, CascadeOrphan} {
			for _, g := range []givenUp{kept, named, unlooked} {
				for _, at := range recorded {
					t.Run(fmt.Sprintf("%s/%s/%s/%s", deletion, cascade, g, at), func(t *testing.T) {
						p := lynq.DefaultPolicy()
						p.Deletion = deletion
						in := scene(at, p)
						in.Nodes, in.Delete, in.Cascade, in.Active = nil, map[NodeKey]bool{acme: true}, cascade, 0
						ref := in.Inventories[0].Records[0].Ref
						switch g {
						case named:
							in.GiveUp = map[lynq.Ref]error{ref: nil}
						case unlooked:
							in.GiveUp = map[lynq.Ref]error{ref: errors.New(unlookErr)}
						}
						plan := Decide(in, Limits{AllowEmpty: true})
						if len(plan.Refusals) > 0 || len(plan.Nodes) != 1 || !plan.Nodes[0].Deleted || len(plan.Nodes[0].Steps) != 1 {
							t.Fatalf("plan %+v", plan)
						}
						s := plan.Nodes[0].Steps[0]
						if got, want := (verdict{s.Action, s.Reason}), goesAs(at, p, cascade, g); got != want {
							t.Errorf("got %v (%s), want %v", got, s.Message, want)
						}
					})
				}
			}
		}
	}
}

// TestGivenUpAndTakenOver: giving up on what somebody else took over does not mark
// it as an orphan.
func TestGivenUpAndTakenOver(t *testing.T) {
	in := scene(ours, lynq.DefaultPolicy())
	ref := in.Nodes[0].Objects[0].Ref
	in.Nodes, in.Delete, in.GiveUp = nil, map[NodeKey]bool{acme: true}, map[lynq.Ref]error{ref: nil}
	in.Live[ref].Foreign = "Kustomization apps"
	if s := Decide(in, Limits{}).Nodes[0].Steps[0]; s.Action != ActionRelease || s.Reason != ReasonGivenUp || s.Message != "it is now of Kustomization apps" {
		t.Errorf("%s %s %q", s.Action, s.Reason, s.Message)
	}
}

// TestCollected: only what goes with the inventory just as we would delete it is
// left to the garbage collector.
func TestCollected(t *testing.T) {
	record := func(kind, name string, order int) inventory.Record {
		r := lynq.Ref{Kind: kind, Namespace: "ns", Name: name}
		if kind == "Namespace" {
			r.Namespace = ""
		}
		return inventory.Record{Ref: r, ID: name, APIVersion: "v1", UID: name, Order: order, Deletion: lynq.DeleteDelete}
	}
	actions := func(owners []types.UID, records ...inventory.Record) string {
		in := &Input{Hub: "crm", Delete: map[NodeKey]bool{acme: true}, Cascade: CascadeBackground, Live: map[lynq.Ref]*Live{},
			Inventories: []*inventory.Inventory{{Node: acme.Name, Namespace: acme.Namespace, Hub: "crm", Form: "web", RowUID: "acme", UID: "inv", Records: records}}}
		for i, r := range records {
			in.Live[r.Ref] = &Live{Ref: r.Ref, Hub: "crm", UID: types.UID(r.UID), PartOf: inventory.ID("ns", inventory.Name(acme.Name)), Owners: []types.UID{"inv"}}
			if i == 0 {
				in.Live[r.Ref].Owners = owners
			}
		}
		var words []string
		for _, s := range Decide(in, Limits{AllowEmpty: true}).Nodes[0].Steps {
			words = append(words, s.Record.Name+" "+string(s.Action))
		}
		return strings.Join(words, ", ")
	}
	ours := []types.UID{"inv"}
	for what, tt := range map[string]struct{ got, want string }{
		"owned":                 {actions(ours, record("Secret", "a", 0), record("Secret", "b", 0)), "a collect, b collect"},
		"one alone, of order 3": {actions(ours, record("Secret", "a", 3)), "a collect"},
		"dependencies":          {actions(ours, record("Secret", "a", 0), record("Secret", "b", 1)), "b delete, a delete"},
		"a second owner":        {actions([]types.UID{"inv", "other"}, record("Secret", "a", 0), record("Secret", "b", 0)), "a delete, b collect"},
		"tracked by labels":     {actions(nil, record("Secret", "a", 0), record("Secret", "b", 0)), "a delete, b collect"},
		"a container":           {actions(nil, record("Namespace", "a", 0), record("Secret", "b", 0)), "a delete, b delete"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", what, tt.got, tt.want)
		}
	}
}

// TestDeletedByHand: the four states of a record and its finalizer, and what kind
// of run looks at them.
func TestDeletedByHand(t *testing.T) {
	for _, tt := range []struct {
		name                string
		deleting, finalizer bool
		change              func(*Input)
		want                string
	}{
		{"in peace", false, true, nil, "kept"},
		{"without a finalizer", false, false, nil, "kept"},
		{"deleted", true, true, nil, "restored"},
		{"deleted, and held by somebody else", true, false, nil, "fails: inventory ns/lynqnode-acme-web is being deleted, and a finalizer holds it (apply again when it is gone)"},
		{"deleted; a selector", true, true, func(in *Input) { in.Narrowed = true }, "restored"},
		{"deleted; the row is gone", true, true, func(in *Input) { in.Nodes = nil }, "goes"},
		{"deleted, and held by somebody else; the row is gone", true, false, func(in *Input) { in.Nodes = nil }, "nothing"},
		{"deleted; the form is not in this run", true, true, func(in *Input) { in.Nodes, in.Forms = nil, []lynq.FormKey{{Name: "queue"}} }, "nothing"},
		{"deleted; another node is named", true, true, func(in *Input) { in.Nodes, in.Only = nil, map[string]bool{"other": true} }, "nothing"},
		{"deleted; it is named", true, true, func(in *Input) { in.Only = map[string]bool{"acme-web": true} }, "restored"},
		{"deleted; the row does not render", true, true, func(in *Input) { in.Nodes[0].Failed = errors.New("no") }, "fails: no"},
		{"deleted, and held by somebody else; to be deleted", true, false, func(in *Input) { in.Nodes, in.Delete = nil, map[NodeKey]bool{acme: true} }, "goes"},
	} {
		in := scene(ours, lynq.DefaultPolicy())
		in.Inventories[0].Deleting, in.Inventories[0].Finalizer = tt.deleting, tt.finalizer
		if tt.change != nil {
			tt.change(in)
		}
		got := "nothing"
		if plan := Decide(in, Limits{AllowEmpty: true, MaxDelete: DefaultMaxDelete()}); len(plan.Nodes) > 0 {
			got = fate(&plan.Nodes[0])
		}
		if got != tt.want {
			t.Errorf("%s: it %s, want %s", tt.name, got, tt.want)
		}
	}
}

// fate is what a plan does to a node, in words.
func fate(n *NodePlan) string {
	switch {
	case n.Desired == nil && n.Deleted:
		return "goes"
	case n.Desired == nil:
		return "goes, but not by hand"
	case n.Desired.Failed != nil:
		return "fails: " + n.Desired.Failed.Error()
	case n.Restored:
		return "restored"
	}
	return "kept"
}

// TestGuardsByHand: what was deleted by hand counts as what goes, and a hub's
// record as all of its nodes.
func TestGuardsByHand(t *testing.T) {
	in := func(byHand int) *Input {
		in := &Input{Hub: "crm", HubNamespace: "ns", Forms: []lynq.FormKey{{Name: "web"}}, Active: 3 - byHand}
		for i := range 3 {
			key := NodeKey{"ns", fmt.Sprintf("n%d-web", i)}
			if i >= byHand {
				in.Nodes = append(in.Nodes, &Node{NodeKey: key, Hub: "crm", Form: "web", UID: key.Name})
			}
			in.Inventories = append(in.Inventories, &inventory.Inventory{Node: key.Name, Namespace: "ns", Hub: "crm", Form: "web", RowUID: key.Name,
				Deleting: i < byHand, Finalizer: true})
		}
		return in
	}
	restored := in(2)
	for _, inv := range restored.Inventories[:2] {
		restored.Nodes = append(restored.Nodes, &Node{NodeKey: NodeKey{inv.Namespace, inv.Node}, Hub: "crm", Form: "web", UID: inv.RowUID})
	}
	gone := in(3)
	gone.HubDeleting = true
	all := in(0)
	all.Nodes, all.Active, all.Delete = nil, 0, map[NodeKey]bool{{"ns", "n0-web"}: true, {"ns", "n1-web"}: true, {"ns", "n2-web"}: true}
	for name, tt := range map[string]struct {
		in     *Input
		limits Limits
		guard  Guard
		what   string
	}{
		"one of three":     {in(1), Limits{MaxDelete: DefaultMaxDelete()}, "", ""},
		"two of three":     {in(2), Limits{MaxDelete: DefaultMaxDelete()}, GuardMaxDelete, "2 of 3 nodes would go, 2 of them because their inventories were deleted, 1 may (--max-delete=25%)"},
		"two, and allowed": {in(2), Limits{MaxDelete: MaxDelete{Nodes: 2}}, "", ""},
		"rows want them":   {restored, Limits{MaxDelete: DefaultMaxDelete()}, "", ""},
		"the hub":          {gone, Limits{AllowEmpty: true, MaxDelete: MaxDelete{Percent: 100}}, GuardDeleting, "the hub's record was deleted, ConfigMap ns/lynqhub-crm: with it go all of its 3 nodes"},
		"all, by delete":   {all, Limits{AllowEmpty: true}, "", ""},
	} {
		var got Refusal
		if r := Decide(tt.in, tt.limits).Refusals; len(r) > 0 {
			got = r[0]
		}
		if got.Guard != tt.guard || got.What != tt.what {
			t.Errorf("%s: refused by %q: %s, want %q: %s", name, got.Guard, got.What, tt.guard, tt.what)
		}
	}
}

// remove deletes nodes of the stage.
func (s *stage) remove(t *testing.T, c Cascade, names ...string) *Summary {
	t.Helper()
	p := s.removal(t, c, names...)
	sum, err := s.run(bounded(t), p)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// removal is the plan of that.
func (s *stage) removal(t *testing.T, c Cascade, names ...string) *Plan {
	t.Helper()
	in := &Input{Hub: "crm", Delete: map[NodeKey]bool{}, Cascade: c, Inventories: s.notes.all()}
	for _, name := range names {
		in.Delete[NodeKey{"ns", name}] = true
	}
	seen, err := Observe(t.Context(), s, "crm", nil, in.Inventories)
	if err != nil {
		t.Fatal(err)
	}
	in.See(seen)
	return Decide(in, Limits{AllowEmpty: true})
}

// deletes are the names of the objects that were deleted, in that order.
func (s *stage) deletes() string {
	var names []string
	for _, r := range s.requests {
		if ref, ok := strings.CutPrefix(r, "delete "); ok {
			names = append(names, ref[strings.LastIndex(ref, "/")+1:])
		}
	}
	return strings.Join(names, " ")
}

func refused(ref lynq.Ref) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, ref.Name, errors.New("no"))
}

// chain is a node whose objects depend on each other: c on b, b on a; and x on
// nothing.
func chain() *Node {
	return node("n", configMap("a", "1"), configMap("b", "1", "a"), configMap("c", "1", "b"), configMap("x", "1"))
}

// TestLeavesInReverse: each object goes when all that depended on it are gone,
// under every cascade that deletes.
func TestLeavesInReverse(t *testing.T) {
	for _, c := range []Cascade{CascadeOrdered, CascadeBackground, CascadeForeground} {
		s := newStage()
		mustApply(t, s, chain())
		if sum := s.remove(t, c, "n"); len(sum.Failed) > 0 {
			t.Errorf("%s: %+v", c, sum.Failed)
		}
		got := strings.Fields(s.deletes())
		at := func(name string) int { return slices.Index(got, name) }
		if len(got) != 4 || at("c") > at("b") || at("b") > at("a") {
			t.Errorf("%s: deleted %q", c, got)
		}
		if len(s.notes.saved) > 0 {
			t.Errorf("%s: the record is still there", c)
		}
	}
}

// TestStaysForDependents: what a dependent that could not be deleted depends on
// stays, and so does the record of both. The next run goes on.
func TestStaysForDependents(t *testing.T) {
	s := newStage()
	mustApply(t, s, chain())
	s.before = func(verb string, ref lynq.Ref) error {
		if verb == "delete" && ref.Name == "b" {
			return refused(ref)
		}
		return nil
	}
	if sum := s.remove(t, CascadeOrdered, "n"); len(sum.Failed) != 1 || sum.Failed[0].Outcome != OutcomeFailed {
		t.Fatalf("failed: %+v, want node n", sum.Failed)
	}
	inv := s.notes.saved[NodeKey{"ns", "n"}]
	var names []string
	for _, r := range inv.Records {
		names = append(names, r.Name)
	}
	// Nobody knows that b does not depend on x, which is of the same order as a.
	if got := strings.Join(names, " "); got != "a b x" {
		t.Fatalf("recorded: %s, want a, b and x", got)
	}
	if !inv.Status.Is(inventory.ConditionDegraded) || inv.Activate != "false" {
		t.Errorf("status %+v, activate %s", inv.Status, inv.Activate)
	}
	s.before = nil
	if sum := s.remove(t, CascadeOrdered, "n"); len(sum.Failed) > 0 || len(s.notes.saved) > 0 || len(s.objects) > 0 {
		t.Errorf("%+v; left: %v", sum.Failed, s.sorted())
	}
}

// TestHeldTooLong: an object that somebody else's finalizer holds is not waited
// for for ever, and said to be held.
func TestHeldTooLong(t *testing.T) {
	s := newStage()
	mustApply(t, s, chain())
	s.mu.Lock()
	s.objects[lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "c"}].SetFinalizers([]string{"example.com/backup"})
	s.mu.Unlock()
	c := &patience{}
	r := &Runner{Cluster: s, Records: s.notes, Reporter: c, Now: c.now, Options: s.options}
	sum, err := r.Run(bounded(t), []Plan{*s.removal(t, CascadeOrdered, "n")})
	if err != nil || len(sum.Failed) != 1 || sum.Failed[0].Outcome != OutcomeNotReady {
		t.Fatalf("%v, failed: %+v, want node n, not ready", err, sum)
	}
	if got, want := sum.Failed[0].Problems[0], "ConfigMap/ns/c: it is being deleted since 20"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "; finalizer example.com/backup holds it") {
		t.Errorf("%s, want %s", got, want)
	}
	if got := s.notes.names(); len(got) != 4 {
		t.Errorf("recorded: %v, want all", got)
	}
}

// patience is a clock that jumps ahead when the run waits for something that is
// held.
type patience struct{ ended atomic.Bool }

func (p *patience) Report(e Event) {
	if e.Type == EventWait && strings.Contains(e.Message, "holds it") {
		p.ended.Store(true)
	}
}

func (p *patience) now() time.Time {
	if p.ended.Load() {
		return time.Now().Add(lynq.DefaultPolicy().Timeout)
	}
	return time.Now()
}

// TestCollectedLast: what is left to the garbage collector goes with the record,
// and that only when all else is done with.
func TestCollectedLast(t *testing.T) {
	s := newStage()
	far := configMap("far", "1")
	far.Policy.Deletion = lynq.DeleteRetain
	mustApply(t, s, node("n", configMap("a", "1"), far))
	s.before = func(verb string, ref lynq.Ref) error {
		if verb == "write" && ref.Name == "far" {
			return refused(ref)
		}
		return nil
	}
	if sum := s.remove(t, CascadeBackground, "n"); len(sum.Failed) != 1 {
		t.Fatalf("failed: %+v, want node n", sum.Failed)
	}
	if got := s.notes.names(); len(got) != 2 {
		t.Errorf("recorded: %v, want a and far", got)
	}
	s.before = nil
	if sum := s.remove(t, CascadeBackground, "n"); len(sum.Failed) > 0 || sum.Actions[ActionCollect] != 1 || len(s.notes.saved) > 0 {
		t.Errorf("%+v", sum)
	}
	if got := s.deletes(); got != "" {
		t.Errorf("deleted %s", got)
	}
}

// TestTakenOverBeforeCollected: the garbage collector looks at owners only, so that
// what somebody took over since the run has looked must not be left to it.
func TestTakenOverBeforeCollected(t *testing.T) {
	ways := takenOver()
	ways["a second owner"] = func(m *metav1.PartialObjectMetadata) {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "o", UID: "o"})
	}
	ways["hands off"] = func(m *metav1.PartialObjectMetadata) { m.Annotations[lynq.AnnotationMode] = lynq.ModeUnmanaged }
	ways["nobody"] = func(m *metav1.PartialObjectMetadata) { m.Annotations["example.com/note"] = "seen" }
	for who, change := range ways {
		s := newStage()
		mustApply(t, s, node("n", configMap("shared", "1")))
		p := s.removal(t, CascadeBackground, "n")
		if p.Counts[ActionCollect] != 1 {
			t.Fatalf("%s: plan %v", who, p.Counts)
		}
		s.takeOver(shared, change)
		if _, err := s.run(bounded(t), p); err != nil {
			t.Fatal(err)
		}
		there, recorded := s.objects[shared], len(s.notes.saved) > 0
		var got string
		switch {
		case there == nil:
			got = "deleted"
		case recorded:
			got = "kept"
		case slices.ContainsFunc(there.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == "inv-n" }):
			got = "left to the garbage collector"
		default:
			got = "let go"
		}
		want := map[string]string{"a second owner": "deleted", "hands off": "kept", "nobody": "left to the garbage collector"}[who]
		if want == "" {
			want = "let go"
		}
		if got != want {
			t.Errorf("%s: it was %s, want %s", who, got, want)
		}
	}
}

// TestKindAndItsObject: the definition of a kind and an object of it that belongs
// to the node go together, though neither names the other.
func TestKindAndItsObject(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("n", definition(), widget("w")))
	if sum := s.remove(t, CascadeBackground, "n"); len(sum.Failed) > 0 || len(s.notes.saved) > 0 || len(s.objects) > 0 {
		t.Errorf("%+v; left: %v", sum.Failed, s.sorted())
	}
}

// TestGivenUpIsLeftBehind: what cannot be marked is left behind, and the rest of
// the node goes.
func TestGivenUpIsLeftBehind(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("n", configMap("a", "1"), configMap("shared", "1", "a")))
	s.before = func(_ string, ref lynq.Ref) error {
		if ref == shared {
			return refused(ref)
		}
		return nil
	}
	p := s.removal(t, CascadeOrdered, "n")
	in := &Input{Hub: "crm", Delete: map[NodeKey]bool{{"ns", "n"}: true}, Inventories: s.notes.all(), GiveUp: map[lynq.Ref]error{shared: nil}}
	in.Live = map[lynq.Ref]*Live{}
	for _, step := range p.Nodes[0].Steps {
		in.Live[step.Record.Ref] = step.Live
	}
	told := &events{}
	r := &Runner{Cluster: s, Records: s.notes, Reporter: told, Now: time.Now, Options: s.options}
	sum, err := r.Run(bounded(t), []Plan{*Decide(in, Limits{AllowEmpty: true})})
	if err != nil || len(sum.Failed) > 0 || len(s.notes.saved) > 0 {
		t.Fatalf("%v, %+v", err, sum)
	}
	if sum.Actions[ActionRelease] != 1 || sum.Actions[ActionDelete] != 1 || s.objects[shared] == nil {
		t.Errorf("actions %v, left: %v", sum.Actions, s.sorted())
	}
	warned := slices.ContainsFunc(told.all, func(e Event) bool {
		return e.Type == EventWarning && e.Object == shared && strings.HasPrefix(e.Message, "it is left behind, as it is: ")
	})
	if !warned {
		t.Error("nobody was told")
	}
}

// TestNothingToDelete: a node without objects goes, and counts as one that went.
func TestNothingToDelete(t *testing.T) {
	s := newStage()
	mustApply(t, s, node("n"))
	if sum := s.remove(t, CascadeOrdered, "n"); sum.Nodes[OutcomeDone] != 1 || len(s.notes.saved) > 0 {
		t.Errorf("%+v", sum)
	}
}

// TestInterruptedRemoval: a run that is interrupted deletes nothing more, and
// remembers what is left.
func TestInterruptedRemoval(t *testing.T) {
	s := newStage()
	mustApply(t, s, chain())
	ctx, cancel := context.WithCancel(bounded(t))
	s.before = func(verb string, _ lynq.Ref) error {
		if verb == "delete" {
			cancel()
		}
		return nil
	}
	if _, err := s.run(ctx, s.removal(t, CascadeOrdered, "n")); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if got := s.deletes(); got != "c" {
		t.Errorf("deleted %s, want c", got)
	}
	for ref := range s.objects {
		if s.notes.names()[ref] != "n" {
			t.Errorf("%s is recorded no more", ref)
		}
	}
}
