package decide

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// wantedStep returns the step of the only object of a scene.
func wantedStep(in *Input) plan.Step { return Decide(in, Limits{}).Nodes[0].Steps[0] }

// TestAdoptNothing checks that a run that adopts nothing behaves as if all forms said so,
// and still writes its own objects.
func TestAdoptNothing(t *testing.T) {
	for _, creation := range []lynq.CreationPolicy{lynq.CreateWhenNeeded, lynq.CreateOnce} {
		t.Run(string(creation), func(t *testing.T) {
			for _, conflict := range []lynq.ConflictPolicy{lynq.ConflictStuck, lynq.ConflictForce} {
				for _, adoption := range adoptions() {
					for _, at := range situations() {
						p, never := lynq.DefaultPolicy(), lynq.DefaultPolicy()
						p.Creation, p.Conflict, p.Adoption = creation, conflict, adoption
						never.Creation, never.Conflict, never.Adoption = creation, conflict, lynq.AdoptNever
						in := scene(at, p)
						in.Options.AdoptNothing = true
						s := wantedStep(in)
						if got, want := (verdict{s.Action, s.Reason}), wanted(at, never); got != want {
							t.Errorf("%s/%s/%s/%s: %v, want %v", creation, conflict, adoption, at, got, want)
						}
						if s.Action == plan.ActionBlock && at != ownRecord && adoption != lynq.AdoptNever && !strings.Contains(s.Message, "--adopt=never") {
							t.Errorf("%s/%s: %q does not say why", adoption, at, s.Message)
						}
					}
				}
			}
		})
	}
}

// TestAdoptOrphans checks that the user can take an orphan back even under Never, and nothing
// else.
func TestAdoptOrphans(t *testing.T) {
	for _, keep := range []bool{false, true} {
		for _, at := range situations() {
			p := lynq.DefaultPolicy()
			p.Adoption = lynq.AdoptNever
			in := scene(at, p)
			in.Options.AdoptOrphans, in.Options.KeepContent = true, keep
			s := wantedStep(in)
			if taken := s.Action != plan.ActionBlock && s.Reason == plan.ReasonOrphan; taken != (at == orphaned) {
				t.Errorf("%s: %s %s", at, s.Action, s.Reason)
			}
		}
	}
}

// TestConflictMessages checks that a conflict names its cause and its fix.
func TestConflictMessages(t *testing.T) {
	for _, tt := range []struct {
		at       situation
		conflict lynq.ConflictPolicy
		adoption lynq.AdoptionPolicy
		want     string
	}{
		{otherTools, lynq.ConflictStuck, "", "it belongs to Kustomization flux-system/apps (set conflictPolicy: Force to take it over)"},
		{otherTools, lynq.ConflictForce, "", "taken from Kustomization flux-system/apps"},
		{otherTools, lynq.ConflictStuck, lynq.AdoptAlways, "taken from Kustomization flux-system/apps"},
		{otherTools, lynq.ConflictForce, lynq.AdoptIfUnowned, "it belongs to Kustomization flux-system/apps (set adoptionPolicy: Always to take it over)"},
		{otherTools, lynq.ConflictForce, lynq.AdoptNever, "it belongs to Kustomization flux-system/apps (adoptionPolicy Never; IfUnowned adopts objects without an owner, Always takes over any object)"},
		{nobodys, lynq.ConflictForce, lynq.AdoptNever, "it existed before (adoptionPolicy Never; IfUnowned adopts objects without an owner, Always takes over any object)"},
		{overwritten, lynq.ConflictForce, lynq.AdoptNever, "it is recorded, but no longer has this node's labels (adoptionPolicy Never; IfUnowned adopts objects without an owner, Always takes over any object)"},
		{recreated, lynq.ConflictForce, lynq.AdoptNever, "it isn't the recorded object: somebody deleted it and created it again (adoptionPolicy Never; IfUnowned adopts objects without an owner, Always takes over any object)"},
		{unrecordedT, lynq.ConflictForce, lynq.AdoptNever, "it has this node's labels, but no inventory has an entry for it: lynqctl inventory rebuild records it (adoptionPolicy Never; IfUnowned adopts objects without an owner, Always takes over any object)"},
		{orphaned, lynq.ConflictForce, lynq.AdoptNever, "it is an orphan: lynqctl orphans adopt manages it again (adoptionPolicy Never; IfUnowned adopts objects without an owner, Always takes over any object)"},
	} {
		t.Run(string(tt.at), func(t *testing.T) {
			p := lynq.DefaultPolicy()
			p.Conflict, p.Adoption = tt.conflict, tt.adoption
			if got := wantedStep(scene(tt.at, p)).Message; got != tt.want {
				t.Errorf("%s, %s, %s:\ngot  %q\nwant %q", tt.at, tt.conflict, tt.adoption, got, tt.want)
			}
		})
	}
}

