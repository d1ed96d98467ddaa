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
	first, all := map[lynq.NodeKey]string{}, map[lynq.NodeKey]places{}
	for _, e := range entries {
		if e.Shared() || isApp(e.Path) {
			continue
		}
		place := placeOf(e)
		if other, seen := first[e.Node]; !seen {
			first[e.Node] = place
		} else if other != place {
			all[e.Node] = places{}
		}
	}
	if len(all) == 0 {
		return nil
	}
	for _, e := range entries {
		if e.Shared() || isApp(e.Path) || all[e.Node] == nil {
			continue
		}
		if place := placeOf(e); all[e.Node][place] == nil {
			all[e.Node][place] = map[lynq.Ref]bool{}
		}
		for _, k := range e.Objects {
			all[e.Node][placeOf(e)][k.Ref] = true
		}
	}
	return all
}

// listable returns the kept files that lists may name. A killed run or a Git merge may have
// left a node in the places of two layouts, and kustomize can't build both. Then the lists
// name only a place with all of its objects. The others remain until a run renders the node.
// several has these nodes.
func (in *Input) listable(kept []*index.Entry) (listed []*index.Entry, several map[lynq.NodeKey]places) {
	if several = placesOf(kept); len(several) == 0 {
		return kept, nil
	}
	whole := make(map[lynq.NodeKey]string, len(several))
	for n, of := range several {
		whole[n] = of.whole()
	}
	return slices.DeleteFunc(slices.Clone(kept), func(e *index.Entry) bool {
		at := whole[e.Node]
		return at != "" && !e.Shared() && !isApp(e.Path) && placeOf(e) != at
	}), several
}

// refuseHalves refuses a run that keeps an object which a killed run or a Git merge left in
// two files, because kustomize couldn't build the tree. Without a killed run, one of the
// files must be new in the lists: if both were there before, the run doesn't change that.
func (in *Input) refuseHalves(p *Plan) []plan.Refusal {
	if !in.Index.Unfinished && len(p.relisted) == 0 {
		return nil
	}
	fresh := make(map[string]bool, len(p.relisted))
	for i := range p.relisted {
		fresh[p.relisted[i].Path] = true
	}
	first := map[lynq.Ref]string{}
	twice := func(file string, objects []index.ObjectKey) []plan.Refusal {
		for _, k := range objects {
			other := first[k.Ref]
			first[k.Ref] = file
			if other == "" || k.ID == HookID || !in.Index.Unfinished && !fresh[file] && !fresh[other] {
				continue
			}
			return []plan.Refusal{{
				Guard: GuardTwice, Path: file,
				What: "a killed run or a merge left " + k.Full() + " there and in " + other + ", and this run renders neither",
				Fix:  "run render for all hubs, forms and nodes; or restore the tree from Git",
			}}
		}
		return nil
	}
	listed, _ := in.listable(p.Kept)
	for _, e := range listed {
		if refusals := twice(e.Path, e.Objects); refusals != nil {
			return refusals
		}
	}
	if !in.Index.Unfinished {
		return nil
	}
	for i := range p.Steps { // two nodes that lost it may both keep it
		if f := p.Steps[i].File; f != nil {
			if refusals := twice(f.Path, f.Objects); refusals != nil {
				return refusals
			}
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
