package render

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// input is a column, or a field of a lookup, that a form reads and that has no secret.
type input struct {
	name   string // of a column, or lookup.field
	index  int    // of its value
	lookup *form.Lookup
	tag    byte // begins the digest of the name
}

// inputSize is the size of an input in a record. The first byte is its tag, and the others
// begin a digest of its value. So many values have the same record, and it tells none.
const inputSize = 3

// readInputs finds the inputs of all expressions, sorted by name. The uid isn't one of them,
// because another uid makes another node.
func (p *Program) readInputs() []input {
	read := map[int]bool{}
	for i := range p.uses {
		for _, at := range p.exprs.Columns(i) {
			read[at] = true
			if f := p.field(at); f != nil {
				read[slices.Index(p.columns, f.of.Column)] = true
			}
		}
	}
	var all []input
	for at := range read {
		in := input{index: at}
		if f := p.field(at); f != nil {
			in.name, in.lookup = f.of.Name+"."+f.field, f.of
		} else {
			in.name = p.columns[at]
		}
		if at == p.uid || p.secret(at) || in.lookup != nil && p.Hub.Secret(in.lookup.Column) {
			continue
		}
		sum := sha256.Sum256([]byte(lookupMark(in.lookup) + in.name))
		in.tag = sum[0]
		all = append(all, in)
	}
	slices.SortFunc(all, func(a, b input) int {
		return cmp.Or(cmp.Compare(lookupMark(a.lookup), lookupMark(b.lookup)), cmp.Compare(a.name, b.name))
	})
	return all
}

// lookupMark begins the names of a lookup's fields, so that no column has the same name.
func lookupMark(l *form.Lookup) string {
	if l == nil {
		return ""
	}
	return lynq.LookupColumn("")
}

// inputs returns the record of the row for Changed. The digests depend on hub and row, so
// that equal values of two rows have different records.
func (f *frame) inputs() string {
	all := f.program.inputs
	if len(all) == 0 {
		return ""
	}
	record := make([]byte, 0, inputSize*len(all))
	for i := range all {
		in := &all[i]
		b := f.probe[:0]
		for _, text := range [...]string{f.program.Hub.Namespace, f.program.Hub.Name, f.uid, lookupMark(in.lookup), in.name, f.row.Values[in.index]} {
			b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
		}
		f.probe = b
		sum := sha256.Sum256(b)
		record = append(record, in.tag, sum[0], sum[1])
	}
	return string(record)
}

// Changed compares two records of a row, of which this program made the second one. It
// returns true for each column and lookup that has changed, and false for each that hasn't.
// It lacks the ones that a record doesn't tell, such as secret columns. Sixteen bits can't
// tell all values apart: one of 65 536 changed values counts as unchanged.
func (p *Program) Changed(before, now string) map[string]bool {
	changed := map[string]bool{p.columns[p.uid]: false}
	if len(now) != inputSize*len(p.inputs) || len(before)%inputSize != 0 {
		return changed
	}
	for i := range p.inputs {
		in := &p.inputs[i]
		was, certain := valueIn(before, now, i)
		if !certain {
			continue
		}
		differs := was != now[inputSize*i+1:inputSize*(i+1)]
		if in.lookup == nil {
			changed[in.name] = differs
			continue
		}
		// Columns come first. A row with another key has another entry, which tells nothing
		// about the lookup.
		if key, known := changed[in.lookup.Column]; known && !key {
			name := lynq.LookupColumn(in.lookup.Name)
			changed[name] = changed[name] || differs
		}
	}
	return changed
}

// valueIn returns what a record has for the input at place i of another one, and whether that
// is certain. If both records have the same tags, places count, else unique tags.
func valueIn(record, other string, i int) (value string, certain bool) {
	tag, same, others, found := other[inputSize*i], len(record) == len(other), 0, 0
	for at := 0; at < len(other); at += inputSize {
		same = same && record[at] == other[at]
		if other[at] == tag {
			others++
		}
	}
	if same {
		return record[inputSize*i+1 : inputSize*(i+1)], true
	}
	for at := 0; at < len(record); at += inputSize {
		if record[at] == tag {
			value, found = record[at+1:at+inputSize], found+1
		}
	}
	return value, found == 1 && others == 1
}
