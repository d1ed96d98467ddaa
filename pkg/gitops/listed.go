package gitops

import (
	"context"
	"path"
	"slices"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// relisted is a file that the run keeps, and to which lists lead from now on. Before, no list
// did, for example because a merge left the files of an earlier layout.
type relisted struct {
	*index.Entry
	state State
	// rendered is set if the run has another version of the file, and others changed it.
	rendered bool
}

// relist returns the kept files to which no list led before the run, and such lists that
// others changed.
func (in *Input) relist(p *Plan) []relisted {
	changed := p.changedLists()
	if len(p.Kept)+len(changed) == 0 {
		return nil
	}
	fresh := p.fresh()
	listed, several := in.listable(p.Kept)
	claims := p.leavingEdits()
	if len(fresh)+len(several)+len(claims) == 0 {
		return nil
	}
	claimed := func(e *index.Entry) bool {
		return slices.ContainsFunc(e.Objects, func(k index.ObjectKey) bool { return claims[k.Ref] })
	}
	leads := func(file string) bool {
		for ; file != "."; file = path.Dir(file) {
			if fresh[file] {
				return true
			}
		}
		return false
	}
	var all []relisted
	for _, e := range changed {
		if leads(e.Path) {
			all = append(all, relisted{Entry: e, rendered: true})
		}
	}
	for _, e := range listed {
		// lynqctl trusts one of several places, and drops others
		if !isApp(e.Path) && (several[e.Node] != nil || leads(e.Path) || claimed(e)) {
			all = append(all, relisted{Entry: e})
		}
	}
	return all
}

// leavingEdits returns the objects of files that others changed, and that leave the lists.
// The index may have one in a kept file that others changed, too.
func (p *Plan) leavingEdits() map[lynq.Ref]bool {
	refs := map[lynq.Ref]bool{}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Action == ActionConflict && s.File == nil && s.listedBy == "" {
			for _, k := range s.has(false) {
				refs[k.Ref] = true
			}
		}
	}
	return refs
}

// changedLists returns the lists that the run needs and others changed.
func (p *Plan) changedLists() (lists []*index.Entry) {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Action == ActionConflict && s.File != nil && path.Base(s.Path) == kustomizationFile && !isApp(s.Path) {
			lists = append(lists, s.Old)
		}
	}
	return lists
}

// fresh returns the files and folders that the run adds to lists.
func (p *Plan) fresh() map[string]bool {
	fresh := map[string]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if !s.writes() || path.Base(s.Path) != kustomizationFile {
			continue
		}
		had, ours := listedIn(s.State.Content)
		if !ours {
			had = namesIn(s.State.Content)
		}
		before := make(map[string]bool, len(had))
		for _, name := range had {
			before[name] = true
		}
		names, _ := listedIn(s.File.Bytes)
		for _, name := range names {
			if !before[name] {
				fresh[path.Join(path.Dir(s.Path), name)] = true
			}
		}
	}
	return fresh
}

// readListed reads the files of relist. The index says what lynqctl wrote there, but Git may
// have merged another file into one of them.
func (d *Dir) readListed(ctx context.Context, in *Input, p *Plan) error {
	p.relisted = in.relist(p)
	err := d.inFolders(ctx, len(p.relisted), func(i int) string { return p.relisted[i].Path }, func(f *folder, i int, name string) error {
		return d.told(p.relisted[i].Path, f.state(name, nil, &p.relisted[i].state))
	})
	if err != nil {
		return d.unreadable(err)
	}
	return nil
}

// refuseListed refuses to list a file that doesn't have what the index says. Its objects may
// be in another file, too, or its list may name files that are gone. Then kustomize couldn't
// build the tree.
func (in *Input) refuseListed(p *Plan) (refusals []plan.Refusal) {
	known := sync.OnceValue(func() *listings { return listingsOf(p.Final(), nil) })
	for i := range p.relisted {
		f := &p.relisted[i]
		defect := f.defect(known)
		if defect == "" {
			continue
		}
		without, fix := "rendering its node", "run render for all hubs, forms and nodes"
		if f.rendered {
			without, fix = "overwriting it", "overwrite it with --force"
		}
		refusals = append(refusals, plan.Refusal{
			Guard: GuardForeign, Path: f.Path,
			What: defect + ", and this run would list it without " + without,
			Fix:  "restore it from Git, or " + fix,
		})
	}
	return refusals
}

// defect says how a file differs from what the index says, or "". A killed run leaves its own
// list as it was, and removes the files that the list names.
func (f *relisted) defect(tree func() *listings) string {
	const changed = "others changed it"
	known := slices.Contains(f.Digests, f.state.Digest)
	switch {
	case f.state.Blocked != "":
		return f.state.Blocked
	case !f.state.There:
		return ""
	case path.Base(f.Path) == kustomizationFile:
		names, ours := listedIn(f.state.Content)
		gone := slices.ContainsFunc(names, func(name string) bool { return !tree().has(path.Join(path.Dir(f.Path), name)) })
		switch {
		case !known && (!ours || gone):
			return changed
		case gone:
			return "it names a file that is gone"
		}
		return ""
	case known:
		return ""
	}
	has, readable := objectsOfFile(f.state.Content)
	differs := !readable || len(has) != len(f.Objects) || slices.ContainsFunc(has, func(k index.ObjectKey) bool {
		return !slices.ContainsFunc(f.Objects, func(o index.ObjectKey) bool { return o.Ref == k.Ref })
	})
	if differs {
		return changed
	}
	return ""
}
