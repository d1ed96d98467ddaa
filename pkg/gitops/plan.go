package gitops

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Action is the change of a file.
type Action string

// These are the actions.
const (
	ActionKeep    Action = "keep"    // the file is up to date
	ActionCreate  Action = "create"  // the file is new
	ActionUpdate  Action = "update"  // its content changes
	ActionRestore Action = "restore" // somebody removed the file, and lynqctl writes it again
	ActionRemove  Action = "remove"  // no node needs the file any more
	ActionForget  Action = "forget"  // no node needs the file any more, and it is gone
	// ActionConflict keeps a file of lynqctl that others changed.
	ActionConflict Action = "conflict"
	// ActionRefuse means that somebody else, or another hub, has the path. lynqctl then
	// writes nothing.
	ActionRefuse Action = "refuse"
)

// State is a file on disk. The zero value means that it doesn't exist.
type State struct {
	There   bool
	Same    bool // it has the desired bytes
	Digest  index.Digest
	Content []byte // of a file that differs, or that no node needs
	// Blocked says what is at the path instead of a readable file.
	Blocked string
}

// Disk has the state of each file of a layout, in the layout's order.
type Disk struct {
	Files []State // for Layout.Files
	Gone  []State // for Layout.Gone
	// Missing has the files of the index that somebody removed, of nodes that the run keeps.
	Missing map[string]bool
	// Beside has the files that exist, and that a list names which differs from the desired
	// one. The index has none of them.
	Beside map[string]bool
	// BesideGone has the names beside lists that are gone, see Dir.besideGone.
	BesideGone map[string]string
}

// Step changes one file. Why is the reason for reports.
type Step struct {
	Path   string
	Action Action
	Why    string
	File   *File        // nil if no node needs the file
	Old    *index.Entry // nil if the index doesn't have the file
	State  *State       // in the Disk of the run

	digest index.Digest // digest of File
	lost   string       // says what a list has, and the index lacks
	// listedBy is the list that keeps a file that no node needs, see keepListed.
	listedBy string
}

// Plan has the steps of a run on a tree.
type Plan struct {
	Steps []Step         // sorted by path
	Kept  []*index.Entry // other entries of the index

	told         []string // Index.Told after the run
	suspended    []index.Suspension
	had, renders []index.Origin // forms with their digests, of the old index and of the run
	// hadTemplates and newTemplates are the templates of these forms, and version is that of
	// this lynqctl. See Plan.originsOf.
	hadTemplates, newTemplates []index.Template
	hadVersion, version        string
	edited                     bool                  // the old index doesn't certainly describe the tree
	mixed                      map[lynq.NodeKey]bool // nodes with files of several rows, see recordRows
	final                      *index.Sealed         // once known
	relisted                   []relisted            // see Input.relist
}

