package robust_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// drawer draws the lines of a history. It reads the inputs and the cluster, so that most
// lines name existing things.
type drawer struct {
	*rand.Rand
	inputs  model.Inputs
	cluster *model.Cluster
	served  bool
	clocked bool     // pauses take no time
	lines   []string // the steps so far
}

// chance is a kind of line, with its weight.
type chance struct {
	weight int
	draw   func() string
}

// line draws the next line.
func (d drawer) line() string {
	for {
		if line := d.one(d.chances()...)(); line != "" {
			return line
		}
	}
}

func (d drawer) one(chances ...chance) func() string {
	sum := 0
	for _, c := range chances {
		sum += c.weight
	}
	at := d.IntN(sum)
	for _, c := range chances {
		if at -= c.weight; at < 0 {
			return c.draw
		}
	}
	return nil
}

func (d drawer) chances() []chance {
	return []chance{
		{40, d.apply}, {4, d.plan}, {8, d.planned}, {8, d.remove}, {5, d.prune}, {5, d.restore}, {4, d.adopt}, {4, d.rebuild}, {3, d.finalize}, {3, d.look},
		{6, d.row}, {6, d.column}, {5, d.hand}, {6, d.rehub}, {5, d.uid}, {2, d.renamed}, {3, d.grace}, {6, d.pass}, {6, d.move}, {6, d.dropOrAdd}, {7, d.set}, {4, d.exclusion}, {2, d.tombstone}, {4, d.stages}, {6, d.revised},
		{3, d.aliased}, {6, d.expired}, {5, d.made}, {4, d.marked}, {2, d.copied}, {4, d.erased}, {8, d.forgotten}, {4, d.lost}, {6, d.forged}, {4, d.blurred}, {4, d.serving},
	}
}

func pick[T any](d drawer, of ...T) T { return of[d.IntN(len(of))] }

func (d drawer) hub() string { return d.inputs[d.IntN(len(d.inputs))].Name }

func (d drawer) form() *model.Form {
	h := d.inputs[d.IntN(len(d.inputs))]
	return &h.Forms[d.IntN(len(h.Forms))]
}

// rowOf returns a hub and the uid of one of its rows.
func (d drawer) rowOf() (hub, uid string) {
	h := d.inputs[d.IntN(len(d.inputs))]
	if len(h.Rows) == 0 {
		return h.Name, "acme"
	}
	return h.Name, h.Rows[d.IntN(len(h.Rows))].UID
}

// node returns the name of a node with an inventory, or "".
func (d drawer) node() string {
	if len(d.cluster.Inventories) == 0 {
		return ""
	}
	names := make([]string, 0, len(d.cluster.Inventories))
	for _, i := range d.cluster.Inventories {
		names = append(names, i.Name)
	}
	slices.Sort(names)
	return names[d.IntN(len(names))]
}

// object returns an existing object, or "".
func (d drawer) object(also func(model.Object) bool) string {
	var refs []string
	for _, o := range d.cluster.Objects {
		if !d.cluster.Condemned(o) && also(o) {
			refs = append(refs, o.String())
		}
	}
	if len(refs) == 0 {
		return ""
	}
	slices.Sort(refs)
	return refs[d.IntN(len(refs))]
}

func anyObject(model.Object) bool { return true }

// with joins words to a line. It returns "" if a word is empty.
func with(words ...string) string {
	if slices.Contains(words, "") {
		return ""
	}
	return strings.Join(words, " ")
}

// fault returns a fault of the run, or "".
func (d drawer) fault() string {
	switch d.IntN(20) {
	case 0, 1, 2:
		return fmt.Sprintf(" fault=kill:%d", 1+d.IntN(25))
	case 3:
		return fmt.Sprintf(" fault=lost:%d", 1+d.IntN(15))
	case 4:
		if ref := d.object(func(o model.Object) bool { return o.Kind == model.Config || o.Kind == model.Claim }); ref != "" {
			return fmt.Sprintf(" fault=mark:%d:%s:%s", 1+d.IntN(10), pick(d, "helm", "argo", "unmanaged"), ref)
		}
	case 9:
		if ref := d.object(func(o model.Object) bool { return o.Kind == model.Config }); ref != "" {
			return fmt.Sprintf(" fault=swap:%d:%s", 1+d.IntN(10), ref)
		}
	case 10:
		if d.clocked {
			return fmt.Sprintf(" fault=pause:%d", 1+d.IntN(10))
		}
	case 5, 6:
		return " fault=deny:" + pick(d, model.Claim, model.Widget)
	case 7, 8:
		return " fault=as:" + pick(d, users()...)
	case 15:
		if ref := d.object(func(o model.Object) bool { return o.Kind == model.Config }); ref != "" {
			return fmt.Sprintf(" fault=mark:0:%s:%s", pick(d, "helm", "unmanaged"), ref)
		}
	case 11, 12:
		return d.lagging()
	case 13:
		return fmt.Sprintf(" fault=pair:%d:%d:%d", 1+d.IntN(40), pick(d, 409, 500), pick(d, 403, 409, 500))
	case 14:
		if ref := d.object(func(o model.Object) bool { return o.Kind == model.Config || o.Kind == model.Claim }); ref != "" {
			return fmt.Sprintf(" fault=marked:%d:%s:%s", 1+d.IntN(40), pick(d, "label", "owner", "helm"), ref)
		}
	}
	return ""
}

