package endpoint

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Where is the condition for the rows of a table, in the SQL of its server.
type Where struct {
	SQL string // "" is every row
	At  string // FILE:LINE of the hub that has it
}

// MaxWhere limits the bytes of a condition.
const MaxWhere = 4096

// CheckWhere says why a text isn't one expression that stays inside of its parentheses,
// and what to do; "" is nothing. It knows only quotes, comments and parentheses. The server
// checks the rest.
func CheckWhere(t SourceType, sql string) (what, fix string) {
	switch {
	case strings.TrimSpace(sql) == "":
		return "is empty", "write a condition, such as archived = 0, or remove it"
	case len(sql) > MaxWhere:
		return fmt.Sprintf("has more than %d bytes", MaxWhere), "write a view with the condition, and read the view"
	case !utf8.ValidString(sql) || strings.ContainsFunc(sql, isControl):
		return "has a character that no condition needs", "remove the invisible characters"
	}
	if regexp.MustCompile(`(?i)^\s*(select|with|values|table)\b`).MatchString(sql) {
		return "is a query", "write the condition alone, such as archived = 0"
	}
	s := whereScan{text: sql}
	if dialect := t.Kind().SQL; dialect != nil {
		s.Dialect = *dialect
	}
	for s.at < len(s.text) && s.what == "" {
		s.next()
	}
	if s.what == "" && s.open > 0 {
		return "opens a parenthesis that it doesn't close", "close it"
	}
	return s.what, s.fix
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }

// whereScan reads a condition from left to right. It refuses everything that servers read
// in several ways, so that its quotes are those of the server.
type whereScan struct {
	Dialect
	text string
	at   int // the next byte
	open int // parentheses
	// what is wrong, and what to do.
	what, fix string
}

func (s *whereScan) fail(what, fix string) { s.what, s.fix = what, fix }

// next reads a name, a quoted text, or one character.
func (s *whereScan) next() {
	rest, c := s.text[s.at:], s.text[s.at]
	end := c
	if c == '[' {
		end = ']'
	}
	switch {
	case c == '\'', c == '"', strings.IndexByte(s.Quotes, c) >= 0:
		s.quoted(end)
	case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "/*"), c == '#' && s.Hash:
		s.fail("has a comment", "write it as a comment of YAML")
	case c == ';':
		s.fail("has a semicolon, and it is one expression", "remove it")
	case strings.IndexByte(s.Variables, c) >= 0:
		s.fail(fmt.Sprintf("has a %c outside of quotes, which servers take for a variable", c), "write the value itself, and quote names that have this character")
	case c == '(':
		s.open++
	case c == ')' && s.open == 0:
		s.fail("closes a parenthesis that it doesn't open", "write one expression, which lynqctl puts into parentheses")
	case c == ')':
		s.open--
	case isNameByte(c):
		s.name()
		return
	}
	s.at++
}

func isNameByte(c byte) bool {
	return c == '_' || c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// name reads a name or a number. An E before a text also counts for a text in the next line.
func (s *whereScan) name() {
	start := s.at
	for s.at < len(s.text) && isNameByte(s.text[s.at]) {
		s.at++
	}
	if s.Escapes && strings.EqualFold(s.text[start:s.at], "e") && strings.HasPrefix(s.text[s.at:], "'") {
		s.fail("has a text with escapes (E'...')", "write the text without E")
	}
}

// quoted reads to the end of a quoted text. A doubled quote is one quote of the text, which
// reads here like the next text.
func (s *whereScan) quoted(end byte) {
	for i := s.at + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\\' && s.Backslash && end != '`':
			i++
		case c == end:
			s.at = i
			return
		}
	}
	s.fail("opens a quote that it doesn't close", "close it")
}