// TestAdopted checks that an object that existed before its node stays adopted. An object
// that lynqctl created never becomes adopted, whoever took it over meanwhile or marks it
// so.
func TestAdopted(t *testing.T) {
	force := lynq.DefaultPolicy()
	force.Conflict = lynq.ConflictForce
	for at, want := range map[situation]bool{
		absent: false, vanished: false, goingAway: false, ours: false, drift: false, recreated: false, unconfirmed: false,
		overwritten: false, orphaned: false, unrecordedT: false, nobodys: true, forgedOnce: true, otherNodes: true, otherSets: true, otherTools: true, controllers: true,
	} {
		t.Run(string(at), func(t *testing.T) {
			if s := wantedStep(scene(at, force)); s.Adopted != want {
				t.Errorf("%s: %s %s, adopted %v", at, s.Action, s.Reason, s.Adopted)
			}
		})
	}
	// The entry says that it was adopted, whatever the object says.
	for at, want := range map[situation]bool{
		vanished: false, goingAway: false, ours: true, drift: true, recreated: true, unconfirmed: true, overwritten: true, bare: true, unfinished: true,
	} {
		t.Run(string(at), func(t *testing.T) {
			in := scene(at, force)
			in.Recorded.Inventories[0].Entries[0].Adopted = true
			if s := wantedStep(in); s.Adopted != want {
				t.Errorf("%s, recorded as adopted: %s %s, adopted %v", at, s.Action, s.Reason, s.Adopted)
			}
		})
	}
	// Only the object says so.
	for at, want := range map[situation]bool{ours: false, drift: false, recreated: true, unconfirmed: true, orphaned: true, unrecordedT: true} {
		t.Run(string(at), func(t *testing.T) {
			in := scene(at, force)
			in.Observed.Live[in.Desired.Nodes[0].Objects[0].Ref].Adopted = true
			if s := wantedStep(in); s.Adopted != want {
				t.Errorf("%s, marked as adopted: %s %s, adopted %v", at, s.Action, s.Reason, s.Adopted)
			}
		})
	}
	// Somebody forged the entry, and lynqctl would purge, recreate or replace the object.
	wave := 0
	for name, change := range map[string]func(*lynq.Policy){
		"purged":    func(p *lynq.Policy) { p.PurgeOrder = &wave },
		"recreated": func(p *lynq.Policy) { p.Patch = lynq.PatchRecreate },
		"replaced":  func(p *lynq.Policy) { p.Patch = lynq.PatchReplace },
	} {
		t.Run(name, func(t *testing.T) {
			p := lynq.DefaultPolicy()
			change(&p)
			in := scene(ours, p)
			o := &in.Desired.Nodes[0].Objects[0]
			in.Observed.Live[o.Ref].Adopted, o.Digest = true, "changed"
			if s := wantedStep(in); !s.Adopted || s.Purges() || s.Recreates() {
				t.Errorf("%s, marked as adopted: %s %s, adopted %v, purges %v, recreates %v", name, s.Action, s.Reason, s.Adopted, s.Purges(), s.Recreates())
			}
		})
	}
	// Another tool marked an object that lynqctl created. lynqctl takes it back, and
	// doesn't adopt it.
	in := scene(ours, force)
	in.Observed.Live[in.Desired.Nodes[0].Objects[0].Ref].Few = &tracking.Rare{Foreign: "Helm release web/shop"}
	if s := wantedStep(in); s.Reason != plan.ReasonTakeover || s.Adopted {
		t.Errorf("taken back: %s, adopted %v", s.Reason, s.Adopted)
	}
}

