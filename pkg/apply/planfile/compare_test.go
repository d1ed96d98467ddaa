package planfile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// world has the input of a plan: nodes with two ConfigMaps each.
type world struct {
	nodes []tenant
	made  map[string]*plan.Node // desired nodes, which plans only read
}

// tenant is a row with its node. A changed number stands for a change.
type tenant struct {
	name      string
	active    bool
	row, form int
	recorded  bool // the node has an inventory, of row and form 0
	version   int  // the version of the inventory
	objects   [2]object
}

// object is one of a node's objects in the cluster.
type object struct{ uid, version, fields int } // uid 0 means that it doesn't exist

var (
	hub  = lynq.HubKey{Namespace: "ns", Name: "crm"}
	form = lynq.FormKey{Namespace: "ns", Name: "web"}
	key  = planfile.NewKey(map[string]string{"ns": "u-1"})
)

func (t *tenant) id() lynq.NodeID {
	return lynq.NodeID{Hub: hub, Form: form, UID: t.name, Namespace: "ns", Name: t.name + "-web"}
}

func (t *tenant) ref(i int) lynq.Ref {
	return lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: t.name + "-" + strconv.Itoa(i)}
}

// make returns the node that its row and form render. Object 1 doesn't depend on the row.
func (w *world) make(tb testing.TB, t *tenant, row, form int) *plan.Node {
	key := fmt.Sprint(t.name, row, form)
	if w.made[key] != nil {
		return w.made[key]
	}
	n := &lynq.Node{NodeID: t.id(), Row: "digest-of-row-" + strconv.Itoa(row)}
	for i := range t.objects {
		ref := t.ref(i)
		data := map[string]any{"form": strconv.Itoa(form)}
		if i == 0 {
			data["row"] = "secret-" + strconv.Itoa(row)
		}
		body, err := manifest.Encode(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": ref.Name, "namespace": "ns"}, "data": data})
		if err != nil {
			tb.Fatal(err)
		}
		n.Objects = append(n.Objects, lynq.Object{
			Ref: ref, ID: "o" + strconv.Itoa(i), Template: "template-" + strconv.Itoa(form), APIVersion: "v1", Policy: new(lynq.DefaultPolicy()), Body: body,
		})
	}
	made, err := plan.Make(n)
	if err != nil {
		tb.Fatal(err)
	}
	w.made[key] = made
	return made
}

func (w *world) plans(tb testing.TB, only map[lynq.NodeKey]bool) []plan.Plan {
	in := &decide.Input{Hub: hub, Desired: decide.Desired{Forms: []lynq.FormKey{form}, Active: 1}, Observed: plan.Observed{Live: map[lynq.Ref]*tracking.Live{}}}
	for i := range w.nodes {
		t := &w.nodes[i]
		if t.active {
			in.Desired.Nodes = append(in.Desired.Nodes, w.make(tb, t, t.row, t.form))
		}
		if t.recorded {
			in.Recorded.Inventories = append(in.Recorded.Inventories, w.inventory(tb, t))
		}
		for k, o := range t.objects {
			if o.uid > 0 {
				in.Observed.Live[t.ref(k)] = t.live(k)
			}
		}
	}
	if only != nil {
		in.Scope.Concerned, in.Scope.Only = only, map[string]bool{}
		for key := range only {
			in.Scope.Only[key.Name] = true
		}
	}
	return []plan.Plan{*decide.Decide(in, decide.Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Percent: 100}})}
}

func (w *world) inventory(tb testing.TB, t *tenant) *inventory.Inventory {
	inv := &inventory.Inventory{Node: t.id(), UID: "inv-" + t.name, ResourceVersion: strconv.Itoa(t.version), Activate: "true"}
	made := w.make(tb, t, 0, 0)
	for i := range made.Objects {
		e := plan.NewEntry(&made.Objects[i])
		e.UID, e.Digest, e.Template, e.ResourceVersion, e.Fields, e.Ready = "o-"+t.name+strconv.Itoa(i)+"1", made.Objects[i].Digest, made.Objects[i].Template, "1", "f-1", true
		inv.Entries = append(inv.Entries, e)
	}
	return inv
}

func (t *tenant) live(i int) *tracking.Live {
	o := t.objects[i]
	generation := int64(i * o.fields) // object 0 is of a kind without one
	return &tracking.Live{
		Ref: t.ref(i), Generation: generation, UID: types.UID("o-" + t.name + strconv.Itoa(i) + strconv.Itoa(o.uid)), ResourceVersion: strconv.Itoa(o.version), Fields: "f-" + strconv.Itoa(o.fields),
		Hub: hub.Name, PartOf: inventory.ID("ns", inventory.Name(t.name+"-web")), Owners: []types.UID{types.UID("inv-" + t.name)},
		ResourceID: "o" + strconv.Itoa(i), DeletionPolicy: lynq.DeleteDelete,
	}
}

