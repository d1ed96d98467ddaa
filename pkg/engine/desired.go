package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// desired keeps what rows and forms want, node by node. It is a
// render.NodeSink.
type desired struct {
	nodes []*plan.Node
	// selector, where it is not nil, leaves objects out.
	selector labels.Selector
	// values: the mapped values of a row are to be recorded.
	values bool
	hubs   []HubPrograms
}

// Make implements render.NodeSink.
func (d *desired) Make(n *lynq.Node) (any, error) {
	made, err := apply.Make(n)
	if err != nil || d.selector == nil {
		return made, err
	}
	made.HooksLeftOut = true // which of those recorded it leaves out is not known
	for i := range n.Objects {
		made.Objects[i].LeftOut = !d.selector.Matches(labelsOf(n.Objects[i].Content))
	}
	return made, nil
}

// labelsOf are the labels of a rendered object.
func labelsOf(content map[string]any) labels.Set {
	o := unstructured.Unstructured{Object: content}
	return o.GetLabels()
}

// Keep implements render.NodeSink. A node that could not be rendered is kept
// too: it is one that must not be taken for gone.
func (d *desired) Keep(k render.Kept) error {
	node, ok := k.Made.(*plan.Node)
	if !ok {
		node = &plan.Node{
			Hub: k.Program.Hub.Name, Form: k.Program.Form.Name, UID: k.UID,
			Claims: plan.Claims{Refs: k.Refs, Values: mapped(k)},
		}
	}
	node.NodeKey = plan.NodeKey{Namespace: k.Namespace, Name: k.Name}
	if !ok || len(k.Problems) > 0 {
		err := fmt.Errorf("it could not be rendered: %w", problemsOf(k.Problems))
		node.Fail(&plan.RenderError{Err: err, Masked: masked(err.Error(), k.UID, mapped(k))})
	}
	namespace := d.hubs[slices.IndexFunc(d.hubs, func(h HubPrograms) bool { return h.Hub == k.Program.Hub })].Key.Namespace
	node.HubNamespace, node.FormNamespace = namespace, formKey(k.Program.Form, namespace).Namespace
	node.TemplateGeneration = k.Program.Form.Generation
	for _, f := range k.Program.Form.DependForms {
		node.DependForms = append(node.DependForms, f.Text)
	}
	slices.Sort(node.DependForms)
	if d.values {
		extra, err := extraOf(k)
		if err != nil {
			return err
		}
		node.Extra = extra
	}
	d.nodes = append(d.nodes, node)
	return nil
}

func problemsOf(ps lynq.Problems) error {
	if err := ps.Err(); err != nil {
		return err
	}
	return errors.New("another node has its name")
}

// Add implements render.Sink; a NodeSink is never given bytes.
func (*desired) Add([]byte) error { return nil }

// Drop implements render.Sink.
func (d *desired) Drop(i int) bool {
	err := errors.New("it could not be rendered: another node renders an object of it too")
	d.nodes[i].Fail(&plan.RenderError{Err: fmt.Errorf("%w (see above)", err), Masked: err.Error()})
	return true
}

// mapped are the values of a row that objects may be named by.
func mapped(k render.Kept) []string {
	columns := render.Columns(k.Program.Hub)
	var values []string
	for _, m := range k.Program.Hub.Mappings {
		if m.Variable != "activate" {
			values = append(values, k.Values[slices.Index(columns, m.Column)])
		}
	}
	return values
}

// extraOf encodes the extra values of a row, as the operator's annotation has
// them.
func extraOf(k render.Kept) (string, error) {
	columns := render.Columns(k.Program.Hub)
	extra := map[string]string{}
	for _, m := range k.Program.Hub.Mappings {
		if isExtra(m) {
			extra[m.Variable] = k.Values[slices.Index(columns, m.Column)]
		}
	}
	b, err := json.Marshal(extra)
	return string(b), err
}
