package render

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// Most values of most rows are words: text of characters that mean nothing in
// YAML, in names or in labels. For those it is known when a form is compiled
// how a result is written and whether Kubernetes takes it, whatever the word.
// Such results are neither put together nor looked at: their parts are written
// where they stand.

// class says what a character may be part of.
type class uint8

const (
	classWord  class = 1 << iota // a word, see isWord
	classLabel                   // the value of a label
	className                    // a DNS label
)

// classTable has the classes of each byte.
type classTable [256]class

func newClassTable() *classTable {
	var t classTable
	for i := range t {
		switch c := byte(i); {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			t[i] = classWord | classLabel | className
		case c == '-':
			t[i] = classWord | classLabel | className
		case scalar.IsAlnum(c), c == '.', c == '_':
			t[i] = classWord | classLabel
		case c == '/', c == ':', c == '@':
			t[i] = classWord
		}
	}
	return &t
}

// of is the classes that all of a value belongs to; what is not a word
// belongs to none. A word begins and ends with a letter or digit here, so that
// it can stand beside anything.
func (t *classTable) of(s string) class {
	if s == "" || !scalar.IsAlnum(s[0]) || !scalar.IsAlnum(s[len(s)-1]) {
		return 0
	}
	all := classWord | classLabel | className
	for i := range len(s) {
		all &= t[s[i]]
	}
	return all
}

// profile is what is known of an expression's results, should all its inputs be
// words.
type profile struct {
	known  bool   // anything at all: the expression is parts, of few inputs
	inputs uint64 // the set of its inputs
	style  scalar.Style
	// unmistakable: no word makes the result look like a number or the like. Else the
	// expression is a single input, or what follows from style has to be checked.
	unmistakable bool
	single       bool // one input and nothing else
	// length of the static parts.
	length int
	sample string // a result: all inputs are the word sampleWord
}

// sampleWord is a word of a letter that occurs in no number, date or reserved
// word.
const sampleWord = "w"

func profileOf(e *expr) profile {
	if e.template != nil || e.result != typeText {
		return profile{}
	}
	var s profile
	var static, sample strings.Builder
	for i := range e.parts {
		p := &e.parts[i]
		switch {
		case p.value == noInput:
			static.WriteString(p.static)
			sample.WriteString(p.static)
		case p.value >= 64:
			return profile{}
		default:
			s.inputs |= 1 << p.value
			sample.WriteString(sampleWord)
		}
	}
	s.known = s.inputs != 0
	s.sample, s.length = sample.String(), static.Len()
	s.style = scalar.StyleOf(s.sample)
	s.single = len(e.parts) == 1
	s.unmistakable = s.style != scalar.Plain || unmistakable(static.String())
	return s
}

// unmistakable tells whether any text with these characters in it is a string
// to all YAML readers: some are in no number, some in no date, and together
// they are in no reserved word.
func unmistakable(static string) bool {
	inNumber, inDate, letters := true, true, true
	for i := range len(static) {
		c := static[i]
		digit := c >= '0' && c <= '9'
		letter := scalar.IsAlnum(c) && !digit
		inNumber = inNumber && (digit || strings.IndexByte("abcdefABCDEFxXoO_+-.:", c) >= 0)
		inDate = inDate && (digit || strings.IndexByte(":.+-TtZ \t", c) >= 0)
		letters = letters && letter
	}
	return !inNumber && !inDate && (!letters || len(static) > 5) && !strings.ContainsAny(static, "~=<")
}

// quick tells whether the result of an expression is its parts as they stand,
// plain.
func (f *frame) quick(e *expr) bool {
	s := &e.profile
	switch {
	case !s.known || s.style != scalar.Plain || s.inputs&^f.words != 0:
		return false
	case !s.unmistakable && (!s.single || s.inputs&^f.plain != 0):
		return false
	case e.uidLabel && !f.rawUID:
		return false
	case e.nodeName:
		return !f.dashed && s.inputs&^f.names == 0 && s.length+len(f.uid) <= maxLabel
	}
	return true
}

// classify looks at the inputs of the row, once each.
func (f *frame) classify() {
	f.words, f.plain, f.labelled, f.names = 0, 0, 0, 0
	for i := range f.program.inputs {
		in := &f.program.inputs[i]
		text := f.column(in.column)
		if len(in.apply) > 0 {
			text = in.through(text)
		}
		f.texts[i] = text
		if i >= 64 {
			continue
		}
		c, bit := f.program.classes.of(text), uint64(1)<<i
		if c&classWord == 0 {
			continue
		}
		f.words |= bit
		if c&classLabel != 0 {
			f.labelled |= bit
		}
		if c&className != 0 {
			f.names |= bit
		}
		if !scalar.Ambiguous(text) {
			f.plain |= bit
		}
	}
}

// appendSlot appends the text of a slot.
func (f *frame) appendSlot(dst []byte, i int) []byte {
	s := &f.slots[i]
	if !s.quick {
		return append(dst, f.arena[s.start:s.end]...)
	}
	parts := f.program.exprs[i].parts
	for j := range parts {
		if p := &parts[j]; p.value == noInput {
			dst = append(dst, p.static...)
		} else {
			dst = append(dst, f.texts[p.value]...)
		}
	}
	return dst
}

// length is the length of the text of a slot.
func (f *frame) length(i int) int {
	s := &f.slots[i]
	if !s.quick {
		return s.end - s.start
	}
	e := &f.program.exprs[i]
	n := e.profile.length
	for j := range e.parts {
		if v := e.parts[j].value; v != noInput {
			n += len(f.texts[v])
		}
	}
	return n
}

// allNames tells whether a slot is parts whose inputs are all names, and no
// longer than max. Where its sample is a name, it is one too.
func (f *frame) allNames(i, limit int) bool {
	return f.slots[i].quick && f.program.exprs[i].profile.inputs&^f.names == 0 && f.length(i) <= limit
}

// allLabels is the same for the values of labels.
func (f *frame) allLabels(i int) bool {
	return f.slots[i].quick && f.program.exprs[i].profile.inputs&^f.labelled == 0 && f.length(i) <= maxLabel
}

// maxLabel is how long the value of a label may be.
const maxLabel = 63
