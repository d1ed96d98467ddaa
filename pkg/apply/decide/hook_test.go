package decide

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// hookScene returns an input with one node. It has a ConfigMap, and a hook in this phase
// with this live object.
func hookScene(phase inventory.Phase, uid string, there *tracking.Live) *Input {
	config := lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}
	job := lynq.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "acme-backup"}
	partOf := inventory.ID("ns", inventory.Name("acme-web"))
	live := map[lynq.Ref]*tracking.Live{config: {Ref: config, UID: "u1", Hub: "crm", PartOf: partOf, Owners: []types.UID{"inv"}, ResourceID: "data"}}
	if there != nil {
		there.Ref = job
		live[job] = there
	}
	return &Input{
		Hub:      lynq.HubKey{Name: "crm"},
		Desired:  Desired{Active: 1, Forms: []lynq.FormKey{{Name: "web"}}},
		Observed: plan.Observed{Live: live},
		Recorded: Recorded{Inventories: []*inventory.Inventory{{
			Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: "ns", Name: "acme-web"}, UID: "inv", Finalizer: true,
			Entries: []inventory.Entry{{Ref: config, ID: "data", APIVersion: "v1", UID: "u1", Digest: "d1"}},
			Hooks:   []inventory.Entry{{Ref: job, ID: "backup", APIVersion: "batch/v1", UID: uid, Digest: "h1", Lifecycle: lynq.Lifecycle{RunOn: lynq.RunOnDelete}, Phase: phase}},
		}}},
	}
}

func hookJob(uid types.UID) *tracking.Live {
	return &tracking.Live{UID: uid, Hub: "crm", PartOf: inventory.ID("ns", inventory.Name("acme-web")), Owners: []types.UID{"inv"}, ResourceID: "backup", Fields: "f"}
}

// hookState is a state of a hook.
type hookState struct {
	name  string
	phase inventory.Phase
	uid   string
	there *tracking.Live
	runs  string // the step that runs it when lynqctl deletes the node
	after string // the step that deletes its object
	left  string // the step if the row is active again
}

func hookStates() []hookState {
	changed := func(change func(*tracking.Live)) *tracking.Live {
		l := hookJob("j1")
		change(l)
		return l
	}
	const runs, goes = "create BeforeDelete", "delete WHY"
	return []hookState{
		{"absent", "", "", nil, runs, goes, ""},
		{"about to be created", inventory.PhaseRunning, "", nil, runs, goes, "release AlreadyGone"},
		{"created by a run that was killed", inventory.PhaseRunning, "", hookJob("j1"), "keep BeforeDelete", goes, "delete Leftover"},
		{"running", inventory.PhaseRunning, "j1", hookJob("j1"), "keep BeforeDelete", goes, "delete Leftover"},
		{"deleted while it ran", inventory.PhaseRunning, "j1", nil, runs, goes, "release AlreadyGone"},
		{"completed", inventory.PhaseCompleted, "j1", hookJob("j1"), "", goes, "delete Leftover"},
		{"completed and gone", inventory.PhaseCompleted, "j1", nil, "", "release Completed", "release Completed"},
		{"failed", inventory.PhaseFailed, "j1", hookJob("j1"), runs, goes, "delete Leftover"},
		{"failed and marked as unmanaged", inventory.PhaseFailed, "j1", changed(func(l *tracking.Live) { l.Unmanaged = true }), "block Foreign", "skip Foreign", "track Unmanaged"},
		{"left over", "", "", hookJob("j1"), runs, goes, ""},
		{"being deleted", inventory.PhaseRunning, "j1", changed(func(l *tracking.Live) { l.Deleting = true }), runs, goes, "delete Leftover"},
		{"another of its name", inventory.PhaseRunning, "j0", hookJob("j1"), "block Foreign", "skip Foreign", "release TakenOver"},
		{"unowned", "", "", &tracking.Live{UID: "x"}, "block Foreign", "skip Foreign", ""},
		{"another node's", "", "", &tracking.Live{UID: "x", Hub: "crm", Node: "bolt-web", NodeNamespace: "ns", PartOf: inventory.ID("ns", inventory.Name("bolt-web"))}, "block Foreign", "skip Foreign", ""},
		{"another tool's", "", "", changed(func(l *tracking.Live) { l.Few = &tracking.Rare{Foreign: "Helm release x"} }), "block Foreign", "skip Foreign", ""},
		{"a controller's", "", "", changed(func(l *tracking.Live) { l.Few = &tracking.Rare{Controller: "CronJob/x"} }), "block Foreign", "skip Foreign", ""},
		{"a record", "", "", &tracking.Live{UID: "x", Record: true}, "block Foreign", "skip Foreign", ""},
	}
}

