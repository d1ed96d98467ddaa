package decide_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// tenancy is the state of some nodes of row acme, by form. web depends on db, and db on
// net.
type tenancy struct {
	in *decide.Input
}

func newTenancy() *tenancy {
	return &tenancy{&decide.Input{Hub: lynq.HubKey{Name: "crm"}, Desired: decide.Desired{Active: 1}, Observed: plan.Observed{Live: map[lynq.Ref]*tracking.Live{}}, Recorded: decide.Recorded{Broken: map[lynq.NodeKey]error{}}}}
}

func dependsOfForm(form string) []string {
	return map[string][]string{"web": {"db"}, "db": {"net"}}[form]
}

func nodeOf(form string) lynq.NodeKey { return lynq.NodeKey{Namespace: "ns", Name: "acme-" + form} }

// row returns the row's node of a form, with one object.
func (s *tenancy) row(form string) *plan.Node {
	p := lynq.DefaultPolicy()
	n := &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: form}, UID: "acme", Namespace: nodeOf(form).Namespace, Name: nodeOf(form).Name}, DependForms: dependsOfForm(form), Objects: []plan.Object{
		{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme-" + form}, APIVersion: "v1", ID: "a", Policy: &p, Owned: true, Digest: "d1"},
	}}
	s.in.Desired.Nodes = append(s.in.Desired.Nodes, n)
	return n
}

// recorded adds the ready inventory of the row's node of a form, and its unchanged object.
func (s *tenancy) recorded(form string) *inventory.Inventory {
	ref, uid := lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme-" + form}, types.UID("inv-"+form)
	inv := &inventory.Inventory{
		Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: form}, UID: "acme", Namespace: "ns", Name: "acme-" + form}, UID: string(uid), Finalizer: true, DependForms: dependsOfForm(form),
		Entries: []inventory.Entry{{Ref: ref, ID: "a", APIVersion: "v1", UID: form, Digest: "d1", Fields: "f", Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete, Patch: lynq.PatchApply}}},
		Status:  inventory.Status{Conditions: []inventory.Condition{{Type: inventory.ConditionReady, Status: "True"}}},
	}
	s.in.Recorded.Inventories = append(s.in.Recorded.Inventories, inv)
	s.in.Observed.Live[ref] = &tracking.Live{Ref: ref, UID: types.UID(form), Hub: "crm", PartOf: inventory.ID("ns", inventory.Name(inv.Node.Name)), Owners: []types.UID{uid}, Fields: "f", DeletionPolicy: lynq.DeleteDelete, ResourceID: "a"}
	return inv
}

// order describes what the nodes wait for, or why lynqctl skips them.
func (s *tenancy) order(forms ...string) string {
	for _, f := range forms {
		s.in.Desired.Forms = append(s.in.Desired.Forms, lynq.FormKey{Name: f})
	}
	p := decide.Decide(s.in, decide.Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: 10}})
	var all []string
	for _, n := range p.Nodes {
		text := n.Form.Name + ":"
		for _, k := range n.After {
			text += " " + strings.TrimPrefix(k.Name, "acme-")
		}
		if n.Unmet != "" {
			text += " " + n.Unmet
		}
		all = append(all, text)
	}
	for _, r := range p.Refusals {
		all = append(all, fmt.Sprintf("refused (%s): %s", r.Guard, r.What))
	}
	return strings.Join(all, "\n")
}

const (
	noDB      = " it waits for the node of form db of its row (dependForms), which doesn't exist (apply form db before it, or with it)"
	notReadyD = " it waits for node ns/acme-db of form db (dependForms), which this run leaves out and which %s (apply form db too; lynqctl status node acme-db -n ns shows it)"
	staysWeb  = " lynqctl keeps it, because node ns/acme-web depends on it (dependForms) and is kept (delete both in one run, or that one first)"
	refused   = "refused (dependents): nodes that are kept depend on nodes that would be deleted (dependForms): node ns/acme-web on ns/acme-db"
)