// Compare decides what happens to each file. It is a pure function. With force, it ignores
// other people's files and changes.
func Compare(in *Input, l *Layout, disk *Disk, force bool) *Plan {
	p := &Plan{Steps: make([]Step, 0, len(l.Files)+len(l.Gone)), told: in.Told, suspended: in.notEnded(), had: in.Index.Forms, renders: in.Forms}
	p.hadTemplates, p.newTemplates, p.hadVersion, p.version = in.Index.Templates, in.Templates, in.Index.Lynqctl, in.Version
	p.edited, p.mixed = in.Index.Edited || in.Index.Unfinished, map[lynq.NodeKey]bool{}
	taken := map[string]bool{}
	entries := in.Index.Entries
	known := sync.OnceValue(func() *listings { return listingsOf(in.Index, l.Files) })
	removed := newListings(0)
	for p := range disk.Missing {
		removed.add(p)
	}
	listed := func(p string) bool { return in.Index.Has(p) || removed.has(p) }
	for i := range l.Files {
		s := Step{Path: l.Files[i].Path, File: &l.Files[i], State: &disk.Files[i]}
		for len(entries) > 0 && entries[0].Path < s.Path { // both are sorted
			entries = entries[1:]
		}
		if len(entries) > 0 && entries[0].Path == s.Path {
			s.Old = &entries[0]
		}
		if s.digest = s.State.Digest; !s.State.Same {
			s.digest = index.DigestOf(s.File.Bytes)
		}
		stranger := s.Old != nil && !s.Old.Shared() && !in.Covers(s.Old) && !s.File.inherits(s.Old)
		s.decide(stranger, force, known)
		s.keepUnlisted(listed, disk.Beside, force)
		s.keepBeside(disk.BesideGone, force)
		if s.Action == ActionRefuse && stranger && s.State.Blocked == "" {
			hub, form := in.Called(s.Old.Owner)
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
		s := Step{Path: e.Path, Old: e, State: &disk.Gone[i]}
		s.decideGone(force, known)
		s.keepUnlisted(listed, disk.Beside, force)
		p.Steps = append(p.Steps, s)
	}
	slices.SortFunc(p.Steps, func(a, b Step) int { return strings.Compare(a.Path, b.Path) })
	p.keepListed()
	p.tellForced()
	p.recordRows()
	return p
}

// keepListed keeps the files that a kustomization.yaml names which others changed, because
// kustomize couldn't build the tree without them. It refuses to take a changed list out of the
// build that has what the index lacks.
func (p *Plan) keepListed() {
	by := map[string]*Step{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Action != ActionConflict || s.File == nil || path.Base(s.Path) != kustomizationFile {
			continue
		}
		for _, name := range namesIn(s.State.Content) {
			by[path.Join(path.Dir(s.Path), name)] = s
		}
	}
	kept := map[*Step]int{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.File != nil {
			continue
		}
		var list *Step
		for file := s.Path; file != "." && list == nil; file = path.Dir(file) {
			list = by[file]
		}
		switch {
		case s.Action == ActionRemove && list != nil:
			s.Action, s.listedBy = ActionConflict, list.Path
			kept[list]++
		case s.Action == ActionConflict && list == nil && s.lost != "":
			s.Action, s.Why = ActionRefuse, s.lost
		}
	}
	for list, files := range kept {
		list.Why += fmt.Sprintf("; it names %s that no node needs", phrase.Count(files, "file"))
	}
}

// decide decides about a desired file.
func (s *Step) decide(stranger, force bool, tree func() *listings) {
	switch known := s.Old != nil; {
	case s.State.Blocked != "":
		s.Action, s.Why = ActionRefuse, s.State.Blocked
	case stranger && !force:
		s.Action = ActionRefuse
	case s.File.Edited && known && s.State.There:
		s.Action, s.Why = ActionConflict, unwantedEdit
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

// unwantedEdit is the reason for a file that others changed, and that no node renders.
const unwantedEdit = "no node renders it any more, and it was changed since lynqctl wrote it"

// decideGone decides about a file that no node needs.
func (s *Step) decideGone(force bool, tree func() *listings) {
	switch {
	case s.State.Blocked != "":
		s.Action, s.Why = ActionRefuse, s.State.Blocked
	case !s.State.There:
		s.Action = ActionForget
	case force, slices.Contains(s.Old.Digests, s.State.Digest), s.onlyLists(tree):
		s.Action = ActionRemove
	default:
		s.Action, s.Why = ActionConflict, unwantedEdit
	}
}

// keepUnlisted refuses to take a name out of a list if the index lacks it. lynqctl wrote
// both, so the index has lost it, and no guard counts its objects. listed reports whether the
// index has, or had, a file or folder. If others changed the list of a node, only files that
// exist beside it count: Git merges the lists of two nodes that it takes for one under two
// names.
func (s *Step) keepUnlisted(listed func(string) bool, beside map[string]bool, force bool) {
	if force || path.Base(s.Path) != kustomizationFile || !s.mayDrop() {
		return
	}
	names, ours := listedIn(s.State.Content)
	if !ours {
		return // people wrote it, and know what it lists
	}
	var stay []string
	if s.File != nil {
		stay, _ = listedIn(s.File.Bytes)
		slices.Sort(stay)
	}
	merged := s.Old != nil && !s.Old.Shared() && !slices.Contains(s.Old.Digests, s.State.Digest)
	for _, name := range names {
		file := path.Join(path.Dir(s.Path), name)
		if _, stays := slices.BinarySearch(stay, name); stays || listed(file) || merged && !beside[file] {
			continue
		}
		s.lost = fmt.Sprintf("it lists %s, and %s doesn't, so no guard would count what is deleted", name, index.FileName)
		if s.Action == ActionConflict {
			s.Why += "; " + s.lost + " with --force"
			return
		}
		s.Action, s.Why = ActionRefuse, s.lost
		return
	}
}

// mayDrop reports whether a step may take names out of a list. A list without an entry in the
// index, or that others changed, loses them with --force only.
func (s *Step) mayDrop() bool {
	if s.Action == ActionRefuse {
		return s.Old == nil && s.State.Blocked == ""
	}
	return s.Old != nil && (s.Action == ActionUpdate || s.Action == ActionRemove || s.Action == ActionConflict)
}

// onlyLists reports whether others changed a file that has only a list. A merge of two
// branches does this.
func (s *Step) onlyLists(tree func() *listings) bool {
	return path.Base(s.Path) == kustomizationFile && tree().onlyLists(s.Path, s.State.Content)
}

// inherits reports whether the file's node has the old file, see Node.inherits.
func (f *File) inherits(e *index.Entry) bool {
	n := Node{NodeID: lynq.NodeID{Hub: f.Hub, Form: f.Form, Namespace: f.Node.Namespace, Name: f.Node.Name}}
	return n.inherits(e)
}

// Count counts the steps with one of these actions.
func (p *Plan) Count(actions ...Action) int {
	n := 0
	for i := range p.Steps {
		if slices.Contains(actions, p.Steps[i].Action) {
			n++
		}
	}
	return n
}

// Of returns the steps with an action.
func (p *Plan) Of(a Action) []Step {
	var steps []Step
	for _, s := range p.Steps {
		if s.Action == a {
			steps = append(steps, s)
		}
	}
	return steps
}

// writes reports whether a step changes a file.
func (s *Step) writes() bool {
	return s.Action == ActionCreate || s.Action == ActionUpdate || s.Action == ActionRestore
}

// Final returns the index after the plan.
func (p *Plan) Final() *index.Index { return p.index(false) }

// sealed returns the digests of the final index.
func (p *Plan) sealed() *index.Sealed {
	if p.final == nil {
		p.final = p.Final().Seal()
	}
	return p.final
}

// forms returns the digests of forms after the run. Files that the run rendered have the
// run's digest, even if the form's change left their bytes alone: then only the index
// changes. Other files have the digests that the tree had. kept and rendered are the
// origins of these files. A form without any file is not part of the tree.
func (p *Plan) forms(kept, rendered map[index.Origin]bool) []index.Origin {
	var all []index.Origin
	for _, from := range []struct {
		forms []index.Origin
		of    map[index.Origin]bool
	}{{p.had, kept}, {p.renders, rendered}} {
		for _, o := range from.forms {
			if from.of[o.Bare()] {
				all = append(all, o)
			}
		}
	}
	return index.SortOrigins(all)
}

// Intent returns the index during the run. It names all files that may exist, so that a
// killed run leaves no unlisted file.
func (p *Plan) Intent() *index.Index {
	x := p.index(true)
	x.Unfinished = true
	return x
}

// owners returns the forms of files that remain, and of files that the run rendered.
func (p *Plan) owners() (kept, rendered map[index.Origin]bool) {
	kept, rendered = map[index.Origin]bool{}, map[index.Origin]bool{}
	var last *index.Owner // most files follow one of the same node
	for _, e := range p.Kept {
		if e.Owner != last && !e.Shared() {
			last, kept[e.Origin()] = e.Owner, true
		}
	}
	for i := range p.Steps {
		switch s := &p.Steps[i]; {
		case s.Action == ActionConflict && !s.Old.Shared():
			kept[s.Old.Origin()] = true
		case s.Action != ActionConflict && s.File != nil && s.File.Owner != last && !s.File.Shared():
			last, rendered[s.File.Origin()] = s.File.Owner, true
		}
	}
	return kept, rendered
}

func (p *Plan) index(union bool) *index.Index {
	x := &index.Index{Told: p.told, Suspended: p.suspended, Entries: make([]index.Entry, 0, len(p.Steps)+len(p.Kept))}
	kept, rendered := p.owners()
	for _, e := range p.Kept {
		x.Entries = append(x.Entries, p.unmixed(*e))
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		old := s.Action == ActionConflict || union && s.Old != nil
		if s.File != nil && s.Action != ActionConflict {
			x.Entries = append(x.Entries, index.Entry{Path: s.Path, Digests: []index.Digest{s.digest}, LeavingSince: s.File.LeavingSince, Owned: s.File.Owned})
		}
		if old {
			e := p.unmixed(*s.Old)
			e.Digests = slices.Clone(e.Digests)
			x.Entries = append(x.Entries, e)
			kept[e.Origin()] = true
		}
	}
	x.Forms = p.forms(kept, rendered)
	p.recordTemplates(x, kept)
	x.Sort()
	return x
}