// draw returns a random world with new, unchanged, changed and deleted nodes.
func draw(r *rand.Rand, made map[string]*plan.Node) *world {
	w := &world{made: made}
	for i := range 1 + r.IntN(6) {
		t := tenant{name: fmt.Sprintf("t%d", i), active: r.IntN(4) > 0, recorded: r.IntN(3) > 0, version: 1}
		if t.recorded {
			t.objects = [2]object{{1, 1, 1}, {1, 1, 1}}
			t.row, t.form = r.IntN(2), r.IntN(5)/4
		}
		if r.IntN(6) == 0 {
			t.objects[r.IntN(2)] = object{}
		}
		w.nodes = append(w.nodes, t)
	}
	return w
}

func (w *world) clone() *world { return &world{slices.Clone(w.nodes), w.made} }

// change changes one thing of a node, and returns its name. It returns "" for nothing, and
// for a change of a status, on which no plan depends.
func (t *tenant) change(r *rand.Rand) string {
	at := r.IntN(2)
	o := &t.objects[at]
	switch r.IntN(8) {
	case 0:
		t.row += 10
		return "row"
	case 1:
		t.form += 10
		return "form"
	case 2:
		t.active = !t.active
		return "activity"
	case 3:
		if t.recorded {
			t.version += 10
			return "inventory"
		}
	case 4:
		if o.uid > 0 {
			o.uid += 10
			o.version += 10
			return "replaced"
		}
	case 5:
		if o.uid > 0 {
			*o = object{}
			return "deleted"
		}
	case 6:
		if o.uid > 0 {
			o.version += 10
			o.fields += 10
			return "edited"
		}
	case 7:
		o.version += 10 * at * min(o.uid, 1)
	}
	return ""
}

// TestCompareRandomly changes worlds between a plan and its run. Changes of nodes outside
// the plan never refuse it, and changes of its nodes always do.
func TestCompareRandomly(t *testing.T) {
	const worlds = 10_000
	refused, ran := 0, 0
	made := map[string]*plan.Node{}
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 7))
		before := draw(r, made)
		f, err := planfile.Freeze(key, planfile.Origin{Version: "v1"}, before.plans(t, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		has := f.Nodes(hub, false)
		after := before.clone()
		related := ""
		for range 1 + r.IntN(3) {
			n := &after.nodes[r.IntN(len(after.nodes))]
			if what := n.change(r); what != "" && has[n.id().Key()] {
				related = what + " of " + n.name
			}
		}
		changes, err := planfile.Compare(key, f, after.plans(t, has))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case related == "" && len(changes) > 0:
			t.Fatalf("seed %d: an unrelated change refuses the plan: %+v", seed, changes)
		case related != "" && len(changes) == 0 && !sameSteps(t, before, after, has):
			t.Fatalf("seed %d: %s doesn't refuse the plan", seed, related)
		case len(changes) > 0:
			refused++
		default:
			ran++
		}
	}
	t.Logf("%d plans ran, %d were refused", ran, refused)
	if ran < worlds/10 || refused < worlds/10 {
		t.Errorf("%d plans ran and %d were refused: the draw is too one-sided", ran, refused)
	}
}

// sameSteps reports whether the plans of both worlds have the same actions on the same
// objects. Then the changes cancelled each other.
func sameSteps(tb testing.TB, a, b *world, has map[lynq.NodeKey]bool) bool {
	text := func(w *world) string {
		var all strings.Builder
		for _, p := range w.plans(tb, has) {
			for i := range p.Nodes {
				n := &p.Nodes[i]
				for k := range n.Steps {
					s := &n.Steps[k]
					_, _ = fmt.Fprintf(&all, "%s %s %s %s", n.Key(), s.Ref(), s.Action, s.Reason)
					if s.Object != nil {
						all.WriteString(s.Object.Digest + s.Object.Template)
					}
					if s.Live != nil && s.Action != plan.ActionKeep {
						_, _ = fmt.Fprint(&all, s.Live.UID, s.Live.Generation)
						if s.Live.Generation == 0 {
							all.WriteString(s.Live.ResourceVersion)
						}
					}
					all.WriteByte('\n')
				}
				if n.Inventory != nil {
					all.WriteString(n.Inventory.ResourceVersion)
				}
			}
		}
		return all.String()
	}
	return text(a) == text(b)
}

