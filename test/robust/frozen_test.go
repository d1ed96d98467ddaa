package robust_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// planPath returns the path of the plan file, beside the inputs.
func (w *world) planPath() string { return w.dir + "-plan.json" }

// thaw removes the plan file.
func (w *world) thaw(t *testing.T) {
	t.Helper()
	w.frozen = model.Frozen{Cluster: w.last}
	if err := os.Remove(w.planPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// freeze reads the nodes and objects in a plan file for these inputs and this cluster. A
// failed run may have written none.
func (w *world) freeze(t *testing.T, in model.Inputs, before *model.Cluster) {
	t.Helper()
	text, err := os.ReadFile(w.planPath())
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var file struct {
		Plans []struct {
			Hub        string
			Tombstones bool
			Nodes      []struct {
				Name, Form string
				Steps      []struct {
					Action, Kind, Namespace, Name string
					Object                        *struct{ UID string }
				}
			}
		}
	}
	if err = errors.Join(err, json.Unmarshal(text, &file)); err != nil {
		t.Fatal(err)
	}
	w.frozen = model.Frozen{Inputs: cloned(t, in), Cluster: before}
	for _, p := range file.Plans {
		for _, n := range p.Nodes {
			if !p.Tombstones {
				w.frozen.Nodes = append(w.frozen.Nodes, model.Node{Hub: p.Hub, Form: n.Form, Row: strings.TrimSuffix(n.Name, "-"+n.Form)})
			}
			for _, s := range n.Steps {
				if s.Object != nil || !slices.Contains([]string{"keep", "skip", "block"}, s.Action) {
					w.frozen.Changes = append(w.frozen.Changes, w.nearRef(s.Kind, s.Namespace, s.Name))
				}
			}
		}
	}
}

// cloned returns inputs that later edits don't change.
func cloned(t *testing.T, in model.Inputs) model.Inputs {
	t.Helper()
	var same model.Inputs
	text, err := json.Marshal(in)
	if err = errors.Join(err, json.Unmarshal(text, &same)); err != nil {
		t.Fatal(err)
	}
	return same
}

// nearRef returns the model's name for an object of the cluster.
func (w *world) nearRef(kind, namespace, name string) model.Ref {
	ref := model.Ref{Kind: kind, Namespace: model.None}
	ref.Name, _ = w.narrow(kind, name)
	for alias, real := range w.namespaces {
		if namespace == real {
			ref.Namespace = alias
		}
	}
	return ref
}

// writes returns the writes of objects that the server carried out, in order.
func (w *world) writes() []model.Ref {
	kinds := map[string]string{}
	for _, kind := range []string{model.Claim, model.Set, model.Space, model.Kind, model.Config} {
		r := resourceOf(kind)
		kinds[r.GroupResource().String()] = kind
	}
	kinds[w.widgets().GroupResource().String()] = model.Widget
	var refs []model.Ref
	for _, r := range w.proxy.Records() {
		if kind := kinds[r.Resource]; kind != "" && written(r) {
			refs = append(refs, w.nearRef(kind, r.Namespace, r.Name))
		}
	}
	return refs
}
