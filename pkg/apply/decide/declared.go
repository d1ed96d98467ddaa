package decide

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// FormHooks has the deletion hooks that a form declares.
type FormHooks struct {
	Form  lynq.FormKey
	Hooks []lynq.Hook
}

// declared returns the form's hook that an entry names, or nil.
func (f *FormHooks) declared(r *inventory.Entry) *lynq.Hook {
	i := slices.IndexFunc(f.Hooks, func(h lynq.Hook) bool {
		return (h.ID == r.ID || h.Prefix && strings.HasPrefix(r.ID, h.ID)) && h.Group == r.Group && h.Kind == r.Kind
	})
	if i < 0 {
		return nil
	}
	return &f.Hooks[i]
}

// declaredHooks has the known facts about the hooks of a node.
type declaredHooks struct {
	// Form is the node's form, or nil if it isn't known.
	Form *FormHooks
	// UID is the row that the inventory names.
	UID string
	// Owns are the namespaces in which the node owns an object.
	Owns map[string]bool
}

// Undeclared returns why lynqctl doesn't run a recorded hook, and how to fix that. It
// returns "" if the hook may run.
func (n *declaredHooks) Undeclared(me plan.Owner, r *inventory.Entry) (why, fix string) {
	const apply = "make the row active and apply, which records the hook again"
	if !runnableHook(r) {
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

// runnableHook reports whether an entry names a kind that lynqctl runs.
func runnableHook(r *inventory.Entry) bool {
	switch r.Kind {
	case "Job":
		return r.Group == "batch" && r.APIVersion == "batch/v1"
	case "Pod":
		return r.Group == "" && r.APIVersion == "v1"
	}
	return false
}

// ownedNamespaces returns the namespaces in which the node owns an object, or that it owns. These
// prove more than the inventory does, because people who may write the inventory can't
// write there. It returns nil for a node without hooks in other namespaces.
func ownedNamespaces(me plan.Owner, inv *inventory.Inventory, live map[lynq.Ref]*tracking.Live) map[string]bool {
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

// Account returns the ServiceAccount that must exist before a hook runs. It returns "" if
// the node's form is known, because the form decides then.
func (n *declaredHooks) Account(o *plan.Object) (string, error) {
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
	for _, field := range []string{"serviceAccountName", "serviceAccount"} { // the second is the old name
		if name, _, _ := unstructured.NestedString(content, append(path, field)...); name != "" {
			return name, nil
		}
	}
	return "default", nil
}
