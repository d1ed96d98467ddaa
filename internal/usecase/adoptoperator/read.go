package adoptoperator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/handover"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// operated holds the operator's objects in the cluster.
type operated struct {
	nodes []*handover.Node             // the selected ones
	whole []*unstructured.Unstructured // the same nodes, as the server returned them
	// left counts the LynqNodes of each hub, including those that the user didn't select.
	left map[lynq.HubKey]int
	// hubs and forms belong to the selected hubs. Objects that lynqctl may not read are
	// missing.
	hubs, forms []*unstructured.Unstructured
	near        []string // names of all LynqNodes in the namespaces, for suggestions
	problems    []error  // LynqNodes that can't be read
}

// read reads the operator's objects. The result is empty if the server doesn't serve their
// kinds.
func (j *job) read(ctx context.Context) (*operated, error) {
	o := &operated{left: map[lynq.HubKey]int{}}
	all, err := j.list(ctx, wellknown.Group, wellknown.KindNode, j.o.Namespace, "")
	if err != nil {
		return nil, err
	}
	var near []string
	for _, u := range all {
		n, err := handover.NodeOf(u)
		if err != nil {
			hub := hubOfNode(u)
			o.left[hub]++
			meant := hub.Name == "" || lynq.Names(j.o.Hubs).Choose(hub.Namespace, hub.Name)
			if meant && (len(j.o.Nodes) == 0 || slices.Contains(j.o.Nodes, u.GetName())) {
				o.problems = append(o.problems, err)
			}
			continue
		}
		if n.Leaving() {
			continue
		}
		o.left[lynq.HubKey{Namespace: n.Namespace, Name: n.Hub}]++
		near = append(near, n.Name)
		if j.means(n) {
			o.nodes, o.whole = append(o.nodes, n), append(o.whole, u)
		}
	}
	o.near = near
	meant := map[lynq.HubKey]bool{}
	for _, n := range o.nodes {
		meant[lynq.HubKey{Namespace: n.Namespace, Name: n.Hub}] = true
	}
	whole := len(j.o.Nodes)+len(j.o.Forms) == 0
	err = j.readForms(ctx, o, func(p lynq.HubKey) bool {
		return meant[p] || whole && lynq.Names(j.o.Hubs).Choose(p.Namespace, p.Name)
	})
	if err != nil && j.o.ExportDir != "" {
		return nil, err
	}
	return o, nil
}

// hubOfNode returns the hub of an unreadable LynqNode. The name is empty if the object
// doesn't show it.
func hubOfNode(u *unstructured.Unstructured) lynq.HubKey {
	hub := u.GetLabels()[wellknown.LabelHub]
	if owner := metav1.GetControllerOf(u); hub == "" && owner != nil && owner.Kind == wellknown.KindHub {
		hub = owner.Name
	}
	return lynq.HubKey{Namespace: u.GetNamespace(), Name: hub}
}

// list lists whole objects of a kind. It returns none if the server doesn't serve the kind.
func (j *job) list(ctx context.Context, group, kind, namespace, selector string) ([]*unstructured.Unstructured, error) {
	r, err := j.run.Client.Resource(ctx, group, "", kind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	err = j.run.Client.Objects(ctx, r, namespace, selector, func(u *unstructured.Unstructured) { all = append(all, u) })
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	})
	return all, err
}

// means reports whether the user selected a LynqNode. Its hub and form are in its own
// namespace.
func (j *job) means(n *handover.Node) bool {
	named := len(j.o.Nodes) == 0 || slices.ContainsFunc(j.o.Nodes, func(name string) bool { return isNamed(n, name) })
	return named && lynq.Names(j.o.Hubs).Choose(n.Namespace, n.Hub) && lynq.Names(j.o.Forms).Choose(n.Namespace, n.Form)
}

// isNamed reports whether a name refers to a LynqNode, or to the node that it becomes.
func isNamed(n *handover.Node, name string) bool {
	return name == n.Name || name == n.Namespace+"/"+n.Name || name == n.Key().Name || name == n.Key().String()
}

// unknown refuses names that no readable LynqNode has.
func (j *job) unknown(o *operated) error {
	where := "any namespace"
	if j.o.Namespace != "" {
		where = "namespace " + j.o.Namespace
	}
	var errs []error
	for _, name := range j.o.Nodes {
		if !slices.ContainsFunc(o.nodes, func(n *handover.Node) bool { return isNamed(n, name) }) {
			errs = append(errs, fmt.Errorf("there is no LynqNode %q in %s (%s)", name, where, cmp.Or(suggest.Fix(name, o.near), "kubectl get lynqnodes -A lists all")))
		}
	}
	if len(errs) > 0 {
		return &session.Error{Outcome: session.BadInput, Err: errors.Join(errs...), Summary: "nothing changed"}
	}
	return nil
}

