package index

import (
	"crypto/sha256"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// FileName is the file of the tree that lists what lynqctl wrote. Its name does
// not end in .yaml or .json, lest Argo CD or Flux take it for a manifest.
const FileName = "lynqctl-index.jsonl"

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
	Owned
}

// Owned says whose a file is. A kustomization.yaml that several nodes share is
// not of a node: it has neither hub nor node.
type Owned struct {
	Hub     lynq.HubKey
	Form    lynq.FormKey
	Node    lynq.NodeKey
	Objects []ObjectKey // in the file, in their order
}

// OfForm tells whether a file is of a form. One that was written when the form had
// no namespace, or by a lynqctl that did not write it down, is.
func (o *Owned) OfForm(f lynq.FormKey) bool {
	return o.Form.Name == f.Name && (o.Form.Namespace == "" || o.Form.Namespace == f.Namespace)
}

// Shared tells whether a file is of no node.
func (o *Owned) Shared() bool { return o.Hub.Name == "" }

// ObjectKey names an object, and the resource of the form that makes it.
type ObjectKey struct {
	lynq.Ref
	ID string
	// Data: the form marks the resource with holdsData.
	Data bool
}

// Digest is the SHA-256 of a file.
type Digest [sha256.Size]byte

// DigestOf is the digest of a file with these bytes.
func DigestOf(b []byte) Digest { return sha256.Sum256(b) }

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

// Sort brings entries into their order, and joins those of one path.
func (x *Index) Sort() {
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

// InTree tells whether a path is one that lies in the tree for certain, and
// that lynqctl could have made.
func InTree(p string) bool {
	if p == "" || p != path.Clean(p) || path.IsAbs(p) || strings.Contains(p, `\`) || strings.Contains(p, ":") {
		return false
	}
	for _, part := range strings.Split(p, "/") {
		if part[0] == '.' {
			return false
		}
	}
	return p != FileName
}