// TestDependForms checks which nodes of a row wait for which, in every state of their
// dependencies.
func TestDependForms(t *testing.T) {
	all := []string{"net", "db", "web"}
	for name, test := range map[string]struct {
		set  func(*tenancy)
		runs []string // the forms of the run
		want string
	}{
		"all are new": {func(s *tenancy) { s.row("web"); s.row("db"); s.row("net") }, all, "web: db\ndb: net\nnet:"},
		"nothing is to be written": {func(s *tenancy) {
			s.row("web")
			s.row("db").Objects[0].Digest = "d2"
			s.recorded("web")
			s.recorded("db")
			s.recorded("net")
		}, []string{"db", "web"}, "web:\ndb:"},
		"it failed to render": {func(s *tenancy) {
			s.row("web")
			s.row("db").Failed = errors.New("no")
		}, []string{"db", "web"}, "web: db\ndb:"},
		"left out, and ready":  {func(s *tenancy) { s.row("web"); s.recorded("db") }, []string{"web"}, "web:"},
		"left out, and absent": {func(s *tenancy) { s.row("web") }, []string{"web"}, "web:" + noDB},
		"left out, of another row": {func(s *tenancy) {
			s.row("web")
			s.recorded("db").Node.UID = "bolt"
		}, []string{"web"}, "web:" + noDB},
		"left out, and degraded": {func(s *tenancy) {
			s.row("web")
			s.recorded("db").Status.Conditions = []inventory.Condition{{Type: inventory.ConditionReady, Status: "False"}, {Type: inventory.ConditionDegraded, Status: "True", Message: "Pod/ns/a: no image"}}
		}, []string{"web"}, "web:" + fmt.Sprintf(notReadyD, "is not ready: Pod/ns/a: no image")},
		"left out, and not waited for": {func(s *tenancy) { s.row("web"); s.recorded("db").Status.Conditions = nil }, []string{"web"}, "web:" + fmt.Sprintf(notReadyD, "is not ready")},
		"left out, and being deleted":  {func(s *tenancy) { s.row("web"); s.recorded("db").Deleting = true }, []string{"web"}, "web:" + fmt.Sprintf(notReadyD, "is being deleted")},
		"left out, and unreadable": {func(s *tenancy) {
			s.row("web")
			s.in.Recorded.Broken[nodeOf("db")] = &inventory.UnreadableError{Node: lynq.NodeID{Form: lynq.FormKey{Name: "db"}, Namespace: "ns", Name: "acme-db"}, Name: "lynqnode-acme-db", Where: "data", Err: errors.New("no")}
			s.in.Scope.Only = map[string]bool{"acme-web": true}
		}, []string{"web"}, "web: it waits for the node of form db of its row (dependForms), and lynqctl can't tell whether that exists: ConfigMap ns/lynqnode-acme-db: data: no (restore it as it was, or remove its finalizers and delete it with --cascade=orphan if lynqctl never made it; until then, lynqctl changes nothing of node ns/acme-db)"},
		"its objects are left out": {func(s *tenancy) {
			s.row("web")
			s.row("db").Objects[0].LeftOut = true
			s.in.Scope.Narrowed = true
		}, all, "web: db" + noDB + "\ndb:"},
		"all go":             {func(s *tenancy) { s.recorded("net"); s.recorded("db"); s.recorded("web") }, all, "net: db\ndb: web\nweb:"},
		"one goes by itself": {func(s *tenancy) { s.recorded("db"); s.recorded("web") }, []string{"web"}, "web:"},
		"it goes, and what depends on it is left out": {func(s *tenancy) { s.recorded("db"); s.recorded("web") }, []string{"db"}, "db:" + staysWeb},
		"it goes, and keeps all it has": {func(s *tenancy) {
			s.recorded("db").Entries[0].Deletion = lynq.DeleteRetain
			s.recorded("web")
		}, []string{"db"}, "db:"},
		"it goes, and another row depends on such": {func(s *tenancy) { s.recorded("db"); s.recorded("web").Node.UID = "bolt" }, []string{"db"}, "db:"},
		"it is deleted, and what depends on it stays": {func(s *tenancy) {
			s.recorded("db")
			s.recorded("web")
			s.in.Scope.Delete = map[lynq.NodeKey]bool{nodeOf("db"): true}
		}, nil, "db:" + staysWeb + "\n" + refused},
		"it is deleted, and leaves all behind": {func(s *tenancy) {
			s.recorded("db")
			s.recorded("web")
			s.in.Scope.Delete, s.in.Options.Cascade = map[lynq.NodeKey]bool{nodeOf("db"): true}, plan.CascadeOrphan
		}, nil, "db:"},
		"both are deleted": {func(s *tenancy) {
			s.recorded("db")
			s.recorded("web")
			s.in.Scope.Delete = map[lynq.NodeKey]bool{nodeOf("db"): true, nodeOf("web"): true}
		}, nil, "db: web\nweb:"},
		"what depends on it can't be read": {func(s *tenancy) {
			s.recorded("db")
			s.in.Recorded.Broken[nodeOf("web")] = &inventory.UnreadableError{Node: lynq.NodeID{Form: lynq.FormKey{Name: "web"}, Namespace: "ns", Name: "acme-web"}, UIDLabel: "acme", DependForms: []string{"db"}, Err: errors.New("no")}
			s.in.Scope.Only = map[string]bool{"acme-db": true}
		}, []string{"db"}, "db:" + staysWeb},
		"they were recorded in a circle": {func(s *tenancy) {
			s.recorded("net").DependForms = []string{"web"}
			s.recorded("db")
			s.recorded("web")
		}, all, "net: db\ndb: web\nweb:"},
		"the form makes another node for the row": {func(s *tenancy) {
			moved := s.row("db")
			moved.Namespace, moved.Name, moved.Objects[0].Namespace = "far", "acme-db", "far"
			moved.DependForms = nil
			s.recorded("db")
			s.row("web")
			s.recorded("web")
		}, []string{"db", "web"}, "db:\nweb:\ndb:"},
		"the namespace that it is in goes with what depends on it": {func(s *tenancy) {
			s.recorded("db")
			web := s.recorded("web")
			ns := lynq.Ref{Kind: "Namespace", Name: "ns"}
			web.Entries = append(web.Entries, inventory.Entry{Ref: ns, ID: "ns", APIVersion: "v1", UID: "n", Digest: "d1", Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete}})
			s.in.Observed.Live[ns] = &tracking.Live{Ref: ns, UID: "n", Hub: "crm", Node: "acme-web", NodeNamespace: "ns"}
		}, []string{"db", "web"}, "db:\nweb:"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTenancy()
			test.set(s)
			if got := s.order(test.runs...); got != test.want {
				t.Errorf("%s:\n%s\nwant:\n%s", name, got, test.want)
			}
		})
	}
}

