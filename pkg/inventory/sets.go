package inventory

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// An object has one entry, whatever its id in the form: entries are told apart
// by their Ref. All functions here leave their arguments alone, and give
// entries in the order of their keys.

// Intent returns the entries that lynqctl saves before it writes any object: what a
// node had, and what it will have. Of desired it takes what the form says: reference,
// id, API version, policies and order; and whether the node adopts the object. It keeps
// what the last write recorded, so that nothing counts as written that is not. An
// object whose id, API version or policies changed loses its digest: it counts as
// unwritten until a run confirms it. An object that is created once keeps it: the
// digest says that its content is written, and stays as it is. While the deletion
// policy changes, either way, the object is retained.
func Intent(recorded, desired []Entry) []Entry {
	next := slices.Clone(recorded)
	at := index(next)
	for i := range desired {
		want := &desired[i]
		j, known := at[want.Ref]
		if !known {
			at[want.Ref] = len(next)
			next = append(next, want.unwritten())
			continue
		}
		next[j] = next[j].towards(want)
	}
	return sorted(next)
}

// Forget leaves the entry of an object out.
func Forget(entries []Entry, ref lynq.Ref) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(r Entry) bool { return r.Ref == ref })
}

// unwritten is what a form says of an object.
func (r *Entry) unwritten() Entry {
	return Entry{Ref: r.Ref, ID: r.ID, APIVersion: r.APIVersion, Order: r.Order, Lifecycle: r.Lifecycle, Adopted: r.Adopted}
}

// towards is an entry on the way to another.
func (r *Entry) towards(want *Entry) Entry {
	next := want.unwritten()
	next.UID, next.Digest, next.Template, next.Generation = r.UID, r.Digest, r.Template, r.Generation
	next.ResourceVersion, next.Fields, next.Defaults, next.Written, next.Ready = r.ResourceVersion, r.Fields, r.Defaults, r.Written, r.Ready
	next.Data = next.Data || r.Data
	if sameWords(r, want) {
		return next
	}
	if !r.Creation.Once() || !want.Creation.Once() {
		next.Digest, next.Template = "", ""
	}
	next.Deletion = next.Deletion.Or(r.Deletion)
	return next
}

// sameWords tells whether a form says the same of an object but for its order.
func sameWords(a, b *Entry) bool {
	return a.Ref == b.Ref && a.ID == b.ID && a.APIVersion == b.APIVersion && a.Content() == b.Content()
}

// Confirm returns the entries after a run. It leaves out the objects that are gone, and
// puts confirmed entries in the place of those of their objects. All others stay.
func Confirm(recorded, confirmed []Entry, gone []lynq.Ref) []Entry {
	next := slices.Clone(recorded)
	at := index(next)
	for i := range confirmed {
		if j, known := at[confirmed[i].Ref]; known {
			next[j] = confirmed[i]
		} else {
			next = append(next, confirmed[i])
		}
	}
	leave := make(map[lynq.Ref]bool, len(gone))
	for _, ref := range gone {
		leave[ref] = true
	}
	next = slices.DeleteFunc(next, func(r Entry) bool { return leave[r.Ref] })
	return sorted(next)
}

// Diff tells what two lists of entries have apart: what only the later one has,
// what only the earlier one had, and what of both is not the same, as the later
// one has it.
func Diff(before, after []Entry) (added, removed, changed []Entry) {
	was, is := index(before), index(after)
	for i := range after {
		j, known := was[after[i].Ref]
		switch {
		case !known:
			added = append(added, after[i])
		case before[j] != after[i]:
			changed = append(changed, after[i])
		}
	}
	for i := range before {
		if _, known := is[before[i].Ref]; !known {
			removed = append(removed, before[i])
		}
	}
	return sorted(added), sorted(removed), sorted(changed)
}

// Find gives the entry of an object.
func Find(entries []Entry, ref lynq.Ref) (Entry, bool) {
	for i := range entries {
		if entries[i].Ref == ref {
			return entries[i], true
		}
	}
	return Entry{}, false
}

// Equal tells whether two inventories are recorded alike, so that none need be
// written in the place of the other. What only the cluster says does not count; a
// copy that a restoration left is deleted when its inventory is written.
func Equal(a, b *Inventory) bool {
	return a.Node == b.Node &&
		a.Activate == b.Activate && a.TemplateGeneration == b.TemplateGeneration &&
		a.RolloutStart.Equal(b.RolloutStart) && a.Extra == b.Extra && a.Expires.Equal(b.Expires) && a.LeavingSince.Equal(b.LeavingSince) && a.LeavingUntil.Equal(b.LeavingUntil) && slices.Equal(a.DependForms, b.DependForms) && a.Version == b.Version && a.Finalizer == b.Finalizer &&
		a.Copy == "" && b.Copy == "" && equalStatus(a.Status, b.Status) &&
		slices.Equal(sorted(a.Entries), sorted(b.Entries)) && slices.Equal(sorted(a.Hooks), sorted(b.Hooks))
}

// index finds entries by their objects.
func index(entries []Entry) map[lynq.Ref]int {
	at := make(map[lynq.Ref]int, len(entries))
	for i := range entries {
		at[entries[i].Ref] = i
	}
	return at
}

// sorted gives entries in the order of their keys, and of their groups where
// keys are the same. What is sorted already is not copied.
func sorted(entries []Entry) []Entry {
	if slices.IsSortedFunc(entries, compareEntries) {
		return entries
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, compareEntries)
	return entries
}

// compareEntries compares keys without making strings of them.
func compareEntries(a, b Entry) int {
	var one, two [256]byte
	return cmp.Or(bytes.Compare(a.appendKey(one[:0]), b.appendKey(two[:0])), cmp.Compare(a.Group, b.Group))
}