// lagging draws a server that lags, which only memory has.
func (d drawer) lagging() string {
	if !d.clocked {
		return ""
	}
	nth, changes := 1+d.IntN(30), pick(d, 1, 3, 10, 40)
	return pick(d, fmt.Sprintf(" fault=behind:%d:%d", nth, changes), fmt.Sprintf(" fault=travel:%d:%d", nth, changes), " fault=tardy:configmaps:20s")
}

func (d drawer) apply() string {
	words := "apply max=" + pick(d, "100%", "100%", "100%", "100%", "100%", "100%", "25%", "0")
	words += d.part()
	words += pick(d, "", " wait=1")
	if d.IntN(20) == 0 {
		words += " never=1"
	}
	if d.IntN(15) == 0 {
		words += " dry=" + pick(d, "client", "server")
	}
	return words + d.fault()
}

// part returns the flags that limit a run: to nodes, a shard, or stages.
func (d drawer) part() string {
	narrowed := d.narrowed()
	if form := d.stagedForm(); form != nil {
		narrowed += pick(d, "", "", " continue=1")
		if d.IntN(8) == 0 {
			narrowed += fmt.Sprintf(" stage=%d", 1+d.IntN(1+len(form.Stages)))
		}
		if d.IntN(4) > 0 {
			return narrowed
		}
	}
	if n := pick(d, 2, 2, 3); d.IntN(4) == 0 && !strings.Contains(narrowed, "node=") {
		narrowed += fmt.Sprintf(" shard=%d/%d", d.IntN(n), n)
	}
	return narrowed
}

// stagedForm returns a form with stages, or nil.
func (d drawer) stagedForm() *model.Form {
	for _, hub := range d.inputs {
		for i := range hub.Forms {
			if len(hub.Forms[i].Stages) > 0 {
				return &hub.Forms[i]
			}
		}
	}
	return nil
}

func (d drawer) plan() string { return "plan max=100%" + d.narrowed() + d.fault() }

// lately limits the steps between a plan and the run that carries it out.
const lately = 6

// planned carries out a recent plan, with the same flags.
func (d drawer) planned() string {
	for _, line := range slices.Backward(d.lines[max(0, len(d.lines)-lately):]) {
		if flags, is := strings.CutPrefix(line, "plan "); is {
			same := slices.DeleteFunc(strings.Fields(flags), func(word string) bool {
				return strings.HasPrefix(word, "fault=") || strings.HasPrefix(word, "node=") // the plan has its nodes
			})
			return "apply plan=1 " + strings.Join(same, " ") + d.fault()
		}
	}
	return ""
}

// narrowed returns the flags that narrow a run, mostly "".
func (d drawer) narrowed() string {
	hub, uid := d.rowOf()
	switch d.IntN(12) {
	case 0, 1:
		return " node=" + model.Node{Row: uid, Form: d.inputs.Hub(hub).Forms[0].Name}.Name()
	case 2:
		if node := d.node(); node != "" {
			return " node=" + node
		}
	case 3:
		return " form=" + d.form().Name
	case 4:
		return " hub=" + hub
	case 5:
		return " label=" + uid
	case 6:
		return " in=" + hub
	case 7:
		return " without=" + d.form().Name
	}
	return ""
}

func (d drawer) remove() string {
	var target string
	switch d.IntN(8) {
	case 0:
		target = "form=" + d.form().Name
	case 1:
		target = "hub=" + d.hub()
	default:
		node := d.node()
		if node == "" {
			return ""
		}
		target = "node=" + node
	}
	cascade, fault := pick(d, "background", "background", "foreground", "orphan"), d.fault()
	if swap := d.swapOf(target); swap != "" && d.IntN(3) == 0 {
		fault = swap
	}
	if strings.Contains(fault, "mark:") || strings.Contains(fault, ":helm:") || strings.Contains(fault, "swap:") {
		cascade = "foreground" // the garbage collector ignores marks
	}
	return "delete " + target + " cascade=" + cascade + fault
}

