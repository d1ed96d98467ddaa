package fields

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// A Taker takes the fields that a form sets from other managers: from those that
// apply on the client's side (see clientSide) and, under Force, from all others.
// As long as they manage such a field too, it stays when the form drops it.
// What the form does not set stays with whoever manages it, with its value.
//
// A field that is taken leaves the set of its manager and nothing else changes:
// which is why it is done when the write is. A run that is killed in between
// leaves an object whose write is not confirmed, and the next one takes the rest.
type Taker struct {
	// version is that of the API in which the fields are named. What is recorded
	// for another one cannot be compared, and stays where it is.
	version string
	// of are those fields of a set that the form sets, and own all of those that it
	// sets, where that is known.
	of  func(*fieldpath.Set) *fieldpath.Set
	own *fieldpath.Set
	// keeper is the operation under which lynq manages what is taken.
	keeper metav1.ManagedFieldsOperationType
	force  bool
	// First: lynq has not applied the object before, so that what has no manager
	// is none of what lynq dropped.
	First bool
}

// TakerOfApplied takes what lynq applied: after a server-side apply, which fields
// those are is written down by the server itself.
func TakerOfApplied(managed []ManagedSet, force bool) Taker {
	t := Taker{own: fieldpath.NewSet(), keeper: metav1.ManagedFieldsOperationApply, force: force}
	for i := range managed {
		if m := &managed[i]; m.applied() {
			t.version, t.own = m.apiVersion, m.fields.RecursiveDifference(heldBack())
		}
	}
	t.of = t.own.Intersection
	return t
}

// TakerOfManifest takes what a manifest says, for writes that are no server-side
// apply.
func TakerOfManifest(manifest map[string]any, force bool) Taker {
	version, _ := manifest["apiVersion"].(string)
	return Taker{
		version: version, keeper: metav1.ManagedFieldsOperationUpdate, force: force,
		of: func(s *fieldpath.Set) *fieldpath.Set { return saidOf(s, manifest).RecursiveDifference(heldBack()) },
	}
}

// takes tells whether a manager is one to take from.
func (t *Taker) takes(e *metav1.ManagedFieldsEntry) bool {
	return e.APIVersion == t.version && MayTake(e, t.force)
}

// MayTake is takes, whatever the version.
func MayTake(e *metav1.ManagedFieldsEntry, force bool) bool {
	return e.Manager != wellknown.FieldManager && e.Subresource == "" && (force || clientSide(e))
}

// Take gives the entries of managedFields without what is taken, and the fields
// that are taken. It is false where all entries are to stay.
func (t *Taker) Take(entries []metav1.ManagedFieldsEntry, managed []ManagedSet) ([]metav1.ManagedFieldsEntry, []Conflict, bool, error) {
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

// split is what is taken of a manager's set, and what the manager keeps: without the
// maps and lists, too, in which the form sets something and the manager has nothing
// but that they are there. The server would leave a null where they are emptied.
func (t *Taker) split(e *metav1.ManagedFieldsEntry, set *fieldpath.Set) (taken, rest *fieldpath.Set) {
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

// bareOf are the maps and lists that a set has as such and nothing of, and another
// has something of.
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

// holdTexts gives to managers what they applied as stringData of a Secret, as far
// as it has no manager: the server keeps it as data, and does not write down whose
// it is. Without that all of it would go with the last of the data that is lynq's.
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

// Release gives the entries of managedFields without what is in items of lists
// that lynq applied and a manifest has no more: those go whole. Where others still
// manage parts of them, the server leaves a list without items that is null, which
// the schema of a custom resource refuses. None means that there is nothing of that.
func (t *Taker) Release(entries []metav1.ManagedFieldsEntry, managed []ManagedSet, manifest map[string]any) ([]metav1.ManagedFieldsEntry, error) {
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

// withoutItems is a set without items of lists, and without those lists where it has
// nothing else of them.
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

// droppedItems are the items of lists that a set has and a manifest does not.
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

// addFields adds fields to the entry of a manager, which is made where there is
// none.
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

// heldBack are fields on which others rely: no form that drops them may remove
// what another manager set as well. An owner reference of others is none of the
// fields that a form sets; that to the inventory is.
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

// saidOf is what a manifest says of the fields in a set. A map that the set has
// beside what is in it is said where the manifest has it empty; an item of a list
// is said with any of its fields.
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
