package gitops

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// IndexFile is the file of the tree that lists what lynqctl wrote. Its name does
// not end in .yaml or .json, lest Argo CD or Flux take it for a manifest.
const IndexFile = "lynqctl-index.jsonl"

// Index lists the files of a tree that lynqctl wrote.
type Index struct {
	// Unfinished: the run that wrote the index did not come to its end. Files
	// may be of either digest, or missing.
	Unfinished bool
	// Told are the losses that people were told of: see Loss.mark.
	Told    []string
	Entries []Entry // sorted by path, each once
}

// Entry is a file that lynqctl wrote. No value of a row is in it.
type Entry struct {
	Path string
	// Digests are those of what lynqctl wrote there: one, or while a run is
	// under way the one before and the one after. Git may join two branches to
	// the same effect.
	Digests []Digest
	// LeavingSince is when a run first saw that the row of its node is gone, zero for a node
	// that has its row. The node's files stay for its grace period.
	LeavingSince time.Time
	owned
}

// Digest is the SHA-256 of a file.
type Digest [sha256.Size]byte

func digestOf(b []byte) Digest { return sha256.Sum256(b) }

// Find is the entry of a path, nil where there is none.
func (x *Index) Find(path string) *Entry {
	i, found := slices.BinarySearchFunc(x.Entries, path, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	if !found {
		return nil
	}
	return &x.Entries[i]
}

// Without is the index without some paths.
func (x *Index) Without(paths map[string]bool) *Index {
	if len(paths) == 0 {
		return x
	}
	out := &Index{Unfinished: x.Unfinished, Told: x.Told}
	for _, e := range x.Entries {
		if !paths[e.Path] {
			out.Entries = append(out.Entries, e)
		}
	}
	return out
}

// sort brings entries into their order, and joins those of one path.
func (x *Index) sort() {
	byPath := func(a, b Entry) int { return strings.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(x.Entries, byPath) {
		slices.SortStableFunc(x.Entries, byPath)
	}
	joined := x.Entries[:0]
	for _, e := range x.Entries {
		last := len(joined) - 1
		if last < 0 || joined[last].Path != e.Path {
			joined = append(joined, e)
			continue
		}
		for _, d := range e.Digests {
			if !slices.Contains(joined[last].Digests, d) {
				joined[last].Digests = append(joined[last].Digests, d)
			}
		}
		// Of two lines, the one that keeps the file longer counts; without a time, it
		// begins anew.
		if since := joined[last].LeavingSince; !since.IsZero() && (e.LeavingSince.IsZero() || e.LeavingSince.After(since)) {
			joined[last].LeavingSince = e.LeavingSince
		}
	}
	x.Entries = joined
}

// Untold are the losses that people were not told of by earlier runs on a tree, and
// the marks of those that they then will have been told of. Forms that take no part
// keep theirs; a loss that went and came back is new.
func (x *Index) Untold(t policy.Target, forms []string, losses []policy.Loss) (untold []policy.Loss, told []string) {
	for _, mark := range x.Told {
		if form, _, _ := strings.Cut(mark, ":"); !slices.Contains(forms, form) {
			told = append(told, mark)
		}
	}
	for _, l := range losses {
		mark := l.Mark(t)
		if !slices.Contains(x.Told, mark) {
			untold = append(untold, l)
		}
		told = append(told, mark)
	}
	slices.Sort(told)
	return untold, slices.Compact(told)
}

// Scope names the hubs and forms whose files a run may change.
type Scope struct {
	Hubs []HubScope
	// Only, where it is not nil, are the names of the nodes that were asked for.
	Only map[string]bool
	// Selected: a selector leaves objects out. No one knows which of those that
	// are wanted no more it would have left, so that nothing goes.
	Selected bool
}

// HubScope is a hub of a run, and the forms of it that take part.
type HubScope struct {
	lynq.HubKey
	Forms []lynq.FormKey
	// Grace is how long forms keep nodes whose rows are gone; one that is not in it keeps
	// none.
	Grace map[lynq.FormKey]time.Duration
}

// covers tells whether a file is of the hubs, forms and nodes of the run.
func (s *Scope) covers(e *Entry) bool {
	return s.takesPart(e) && (s.Only == nil || s.Only[e.Node.Name])
}

// takesPart tells whether a file is of the hubs and forms of the run.
func (s *Scope) takesPart(e *Entry) bool {
	return slices.ContainsFunc(s.Hubs, func(h HubScope) bool { return s.isOf(&h, e) && slices.ContainsFunc(h.Forms, e.ofForm) })
}

// Stranger is the first file of a node that the run has no say on, by its hub and form as
// people call them.
func (s *Scope) Stranger(x *Index) (hub, form string, found bool) {
	for i := range x.Entries {
		if e := &x.Entries[i]; !e.shared() && !s.covers(e) {
			hub, form = s.called(&e.owned)
			return hub, form, true
		}
	}
	return "", "", false
}

// hubOf is the hub of a file: that of the run, where the file is of one.
func (s *Scope) hubOf(e *Entry) lynq.HubKey {
	for i := range s.Hubs {
		if s.isOf(&s.Hubs[i], e) {
			return s.Hubs[i].HubKey
		}
	}
	return e.Hub
}

// called are the hub and the form of a file as people call them: with a namespace
// only where the run has another one of that name.
func (s *Scope) called(o *owned) (hub, form string) {
	hub, form = o.Hub.Name, o.Form.Name
	for _, h := range s.Hubs {
		if h.Name == o.Hub.Name && h.Namespace != o.Hub.Namespace {
			hub = o.Hub.String()
		}
		for _, f := range h.Forms {
			if f.Name == o.Form.Name && f.Namespace != o.Form.Namespace {
				form = o.Form.String()
			}
		}
	}
	return hub, form
}

// isOf tells whether a file is of a hub. One that was written when the hub had no
// namespace is, unless the run has a hub of that name without one.
func (s *Scope) isOf(h *HubScope, e *Entry) bool {
	if h.HubKey == e.Hub {
		return true
	}
	exact := func(o HubScope) bool { return o.HubKey == e.Hub }
	return h.Name == e.Hub.Name && e.Hub.Namespace == "" && !slices.ContainsFunc(s.Hubs, exact)
}
