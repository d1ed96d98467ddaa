package fields

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// A Takeover takes the form's fields from other managers. These are tools that apply on the
// client's side (see clientSide) and, under Force, all managers. As long as another manager
// also manages a field, it remains when the form drops it. Fields outside the form keep
// their manager and value.
//
// A Takeover only removes a field from its manager's set, so lynqctl uses it after a write. If
// a run is killed in between, the write isn't confirmed, and the next run takes the rest.
type Takeover struct {
	// version is the API version of the fields. A Takeover can't compare entries with another
	// version, and keeps them.
	version string
	// of returns the fields of a set that the form sets. own has all of the form's fields,
	// if they are known.
	of  func(*fieldpath.Set) *fieldpath.Set
	own *fieldpath.Set
	// keeper is the operation with which lynq manages the taken fields.
	keeper metav1.ManagedFieldsOperationType
	force  bool
	// First is set if lynq has not applied the object before. Then lynq didn't drop any
	// field without a manager.
	First bool
}

// TakeoverOfApplied returns a Takeover for the fields that lynq applied. After a server-side
// apply, the server has recorded them.
func TakeoverOfApplied(managed []ManagedSet, force bool) Takeover {
	t := Takeover{own: fieldpath.NewSet(), keeper: metav1.ManagedFieldsOperationApply, force: force}
	for i := range managed {
		if m := &managed[i]; m.applied() {
			t.version, t.own = m.apiVersion, m.fields.RecursiveDifference(heldBack())
		}
	}
	t.of = t.own.Intersection
	return t
}

// TakeoverOfManifest returns a Takeover for the fields of a manifest, after a write without
// server-side apply.
func TakeoverOfManifest(manifest map[string]any, force bool) Takeover {
	version, _ := manifest["apiVersion"].(string)
	return Takeover{
		version: version, keeper: metav1.ManagedFieldsOperationUpdate, force: force,
		of: func(s *fieldpath.Set) *fieldpath.Set { return saidOf(s, manifest).RecursiveDifference(heldBack()) },
	}
}

// takes reports whether to take fields from a manager.
func (t *Takeover) takes(e *metav1.ManagedFieldsEntry) bool {
	return e.APIVersion == t.version && MayTake(e, t.force)
}

// MayTake works like takes for any API version.
func MayTake(e *metav1.ManagedFieldsEntry, force bool) bool {
	return e.Manager != wellknown.FieldManager && e.Subresource == "" && (force || clientSide(e))
}

// Take returns managedFields without the taken fields, and these fields. It returns false
// if all entries remain.
func (t *Takeover) Take(entries []metav1.ManagedFieldsEntry, managed []ManagedSet) ([]metav1.ManagedFieldsEntry, []Conflict, bool, error) {
	kept := make([]metav1.ManagedFieldsEntry, 0, len(entries)+1)
	all, last := fieldpath.NewSet(), (*metav1.Time)(nil)
	var fields []Conflict
	changed := false
	for i := range entries {
		e, set := entries[i], managed[i].fields
		taken, rest := t.split(&e, set)
		if rest.Equals(set) {
			kept = append(kept, e)
			continue
		}
		all, last, changed = all.Union(taken), laterTime(last, e.Time), true
		taken.Leaves().Iterate(func(p fieldpath.Path) {
			fields = append(fields, Conflict{Manager: e.Manager, Field: p.String(), Applied: e.Operation == metav1.ManagedFieldsOperationApply})
		})
		if err := setFields(&e, rest); err != nil {
			return nil, nil, false, err
		}
		if !rest.Empty() {
			kept = append(kept, e)
		}
	}
	held := false
	var err error
	if t.First {
		if kept, held, err = holdTexts(kept, managed); err != nil {
			return nil, nil, false, err
		}
	}
	if !changed || t.keeper == metav1.ManagedFieldsOperationApply {
		return kept, SortConflicts(fields), held || changed, nil
	}
	kept, err = addFields(kept, metav1.ManagedFieldsEntry{Manager: wellknown.FieldManager, Operation: t.keeper, APIVersion: t.version, Time: last}, all)
	return kept, SortConflicts(fields), true, err
}

// split returns the fields to take from a manager's set, and those that it keeps. It also
// removes a map or list that the manager has without content, if the form sets something in
// it. The server would leave a null if they are emptied.
func (t *Takeover) split(e *metav1.ManagedFieldsEntry, set *fieldpath.Set) (taken, rest *fieldpath.Set) {
	if !t.takes(e) {
		return fieldpath.NewSet(), set
	}
	taken = t.of(set)
	own := t.own
	if own == nil {
		own = taken
	}
	rest = set.Difference(taken)
	return taken, rest.Difference(bareOf(rest, own))
}

// bareOf returns the maps and lists that a set has without content, while another set has
// content in them.
func bareOf(set, other *fieldpath.Set) *fieldpath.Set {
	out := fieldpath.NewSet()
	for _, pe := range elements(set) {
		in := below(other, pe)
		if in == nil {
			continue
		}
		left := below(set, pe)
		if left != nil {
			inner := bareOf(left, in)
			if left = left.Difference(inner); !inner.Empty() {
				*out.Children.Descend(pe) = *inner
			}
		}
		if pe.FieldName != nil && set.Members.Has(pe) && (left == nil || left.Empty()) {
			out.Members.Insert(pe)
		}
	}
	return out
}

