package gitops

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
)

// Action says how a run changes a file.
type Action string

// The actions.
const (
	ActionKeep    Action = "keep"    // it is as it should be
	ActionCreate  Action = "create"  // it is new
	ActionUpdate  Action = "update"  // its content changes
	ActionRestore Action = "restore" // it was there, and was removed
	ActionRemove  Action = "remove"  // it is wanted no more
	ActionForget  Action = "forget"  // it is wanted no more, and gone already
	// ActionConflict leaves a file alone that lynqctl wrote and others changed.
	ActionConflict Action = "conflict"
	// ActionRefuse: the path is taken by what lynqctl did not write, or not for
	// this hub. Nothing is written then.
	ActionRefuse Action = "refuse"
)

// State is a file on disk. The zero value is one that is not there.
type State struct {
	There   bool
	Same    bool // it has the bytes that are wanted
	Digest  index.Digest
	Content []byte // of a file that differs, or is wanted no more
	// Blocked says what is at the path where it is no file that can be read.
	Blocked string
}

// Disk has the state of each file of a layout, in its order.
type Disk struct {
	Files []State // of Layout.Files
	Gone  []State // of Layout.Gone
}

// Step changes one file, and says why where a report tells it.
type Step struct {
	Path   string
	Action Action
	Why    string
	File   *File        // nil where it is wanted no more
	Old    *index.Entry // nil where the index does not know it
	State  State

	digest index.Digest // of File
}

// Plan lists the steps of a run on a tree.
type Plan struct {
	Steps []Step         // sorted by path
	Kept  []*index.Entry // the rest of the index

	told  []string      // of Index.Told, when all is done
	final *index.Digest // of the index, once it is known
}

// Compare decides what happens to each file. It is a pure function. With force,
// what others wrote or changed counts for nothing.
func Compare(in *Input, l *Layout, disk *Disk, force bool) *Plan {
	p := &Plan{Steps: make([]Step, 0, len(l.Files)+len(l.Gone)), told: in.Told}
	taken := map[string]bool{}
	entries := in.Index.Entries
	known := sync.OnceValue(func() *listings { return listingsOf(in.Index, l.Files) })
	for i := range l.Files {
		s := Step{Path: l.Files[i].Path, File: &l.Files[i], State: disk.Files[i]}
		for len(entries) > 0 && entries[0].Path < s.Path { // both are sorted
			entries = entries[1:]
		}
		if len(entries) > 0 && entries[0].Path == s.Path {
			s.Old = &entries[0]
		}
		if s.digest = s.State.Digest; !s.State.Same {
			s.digest = index.DigestOf(s.File.Bytes)
		}
		stranger := s.Old != nil && !s.Old.Shared() && !in.Covers(s.Old)
		s.decide(stranger, force, known)
		if s.Action == ActionRefuse && stranger && s.State.Blocked == "" {
			hub, form := in.Called(&s.Old.Owned)
			s.Why = fmt.Sprintf("it is of hub %q, form %q, which are not part of this run", hub, form)
		}
		if stranger {
			taken[s.Path] = true
		}
		p.Steps = append(p.Steps, s)
	}
	for _, e := range l.Kept {
		if !taken[e.Path] {
			p.Kept = append(p.Kept, e)
		}
	}
	for i, e := range l.Gone {
		s := Step{Path: e.Path, Old: e, State: disk.Gone[i]}
		s.decideGone(force, known)
		p.Steps = append(p.Steps, s)
	}
	slices.SortFunc(p.Steps, func(a, b Step) int { return strings.Compare(a.Path, b.Path) })
	return p
}

// decide decides on a file that is wanted.
func (s *Step) decide(stranger, force bool, tree func() *listings) {
	switch known := s.Old != nil; {
	case s.State.Blocked != "":
		s.Action, s.Why = ActionRefuse, s.State.Blocked
	case stranger && !force:
		s.Action = ActionRefuse
	case s.State.Same:
		s.Action = ActionKeep
	case !s.State.There && known:
		s.Action = ActionRestore
	case !s.State.There:
		s.Action = ActionCreate
	case force, known && slices.Contains(s.Old.Digests, s.State.Digest):
		s.Action = ActionUpdate
	case known && s.onlyLists(tree):
		s.Action = ActionUpdate
	case known:
		s.Action, s.Why = ActionConflict, "it was changed since lynqctl wrote it"
	default:
		s.Action, s.Why = ActionRefuse, "lynqctl did not write it"
	}
}

// decideGone decides on a file that is wanted no more.
func (s *Step) decideGone(force bool, tree func() *listings) {
	switch {
	case s.State.Blocked != "":
		s.Action, s.Why = ActionRefuse, s.State.Blocked
	case !s.State.There:
		s.Action = ActionForget
	case force, slices.Contains(s.Old.Digests, s.State.Digest), s.onlyLists(tree):
		s.Action = ActionRemove
	default:
		s.Action, s.Why = ActionConflict, "it is wanted no more, and was changed since lynqctl wrote it"
	}
}

// onlyLists tells whether others changed a file that only lists: a merge of two branches
// does so.
func (s *Step) onlyLists(tree func() *listings) bool {
	return path.Base(s.Path) == kustomizationFile && tree().onlyLists(s.Path, s.State.Content)
}

// Count counts the steps that have one of these actions.
func (p *Plan) Count(actions ...Action) int {
	n := 0
	for i := range p.Steps {
		if slices.Contains(actions, p.Steps[i].Action) {
			n++
		}
	}
	return n
}

// Of are the steps with an action.
func (p *Plan) Of(a Action) []Step {
	var steps []Step
	for _, s := range p.Steps {
		if s.Action == a {
			steps = append(steps, s)
		}
	}
	return steps
}

// writes tells whether a step changes a file.
func (s *Step) writes() bool {
	return s.Action == ActionCreate || s.Action == ActionUpdate || s.Action == ActionRestore
}

// Final is the index when the plan has been carried out.
func (p *Plan) Final() *index.Index { return p.index(false) }

// tree is the digest of that index as it is written.
func (p *Plan) tree() index.Digest {
	if p.final == nil {
		p.final = new(index.DigestOf(p.Final().Encode()))
	}
	return *p.final
}

// Intent is the index while that is under way: it names all that is there or
// may be by then, so that a run that is killed leaves no file that no index names.
func (p *Plan) Intent() *index.Index {
	x := p.index(true)
	x.Unfinished = true
	return x
}

func (p *Plan) index(union bool) *index.Index {
	x := &index.Index{Told: p.told, Entries: make([]index.Entry, 0, len(p.Steps)+len(p.Kept))}
	for _, e := range p.Kept {
		x.Entries = append(x.Entries, *e)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		old := s.Action == ActionConflict || union && s.Old != nil
		if s.File != nil && s.Action != ActionConflict {
			x.Entries = append(x.Entries, index.Entry{Path: s.Path, Digests: []index.Digest{s.digest}, Owned: s.File.Owned})
		}
		if old {
			e := *s.Old
			e.Digests = slices.Clone(e.Digests)
			x.Entries = append(x.Entries, e)
		}
	}
	x.Sort()
	return x
}
