package gitops

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// claimed is an object of a file.
type claimed struct {
	path string
	by   *index.Owner
	key  index.ObjectKey
	// listedBy is the list that keeps the file, see Plan.keepListed.
	listedBy string
}

// pair is two forms with the same objects.
type pair struct {
	hub, otherHub   lynq.HubKey
	form, otherForm lynq.FormKey
}

// refuseTwice refuses a plan in which two files have one object. kustomize can't build
// such a tree, and two Applications would fight over the object. render refuses this
// within a run. Here, the other file is from an earlier run. Its hub, form or node isn't
// in this run, its row failed, or others changed the file. It names two forms once, with
// their first object.
func (in *Input) refuseTwice(p *Plan) []plan.Refusal {
	stays := p.staying()
	if len(stays) == 0 {
		return nil
	}
	var pairs []pair
	first, count := map[pair][2]claimed{}, map[pair]int{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.File == nil || s.Action == ActionConflict {
			continue
		}
		for _, key := range s.File.Objects {
			other, twice := stays[key.Ref]
			if !twice {
				continue
			}
			forms := pair{s.File.Hub, other.by.Hub, s.File.Form, other.by.Form}
			if count[forms]++; count[forms] == 1 {
				pairs = append(pairs, forms)
				first[forms] = [2]claimed{{path: s.Path, by: s.File.Owner, key: key}, other}
			}
		}
	}
	refusals := make([]plan.Refusal, len(pairs))
	for i, forms := range pairs {
		refusals[i] = in.twice(first[forms][0], first[forms][1], count[forms]-1)
	}
	return refusals
}

// staying returns the objects of files that remain unchanged.
func (p *Plan) staying() map[lynq.Ref]claimed {
	all := map[lynq.Ref]claimed{}
	add := func(e *index.Entry, objects []index.ObjectKey, listedBy string) {
		for _, key := range objects {
			all[key.Ref] = claimed{e.Path, e.Owner, key, listedBy}
		}
	}
	for _, e := range p.Kept {
		add(e, e.Objects, "")
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Action == ActionConflict && (s.File != nil || s.listedBy != "") {
			add(s.Old, s.has(false), s.listedBy)
		}
	}
	return all
}

// twice refuses an object in two files. more counts other objects of the same forms.
func (in *Input) twice(c, other claimed, more int) plan.Refusal {
	_, form := in.Called(c.by)
	otherHub, otherForm := in.Called(other.by)
	what := fmt.Sprintf("form %q, resource %q renders %s, and the tree has it in %s (hub %q, form %q, node %s)",
		form, c.key.ID, c.key.Full(), other.path, otherHub, otherForm, other.by.Node.Name)
	if more > 0 {
		what += fmt.Sprintf(", and %s likewise", phrase.Count(more, "other object"))
	}
	fix := "give each object a name of its own; if the other form is gone, remove the folders of its nodes"
	if other.listedBy != "" {
		fix = "others changed " + other.listedBy + ", which names that file: restore it from Git, or overwrite it with --force"
	}
	return plan.Refusal{Guard: GuardTwice, Path: c.path, What: what, Fix: fix}
}