// swapOf lets a person replace an object of a node just before its deletion, or another tool
// take it.
func (d drawer) swapOf(target string) string {
	node, is := strings.CutPrefix(target, "node=")
	row, _, _ := strings.Cut(node, "-")
	ref := d.object(func(o model.Object) bool { return is && o.Kind == model.Config && strings.HasPrefix(o.Name, row+"-") })
	if ref == "" {
		return ""
	}
	return " fault=" + pick(d, "swap:0:", "mark:0:helm:", "mark:0:unmanaged:") + ref
}

func (d drawer) prune() string    { return "prune" + pick(d, "", " data=1") + d.fault() }
func (d drawer) restore() string  { return "restore" + d.fault() }
func (d drawer) finalize() string { return "finalize" + d.fault() }
func (d drawer) adopt() string    { return "adopt" + d.fault() }
func (d drawer) rebuild() string  { return "rebuild" + d.fault() }
func (d drawer) look() string     { return "diff" + d.narrowed() }

func (d drawer) row() string {
	if d.IntN(3) == 0 {
		return with("row", d.hub(), pick(d, "acme", "bolt", "coil", "dune", "elm", "fir", "gaia"), "on")
	}
	hub, uid := d.rowOf()
	return with("row", hub, uid, pick(d, "on", "on", "off", "gone"))
}

func (d drawer) column() string {
	hub, uid := d.rowOf()
	switch column := pick(d, "plan", "plan", "alias", "feature", "feature"); column {
	case "plan":
		return with("column", hub, uid, column, pick(d, "free", "pro", "gold"))
	case "alias":
		return with("column", hub, uid, column, uid+pick(d, "", "2"))
	default:
		return with("column", hub, uid, column, pick(d, "true", "false", "false", "oops"))
	}
}

func (d drawer) hand() string {
	h := d.inputs[d.IntN(len(d.inputs))]
	if len(h.Rows) < 2 {
		return ""
	}
	at := d.Perm(len(h.Rows))
	from, to := h.Rows[at[0]], h.Rows[at[1]]
	return with("hand", h.Name, from.UID, to.UID, pick(d, to.Columns["alias"], from.UID+"2", from.UID+"3"))
}

func (d drawer) rehub() string {
	hub, uid := d.rowOf()
	to := d.hub()
	if to == hub {
		return ""
	}
	return with("rehub", uid, hub, to)
}

func (d drawer) grace() string { return with("grace", d.hub(), pick(d, "0", "24", "72", "72")) }

// pass lets time pass, if that takes none.
func (d drawer) pass() string {
	if !d.clocked {
		return ""
	}
	return with("pass", pick(d, "1", "30", "80"))
}

func (d drawer) uid() string {
	hub, uid := d.rowOf()
	return with("uid", hub, uid, pick(d, "ivy", "jade", "kiwi", "acme", "bolt"))
}

func (d drawer) renamed() string {
	return with("rename", d.form().Name, pick(d, "web", "db", "app", "site", "shop"))
}

func (d drawer) move() string {
	from, to := d.form(), d.form()
	if len(from.Resources) == 0 || from.Name == to.Name {
		return ""
	}
	return with("move", from.Resources[d.IntN(len(from.Resources))].ID, from.Name, to.Name)
}

func (d drawer) dropOrAdd() string {
	f := d.form()
	if len(f.Resources) > 0 && d.IntN(3) == 0 {
		return with("drop", f.Name, f.Resources[d.IntN(len(f.Resources))].ID)
	}
	return with("add", f.Name, pick(d, resourceIDs()...))
}

func (d drawer) set() string {
	f := d.form()
	if len(f.Resources) == 0 {
		return ""
	}
	r := f.Resources[d.IntN(len(f.Resources))]
	if r.Hook {
		return ""
	}
	id, kinds := r.ID, 5
	if r.Purge || r.Recreate {
		kinds -= 1 // another deletion policy than Delete would be bad input
	}
	switch d.IntN(kinds) {
	case 0:
		return with("set", f.Name, id, "name", pick(d, "uid", "alias", "plan"))
	case 1:
		return with("set", f.Name, id, "when", pick(d, "feature", "-"))
	case 2:
		return with("set", f.Name, id, "adoption", pick(d, model.Never, model.IfUnowned, model.IfUnowned, model.Always))
	case 3:
		return with("set", f.Name, id, "data", pick(d, "true", "false"))
	default:
		return with("set", f.Name, id, "deletion", pick(d, model.Delete, model.Delete, model.Retain, model.RetainOnApply, model.RetainOnDelete))
	}
}

