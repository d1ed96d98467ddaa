package declared

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Form holds the deletion hooks that a form declares.
type Form struct {
	Form  lynq.FormKey
	Hooks []lynq.Hook
}

// declared is the hook of a form that a record names, nil for none.
func (f *Form) declared(r *inventory.Entry) *lynq.Hook {
	i := slices.IndexFunc(f.Hooks, func(h lynq.Hook) bool {
		return h.ID == r.ID && h.Group == r.Group && h.Kind == r.Kind
	})
	if i < 0 {
		return nil
	}
	return &f.Hooks[i]
}

// Node has what is known of the hooks of a node.
type Node struct {
	// Form is that of the node, nil where it is not known.
	Form *Form
	// UID is the row that the inventory names.
	UID string
	// Owns are the namespaces in which the node owns something.
	Owns map[string]bool
}

// Undeclared tells why a recorded hook is not run, and what to do about it; "" for one that
// may run.
func (n *Node) Undeclared(me plan.Owner, r *inventory.Entry) (why, fix string) {
	const apply = "make the row active and apply, which records the hook again"
	if !runnable(r) {
		return fmt.Sprintf("the inventory names %s of %s as a hook, and lynqctl runs only Jobs and Pods", r.Kind, r.APIVersion), "lynqctl records no such hook: find out who changed the inventory"
	}
	f := n.Form
	if f == nil {
		if r.Namespace == me.Namespace {
			return "", ""
		}
		return "only the inventory names it, and lynqctl runs no such hook in another namespace than the node's", "pass -f with the hub and the form of the node"
	}
	hook := f.declared(r)
	if hook == nil {
		return fmt.Sprintf("form %s has no %s %q with runOn: Delete", f.Form, r.Kind, r.ID), "restore the resource in the form"
	}
	if len(hook.Namespace) == 0 {
		if r.Namespace == me.Namespace {
			return "", ""
		}
		return fmt.Sprintf("form %s runs %q in the node's namespace, %s, and the inventory names another one", f.Form, r.ID, me.Namespace), apply
	}
	if !hook.Namespace.Matches(n.UID, r.Namespace) {
		return fmt.Sprintf("form %s runs %q in another namespace than the inventory names", f.Form, r.ID), apply
	}
	if _, fixed := hook.Namespace.Fixed(); fixed || r.Namespace == me.Namespace || n.Owns[r.Namespace] {
		return "", ""
	}
	return fmt.Sprintf("the row makes the namespace of %q in form %s, and the node owns nothing in namespace %s that would prove it", r.ID, f.Form, r.Namespace), apply
}

// runnable tells whether a record names what can be run.
func runnable(r *inventory.Entry) bool {
	switch r.Kind {
	case "Job":
		return r.Group == "batch" && r.APIVersion == "batch/v1"
	case "Pod":
		return r.Group == "" && r.APIVersion == "v1"
	}
	return false
}

// Owned finds where a node owns something that has a hook in another namespace: an object in
// it, or the Namespace. Whoever may write the inventory can't write there. It is nil for a
// node without such a hook.
func Owned(me plan.Owner, inv *inventory.Inventory, live map[lynq.Ref]*tracking.Live) map[string]bool {
	elsewhere := func(r inventory.Entry) bool { return r.Namespace != me.Namespace }
	if !slices.ContainsFunc(inv.Hooks, elsewhere) {
		return nil
	}
	namespaces := map[string]bool{}
	for i := range inv.Entries {
		r := &inv.Entries[i]
		l := live[r.Ref]
		if l == nil || r.UID == "" || r.UID != string(l.UID) || !me.Tracks(l) || l.TakenOver() != "" {
			continue
		}
		if namespaces[r.Namespace] = true; r.Group == "" && r.Kind == "Namespace" {
			namespaces[r.Name] = true
		}
	}
	return namespaces
}

// Account is the ServiceAccount that a node's namespace must have for a hook to run, ""
// where the form of the node is known, which decides that.
func (n *Node) Account(o *plan.Object) (string, error) {
	if n.Form != nil {
		return "", nil
	}
	content, err := o.Body.Content()
	if err != nil {
		return "", err
	}
	path := []string{"spec"}
	if o.Kind == "Job" {
		path = []string{"spec", "template", "spec"}
	}
	for _, field := range []string{"serviceAccountName", "serviceAccount"} { // the second is its old name
		if name, _, _ := unstructured.NestedString(content, append(path, field)...); name != "" {
			return name, nil
		}
	}
	return "default", nil
}
