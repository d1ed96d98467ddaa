package decide

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// declaredScene returns hookScene with a hook in a namespace and a form that declares it
// there.
func declaredScene(namespace string, said lynq.Text) *Input {
	in := hookScene("", "", nil)
	in.Recorded.Inventories[0].Hooks[0].Namespace = namespace
	in.Desired.Hooks = []FormHooks{{Form: lynq.FormKey{Name: "web"}, Hooks: []lynq.Hook{{ID: "backup", Group: "batch", Kind: "Job", Namespace: said}}}}
	return in
}

// owning makes the node of a scene own an object.
func owning(in *Input, ref lynq.Ref, recorded string, change func(*tracking.Live)) *Input {
	inv := in.Recorded.Inventories[0]
	inv.Entries = append(inv.Entries, inventory.Entry{Ref: ref, ID: "far", APIVersion: "v1", UID: recorded})
	l := &tracking.Live{Ref: ref, UID: "u2", Hub: "crm", Node: "acme-web", NodeNamespace: "ns", PartOf: inventory.ID("ns", inventory.Name("acme-web")), ResourceID: "far"}
	change(l)
	in.Observed.Live[ref] = l
	return in
}

// A record alone runs only a Job or a Pod in the node's own namespace. If the form is
// known, it runs only hooks that the form declares. Without its hook, lynqctl deletes
// nothing of a node.
func TestUndeclaredHook(t *testing.T) {
	entry := func(in *Input, change func(*inventory.Entry)) *Input {
		change(&in.Recorded.Inventories[0].Hooks[0])
		return in
	}
	recordOnly := func(in *Input) *Input { in.Desired.Hooks = nil; return in }
	form := func(in *Input, change func(*lynq.Hook)) *Input {
		change(&in.Desired.Hooks[0].Hooks[0])
		return in
	}
	ops, tenant := lynq.Text{{Fixed: "ops"}}, lynq.Text{{Fixed: "t-"}, {UID: true}}
	jobs := lynq.Text{{Any: true}, {Fixed: "-jobs"}}
	home, inHome := lynq.Ref{Kind: "Namespace", Name: "t-acme"}, lynq.Ref{Kind: "Secret", Namespace: "t-acme", Name: "x"}
	same := func(*tracking.Live) {}
	for name, tt := range map[string]struct {
		in  *Input
		why string // "" if it runs
	}{
		"declared, in the node's namespace": {declaredScene("ns", nil), ""},
		"recorded, in the node's namespace": {recordOnly(declaredScene("ns", nil)), ""},
		"recorded, elsewhere":               {recordOnly(declaredScene("ops", nil)), "pass -f"},
		"another form's":                    {func() *Input { in := declaredScene("ops", ops); in.Desired.Hooks[0].Form.Name = "db"; return in }(), "pass -f"},
		"no hook in the form":               {func() *Input { in := declaredScene("ns", nil); in.Desired.Hooks[0].Hooks = nil; return in }(), `has no Job "backup" with runOn: Delete`},
		"another id":                        {form(declaredScene("ns", nil), func(h *lynq.Hook) { h.ID = "other" }), "restore the resource"},
		"another kind":                      {form(declaredScene("ns", nil), func(h *lynq.Hook) { h.Kind, h.Group = "Pod", "" }), "restore the resource"},
		"another group":                     {form(declaredScene("ns", nil), func(h *lynq.Hook) { h.Group = "example.com" }), "restore the resource"},
		"recorded elsewhere, declared here": {declaredScene("ops", nil), "in the node's namespace, ns"},
		"declared elsewhere":                {declaredScene("ops", ops), ""},
		"recorded here, declared elsewhere": {declaredScene("ns", ops), "another namespace"},
		"recorded in a third":               {declaredScene("kube-system", ops), "another namespace"},
		"of the row, nothing there":         {declaredScene("t-acme", tenant), "owns nothing in namespace t-acme"},
		"of the row, its Namespace there":   {owning(declaredScene("t-acme", tenant), home, "u2", same), ""},
		"of the row, an object there":       {owning(declaredScene("t-acme", tenant), inHome, "u2", same), ""},
		"of the row, another uid there":     {owning(declaredScene("t-acme", tenant), inHome, "u9", same), "owns nothing"},
		"of the row, an intent there":       {owning(declaredScene("t-acme", tenant), inHome, "", same), "owns nothing"},
		"of the row, untracked there":       {owning(declaredScene("t-acme", tenant), inHome, "u2", func(l *tracking.Live) { l.Node, l.PartOf = "", "" }), "owns nothing"},
		"of the row, another tool's there":  {owning(declaredScene("t-acme", tenant), inHome, "u2", func(l *tracking.Live) { l.Few = &tracking.Rare{Foreign: "Helm release x"} }), "owns nothing"},
		"of another row, an object there":   {owning(declaredScene("t-bolt", tenant), lynq.Ref{Kind: "Secret", Namespace: "t-bolt", Name: "x"}, "u2", same), "another namespace"},
		"of a column, an object there":      {owning(declaredScene("gold-jobs", jobs), lynq.Ref{Kind: "Secret", Namespace: "gold-jobs", Name: "x"}, "u2", same), ""},
		"of a column, nothing there":        {declaredScene("gold-jobs", jobs), "owns nothing"},
		"of a column, which is here":        {declaredScene("ns", lynq.Text{{Any: true}}), ""},
		"a ClusterRoleBinding": {recordOnly(entry(declaredScene("", nil), func(r *inventory.Entry) {
			r.Group, r.Kind, r.APIVersion = "rbac.authorization.k8s.io", "ClusterRoleBinding", "rbac.authorization.k8s.io/v1"
		})), "only Jobs and Pods"},
		"a ConfigMap in the node's namespace": {recordOnly(entry(declaredScene("ns", nil), func(r *inventory.Entry) { r.Group, r.Kind, r.APIVersion = "", "ConfigMap", "v1" })), "only Jobs and Pods"},
		"a Job of another group":              {recordOnly(entry(declaredScene("ns", nil), func(r *inventory.Entry) { r.Group, r.APIVersion = "example.com", "example.com/v1" })), "only Jobs and Pods"},
		"a Job of another version":            {recordOnly(entry(declaredScene("ns", nil), func(r *inventory.Entry) { r.APIVersion = "batch/v2" })), "only Jobs and Pods"},
		"a Pod":                               {recordOnly(entry(declaredScene("ns", nil), func(r *inventory.Entry) { r.Group, r.Kind, r.APIVersion = "", "Pod", "v1" })), ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := Decide(tt.in, Limits{AllowEmpty: true})
			s := &p.Nodes[0].Steps[0]
			again, verdict := Recheck(p, &p.Nodes[0], p.Nodes[0].Inventory, s, nil)
			if verdict != VerdictHolds || again.Message != s.Message {
				t.Errorf("%s: decided again it is %s %q", name, again.Action, again.Message)
			}
			switch {
			case tt.why == "" && s.Action != plan.ActionCreate:
				t.Errorf("%s: %s %s %q", name, s.Action, s.Reason, s.Message)
			case tt.why != "" && (s.Action != plan.ActionBlock || s.Reason != plan.ReasonUndeclared || !strings.Contains(s.Message, tt.why) || !strings.Contains(s.Message, "lynqctl finalize")):
				t.Errorf("%s: %s %s %q, want %q", name, s.Action, s.Reason, s.Message, tt.why)
			}
		})
	}
}

// A hook deletes only its own object before it runs again. If an entry names another Job of
// the node, lynqctl doesn't delete that one.
func TestHookOfAnotherResource(t *testing.T) {
	job := hookJob("j1")
	job.ResourceID = "migrate"
	if runs, _ := planned(Decide(hookScene("", "", job), Limits{AllowEmpty: true})); runs != "block Foreign" {
		t.Errorf("it is %s", runs)
	}
}