// aliased names the kind of a resource by its other API group, or again by the first one.
func (d drawer) aliased() string {
	f := d.form()
	for _, r := range f.Resources {
		if r.Kind == model.Note || r.Kind == model.Space {
			return with("set", f.Name, r.ID, "alias", strconv.FormatBool(!r.Alias))
		}
	}
	return ""
}

// expired lets Kubernetes delete a Job that has ended.
func (d drawer) expired() string {
	return with("expire", d.object(func(o model.Object) bool { return o.Kind == model.Job }))
}

func (d drawer) exclusion() string {
	where := pick(d, d.hub(), d.form().Name)
	if d.IntN(2) == 0 {
		return with("include", where)
	}
	return with("exclude", where, pick(d, model.Claim, model.Config, model.Widget), pick(d, "acme-*", "bolt-*", "*-data", "*-conf", "*-old", "*"))
}

func (d drawer) stages() string {
	return with("stages", d.form().Name, pick(d, "0", "0", "1"), pick(d, "-", "rows:1", "rows:1:pause", "rows:1,percent:50:pause", "plan:pro:pause,rows:1:pause", "percent:50,plan:free:pause"))
}

// revised makes a form change all objects, usually a form with stages.
func (d drawer) revised() string {
	f := d.stagedForm()
	if f == nil || d.IntN(6) == 0 {
		f = d.form()
	}
	return with("revise", f.Name)
}

func (d drawer) tombstone() string {
	return with("tombstone", d.form().Name, pick(d, "on", "on", "off"))
}

func (d drawer) made() string {
	_, uid := d.rowOf()
	id := pick(d, resourceIDs()...)
	r := catalog(id)
	ref := model.Ref{Kind: r.Kind, Namespace: model.Near, Name: uid + "-" + id}
	switch {
	case r.Far:
		ref.Namespace = model.Far
	case r.Kind == model.Space || r.Kind == model.Kind:
		ref.Namespace = model.None
	}
	if d.IntN(3) == 0 {
		ref = model.TombstoneOf(uid)
	}
	return with("make", ref.String(), pick(d, "bare", "bare", "taken", "helm"))
}

func (d drawer) marked() string {
	return with("mark", d.object(anyObject), pick(d, "helm", "argo", "unmanaged", "managed"))
}

func (d drawer) copied() string {
	return with(pick(d, "copy", "copy", "strip"), d.object(func(o model.Object) bool { return !strings.Contains(o.Name, "-copy") }))
}

func (d drawer) erased() string {
	return with(pick(d, "erase", "replace", "remake"), d.object(anyObject))
}

func (d drawer) forgotten() string { return with("forget", d.node()) }
func (d drawer) lost() string      { return with("lose", d.node()) }

// forged draws a forgery of one side: either of an object or of an inventory.
func (d drawer) forged() string {
	theirs := d.object(func(o model.Object) bool { return !d.touched(o) })
	switch d.IntN(11) {
	case 8:
		return with("unnamed", d.node(), d.object(func(o model.Object) bool { holder, _ := d.cluster.Holder(o); return holder != nil }))
	case 9, 10:
		return with("forge", d.changedNode())
	case 6, 7:
		return with("tamper", d.node())
	case 0, 1:
		return with("entry", d.node(), theirs)
	case 2:
		return with("track", d.node(), theirs)
	case 3:
		return with("ghost", d.node())
	case 4:
		return with("relabel", d.node(), d.hub())
	default:
		return with("hook", d.node())
	}
}

// changedNode returns a node whose row changed lately, or any node.
func (d drawer) changedNode() string {
	for _, line := range slices.Backward(d.lines[max(0, len(d.lines)-lately):]) {
		words := strings.Fields(line)
		if words[0] != "column" {
			continue
		}
		if hub := d.inputs.Hub(words[1]); hub != nil && len(hub.Forms) > 0 {
			return model.Node{Row: words[2], Form: hub.Forms[d.IntN(len(hub.Forms))].Name}.Name()
		}
	}
	return d.node()
}

// touched reports whether an object has one of lynqctl's labels, or an inventory lists it.
// A stranger who could forge both sides may delete the object anyway.
func (d drawer) touched(o model.Object) bool {
	ours := slices.ContainsFunc(slices.Collect(maps.Keys(o.Labels)), func(key string) bool { return strings.HasPrefix(key, "lynq.sh/") })
	return ours || slices.ContainsFunc(d.cluster.Inventories, func(i model.Inventory) bool {
		return slices.ContainsFunc(i.Entries, func(e model.Entry) bool { return e.Ref == o.Ref })
	})
}

func (d drawer) serving() string {
	if !d.served {
		return "serve on"
	}
	return pick(d, "", "serve off")
}