// TestCompareRecorded checks that a plan file depends on hooks and values of the row,
// because a run records these too.
func TestCompareRecorded(t *testing.T) {
	w := &world{made: map[string]*plan.Node{}, nodes: []tenant{{name: "acme", active: true}}}
	plans := w.plans(t, nil)
	f, err := planfile.Freeze(key, planfile.Origin{Version: "v1"}, plans, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*plan.Node)
		want   planfile.Cause
	}{
		"nothing":   {func(*plan.Node) {}, ""},
		"a hook":    {func(n *plan.Node) { n.Hooks = []plan.Object{{Ref: lynq.Ref{Kind: "Job", Name: "x"}, Digest: "d"}} }, planfile.CauseDecision},
		"a value":   {func(n *plan.Node) { n.Extra = "{}" }, planfile.CauseRow},
		"an expiry": {func(n *plan.Node) { n.Expires = time.Unix(1, 0) }, planfile.CauseRow},
	} {
		t.Run(name, func(t *testing.T) {
			wanted := *plans[0].Nodes[0].Desired
			tt.change(&wanted)
			now := plan.Plan{Hub: hub, Nodes: []plan.NodePlan{plans[0].Nodes[0]}}
			now.Nodes[0].Desired = &wanted
			changes, err := planfile.Compare(key, f, []plan.Plan{now})
			if err != nil {
				t.Fatal(err)
			}
			var got planfile.Cause
			if len(changes) > 0 {
				got = changes[0].Cause
			}
			if got != tt.want {
				t.Errorf("%+v", changes)
			}
		})
	}
}

// TestWithin checks that a run has the nodes of its plan file, and other nodes only if it
// doesn't change them.
func TestWithin(t *testing.T) {
	w := &world{made: map[string]*plan.Node{}, nodes: []tenant{
		{name: "idle", active: true, recorded: true, objects: [2]object{{1, 1, 1}, {1, 1, 1}}},
		{name: "new", active: true},
		{name: "gone", recorded: true, objects: [2]object{{1, 1, 1}, {1, 1, 1}}},
	}}
	plans := w.plans(t, nil)
	f, err := planfile.Freeze(key, planfile.Origin{Version: "v1"}, plans, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	f.Plans[0].Nodes = slices.DeleteFunc(f.Plans[0].Nodes, func(n planfile.Node) bool { return n.Name == "gone-web" })
	for _, n := range f.Within(plans)[0].Nodes {
		names = append(names, n.Name)
	}
	if want := []string{"idle-web", "new-web"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

// TestFreeze checks that the same plans give the same bytes, without a value of a row or
// the content of an object. It reads them back.
func TestFreeze(t *testing.T) {
	w := draw(rand.New(rand.NewPCG(3, 7)), map[string]*plan.Node{})
	var texts []string
	for range 2 {
		f, err := planfile.Freeze(key, planfile.Origin{Version: "v1", Command: "apply", Namespaces: []string{"ns"}}, w.plans(t, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	if texts[0] != texts[1] {
		t.Errorf("two files of one plan differ:\n%s\n%s", texts[0], texts[1])
	}
	if strings.Contains(texts[0], "secret-") {
		t.Errorf("the file has a value:\n%s", texts[0])
	}
	f, err := planfile.Decode([]byte(texts[0]))
	if err != nil {
		t.Fatal(err)
	}
	if f.Empty() || !f.Sealed(key) {
		t.Errorf("the file isn't what was written: %+v", f)
	}
	if f.Sealed(planfile.NewKey(map[string]string{"ns": "u-2"})) {
		t.Error("the file of one cluster counts in another one")
	}
	for _, namespaces := range [][]string{nil, {"mine"}} {
		forged := *f
		forged.Namespaces = namespaces
		open := planfile.NewKey(nil)
		if forged.ID, err = open.Seal(&forged); err != nil {
			t.Fatal(err)
		}
		if forged.Sealed(open) {
			t.Errorf("a file counts whose key comes from the namespaces %q", namespaces)
		}
	}
	f.Plans[0].Nodes[0].Steps[0].Action = plan.ActionDelete
	if f.Sealed(key) {
		t.Error("a changed file counts")
	}
}

// TestDecodeRefuses checks that a text that isn't a plan gives an error.
func TestDecodeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":          "id,active\n",
		"nothing":          "",
		"another kind":     `{"apiVersion":"v1","kind":"List"}`,
		"a later format":   `{"apiVersion":"lynq.sh/v2","kind":"Plan"}`,
		"an unknown field": `{"apiVersion":"lynq.sh/v1","kind":"Plan","more":1}`,
		"more":             `{"apiVersion":"lynq.sh/v1","kind":"Plan"}{}`,
		"a wrong type":     `{"apiVersion":"lynq.sh/v1","kind":"Plan","plans":3}`,
	} {
		t.Run(name, func(t *testing.T) {
			if f, err := planfile.Decode([]byte(text)); err == nil {
				t.Errorf("%+v", f)
			}
		})
	}
}

// FuzzDecode checks that no input makes Decode panic, and that the same file is written
// again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"lynq.sh/v1","kind":"Plan","id":"","version":"v1","command":"apply","namespaces":["ns"],"plans":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := planfile.Decode(b)
		if err != nil {
			return
		}
		again, err := file.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := planfile.Decode(again); err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
	})
}
