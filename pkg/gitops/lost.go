package gitops

import (
	"fmt"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Others may have changed a file or a list, so that lynqctl doesn't write it. Git does that,
// too: it merges a file into another one that it takes for the same under a new name. Then
// an object could leave its old place, and not arrive at the new one.

// has returns the objects in a step's file before the run. If others changed the file or the
// index, its content counts, because the index doesn't describe it.
func (s *Step) has(edited bool) []index.ObjectKey {
	switch {
	case s.Old == nil || s.Old.Shared() || isApp(s.Path) || !s.State.There || path.Base(s.Path) == kustomizationFile:
		return nil
	case s.State.Content == nil || !edited && slices.Contains(s.Old.Digests, s.State.Digest):
		return s.Old.Objects
	}
	all, readable := objectsOfFile(s.State.Content)
	if !readable {
		return s.Old.Objects
	}
	return all
}

// objectsOfFile returns the objects in a file, without their ids.
func objectsOfFile(content []byte) (all []index.ObjectKey, readable bool) {
	for _, text := range documents(content) {
		doc, err := yaml.Parse(string(text))
		if err != nil {
			return nil, false
		}
		all = append(all, index.ObjectKey{Ref: refOf(doc)})
	}
	return all, true
}

// unlisted returns the files and folders that a list should name, and that it doesn't name
// because others changed it. The values are the lists.
func (p *Plan) unlisted() map[string]string {
	all := map[string]string{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Action != ActionConflict || s.File == nil || path.Base(s.Path) != kustomizationFile {
			continue
		}
		has := namesIn(s.State.Content)
		names, _ := listedIn(s.File.Bytes)
		for _, name := range names {
			if !slices.Contains(has, name) {
				all[path.Join(path.Dir(s.Path), name)] = s.Path
			}
		}
	}
	return all
}

// changedList returns the list that others changed and that doesn't lead to a file, or "".
func changedList(unlisted map[string]string, file string) string {
	for len(unlisted) > 0 && file != "." {
		if list := unlisted[file]; list != "" {
			return list
		}
		file = path.Dir(file)
	}
	return ""
}

// refuseLost refuses a plan in which an object leaves its file, while others changed the
// file or the list of its new place. It also refuses to drop an object from the build that
// the index has nowhere, because no guard counts it.
func (in *Input) refuseLost(p *Plan) []plan.Refusal {
	if p.Count(ActionConflict) == 0 && !in.Index.Edited || in.Force {
		return nil
	}
	unlisted, placed, blocked := p.unlisted(), map[lynq.Ref]bool{}, map[lynq.Ref]string{}
	for i := range p.Steps {
		s := &p.Steps[i]
		stays := s.Action == ActionConflict
		if stays && (s.File != nil || s.listedBy != "") {
			for _, k := range s.has(in.Index.Edited) {
				placed[k.Ref] = true
			}
		}
		if s.File == nil {
			continue
		}
		list := changedList(unlisted, s.Path)
		for _, k := range s.File.Objects {
			switch {
			case stays:
				blocked[k.Ref] = s.Path
			case list != "":
				blocked[k.Ref] = list
			default:
				placed[k.Ref] = true
			}
		}
	}
	return in.lostOf(p, placed, blocked)
}

// lostOf refuses the objects that leave a file and are in no other. blocked has the changed
// files in which they should be.
func (in *Input) lostOf(p *Plan, placed map[lynq.Ref]bool, blocked map[lynq.Ref]string) (refusals []plan.Refusal) {
	known, unindexed, more := map[lynq.Ref]bool{}, -1, 0
	for i := range p.Steps {
		s := &p.Steps[i]
		leaves := s.Action == ActionUpdate || s.Action == ActionRemove || s.Action == ActionConflict && s.File == nil && s.listedBy == ""
		if !leaves {
			continue
		}
		for _, k := range s.has(in.Index.Edited) {
			by := blocked[k.Ref]
			switch {
			case placed[k.Ref] || k.ID == HookID:
				continue
			case by == "" && len(known) == 0:
				in.know(known)
				fallthrough
			case by == "":
				if known[k.Ref] {
					continue
				}
				by = s.Path
			}
			switch edited := by != s.Path || !slices.Contains(s.Old.Digests, s.State.Digest); {
			case edited:
				refusals = append(refusals, plan.Refusal{
					Guard: GuardForeign, Path: by,
					What: "others changed it, so that " + k.Full() + " would leave " + s.Path + " and be in no other file",
					Fix:  "restore it from Git, or overwrite it with --force",
				})
			case unindexed < 0:
				unindexed = len(refusals)
				refusals = append(refusals, plan.Refusal{
					Guard: GuardForeign, Path: by,
					What: fmt.Sprintf("it has %s, and %s doesn't, so no guard would count what is deleted", k.Full(), index.FileName),
					Fix:  "restore the index from Git; to let go of it, pass --force",
				})
			default:
				more++
			}
		}
	}
	if more > 0 {
		refusals[unindexed].What += fmt.Sprintf("; %s likewise", phrase.Count(more, "other object"))
	}
	return refusals
}

// tellForced says which objects of files that others changed leave the tree with --force. The
// index lacks them, so that no guard counts them then.
func (p *Plan) tellForced() {
	if p.Count(ActionConflict) == 0 {
		return
	}
	placed := map[lynq.Ref]bool{}
	place := func(objects []index.ObjectKey) {
		for _, k := range objects {
			placed[k.Ref] = true
		}
	}
	for _, e := range p.Kept {
		place(e.Objects)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.File != nil {
			place(s.File.Objects)
		}
		if s.Action == ActionConflict {
			place(s.Old.Objects)
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Action != ActionConflict || s.File == nil && s.listedBy == "" {
			continue
		}
		var lost []string
		for _, k := range s.has(true) {
			if !placed[k.Ref] && k.Kind != "" && k.Name != "" { // else no tool applies it
				lost = append(lost, k.Full())
			}
		}
		if len(lost) > 0 {
			s.Why += "; with --force, " + phrase.Some(lost) + " would leave the tree"
		}
	}
}

// know notes the objects in the index that guards count.
func (in *Input) know(known map[lynq.Ref]bool) {
	for i := range in.Index.Entries {
		if in.decided.unwritten[in.Index.Entries[i].Path] {
			continue
		}
		for _, k := range in.Index.Entries[i].Objects {
			known[k.Ref] = true
		}
	}
}