func planned(p *plan.Plan) (runs, after string) {
	for i := range p.Nodes {
		for _, s := range p.Nodes[i].Steps {
			switch {
			case s.Object != nil && s.Object.Policy.Hook():
				runs = string(s.Action) + " " + string(s.Reason)
			case s.Object == nil && s.Entry.Hook():
				after = string(s.Action) + " " + string(s.Reason)
			}
		}
	}
	return runs, after
}

// For every way to delete the node, its hook runs first. An object that the hook didn't
// create never counts as its own.
func TestHookOfNodeThatGoes(t *testing.T) {
	ways := map[plan.Reason]func(*Input){
		plan.ReasonNodeGone:    func(*Input) {},
		plan.ReasonNodeDeleted: func(in *Input) { in.Scope.Delete = map[lynq.NodeKey]bool{{Namespace: "ns", Name: "acme-web"}: true} },
	}
	byHand := func(in *Input) { in.Recorded.Inventories[0].Deleting = true }
	for _, state := range hookStates() {
		check := func(way string, why plan.Reason, change func(*Input)) {
			in := hookScene(state.phase, state.uid, state.there)
			change(in)
			p := Decide(in, Limits{AllowEmpty: true})
			runs, after := planned(p)
			if want := strings.ReplaceAll(state.after, "WHY", string(why)); runs != state.runs || after != want {
				t.Errorf("%s, node gone by %s: %q then %q, want %q then %q", state.name, way, runs, after, state.runs, want)
			}
			if state.runs != "" && (p.Nodes[0].Steps[0].Object == nil || p.Nodes[0].Steps[0].Object.Order != 0) {
				t.Errorf("%s, node gone by %s: the hook is not the first step", state.name, way)
			}
		}
		for why, change := range ways {
			check(string(why), why, change)
		}
		check("hand", plan.ReasonNodeDeleted, byHand)
	}
}

// If the row is active again, lynqctl deletes the hook's object as a leftover, and doesn't
// touch other objects.
func TestHookOfNodeThatComesBack(t *testing.T) {
	for _, state := range hookStates() {
		in := hookScene(state.phase, state.uid, state.there)
		in.Desired.Nodes = []*plan.Node{{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: "ns", Name: "acme-web"}}}
		runs, left := planned(Decide(in, Limits{AllowEmpty: true}))
		if runs != "" || left != state.left {
			t.Errorf("%s: %q and %q, want nothing run, and %q", state.name, runs, left, state.left)
		}
	}
}

func TestHookNotRun(t *testing.T) {
	in := hookScene("", "", nil)
	in.Options.Cascade = plan.CascadeOrphan
	if runs, after := planned(Decide(in, Limits{AllowEmpty: true})); runs != "" || after != "release NotRun" {
		t.Errorf("--cascade=orphan: %q then %q", runs, after)
	}
	in = hookScene(inventory.PhaseFailed, "j1", hookJob("j1"))
	job := in.Recorded.Inventories[0].Hooks[0].Ref
	in.Scope.Delete, in.Options.GiveUp = map[lynq.NodeKey]bool{{Namespace: "ns", Name: "acme-web"}: true}, map[lynq.Ref]error{job: nil}
	if runs, after := planned(Decide(in, Limits{AllowEmpty: true})); runs != "" || after != "orphan GivenUp" {
		t.Errorf("given up, and failed: %q then %q", runs, after)
	}
	in = hookScene("", "", nil)
	in.Scope.Delete, in.Options.GiveUp = map[lynq.NodeKey]bool{{Namespace: "ns", Name: "acme-web"}: true}, map[lynq.Ref]error{job: nil}
	if runs, after := planned(Decide(in, Limits{AllowEmpty: true})); runs != "" || after != "release GivenUp" {
		t.Errorf("given up before it began: %q then %q", runs, after)
	}
	// A row that failed to render may need the node.
	in = hookScene("", "", nil)
	in.Desired.Nodes = []*plan.Node{{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "Acme", Namespace: "ns", Name: "other"}, Failed: errors.New("x")}}
	if runs, _ := planned(Decide(in, Limits{AllowEmpty: true})); runs != "" {
		t.Errorf("the row may be there: %q", runs)
	}
}

