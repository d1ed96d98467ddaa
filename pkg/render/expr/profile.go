package expr

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// Most values of most rows are words. Their characters have no special meaning in YAML,
// names or labels. So the compiler knows the YAML style and the validity of a result for
// all words. The evaluator then writes the parts directly, without joining or checking
// them.

// class says where a character may occur.
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

// of returns the classes that a whole value has. A value that isn't a word has none. A
// word begins and ends with a letter or digit, so that any text can stand next to it.
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

// profile describes an expression's results if all inputs are words.
type profile struct {
	known  bool   // the other fields are set: the expression has parts and few inputs
	inputs uint64 // set of the expression's inputs
	style  scalar.Style
	// unmistakable means that no word makes the result look like another YAML type.
	// Otherwise, the expression is a single input, or the evaluator must check the style.
	unmistakable bool
	single       bool // exactly one input and nothing else
	// length is that of the static parts.
	length int
	sample string // the result if all inputs are the word sampleWord
}

// sampleWord is a letter that occurs in no number, date or reserved word.
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

// unmistakable reports whether every YAML reader takes a text with these characters for a
// string. It requires some characters that numbers lack, some that dates lack, and a set
// that reserved words lack.
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