// holdTexts gives fields without manager back to those who applied them as stringData of a
// Secret. The server keeps these as data, and records no manager. Otherwise they would all
// vanish with the last key that lynq manages.
func holdTexts(entries []metav1.ManagedFieldsEntry, managed []ManagedSet) ([]metav1.ManagedFieldsEntry, bool, error) {
	texts, data := fieldpath.FieldNameElement("stringData"), fieldpath.FieldNameElement("data")
	owned := fieldpath.NewSet()
	for i := range managed {
		if in := below(managed[i].fields, data); in != nil {
			owned = owned.Union(in)
		}
	}
	changed := false
	for i := range managed {
		m := &managed[i]
		keys := below(m.fields, texts)
		if keys == nil || m.manager == wellknown.FieldManager || m.apiVersion != "v1" {
			continue
		}
		lost := keys.Difference(owned)
		if lost.Empty() {
			continue
		}
		held := fieldpath.NewSet()
		*held.Children.Descend(data) = *lost
		var err error
		e := metav1.ManagedFieldsEntry{Manager: m.manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: m.apiVersion, Time: m.time}
		if entries, err = addFields(entries, e, held); err != nil {
			return nil, false, err
		}
		owned, changed = owned.Union(lost), true
	}
	return entries, changed, nil
}

// Release returns managedFields without list items that lynq applied and a manifest no
// longer has. If others still manage parts of such an item, the server leaves a null
// instead of an empty list. The schema of a custom resource refuses that. Release returns
// nil if there are no such items.
func (t *Takeover) Release(entries []metav1.ManagedFieldsEntry, managed []ManagedSet, manifest map[string]any) ([]metav1.ManagedFieldsEntry, error) {
	dropped := fieldpath.NewSet()
	for i := range managed {
		if m := &managed[i]; m.applied() {
			dropped = droppedItems(m.fields, manifest)
		}
	}
	var kept []metav1.ManagedFieldsEntry
	changed := false
	for i := range entries {
		e, set := entries[i], managed[i].fields
		if rest := withoutItems(set, dropped); t.takes(&e) && !rest.Equals(set) {
			changed, set = true, rest
			if err := setFields(&e, set); err != nil {
				return nil, err
			}
		}
		if !set.Empty() {
			kept = append(kept, e)
		}
	}
	if !changed {
		return nil, nil
	}
	return kept, nil
}

// withoutItems returns a set without list items, and without lists that it has no other
// part of.
func withoutItems(set, items *fieldpath.Set) *fieldpath.Set {
	rest := set.RecursiveDifference(items)
	items.Iterate(func(p fieldpath.Path) {
		list := slices.Clone(p[:len(p)-1])
		in := rest
		for _, pe := range list {
			in = below(in, pe)
		}
		if in == nil && rest.Has(list) {
			rest = rest.Difference(fieldpath.NewSet(list))
		}
	})
	return rest
}

// droppedItems returns the list items that a set has and a manifest lacks.
func droppedItems(s *fieldpath.Set, manifest any) *fieldpath.Set {
	dropped := fieldpath.NewSet()
	for _, pe := range elements(s) {
		v, said := saidAt(manifest, pe)
		if pe.Key != nil && !said && s.Members.Has(pe) {
			dropped.Members.Insert(pe)
			continue
		}
		if in := droppedItems(below(s, pe), v); !in.Empty() {
			*dropped.Children.Descend(pe) = *in
		}
	}
	return dropped
}

// addFields adds fields to the entry of a manager, and creates the entry if necessary.
func addFields(entries []metav1.ManagedFieldsEntry, of metav1.ManagedFieldsEntry, more *fieldpath.Set) ([]metav1.ManagedFieldsEntry, error) {
	for i := range entries {
		e := &entries[i]
		if e.Manager != of.Manager || e.Operation != of.Operation || e.Subresource != of.Subresource || e.APIVersion != of.APIVersion {
			continue
		}
		set, err := fieldsOf(e)
		if err != nil {
			return nil, err
		}
		return entries, setFields(e, set.Union(more))
	}
	of.FieldsType = "FieldsV1"
	if err := setFields(&of, more); err != nil {
		return nil, err
	}
	return append(entries, of), nil
}

// heldBack returns fields on which others rely. A form that drops one must not remove it if
// another manager set it too. Owner references of others aren't fields of the form, and
// only the one to the inventory is.
func heldBack() *fieldpath.Set {
	set := fieldpath.NewSet()
	for _, names := range kinds.HeldBack() {
		var path fieldpath.Path
		for _, name := range names {
			path = append(path, fieldpath.FieldNameElement(name))
		}
		set.Insert(path)
	}
	return set
}

// saidOf returns the fields of a set that a manifest has. A map that is itself in the set
// counts only if the manifest has it empty. A list item counts with any of its fields.
func saidOf(s *fieldpath.Set, manifest any) *fieldpath.Set {
	said := fieldpath.NewSet()
	for _, pe := range elements(s) {
		v, ok := saidAt(manifest, pe)
		if !ok {
			continue
		}
		child := below(s, pe)
		if s.Members.Has(pe) && (child == nil || pe.FieldName == nil || empty(v)) {
			said.Members.Insert(pe)
		}
		if child == nil {
			continue
		}
		if in := saidOf(child, v); !in.Empty() {
			*said.Children.Descend(pe) = *in
		}
	}
	return said
}

func setFields(e *metav1.ManagedFieldsEntry, set *fieldpath.Set) error {
	fields, err := set.ToJSON()
	if err != nil {
		return err
	}
	e.FieldsV1 = metav1.NewFieldsV1(string(fields))
	return nil
}

func laterTime(a, b *metav1.Time) *metav1.Time {
	if a == nil || b != nil && a.Before(b) {
		return b
	}
	return a
}
