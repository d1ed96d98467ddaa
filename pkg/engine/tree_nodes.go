package engine

import (
	"bytes"
	"maps"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// treeSink keeps rendered nodes, object by object. It is a render.ObjectSink.
type treeSink struct {
	nodes []*gitops.Node
	// tombstones are those of each node.
	tombstones [][]lynq.Tombstone
}

// Write implements render.ObjectSink. A node that could not be rendered is kept
// too: it is one that must not be taken for gone.
func (s *treeSink) Write(w render.Written) {
	n := &gitops.Node{
		NodeKey: gitops.NodeKey{Namespace: w.Namespace, Name: w.Name},
		Hub:     hubKey(w.Program.Hub), Form: w.Program.Form.Name, FormNamespace: w.Program.Form.Namespace,
		Failed: w.Failed, Objects: make([]gitops.Object, len(w.Objects)), NotIncluded: w.NotIncluded,
	}
	for _, r := range w.Program.Form.Resources {
		if r.Policy.HoldsData {
			n.HoldsData = append(n.HoldsData, r.ID)
		}
	}
	text := bytes.Clone(w.Bytes)
	for i, o := range w.Objects {
		n.Objects[i] = gitops.Object{
			ObjectKey: gitops.ObjectKey{Ref: o.Ref, ID: o.ID},
			Bytes:     text[o.Start:o.End:o.End], LeftOut: o.Start == o.End && !o.Excluded, Excluded: o.Excluded,
		}
	}
	s.nodes, s.tombstones = append(s.nodes, n), append(s.tombstones, w.Tombstones)
}

// Drop implements render.Sink.
func (s *treeSink) Drop(i int) bool {
	s.nodes[i].Failed, s.nodes[i].Objects, s.tombstones[i] = true, nil, nil
	return true
}

// Add implements render.Sink; an ObjectSink is never given bytes alone.
func (*treeSink) Add([]byte) error { return nil }

func hubKey(h *form.Hub) gitops.HubKey { return gitops.HubKey{Name: h.Name, Namespace: h.Namespace} }

// declaredKey is the key of a form as its file has it, whatever the hub's namespace.
func declaredKey(f *form.Form) lynq.FormKey {
	return lynq.FormKey{Namespace: f.Namespace, Name: f.Name}
}

// scopeOf is what a run has a say on that made some nodes.
func scopeOf(hubs []HubPrograms, s render.Settings, nodes []*gitops.Node) gitops.Scope {
	scope := gitops.Scope{Only: treeNodes(s.Nodes, hubs, nodes), Selected: s.Selector != nil}
	for _, h := range hubs {
		hs := gitops.HubScope{HubKey: hubKey(h.Hub)}
		for _, p := range h.Programs {
			hs.Forms = append(hs.Forms, declaredKey(p.Form))
		}
		scope.Hubs = append(scope.Hubs, hs)
	}
	return scope
}

// writtenNames has nodes keep the names by which a tree has them.
func writtenNames(index *gitops.Index) keptNames {
	written := index.Nodes()
	return func(p *render.Program, plain string) bool {
		return written.Has(hubKey(p.Hub), declaredKey(p.Form), gitops.NodeKey{Namespace: p.Namespace, Name: plain})
	}
}

// treeNodes are the names of the nodes of a tree that --node means, nil for all:
// those that it says, those of the nodes that it found, and of rows that are gone
// those which it calls by their plain names.
func treeNodes(asked map[string]bool, hubs []HubPrograms, found []*gitops.Node) map[string]bool {
	only, forms := maps.Clone(asked), render.FormNames(allPrograms(hubs))
	for name := range asked {
		for _, form := range forms {
			if uid, fits := strings.CutSuffix(name, "-"+form); fits && lynq.Dashed(form) && render.AskedFor(asked, name, form, forms) {
				only[lynq.NodeName(uid, form)] = true
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
