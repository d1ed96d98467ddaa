package rendercmd

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/render/buffer"
)

// treeNodes collects rendered nodes, object by object.
type treeNodes struct {
	nodes []*gitops.Node
	// tombstones has the tombstones of each node. matches says which stage's template
	// selects the node's row. See render.Document.
	tombstones [][]lynq.Tombstone
	matches    []int
	// renames gets the earlier names of rows and forms. named is set if the run has only
	// nodes that the user named.
	renames map[lynq.HubKey]*lynq.Renames
	named   bool
	// pages keeps the manifests that can't have a secret value.
	pages buffer.Pages
}

// render keeps the nodes of a hub, including those that failed to render. Otherwise the
// tree would lose them as gone.
func (s *treeNodes) render(ctx context.Context) func(*render.Run, render.Input) error {
	return func(run *render.Run, in render.Input) error {
		s.renames[in.Hub] = load.Renames(&in, s.named)
		for n, err := range run.Documents(ctx, in) {
			if err != nil {
				return err
			}
			s.nodes = append(s.nodes, s.node(&n))
			s.tombstones, s.matches = append(s.tombstones, n.Out.Tombstones), append(s.matches, n.Out.Match)
		}
		return nil
	}
}

// retract fails nodes that collide with later ones.
func (s *treeNodes) retract(nodes []int) {
	for _, i := range nodes {
		s.nodes[i].Failed, s.tombstones[i] = true, nil
		s.nodes[i].Claim()
	}
}

// wait marks nodes as waiting if their stage comes after the last one, counted from 1. A
// node that failed to render has a stage, too.
func (s *treeNodes) wait(hubs []load.HubPrograms, last int) {
	for _, h := range hubs {
		for _, p := range h.Programs {
			var of, matches []int
			for i, n := range s.nodes {
				if n.Hub == h.Hub.Key() && n.Form == p.Form.Key() {
					of, matches = append(of, i), append(matches, s.matches[i])
				}
			}
			for k, stage := range schedule.Assign(load.Stages(p.Form), matches) {
				if i := of[k]; stage >= last && !s.nodes[i].Failed {
					s.nodes[i].Waits, s.tombstones[i] = true, nil
					s.nodes[i].Claim()
				}
			}
		}
	}
}

// suspend takes the objects and the tombstones of suspended nodes away.
func (s *treeNodes) suspend(in *gitops.Input) {
	in.Suspend()
	for i, n := range s.nodes {
		if n.Suspended {
			s.tombstones[i] = nil
		}
	}
}

func (s *treeNodes) node(r *render.Rendered[render.Document]) *gitops.Node {
	n := &gitops.Node{
		NodeID: nodeOf(r),
		Failed: len(r.Problems) > 0, Objects: make([]gitops.Object, len(r.Out.Objects)), NotIncluded: r.Out.NotIncluded, Row: r.Out.Inputs,
	}
	if n.Failed {
		n.Claims = claimsOf(r)
	}
	for _, r := range r.Program.Form.Resources {
		if r.Policy.Data {
			n.HoldsData = append(n.HoldsData, r.ID)
		}
	}
	for _, o := range r.Out.Objects { // those of charts aren't in the form
		if o.Data && !slices.Contains(n.HoldsData, o.ID) {
			n.HoldsData = append(n.HoldsData, o.ID)
		}
	}
	text := bytes.Clone(r.Out.Bytes)
	secret := r.Program.Hub.HasSecrets() || slices.ContainsFunc(r.Out.Objects, func(o render.WrittenObject) bool { return gitops.MayHaveSecret(o.Kind) })
	if !secret {
		text = s.pages.Keep(text)
	}
	for i, o := range r.Out.Objects {
		n.Objects[i] = gitops.Object{
			ObjectKey: index.ObjectKey{Ref: o.Ref, ID: o.ID, Data: slices.Contains(n.HoldsData, o.ID)},
			Bytes:     text[o.Start:o.End:o.End], LeftOut: o.Start == o.End && !o.Excluded, Excluded: o.Excluded,
		}
	}
	return n
}

// scopeOf returns the part of a tree that a run decides about.
func scopeOf(hubs []load.HubPrograms, s render.Settings, nodes []*gitops.Node, noGrace bool) index.Scope {
	scope := index.Scope{Only: askedNodes(s.Nodes, hubs, nodes), Selected: s.Selector != nil}
	for _, h := range hubs {
		hs := index.HubScope{HubKey: h.Hub.Key(), Grace: map[lynq.FormKey]time.Duration{}}
		for _, p := range h.Programs {
			for _, name := range formerAndNow(p) {
				hs.Forms = append(hs.Forms, name)
				if !noGrace {
					hs.Grace[name] = p.Form.GraceIn(h.Hub)
				}
			}
		}
		scope.Hubs = append(scope.Hubs, hs)
	}
	return scope
}

// formerAndNow returns the names under which a tree may have files of a form.
func formerAndNow(p *render.Program) []lynq.FormKey {
	names := []lynq.FormKey{p.Form.Key()}
	if before := p.Form.RenamedFrom.Text; before != "" {
		names = append(names, lynq.FormKey{Namespace: p.Form.Namespace, Name: before})
	}
	return names
}

// formsOf returns the forms with the digests that a tree's index records, and their
// templates.
func formsOf(hubs []load.HubPrograms) (forms []index.Origin, templates []index.Template) {
	for _, h := range hubs {
		for _, p := range h.Programs {
			o := index.OriginOf(h.Hub.Key(), p.Form.Key())
			o.Digest = p.Digest()
			forms, templates = append(forms, o), append(templates, index.Template{Origin: o, Parts: []byte(p.Parts())})
		}
	}
	return forms, templates
}

// askedNodes returns the names of a tree's nodes that --node selects, nil for all. It
// returns the given names and those of the nodes that the run found. For gone rows, it also
// returns the other name of a plain one.
func askedNodes(asked map[string]bool, hubs []load.HubPrograms, found []*gitops.Node) map[string]bool {
	only, forms := maps.Clone(asked), render.FormNames(load.AllPrograms(hubs))
	for name := range asked {
		for _, form := range forms {
			if uid, fits := strings.CutSuffix(name, "-"+form); fits && naming.Dashed(form) && render.AskedFor(asked, name, form, forms) {
				only[naming.NodeName(uid, form)] = true
			}
		}
	}
	for _, n := range found {
		if asked != nil {
			only[n.Name] = true
		}
	}
	return only
}
