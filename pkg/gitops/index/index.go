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

// FileName is the tree's file with the list of lynqctl's files. It doesn't end in .yaml or
// .json, because Argo CD or Flux would then take it for a manifest.
const FileName = "lynqctl-index.jsonl"

// Index lists the files of a tree that lynqctl wrote.
type Index struct {
	// Unfinished means that the run that wrote the index didn't finish. Files may have
	// either digest, or be missing.
	Unfinished bool
	// Edited means that others changed the index, for example in a merge. Then its lines may
	// lack objects of their files.
	Edited bool
	// Told has the losses that lynqctl has reported. See Loss.Mark.
	Told    []string
	Entries []Entry // sorted by path, each once
	// Forms are the forms of the entries with their digests, sorted. After a merge, or if a
	// run renders only a part of the nodes, a form may have several.
	Forms []Origin
	// Templates are those of Forms, sorted. A form lacks it if nobody knows it.
	Templates []Template
	// Lynqctl is the version of the lynqctl that rendered all files, or "" if nobody knows it.
	// It is in the last line, because equal trees of two versions have one plan.
	Lynqctl string
	// Suspended are the nodes that people suspended, sorted, each once. A suspension may have
	// ended, and after a merge its node may have no entry.
	Suspended []Suspension
}

// Entry is a file that lynqctl wrote. It has no values of rows.
type Entry struct {
	Path string
	// Digests are those of lynqctl's versions of the file. Usually there is one. During a
	// run, there are the old and the new one. A Git merge of two branches also gives two.
	Digests []Digest
	// LeavingSince is when a run first found the row of the node gone. It is zero if the
	// row exists. The files remain for the node's grace period.
	LeavingSince time.Time
	Owned
}

// Owned names the owner of a file, and its objects. The files of a node have one owner,
// because a large tree has many files, and each would repeat 100 bytes.
type Owned struct {
	*Owner
	Objects []ObjectKey // objects of the file, in their order
}

// Owner is the node of a file. A kustomization.yaml that several nodes share has neither
// hub nor node. Nobody changes an owner, because several files may have it.
type Owner struct {
	Hub  lynq.HubKey
	Form lynq.FormKey
	Node lynq.NodeKey
	// Row is the record of the row from which lynqctl rendered the files, see
	// render.Program.Changed. It is "" if nobody knows it.
	Row string
}

// OwnerOf returns a node as the owner of files.
func OwnerOf(id lynq.NodeID) *Owner { return &Owner{Hub: id.Hub, Form: id.Form, Node: id.Key()} }

// Origin returns the form of a file, without a digest.
func (o *Owner) Origin() Origin { return OriginOf(o.Hub, o.Form) }

// Shared reports whether a file belongs to no node.
func (o *Owner) Shared() bool { return o.Hub.Name == "" }

// ObjectKey identifies an object and its resource in the form.
type ObjectKey struct {
	lynq.Ref
	ID string
	// Data is set if the form marks the resource with holdsData.
	Data bool
}

// Unholds reports whether an object no longer counts as one that holds data.
func (k *ObjectKey) Unholds(was *ObjectKey) bool { return was.Data && !k.Data && !k.HoldsData() }

// Digest is the SHA-256 of a file.
type Digest [sha256.Size]byte

// DigestOf returns the digest of these bytes.
func DigestOf(b []byte) Digest { return sha256.Sum256(b) }

// Has reports whether the index has a file of this path, or files in a folder of this path.
func (x *Index) Has(p string) bool {
	below := p + "/"
	i, _ := slices.BinarySearchFunc(x.Entries, below, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	return i < len(x.Entries) && strings.HasPrefix(x.Entries[i].Path, below) || x.Find(p) != nil
}

// Nodes returns the nodes with files, each once.
func (x *Index) Nodes() []lynq.NodeKey {
	var nodes []lynq.NodeKey
	seen := map[lynq.NodeKey]bool{}
	for i := range x.Entries {
		if e := &x.Entries[i]; !e.Shared() && !seen[e.Node] {
			seen[e.Node], nodes = true, append(nodes, e.Node)
		}
	}
	return nodes
}

// Find returns the entry of a path, or nil.
func (x *Index) Find(path string) *Entry {
	i, found := slices.BinarySearchFunc(x.Entries, path, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	if !found {
		return nil
	}
	return &x.Entries[i]
}

// Without returns the index without some paths.
func (x *Index) Without(paths map[string]bool) *Index {
	if len(paths) == 0 {
		return x
	}
	out := *x
	out.Entries = nil
	for _, e := range x.Entries {
		if !paths[e.Path] {
			out.Entries = append(out.Entries, e)
		}
	}
	return &out
}

// Sort sorts entries, and joins those with one path.
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
		for _, k := range e.Objects {
			if !slices.ContainsFunc(joined[last].Objects, func(o ObjectKey) bool { return o.Ref == k.Ref }) {
				joined[last].Objects = append(joined[last].Objects[:len(joined[last].Objects):len(joined[last].Objects)], k)
			}
		}
		// If two lines differ, the time that keeps the file longer wins. Without a time,
		// it starts again.
		if since := joined[last].LeavingSince; !since.IsZero() && (e.LeavingSince.IsZero() || e.LeavingSince.After(since)) {
			joined[last].LeavingSince = e.LeavingSince
		}
	}
	x.Entries = joined
}

// Untold returns the losses that earlier runs on a tree didn't report, and the new value
// of Told. Other forms keep their marks. A loss that disappeared and came back counts as
// new.
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

// InTree reports whether a path is certainly in the tree, and could be lynqctl's.
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