// TestDependFormsCollected checks that lynqctl doesn't leave objects to the garbage
// collector if their node must be deleted before others. The garbage collector knows no
// order.
func TestDependFormsCollected(t *testing.T) {
	for form, want := range map[string]plan.Action{"web": plan.ActionDelete, "net": plan.ActionCollect} {
		t.Run(form, func(t *testing.T) {
			s := newTenancy()
			s.recorded(form)
			s.in.Scope.Delete, s.in.Options.Cascade = map[lynq.NodeKey]bool{nodeOf(form): true}, plan.CascadeBackground
			if got := decide.Decide(s.in, decide.Limits{AllowEmpty: true}).Nodes[0].Steps[0].Action; got != want {
				t.Errorf("%s: %s, want %s", form, got, want)
			}
		})
	}
}

// TestDependFormsRecorded checks that the inventory records the form's dependencies,
// because lynqctl may delete the node later without its form.
func TestDependFormsRecorded(t *testing.T) {
	s := newTenancy()
	s.row("web")
	p := decide.Decide(s.in, decide.Limits{})
	inv := p.Nodes[0].NextInventory(nil, true)
	cm, err := inventory.Encode(inv)
	if err != nil {
		t.Fatal(err)
	}
	if got := cm.Annotations[wellknown.AnnotationDependForms]; got != "db" {
		t.Errorf("annotation %q", got)
	}
	read, err := inventory.Decode(cm)
	if err != nil || len(read.DependForms) != 1 || read.DependForms[0] != "db" || !inventory.Equal(inv, read) {
		t.Errorf("%+v, %v", read, err)
	}
	without := inv.Clone()
	without.DependForms = nil
	if inventory.Equal(inv, without) {
		t.Error("it makes no difference")
	}
}

// TestHeldDependents checks that a node doesn't wait for a held deletion of its dependency.
func TestHeldDependents(t *testing.T) {
	s := newTenancy()
	s.in.Desired.Forms = []lynq.FormKey{{Name: "web"}, {Name: "db"}}
	s.recorded("web")
	s.recorded("db")
	s.row("web").Objects[0].Digest = "d2"
	whole := decide.Decide(s.in, decide.Limits{})
	p := decide.Hold([]plan.Plan{*whole}, whole.Hub, whole.Refusals)[0]
	if len(p.Nodes) != 1 || len(p.Nodes[0].After) != 0 {
		t.Errorf("%+v", p.Nodes)
	}
}
