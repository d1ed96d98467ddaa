package diff

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// CauseKind names the cause of a change, in words that scripts may compare.
type CauseKind string

// The causes. If nobody knows which of the first four it is, see anyOf.
const (
	CauseForm        CauseKind = "form"                      // the form changed since the last write
	CauseRow         CauseKind = "row"                       // the row changed
	CauseDrift       CauseKind = "drift"                     // another client changed what lynqctl wrote
	CauseVersion     CauseKind = "new version of lynqctl"    // it renders otherwise than the version of the last write
	CauseNew         CauseKind = "new"                       // lynqctl never wrote it
	CauseGone        CauseKind = "gone"                      // lynqctl wrote it, and another client deleted it
	CauseRemoved     CauseKind = "removed from the form"     // the form no longer has the resource
	CauseNotIncluded CauseKind = "not included for the row"  // the form has the resource or the chart, and the row no longer gets the object
	CauseHook        CauseKind = "runs before the rest goes" // runOn: Delete
	CauseLeftover    CauseKind = "left over"                 // a hook created it before the row of its node returned
	CauseRowGone     CauseKind = "row gone"                  // the row is inactive or gone
	CauseDeleted     CauseKind = "node deleted"              // somebody deleted the node's inventory
	CauseAdopted     CauseKind = "adopted"                   // it exists, and didn't belong to the node
	CauseMoved       CauseKind = "moved"                     // another node of the run had it
	CauseRenamed     CauseKind = "node renamed"              // another node continues its row, and doesn't render it
	CauseReplaced    CauseKind = "replaced"                  // another client deleted it and created it again
	CauseDue         CauseKind = "reapplyInterval"           // its time has come
	CauseTracking    CauseKind = "tracking"                  // labels and owners that identify the node's objects
	CausePolicy      CauseKind = "policy"                    // its policies protect it less, and its content stays
	CauseUnknown     CauseKind = "unknown"                   // nobody knows
)

// anyOf returns the cause that is one of several: "form, row or drift".
func anyOf(kinds []CauseKind) CauseKind {
	switch last := len(kinds) - 1; last {
	case -1:
		return CauseUnknown
	case 0:
		return kinds[0]
	default:
		var words []string
		for _, k := range kinds[:last] {
			words = append(words, string(k))
		}
		return CauseKind(strings.Join(words, ", ")) + " or " + kinds[last]
	}
}

// Cause says why something would change, as far as lynqctl can know it.
type Cause struct {
	Kind CauseKind
	// Columns are those of the row that feed the field, if the row may be the cause.
	Columns []string
	// Form is the field's place in the form, if the form may be the cause. It isn't part of the
	// text.
	Form lynq.Pos
	// Edit says how the form changed, nil if nobody knows. It isn't part of the text either.
	Edit *changeset.Edit
	// Manager is another client that manages the field now. It is nil for none, or if nobody
	// knows.
	Manager *Manager
}

// String returns the cause for people: drift (kubectl-edit, 2026-01-02T15:04:05Z).
func (c Cause) String() string { return c.text(true) }

// Shared returns the cause without times, so that many objects share it.
func (c Cause) Shared() string { return c.text(false) }

func (c Cause) text(timed bool) string {
	var about []string
	switch len(c.Columns) {
	case 0:
	case 1:
		about = append(about, "column "+c.Columns[0])
	default:
		about = append(about, "columns "+strings.Join(c.Columns, ", "))
	}
	if m := c.Manager; m != nil {
		who := m.Name
		if m.Subresource != "" {
			who += " on " + m.Subresource
		}
		if m.Time != "" && timed {
			who += " at " + m.Time
		}
		if c.Kind != CauseDrift {
			who = "held by " + who
		}
		about = append(about, who)
	}
	if len(about) == 0 {
		return string(c.Kind)
	}
	return string(c.Kind) + " (" + strings.Join(about, "; ") + ")"
}

// Origin has the facts of a plan about the causes of an object's change.
type Origin struct {
	// Whole is the cause of all changes. It is "" if each field has its own.
	Whole CauseKind
	// Same is set if lynqctl wants what it applied last. Otherwise, SameForm and SameVersion say
	// whether the form and the version of lynqctl are those of the last write.
	Same, SameForm, SameVersion bool
	// Place returns the place of a field in the form. It is nil if nobody knows the places.
	Place func(Path) lynq.Pos
	// Edit returns how the form changed since the last write, or nil. It is nil if nobody can
	// know.
	Edit func() *changeset.Edit
	// Held is set if lynqctl manages the same fields as after its last write, so that no other
	// client took one.
	Held bool
	// Replaces is set if a write removes all fields that the manifest lacks, of any manager.
	Replaces bool
	// Desired is the rendered manifest.
	Desired map[string]any
	// Secrets are its values that nothing may show.
	Secrets Secrets
	// Sources are the fields of the manifest that rows feed. It is nil if nobody knows them.
	Sources []Source
	// Unchanged names columns that have the same values as when lynqctl last wrote the object.
	// Other columns changed, or nobody knows.
	Unchanged []string
}

