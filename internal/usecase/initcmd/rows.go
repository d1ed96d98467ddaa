package initcmd

import (
	"context"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/render/funcs"
	"github.com/lynqctl/lynqctl/pkg/source"
)

// lookAt reads all rows of a table, and decides what its columns mean. It completes the
// connection.
func lookAt(ctx context.Context, from *origin, stdin io.Reader, now time.Time) (*draft.Draft, error) {
	var src source.Source
	err := session.Interruptible(ctx, func() error {
		if !from.given {
			complete, err := source.Complete(ctx, from.connection)
			if err != nil {
				return err
			}
			from.connection = complete
		}
		opened, err := source.Open(ctx, from.connection, stdin, nil)
		src = opened
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }() // nothing was written
	columns, err := src.Describe(ctx)
	if err != nil {
		return nil, err
	}
	return decide(ctx, src, from, columns, now)
}

// decide drafts a table. It reads all rows, and then the uids in their order to find equal
// ones, because a set of all uids may not fit in memory. Equal uids join the sample, so that
// another column becomes the uid.
func decide(ctx context.Context, src source.Source, from *origin, columns []source.Column, now time.Time) (*draft.Draft, error) {
	t := &draft.Table{Type: from.connection.Type, Name: from.connection.Table}
	q, sampled := query(t, columns)
	sample := draft.NewSample(t, sampled)
	if len(q.Columns) == 0 {
		return draft.Decide(*t, from.choice)
	}
	for row, err := range src.Records(ctx, q) {
		if err != nil {
			return nil, err
		}
		sample.Add(row.Values)
	}
	for range columns { // each turn excludes one column
		d, err := draft.Decide(*t, from.choice)
		if err != nil {
			return nil, err
		}
		q.UID = d.UID
		var n names
		if single, err := checkUIDs(ctx, src, q, sample, d, &n, now); err != nil || single {
			if d.Converted != "" && n.clash() {
				d.HashNames()
			}
			return d, err
		}
	}
	return draft.Decide(*t, from.choice)
}

// query returns the query for all columns that contain text, with their indexes.
func query(t *draft.Table, columns []source.Column) (q source.Query, sampled []int) {
	most := source.NoKey - 1
	for i, c := range columns {
		t.Columns = append(t.Columns, draft.Column{Name: c.Name, Primary: c.Key == source.PrimaryKey, Unique: c.Key == source.UniqueKey, Binary: c.Binary})
		if c.Binary {
			continue
		}
		q.Columns, sampled = append(q.Columns, c.Name), append(sampled, i)
		if c.Key > most {
			q.UID, most = c.Name, c.Key
		}
	}
	return q, sampled
}

// checkUIDs reports whether each active row has a uid of its own. If not, it adds the rows
// that show it to the sample. If so, it counts the rows. n gets the uids of active rows.
func checkUIDs(ctx context.Context, src source.Source, q source.Query, sample *draft.Sample, d *draft.Draft, n *names, now time.Time) (single bool, err error) {
	at := slices.Index(q.Columns, q.UID)
	if at < 0 {
		return true, nil // the uid of an existing hub is in a column of bytes
	}
	var last []string
	var rows draft.Rows
	for row, err := range src.Records(ctx, q) {
		if err != nil {
			return false, err
		}
		sample.Count(&rows, d, row.Values, now)
		if sample.Off(d, row.Values) {
			continue
		}
		switch uid := strings.TrimSpace(row.Values[at]); {
		case uid == "":
			sample.Keep(row.Values)
			return false, nil
		case last != nil && uid == strings.TrimSpace(last[at]):
			sample.Keep(last)
			sample.Keep(row.Values)
			return false, nil
		}
		n.add(strings.TrimSpace(row.Values[at]))
		last = cloned(last, row.Values)
	}
	d.Rows = &rows
	return true, nil
}

// cloned copies the values of a row, which are valid until the next row only.
func cloned(into, values []string) []string {
	into = into[:0]
	for _, v := range values {
		into = append(into, strings.Clone(v))
	}
	return into
}

// names finds out whether uids make distinct names.
type names struct {
	sums []uint64 // of the names
	odd  bool     // a uid makes no name
}

func (n *names) add(uid string) {
	name, err := funcs.Slug(uid)
	n.odd = n.odd || err != nil
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(name)) // a hash takes everything
	n.sums = append(n.sums, sum.Sum64())
}

// clash reports whether a uid makes no name, or the name of another uid.
func (n *names) clash() bool {
	slices.Sort(n.sums)
	all := len(n.sums)
	return n.odd || len(slices.Compact(n.sums)) < all
}
