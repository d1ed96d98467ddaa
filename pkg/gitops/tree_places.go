package gitops

import (
	"maps"
	"path"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// placeOf returns the folder or single file of an entry's node.
func placeOf(e *index.Entry) string {
	if folder := path.Dir(e.Path); path.Base(folder) == recordedBase(e) {
		return folder
	}
	return e.Path
}

// places has the objects of each place of a node.
type places map[string]map[lynq.Ref]bool

// placesOf returns the places of nodes that have several.
func placesOf(entries []*index.Entry) map[lynq.NodeKey]places {
	all := map[lynq.NodeKey]places{}
	for _, e := range entries {
		if e.Shared() || isApp(e.Path) {
			continue
		}
		if all[e.Node] == nil {
			all[e.Node] = places{}
		}
		if place := placeOf(e); all[e.Node][place] == nil {
			all[e.Node][place] = map[lynq.Ref]bool{}
		}
		for _, k := range e.Objects {
			all[e.Node][placeOf(e)][k.Ref] = true
		}
	}
	maps.DeleteFunc(all, func(_ lynq.NodeKey, of places) bool { return len(of) < 2 })
	return all
}

// listable returns the kept files that lists may name. A killed run may have left a node in
// the places of two layouts, and kustomize can't build both. Then the lists name only a
// place with all of its objects. The others remain until a run renders the node.
func (in *Input) listable(kept []*index.Entry) []*index.Entry {
	if !in.Index.Unfinished {
		return kept
	}
	several := placesOf(kept)
	return slices.DeleteFunc(slices.Clone(kept), func(e *index.Entry) bool {
		whole := several[e.Node].whole()
		return whole != "" && !e.Shared() && !isApp(e.Path) && placeOf(e) != whole
	})
}

// refuseHalves refuses a run that keeps an object which a killed run left in two files,
// because kustomize couldn't build the tree.
func (in *Input) refuseHalves(p *Plan) []plan.Refusal {
	if !in.Index.Unfinished {
		return nil
	}
	first := map[lynq.Ref]*index.Entry{}
	for _, e := range in.listable(p.Kept) {
		for _, k := range e.Objects {
			other := first[k.Ref]
			if first[k.Ref] = e; other == nil || k.ID == HookID {
				continue
			}
			return []plan.Refusal{{
				Guard: GuardTwice, Path: e.Path,
				What: "a killed run left " + k.Full() + " there and in " + other.Path + ", and this run renders neither",
				Fix:  "run render for all hubs, forms and nodes; or restore the tree from Git",
			}}
		}
	}
	return nil
}

// whole returns the first place with all objects of a node, or "".
func (p places) whole() string {
	all := map[lynq.Ref]bool{}
	for _, refs := range p {
		maps.Copy(all, refs)
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if len(p[name]) == len(all) {
			return name
		}
	}
	return ""
}
