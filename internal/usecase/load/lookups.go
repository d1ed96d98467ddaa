package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/source"
)

// readTables reads the tables of a hub's lookups, before its rows. A row that is newer than
// a table may lack its entry, which is an error of that row.
func (s RowSource) readTables(ctx context.Context, h HubPrograms, c endpoint.Connection, tables map[*form.Lookup]*form.Entries) error {
	for _, l := range h.Hub.Lookups {
		var fields []string
		for _, p := range h.Programs {
			fields = append(fields, p.TableFields(l)...)
		}
		if l.Table == "" || len(fields) == 0 {
			s.learnEntries(h.Hub, l, l.Entries)
			continue
		}
		fields = append(fields, l.SecretColumns...) // the database says which of them it lacks
		slices.Sort(fields)
		entries, err := s.readTable(ctx, h.Hub, l, c, slices.Compact(fields))
		if err != nil {
			return fmt.Errorf("hub %q: lookup %q (%s): %w", h.Hub.Name, l.Name, l.Pos, err)
		}
		tables[l] = entries
		s.learnEntries(h.Hub, l, entries)
	}
	return nil
}

// learnEntries adds the secret values of a lookup to the filter.
func (s RowSource) learnEntries(h *form.Hub, l *form.Lookup, entries *form.Entries) {
	if s.Filter == nil || entries == nil {
		return
	}
	for i, field := range entries.Fields {
		if !l.Secret(h, field) {
			continue
		}
		for _, values := range entries.Values {
			s.Filter.Learn(values[i])
		}
	}
}

// readTable reads the fields of a lookup's table.
func (s RowSource) readTable(ctx context.Context, h *form.Hub, l *form.Lookup, c endpoint.Connection, fields []string) (*form.Entries, error) {
	c.Table, c.Where = l.Table, endpoint.Where{}
	var src source.Source
	err := session.Interruptible(ctx, func() error {
		opened, err := source.Open(ctx, c, s.Stdin, nil)
		src = opened
		return err
	})
	if err != nil {
		return nil, err
	}
	entries, err := collect(ctx, h, l, src, fields)
	return entries, errors.Join(err, src.Close())
}

// collect makes entries of the rows of a table. A row without a key belongs to no value.
func collect(ctx context.Context, h *form.Hub, l *form.Lookup, src source.Source, fields []string) (*form.Entries, error) {
	entries := &form.Entries{Fields: fields, Values: map[string][]string{}}
	query := source.Query{Columns: append([]string{l.Key}, slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == l.Key })...), UID: l.Key}
	for row, err := range src.Records(ctx, query) {
		switch {
		case err != nil:
			return nil, err
		case row.Null[0]:
			continue
		case len(entries.Values) == form.MaxEntries:
			return nil, fmt.Errorf("the table has more than %d rows (map its columns with a view that joins the tables)", form.MaxEntries)
		}
		key := strings.Clone(row.Values[0])
		if _, twice := entries.Values[key]; twice {
			shown := phrase.Quote(key)
			if h.Secret(l.Column) {
				shown = "one value"
			}
			return nil, fmt.Errorf("%s: column %q has %s twice (name a column whose values are unique)", src.Place(row.Line), l.Key, shown)
		}
		values := make([]string, len(fields))
		for i, field := range fields {
			values[i] = strings.Clone(row.Values[slices.Index(query.Columns, field)])
		}
		entries.Values[key] = values
	}
	return entries, nil
}
