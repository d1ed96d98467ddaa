package source

import (
	"context"
	"iter"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// stream turns a function into a sequence. The function calls emit for each record until
// emit returns false.
func stream(read func(emit func(lynq.Row) bool) error) iter.Seq2[lynq.Row, error] {
	return func(yield func(lynq.Row, error) bool) {
		stopped := false
		err := read(func(r lynq.Row) bool {
			stopped = !yield(r, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(lynq.Row{}, err)
		}
	}
}

// builder builds records. The texts of a record share one string, so that a record costs
// one allocation.
type builder struct {
	columns []string
	fix     string // the fix for values that aren't text
	uid     int    // index in columns
	text    []byte
	ends    []int // the end of each value in text
	rec     lynq.Row
	last    string // uid of the previous record
	count   int    // number of built records
}

// newBuilder returns a builder for q's records. fix says what to do about a value that
// isn't text.
func newBuilder(q Query, fix string) (*builder, error) {
	uid, err := uidIndex(q)
	if err != nil {
		return nil, err
	}
	n := len(q.Columns)
	return &builder{
		columns: q.Columns,
		fix:     fix,
		uid:     uid,
		ends:    make([]int, 0, n),
		rec:     lynq.Row{Values: make([]string, n), Null: make([]bool, n)},
	}, nil
}

// add appends the next value's text.
func (b *builder) add(text []byte) {
	b.text = append(b.text, text...)
	b.end(false)
}

// addNull appends NULL.
func (b *builder) addNull() { b.end(true) }

// end finishes a value whose text is already in b.text.
func (b *builder) end(null bool) {
	b.rec.Null[len(b.ends)] = null
	b.ends = append(b.ends, len(b.text))
}

// record finishes the record from the added values. It calls place only for an error.
func (b *builder) record(line int, place func(int) string) (lynq.Row, error) {
	whole, start := string(b.text), 0
	for i, end := range b.ends {
		b.rec.Values[i] = whole[start:end]
		start = end
	}
	b.text, b.ends = b.text[:0], b.ends[:0]
	b.rec.Line = line
	return b.finish(place)
}

// finish checks the texts of b.rec, and that its uid isn't before the previous one.
func (b *builder) finish(place func(int) string) (lynq.Row, error) {
	size := 0
	for i, value := range b.rec.Values {
		size += len(value)
		if !utf8.ValidString(value) {
			return lynq.Row{}, badText(place(b.rec.Line), b.columns[i], b.fix)
		}
	}
	if size > fault.MaxRow {
		return lynq.Row{}, fault.LongRow(place(b.rec.Line), fixLongRow)
	}
	uid := b.rec.Values[b.uid]
	if uid < b.last {
		return lynq.Row{}, outOfOrder(place(b.rec.Line), b.columns[b.uid])
	}
	b.last = uid
	b.count++
	return b.rec, nil
}

// checkEvery is the number of records between two checks of the context.
const checkEvery = 256

// stopped returns an error if the context has ended. It checks only every few records.
func stopped(ctx context.Context, place string, count int) error {
	if count%checkEvery == 0 && ctx.Err() != nil {
		return brokeOff(ctx, place, count, nil)
	}
	return nil
}