// readForms reads the selected hubs and their forms.
func (j *job) readForms(ctx context.Context, o *operated, meant func(lynq.HubKey) bool) error {
	hubs, err := j.list(ctx, wellknown.Group, wellknown.KindHub, j.o.Namespace, "")
	if err != nil {
		return err
	}
	forms, err := j.list(ctx, wellknown.Group, wellknown.KindForm, j.o.Namespace, "")
	if err != nil {
		return err
	}
	o.hubs = slices.DeleteFunc(hubs, func(h *unstructured.Unstructured) bool {
		return !meant(lynq.HubKey{Namespace: h.GetNamespace(), Name: h.GetName()})
	})
	o.forms = slices.DeleteFunc(forms, func(f *unstructured.Unstructured) bool { return !meant(hubOf(f)) })
	return nil
}

// hubOf returns the hub of a form. The operator takes only hubs in the form's namespace.
func hubOf(form *unstructured.Unstructured) lynq.HubKey {
	hub, _, _ := unstructured.NestedString(form.Object, "spec", "hubId")
	return lynq.HubKey{Namespace: form.GetNamespace(), Name: hub}
}

// plan reads the objects that the LynqNodes own, and decides.
func (j *job) plan(ctx context.Context, o *operated) (*handover.Plan, error) {
	in := &handover.Input{Nodes: o.nodes, Finalizer: !j.o.NoFinalizer}
	var err error
	if in.Inventories, err = j.run.Store.AllNodes(ctx, j.o.Namespace); err != nil {
		if in.Broken, err = session.BrokenOnes(err); err != nil {
			return nil, err
		}
	}
	j.run.Warnings.Look(true)
	defer j.run.Warnings.Look(false)
	if in.Found, err = handover.NewLooker(j.run.Client, j.run.RunOptions.Concurrency).Nodes(ctx, o.nodes); err != nil {
		return nil, err
	}
	return handover.NewPlan(in), nil
}

// running checks whether the operator runs.
func (j *job) running(ctx context.Context) (*handover.Running, error) {
	r := &handover.Running{}
	where := j.o.OperatorNamespace
	for _, look := range []struct {
		group, kind, selector string
		into                  *[]*unstructured.Unstructured
	}{
		{"coordination.k8s.io", "Lease", "", &r.Leases},
		{"apps", "Deployment", handover.OperatorSelector, &r.Deployments},
		{"", "Pod", handover.OperatorSelector, &r.Pods},
	} {
		var err error
		if *look.into, err = j.list(ctx, look.group, look.kind, where, look.selector); err != nil {
			fix := "pass --operator-namespace, if you know where it is"
			if where != "" {
				fix = "is that its namespace?"
			}
			return nil, fmt.Errorf("check whether the operator runs: %w (%s)", err, fix)
		}
	}
	r.Now = time.Now()
	return r, nil
}

// recordHub records a hub as apply does, so that status and the next apply know how many
// nodes exist. It keeps an existing record.
func (j *job) recordHub(ctx context.Context, p lynq.HubKey, planned *handover.Plan) error {
	there, err := j.run.Store.LoadHub(ctx, p.Namespace, p.Name)
	if err != nil || there != nil {
		return err
	}
	nodes, rows := map[string]bool{}, map[string]bool{}
	before, err := j.run.Store.AllNodes(ctx, p.Namespace)
	if err != nil {
		if _, err = session.BrokenOnes(err); err != nil {
			return err
		}
	}
	for _, inv := range before {
		if inv.Node.Full().Hub == p {
			nodes[inv.Node.Key().String()], rows[inv.Node.UID] = true, true
		}
	}
	for i := range planned.Nodes {
		if n := &planned.Nodes[i]; n.Namespace == p.Namespace && n.Hub == p.Name {
			nodes[n.Key().String()], rows[n.Row] = true, true
		}
	}
	_, err = j.run.Store.SaveHub(ctx, &inventory.Hub{
		Name: p.Name, Namespace: p.Namespace, Rows: len(rows), Active: len(rows), Nodes: len(nodes),
		Time: j.run.Began.UTC().Truncate(time.Second), Finalizer: !j.o.NoFinalizer,
	})
	return err
}