// Source is a field of a manifest that columns of a row feed. In its path, "[]" means any entry of
// a list. Without a path, it stands for all fields that no other Source has.
type Source struct {
	Path    []string
	Columns []string
}

// cause finds out why one field of a live object would change.
func (o *Origin) cause(f *Field, all []managed, live map[string]any) Cause {
	others, ours := managing(all, live, f.Path)
	var holder *Manager
	if len(others) > 0 && !ours {
		holder = &others[0]
	}
	_, wanted := at(o.Desired, f.Path)
	switch {
	case o.Whole != "":
		return Cause{Kind: o.Whole, Manager: holder}
	case o.Same && !ours && (wanted || o.Replaces):
		return Cause{Kind: CauseDrift, Manager: holder}
	case o.Same:
		return Cause{Kind: CauseUnknown}
	}
	c := o.rendered(f, wanted, ours, !ours && !o.Held)
	c.Manager = holder
	return c
}

// OfFile finds out why one field of an object in a file changes. Only lynqctl writes the
// file. wanted is set if the object keeps the field.
func (o *Origin) OfFile(path Path, wanted bool) Cause {
	f := Field{Path: path, Op: OpReplace}
	if !wanted {
		f.Op = OpRemove
	}
	return o.rendered(&f, wanted, true, false)
}

// OfObject finds out why lynqctl renders an object otherwise than at its last write. Each of
// several causes may be that of some fields.
func (o *Origin) OfObject() Cause { return o.rendered(&Field{Op: OpReplace}, true, true, false) }

// rendered finds out why lynqctl renders a field otherwise than at its last write. drifted is
// set if others may have changed the field.
func (o *Origin) rendered(f *Field, wanted, ours, drifted bool) Cause {
	var c Cause
	var possible []CauseKind
	if !o.SameForm {
		possible = append(possible, CauseForm)
		if o.Place != nil {
			c.Form = o.Place(f.Path)
		}
		if o.Edit != nil {
			c.Edit = o.Edit()
		}
	}
	columns := o.columns(f.Path)
	changed, lookups := apart(o.changed(columns))
	fed := o.fed(f, columns, wanted, ours)
	if fed && (len(changed) > 0 || len(columns) == 0) {
		possible, c.Columns = append(possible, CauseRow), changed
	}
	if fed {
		possible = append(possible, lookups...)
	}
	if drifted {
		possible = append(possible, CauseDrift)
	}
	if !o.SameVersion {
		possible = append(possible, CauseVersion)
	}
	if fed && len(possible) == 0 { // something changed it: the columns did before the last run
		c.Columns, lookups = apart(columns)
		possible = append([]CauseKind{CauseRow}, lookups...)
	}
	c.Kind = anyOf(possible)
	return c
}

// apart separates the columns of a row from the lookups that feed a field with them. A lookup
// with other entries is a cause of its own.
func apart(all []string) (columns []string, lookups []CauseKind) {
	for _, c := range all {
		if lynq.IsLookupColumn(c) {
			lookups = append(lookups, CauseKind(c))
		} else {
			columns = append(columns, c)
		}
	}
	return columns, lookups
}

// changed returns the columns that may have changed since the last write of the object.
func (o *Origin) changed(columns []string) []string {
	var changed []string
	for _, c := range columns {
		if !slices.Contains(o.Unchanged, c) {
			changed = append(changed, c)
		}
	}
	return changed
}

// fed reports whether the row may change a field. A row doesn't decide which fields exist, but it
// may decide which entries a list has.
func (o *Origin) fed(f *Field, columns []string, wanted, ours bool) bool {
	removed := !wanted && ours && f.Op == OpRemove
	switch {
	case removed && !slices.ContainsFunc(f.Path, func(e Element) bool { return e.Entry }):
		return false
	case !wanted && !removed:
		return true // the server derives it from another field
	}
	return len(columns) > 0 || o.Sources == nil
}

// columns returns the columns that feed a field, or a part of it.
func (o *Origin) columns(path Path) []string {
	var columns, whole []string
	for i := range o.Sources {
		switch s := &o.Sources[i]; {
		case len(s.Path) == 0:
			whole = s.Columns
		case feeds(s.Path, path, isSecret(o.Desired)):
			columns = append(columns, s.Columns...)
		}
	}
	if len(columns) == 0 {
		columns = slices.Clone(whole)
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}

// feeds reports whether one of two paths leads into the other.
func feeds(source []string, path Path, secret bool) bool {
	for i := range min(len(source), len(path)) {
		e, want := path[i], source[i]
		if secret && i == 0 && want == "stringData" {
			want = "data" // where the server stores it
		}
		if e.Entry != (want == "[]") || !e.Entry && e.Field != want {
			return false
		}
	}
	return true
}
