package inventory

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// An object has one entry, whatever its id in the form, so Ref identifies an entry. The
// functions here don't change their arguments, and return entries sorted by key.

// Intent returns the entries that lynqctl saves before it writes any object. They cover
// the node's old and new objects. Reference, id, API version, policies, order and adoption
// come from desired. The rest comes from the last write, so that nothing counts as written
// too early.
//
// If the id, API version or policies of an object change, its digest is removed. The
// object then counts as unwritten until a run confirms it. An object that lynqctl creates
// once keeps its digest, because its content doesn't change. During a change of the
// deletion policy, Intent retains the object.
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

// Forget removes an object's entry.
func Forget(entries []Entry, ref lynq.Ref) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(r Entry) bool { return r.Ref == ref })
}

// unwritten returns the entry without data of the last write.
func (r *Entry) unwritten() Entry {
	return Entry{Ref: r.Ref, ID: r.ID, APIVersion: r.APIVersion, Order: r.Order, Lifecycle: r.Lifecycle, Adopted: r.Adopted, Sensitive: r.Sensitive}
}

// towards returns the entry for the transition to another.
func (r *Entry) towards(want *Entry) Entry {
	next := want.unwritten()
	next.UID, next.Digest, next.Template, next.Generation = r.UID, r.Digest, r.Template, r.Generation
	next.ResourceVersion, next.Fields, next.Defaults, next.Written, next.Ready = r.ResourceVersion, r.Fields, r.Defaults, r.Written, r.Ready
	next.Ended = r.Ended
	next.Data, next.Sensitive = next.Data || r.Data, next.Sensitive || r.Sensitive
	if sameWords(r, want) {
		return next
	}
	if !r.Creation.Once() || !want.Creation.Once() {
		next.Digest, next.Template = "", ""
	}
	next.Deletion = next.Deletion.Or(r.Deletion)
	return next
}

// sameWords reports whether two entries have the same form data, ignoring their order.
func sameWords(a, b *Entry) bool {
	return a.Ref == b.Ref && a.ID == b.ID && a.APIVersion == b.APIVersion && a.Content() == b.Content()
}

// Confirm returns the entries after a run. It removes the entries of deleted objects, and
// replaces those of confirmed ones. All others remain.
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

// Diff returns the entries that were added, removed and changed. For changed ones, it
// returns the later version.
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

// Find returns an object's entry.
func Find(entries []Entry, ref lynq.Ref) (Entry, bool) {
	for i := range entries {
		if entries[i].Ref == ref {
			return entries[i], true
		}
	}
	return Entry{}, false
}

// Equal reports whether two inventories have the same data, so that lynqctl needs no
// write. It ignores the cluster's own fields. If a copy of a restoration exists, saving
// the inventory deletes it.
func Equal(a, b *Inventory) bool {
	return a.Node == b.Node &&
		a.Activate == b.Activate && a.TemplateGeneration == b.TemplateGeneration &&
		a.RolloutStart.Equal(b.RolloutStart) && a.Extra == b.Extra && a.Expires.Equal(b.Expires) && a.LeavingSince.Equal(b.LeavingSince) && a.LeavingUntil.Equal(b.LeavingUntil) && slices.Equal(a.DependForms, b.DependForms) && a.Version == b.Version && a.Finalizer == b.Finalizer &&
		a.Copy == "" && b.Copy == "" && equalStatus(a.Status, b.Status) &&
		slices.Equal(sorted(a.Entries), sorted(b.Entries)) && slices.Equal(sorted(a.Hooks), sorted(b.Hooks))
}

// index returns the index of each object's entry.
func index(entries []Entry) map[lynq.Ref]int {
	at := make(map[lynq.Ref]int, len(entries))
	for i := range entries {
		at[entries[i].Ref] = i
	}
	return at
}

// sorted returns entries sorted by key, and then by group. It copies only unsorted
// entries.
func sorted(entries []Entry) []Entry {
	if slices.IsSortedFunc(entries, compareEntries) {
		return entries
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, compareEntries)
	return entries
}

// compareEntries compares keys without building strings.
func compareEntries(a, b Entry) int {
	var one, two [256]byte
	return cmp.Or(bytes.Compare(a.appendKey(one[:0]), b.appendKey(two[:0])), cmp.Compare(a.Group, b.Group))
}
