package expr

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

func profileOf(e *Expr) profile {
	if e.template != nil || e.Result != Text {
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