// A step is decided again by the rules of its plan, on the entry as saved since.
func TestHookRecheck(t *testing.T) {
	for _, state := range hookStates() {
		if state.runs == "" {
			continue
		}
		p := Decide(hookScene(state.phase, state.uid, state.there), Limits{AllowEmpty: true})
		step := &p.Nodes[0].Steps[0]
		if again, verdict := Recheck(p, &p.Nodes[0], p.Nodes[0].Inventory, step, state.there); verdict != VerdictHolds || again.Action != step.Action {
			t.Errorf("%s: decided again it is %s, and was %s", state.name, again.Action, step.Action)
		}
	}
	// Just before lynqctl creates it, the entry says so. An object that exists then belongs
	// to the hook.
	p := Decide(hookScene("", "", nil), Limits{AllowEmpty: true})
	step := p.Nodes[0].Steps[0]
	begun := step.Begins()
	step.Entry = &begun
	if again, _ := Recheck(p, &p.Nodes[0], p.Nodes[0].Inventory, &step, hookJob("j1")); again.Action != plan.ActionKeep {
		t.Errorf("a Job whose creation was not answered: %s", again.Action)
	}
}

// lynqctl reads a recorded hook back unchanged, and accepts nothing else for it.
func TestHookManifest(t *testing.T) {
	policy := lynq.DefaultPolicy()
	policy.RunOn, policy.Timeout = lynq.RunOnDelete, 90e9
	ref := lynq.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "acme-backup"}
	o := &plan.Object{Ref: ref, APIVersion: "batch/v1", ID: "backup", DependIDs: []string{"first"}, Policy: &policy, Owned: true, Body: manifest.Body(`{"metadata":{"name":"acme-backup","namespace":"ns"},"apiVersion":"batch/v1","kind":"Job","spec":{"a":"<&>"}}`)}
	recorded, err := o.HookManifest()
	if err != nil {
		t.Fatal(err)
	}
	o.Digest = inventory.HookDigest(recorded)
	n := &plan.Node{Hooks: []plan.Object{*o}}
	r := plan.NewEntry(o)
	r.Digest = o.Digest
	me := plan.NewOwner(lynq.NodeKey{Namespace: "ns", Name: "acme-web"}, lynq.HubKey{Name: "crm"}, nil)
	p := &plan.Plan{}
	got, err := ReadHook(p, me, &r, recorded)
	if err != nil {
		t.Fatal(err)
	}
	if !sameJSON(got.Body, o.Body) || !bytes.HasPrefix(got.Body, []byte(`{"metadata":{`)) || got.Policy.Timeout != policy.Timeout || got.Ref != ref || !got.Owned || len(got.DependIDs) != 1 || !got.Policy.Hook() || got.Policy.Unwaited {
		t.Errorf("read back: %+v", got)
	}
	for _, wrong := range [][]byte{nil, []byte("{}"), bytes.Replace(recorded, []byte("acme"), []byte("evil"), 1)} {
		if _, err := ReadHook(p, me, &r, wrong); err == nil {
			t.Errorf("%q was taken for the hook", wrong)
		}
	}
	n.Hooks[0].Body = manifest.Body(`{"metadata":{"name":"` + strings.Repeat("x", 512<<10) + `"}}`)
	if err := plan.CheckSizes([]plan.Plan{{Nodes: []plan.NodePlan{{Desired: n}}}}); err == nil {
		t.Error("what no Secret can hold is no error")
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	one, _ := json.Marshal(x)
	two, _ := json.Marshal(y)
	return bytes.Equal(one, two)
}
