package render

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render/expr"
)

// lookupField is a field of a lookup that a form uses. Its value follows those of the row's
// columns.
type lookupField struct {
	of    *form.Lookup
	field string
}

// lookupsOf returns the lookups of a hub for templates.
func lookupsOf(h *form.Hub) map[string]expr.Lookup {
	lookups := map[string]expr.Lookup{}
	for _, l := range h.Lookups {
		lookup := expr.Lookup{Open: l.Table != ""}
		if l.Entries != nil {
			lookup.Fields, lookup.Broken = l.Entries.Fields, len(l.Entries.Fields) == 0
		}
		lookups[l.Name] = lookup
	}
	return lookups
}

// syncFields takes over the fields of lookups that the expressions use so far.
func (p *Program) syncFields(s *expr.Scope) {
	for _, f := range s.Fields()[len(p.fields):] {
		i := slices.IndexFunc(p.Hub.Lookups, func(l *form.Lookup) bool { return l.Name == f.Lookup })
		p.fields = append(p.fields, lookupField{p.Hub.Lookups[i], f.Field})
	}
}

// field returns the field of a lookup at an index of the values, or nil for a column.
func (p *Program) field(i int) *lookupField {
	if base := len(p.columns); i >= base {
		return &p.fields[i-base]
	}
	return nil
}

// origins names the columns behind an index of the values: a column, or the column and the
// name of a lookup.
func (p *Program) origins(i int) []string {
	if f := p.field(i); f != nil {
		return []string{f.of.Column, lynq.LookupColumn(f.of.Name)}
	}
	return []string{p.columns[i]}
}

// secret reports whether output must hide the values at an index.
func (p *Program) secret(i int) bool {
	if f := p.field(i); f != nil {
		return f.of.Secret(p.Hub, f.field)
	}
	return p.Hub.Secret(p.columns[i])
}

// secretName names a secret column, or a field of a lookup.
func (p *Program) secretName(i int) string {
	if f := p.field(i); f != nil {
		return f.of.Name + "." + f.field
	}
	return p.columns[i]
}

// TableFields returns the fields of a table's lookup that the form uses.
func (p *Program) TableFields(l *form.Lookup) []string {
	var fields []string
	for _, f := range p.fields {
		if f.of == l {
			fields = append(fields, f.field)
		}
	}
	return fields
}

// frameLookup finds the entries of a lookup for a frame.
type frameLookup struct {
	of      *form.Lookup
	column  int // of the row
	entries *form.Entries
	from    []int // places in an entry
	to      []int // places in the frame's values
}

// prepareLookups prepares the lookups that the program uses. Entries of tables come from the run.
func (f *frame) prepareLookups() {
	p := f.program
	for i, field := range p.fields {
		at := slices.IndexFunc(f.lookups, func(l frameLookup) bool { return l.of == field.of })
		if at < 0 {
			l := frameLookup{of: field.of, column: slices.Index(p.columns, field.of.Column), entries: field.of.Entries}
			if field.of.Table != "" {
				l.entries = f.settings.Tables[field.of]
			}
			if l.entries == nil {
				l.entries = &form.Entries{} // nobody read the table, so each row lacks its entry
			}
			f.lookups, at = append(f.lookups, l), len(f.lookups)
		}
		l := &f.lookups[at]
		l.from, l.to = append(l.from, slices.Index(l.entries.Fields, field.field)), append(l.to, len(p.columns)+i)
	}
}

// extend adds the values of lookups to a row. A value whose entry is missing is NULL.
func (f *frame) extend(row lynq.Row) lynq.Row {
	base, all := len(f.program.columns), len(f.program.columns)+len(f.program.fields)
	f.values = slices.Grow(append(f.values[:0], row.Values[:base]...), all-base)[:all]
	f.nulls = slices.Grow(f.nulls[:0], all)[:all]
	f.absent = f.absent[:0]
	for i := range f.lookups {
		l := &f.lookups[i]
		entry, found := l.entries.Values[row.Values[l.column]]
		for k, to := range l.to {
			f.nulls[to] = !found
			if f.values[to] = ""; found && l.from[k] >= 0 {
				f.values[to] = entry[l.from[k]]
			}
		}
		if !found {
			f.absent = append(f.absent, i)
		}
	}
	return lynq.Row{Values: f.values, Null: f.nulls, Line: row.Line}
}

// failLookups reports the lookups that have no entry for the row.
func (f *frame) failLookups(problems *lynq.Problems) {
	for _, i := range f.absent {
		l := &f.lookups[i]
		value, shown, fix := f.values[l.column], "the row's value", "add an entry"
		if hub := f.program.Hub; !hub.Secret(l.of.Column) {
			shown, fix = phrase.Quote(value), l.entries.Near(value)
		}
		*problems = append(*problems, lynq.Problem{
			Pos: l.of.Pos, Subject: fmt.Sprintf("hub %q, form %q", f.program.Hub.Name, f.program.Form.Name), Row: strings.Clone(f.uid),
			What: fmt.Sprintf("lookup %q has no entry for %s (column %q)", l.of.Name, shown, l.of.Column), Fix: fix,
		})
	}
}

// isAbsent reports whether an error comes from a missing entry, which failLookups reports.
func isAbsent(err error) bool { return errors.Is(err, expr.ErrNoEntry) }

// Digests returns a digest of each lookup without secrets, by the lookup's name. Nobody can
// tell which lookup with only secret fields changed.
func Digests(h *form.Hub, tables map[*form.Lookup]*form.Entries) map[string]string {
	digests := map[string]string{}
	for _, l := range h.Lookups {
		entries := l.Entries
		if l.Table != "" {
			entries = tables[l]
		}
		if entries == nil || h.Secret(l.Column) {
			continue
		}
		d := newDigester()
		d.texts(l.Column)
		d.texts(entries.Fields...)
		keys := make([]string, 0, len(entries.Values))
		for key := range entries.Values {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			d.texts(key)
			for i, value := range entries.Values[key] {
				if l.Secret(h, entries.Fields[i]) {
					value = strconv.FormatBool(value != "")
				}
				d.texts(value)
			}
		}
		digests[l.Name] = d.short()
	}
	return digests
}
