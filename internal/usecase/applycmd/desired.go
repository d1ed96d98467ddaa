package applycmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/render/buffer"
)

// desired collects the nodes that rows and forms render.
type desired struct {
	nodes []*plan.Node
	// selector, if not nil, selects the objects to keep.
	selector labels.Selector
	// values records the mapped values of each row.
	values bool
	// sources, if not nil, gets notes of the rows, by hub.
	sources map[lynq.HubKey]*evidence.Source
	// renames, if not nil, gets the former names of rows and forms, by hub.
	renames map[lynq.HubKey]*lynq.Renames
	// named is set if the run has only nodes that the user named.
	named bool
	// pages, if not nil, keeps the manifests.
	pages *buffer.Pages
}

// render returns a function that keeps the nodes of one hub. fill turns a rendered node
// into the kept one.
func (d *desired) render(ctx context.Context, fill func(h *form.Hub, n *lynq.Node, values []string) (*plan.Node, error)) func(*render.Run, render.Input) error {
	return func(run *render.Run, in render.Input) error {
		h := in.Programs[0].Hub
		if d.sources != nil {
			d.sources[in.Hub] = noting(run, &in)
		}
		if d.renames != nil {
			d.renames[in.Hub] = load.Renames(&in, d.named)
		}
		for n, err := range render.Nodes(ctx, run, in, func(n *lynq.Node, values []string) (*plan.Node, error) { return fill(h, n, values) }) {
			if err != nil {
				return err
			}
			d.keep(h, &n)
		}
		return nil
	}
}

// whole returns a node with all of its objects and their contents.
func (d *desired) whole(h *form.Hub, n *lynq.Node, values []string) (*plan.Node, error) {
	if d.values {
		extra, err := extraOf(h, values)
		if err != nil {
			return nil, err
		}
		n.Extra = extra
	}
	made, err := plan.Make(n)
	if err != nil {
		return made, err
	}
	d.page(made)
	if column := render.ExpiresColumn(h); column >= 0 {
		if made.Expires, err = lynq.ParseMoment(values[column]); err != nil {
			return nil, err // the row was refused before
		}
	}
	if d.selector == nil {
		return made, nil
	}
	made.HooksLeftOut = true // nobody knows which recorded hooks the selector excludes
	for i := range made.Objects {
		of, err := labelsOf(made.Objects[i].Body)
		if err != nil {
			return nil, err
		}
		made.Objects[i].LeftOut = !d.selector.Matches(of)
	}
	return made, nil
}

// page moves the manifests of a node out of the process's memory. Those with secrets stay.
func (d *desired) page(n *plan.Node) {
	if d.pages == nil {
		return
	}
	for i := range n.Objects {
		if o := &n.Objects[i]; o.Kind != "Secret" && !o.Sensitive {
			o.Body = d.pages.Keep(o.Body)
		}
	}
}

// sharded returns a fill function for a shard. It fills nodes of this shard whole. Of other
// shards' nodes it keeps only what guards need: the names of objects, and whether they hold
// data.
func (d *desired) sharded(s lynq.Shard) func(h *form.Hub, n *lynq.Node, values []string) (*plan.Node, error) {
	plain, data := &lynq.Policy{}, &lynq.Policy{Lifecycle: lynq.Lifecycle{Data: true}}
	return func(h *form.Hub, n *lynq.Node, values []string) (*plan.Node, error) {
		if s.Has(n.UID) {
			return d.whole(h, n, values)
		}
		lean, err := surveyed(h, n, values)
		if err != nil {
			return nil, err
		}
		lean.NotIncluded = n.NotIncluded
		for i := range lean.Objects {
			if lean.Objects[i].Policy = plain; n.Objects[i].Policy.Data {
				lean.Objects[i].Policy = data
			}
		}
		return lean, nil
	}
}

// labelsOf returns the labels of a rendered object.
func labelsOf(b manifest.Body) (labels.Set, error) {
	content, err := b.Content()
	o := unstructured.Unstructured{Object: content}
	return o.GetLabels(), err
}

// keep keeps every node, including those that failed to render. Otherwise a plan would
// delete them as gone.
func (d *desired) keep(h *form.Hub, r *render.Rendered[*plan.Node]) {
	if len(r.Problems) > 0 {
		values := load.MappedValues(h, r.Values)
		r.Out.Claims = plan.Claims{Refs: r.Refs, Values: values}
		const failed = "it failed to render: "
		r.Out.Fail(&plan.RenderError{Err: fmt.Errorf(failed+"%w", r.Problems.Err()), Masked: failed + masked(r.Problems, r.UID, values), Shared: failed + r.Problems.WithoutRows()})
	}
	d.nodes = append(d.nodes, r.Out)
}

// retract fails nodes that collide with later ones.
func (d *desired) retract(nodes []int) {
	err := errors.New("it failed to render: another node renders an object of it too")
	for _, i := range nodes {
		d.nodes[i].Fail(&plan.RenderError{Err: fmt.Errorf("%w (see above)", err), Masked: err.Error()})
	}
}

// extraOf encodes the extra values of a row as JSON, without secret columns. The operator's
// annotation has the same format.
func extraOf(h *form.Hub, row []string) (string, error) {
	columns := render.Columns(h)
	extra := map[string]string{}
	for _, m := range h.Mappings {
		if isExtra(m) && !h.Secret(m.Column) {
			extra[m.Variable] = row[slices.Index(columns, m.Column)]
		}
	}
	b, err := json.Marshal(extra)
	return string(b), err
}
