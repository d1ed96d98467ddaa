package redact

import (
	"slices"
	"sort"
	"strings"
)

// prefix is how many bytes of each value a table hashes. No value in it is shorter.
const prefix = quotedOnly + 1

// table finds the longest value at a place of a text in logarithmic time.
type table struct {
	values []string
	// outer has for each value the longest other value with which it begins, -1 for none.
	outer []int32
	// begins is a set of hashes of the first bytes, which excludes nearly all places of a
	// text. Its size is a power of two.
	begins []uint64
	least  int // bytes of the shortest value
	most   int // bytes of the longest
}

func newTable(values []string) *table {
	slices.Sort(values)
	values = slices.Compact(values)
	t := &table{values: values, outer: make([]int32, len(values)), least: len(values[0])}
	size := 1 << 4
	for size < len(values)/2 {
		size *= 2
	}
	t.begins = make([]uint64, size)
	var stack []int32
	for i, v := range values {
		t.least, t.most = min(t.least, len(v)), max(t.most, len(v))
		h := t.hash(v)
		t.begins[h>>6] |= 1 << (h & 63)
		for len(stack) > 0 && !strings.HasPrefix(v, values[stack[len(stack)-1]]) {
			stack = stack[:len(stack)-1]
		}
		t.outer[i] = -1
		if len(stack) > 0 {
			t.outer[i] = stack[len(stack)-1]
		}
		stack = append(stack, int32(i))
	}
	return t
}

func (t *table) hash(s string) uint32 {
	n := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	n *= 0x9e3779b1
	n ^= n >> 15
	return n & uint32(len(t.begins)*64-1) //nolint:gosec // see newTable
}

// may reports whether a value may begin with the first bytes of a text.
func (t *table) may(text string) bool {
	h := t.hash(text)
	return t.begins[h>>6]&(1<<(h&63)) != 0
}

// at calls accept with each value with which a text begins, from the longest, until it
// returns true. It returns the length of that value, or 0.
func (t *table) at(text string, accept func(value string) bool) int {
	if !t.may(text) {
		return 0
	}
	// Each value that begins the text is in the chain of the last value before the text.
	i := int32(sort.Search(len(t.values), func(i int) bool { return t.values[i] > text }) - 1) //nolint:gosec // see newTable
	for ; i >= 0; i = t.outer[i] {
		if v := t.values[i]; strings.HasPrefix(text, v) && accept(v) {
			return len(v)
		}
	}
	return 0
}

// begun reports whether a value begins with a text.
func (t *table) begun(text string) bool {
	if !t.may(text) {
		return false
	}
	i := sort.SearchStrings(t.values, text)
	return i < len(t.values) && strings.HasPrefix(t.values[i], text)
}