// TestLeavingAdopted checks that a plan says which of the leaving objects were adopted.
func TestLeavingAdopted(t *testing.T) {
	for _, adopted := range []bool{false, true} {
		in := scene(ours, lynq.DefaultPolicy())
		in.Desired.Nodes[0].Objects = nil
		in.Recorded.Inventories[0].Entries[0].Adopted = adopted
		p := Decide(in, Limits{})
		s := p.Nodes[0].Steps[0]
		if s.Action != plan.ActionDelete || s.Adopted != adopted || (p.Adopted[plan.ActionDelete] == 1) != adopted {
			t.Errorf("%s, adopted %v, of the plan %v, want %v", s.Action, s.Adopted, p.Adopted, adopted)
		}
	}
}

// TestMovesUnderNever checks that an object that one node of a run gives to another isn't
// adopted, because the hub owned it before. A mark alone makes it adopted.
func TestMovesUnderNever(t *testing.T) {
	for _, creation := range []lynq.CreationPolicy{lynq.CreateWhenNeeded, lynq.CreateOnce} {
		t.Run(string(creation), func(t *testing.T) {
			move := func(change func(*inventory.Entry)) plan.Step {
				p := lynq.DefaultPolicy()
				p.Creation, p.Adoption = creation, lynq.AdoptNever
				in := scene(ours, p)
				change(&in.Recorded.Inventories[0].Entries[0])
				moved := *in.Desired.Nodes[0]
				moved.Namespace, moved.Name, moved.Form.Name = "ns", "acme-shop", "shop"
				in.Desired.Forms, in.Desired.Nodes = []lynq.FormKey{{Name: "shop"}, {Name: "web"}}, []*plan.Node{&moved}
				return wantedStep(in)
			}
			want := verdict{plan.ActionUpdate, plan.ReasonMoved}
			if creation == lynq.CreateOnce {
				want = verdict{plan.ActionTrack, plan.ReasonMoved}
			}
			for _, adopted := range []bool{false, true} {
				s := move(func(r *inventory.Entry) { r.Adopted = adopted })
				if got := (verdict{s.Action, s.Reason}); got != want || s.Adopted != adopted {
					t.Errorf("%s: %v, adopted %v, want %v and %v", creation, got, s.Adopted, want, adopted)
				}
			}
			if s := move(func(r *inventory.Entry) { r.UID = "u7" }); s.Action != plan.ActionBlock {
				t.Errorf("%s: with a record of another object: %s %s", creation, s.Action, s.Reason)
			}
		})
	}
}

// TestOnceMoves checks that another node of the run takes over an object that was created
// once. Its content doesn't change, with or without its annotation.
func TestOnceMoves(t *testing.T) {
	for _, annotated := range []bool{true, false} {
		p := lynq.DefaultPolicy()
		p.Creation = lynq.CreateOnce
		in := scene(ours, p)
		in.Observed.Live[in.Desired.Nodes[0].Objects[0].Ref].CreatedOnce = annotated
		moved := *in.Desired.Nodes[0]
		moved.Namespace, moved.Name, moved.Form.Name = "ns", "acme-shop", "shop"
		in.Desired.Forms, in.Desired.Nodes = []lynq.FormKey{{Name: "shop"}, {Name: "web"}}, []*plan.Node{&moved}
		if s := wantedStep(in); s.Action != plan.ActionTrack {
			t.Errorf("annotated %v: %s %s", annotated, s.Action, s.Reason)
		}
	}
}

// TestAnnotatedBody checks that one more annotation changes nothing else.
func TestAnnotatedBody(t *testing.T) {
	for _, tt := range []struct{ metadata, want map[string]any }{
		{map[string]any{"name": "a", "annotations": map[string]any{"b": "c"}}, map[string]any{"b": "c", "lynq.sh/adopted": "true"}},
		{map[string]any{"name": "a", "annotations": map[string]any{}}, map[string]any{"lynq.sh/adopted": "true"}},
		{map[string]any{"name": "a"}, map[string]any{"lynq.sh/adopted": "true"}},
	} {
		b, err := manifest.Encode(map[string]any{"kind": "X", "metadata": tt.metadata})
		if err != nil {
			t.Fatal(err)
		}
		before := string(b)
		content, err := b.Annotated(wellknown.AnnotationAdopted, "true").Content()
		if err != nil {
			t.Fatal(err)
		}
		metadata, _ := content["metadata"].(map[string]any)
		if fmt.Sprint(metadata["annotations"]) != fmt.Sprint(tt.want) || metadata["name"] != "a" || content["kind"] != "X" || string(b) != before {
			t.Errorf("%s: %v", b, content)
		}
	}
}
