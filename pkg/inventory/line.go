package inventory

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// A run reads the entries of all nodes, so this file scans a line by hand. It copies no text
// before compact does. For 10 000 inventories with five entries, encoding/json takes 0.65 s of
// processor time, and this 0.15 s. An apply without changes takes 2 s in total.

// encodeEntries returns a JSON list with one sorted entry per line, without empty members.
func encodeEntries(entries []Entry) (string, error) {
	known := inLine(members())
	b := []byte("[")
	seen := make(map[lynq.Ref]bool, len(entries))
	for i := range entries {
		r := &entries[i]
		if err := r.check(known); err != nil {
			return "", err
		}
		if seen[r.Ref] {
			return "", fmt.Errorf("%s is recorded twice", r.Ref)
		}
		seen[r.Ref] = true
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = r.appendLine(append(b, '\n'), known); err != nil {
			return "", err
		}
	}
	return string(append(b, "\n]"...)), nil
}

// appendLine writes an entry, which is its key and its non-empty members.
func (r *Entry) appendLine(b []byte, known []member) ([]byte, error) {
	key, err := phrase.JSON(r.Key())
	if err != nil {
		return nil, err
	}
	b = append(append(b, `{"key":`...), key...)
	for i := range known {
		v := known[i].of(r)
		if v.IsZero() {
			continue
		}
		b = append(append(append(b, `,"`...), known[i].name...), `":`...)
		if v.CanInt() {
			b = strconv.AppendInt(b, v.Int(), 10)
			continue
		}
		value, err := phrase.JSON(v.Interface())
		if err != nil {
			return nil, err
		}
		b = append(b, value...)
	}
	return append(b, '}'), nil
}

// check refuses values that would read back differently.
func (r *Entry) check(known []member) error {
	ref, id, err := parseKey(r.Key())
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	ref.Group = group
	if err != nil || ref != r.Ref || id != r.ID {
		return fmt.Errorf("%q with id %q and apiVersion %q cannot be recorded", r.Ref, r.ID, r.APIVersion)
	}
	for i := range known {
		m := &known[i]
		v := m.of(r)
		switch {
		case v.Kind() != reflect.String:
		case !m.knows(v, v.String()):
			return fmt.Errorf("%s of %s is %q, which is not one of its values", m.name, r.Ref, v.String())
		case !utf8.ValidString(v.String()):
			return errors.New("an entry is not valid UTF-8")
		}
	}
	if !utf8.ValidString(r.Key()) {
		return errors.New("an entry is not valid UTF-8")
	}
	return nil
}

// decodeEntries reads the output of encodeEntries, in any order. An error comes with its
// line, counted from 1.
func decodeEntries(text string) (entries []Entry, line int, err error) {
	if !utf8.ValidString(text) {
		return nil, 1, errors.New("it is not valid UTF-8")
	}
	first, rest, more := strings.Cut(text, "\n")
	line = 1
	if strings.TrimSpace(first) != "[" || !more {
		return nil, line, errors.New(`it does not begin with a line "["`)
	}
	entries = make([]Entry, 0, strings.Count(rest, "\n"))
	known := members()
	comma := true // the previous line ended with a comma
	for more {
		line++
		var s string
		s, rest, more = strings.Cut(rest, "\n")
		s = strings.TrimSpace(s)
		switch {
		case s == "]" && comma && len(entries) > 0:
			return nil, line - 1, errors.New("the last entry ends with a comma")
		case s == "]" && strings.TrimSpace(rest) != "":
			return nil, line + 1, errors.New("the list has ended, but text follows")
		case s == "]":
			compact(entries)
			entries, err = inOrder(entries)
			return entries, line, err
		case !comma:
			return nil, line - 1, errors.New("it lacks a comma, but another entry follows")
		}
		s, comma = strings.CutSuffix(s, ",")
		entries = append(entries, Entry{})
		if err := entries[len(entries)-1].parse(s, known); err != nil {
			return nil, line, err
		}
	}
	return nil, line, errors.New(`it does not end with a line "]"`)
}

// inOrder sorts entries, and refuses two for one object.
func inOrder(entries []Entry) ([]Entry, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	seen := make(map[lynq.Ref]bool, len(entries))
	for i := range entries {
		if seen[entries[i].Ref] {
			return nil, fmt.Errorf("%s is recorded twice", entries[i].Ref)
		}
		seen[entries[i].Ref] = true
	}
	return sorted(entries), nil
}

// parse reads one line.
func (r *Entry) parse(line string, known []member) error {
	s := scanner{rest: line}
	var key string
	s.expect('{')
	for first := true; s.err == nil && !s.skip('}'); first = false {
		if !first {
			s.expect(',')
		}
		name := s.text()
		s.expect(':')
		switch i := slices.IndexFunc(known, func(m member) bool { return m.name == name }); {
		case name == "key":
			key = s.text()
		case i < 0:
			s.fail("%q is not part of an entry", name)
		default:
			known[i].read(&s, r)
		}
	}
	switch {
	case s.err != nil:
		return s.err
	case strings.TrimSpace(s.rest) != "":
		return fmt.Errorf("a line holds one entry; this follows: %q", s.rest)
	case key == "":
		return errors.New("it has no key")
	case r.APIVersion == "":
		return fmt.Errorf("%s has no apiVersion", key)
	}
	var err error
	if r.Ref, r.ID, err = parseKey(key); err != nil {
		return err
	}
	return nil
}

// parseKey reads Kind/Namespace/Name@id or Kind/Name@id. A key has no group.
func parseKey(key string) (lynq.Ref, string, error) {
	at := strings.LastIndexByte(key, '@')
	if at >= 0 {
		kind, name, _ := strings.Cut(key[:at], "/")
		namespace, inner, found := strings.Cut(name, "/")
		if found {
			name = inner
		} else {
			namespace = ""
		}
		if kind != "" && name != "" && found == (namespace != "") && !strings.Contains(name, "/") {
			return lynq.Ref{Kind: kind, Namespace: namespace, Name: name}, key[at+1:], nil
		}
	}
	return lynq.Ref{}, "", fmt.Errorf("key %q is neither Kind/Namespace/Name@id nor Kind/Name@id", key)
}

// scanner reads JSON with strings, integers, true and false. After the first error, it
// reads nothing more.
type scanner struct {
	rest string
	err  error
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// space skips white space between tokens.
func (s *scanner) space() {
	for s.rest != "" && (s.rest[0] == ' ' || s.rest[0] == '\t' || s.rest[0] == '\r') {
		s.rest = s.rest[1:]
	}
}

// skip skips a character if it is next.
func (s *scanner) skip(c byte) bool {
	if s.err != nil {
		return false
	}
	s.space()
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) expect(c byte) {
	if !s.skip(c) {
		s.fail("want %q before %q", c, s.rest)
	}
}

// text reads a string.
func (s *scanner) text() string {
	if s.expect('"'); s.err != nil {
		return ""
	}
	escaped := false
	for i := 0; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			s.fail("%q has a control character", s.rest[:i])
			return ""
		case c == '"':
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			if escaped {
				return s.unescape(text)
			}
			return text
		}
	}
	s.fail("a string does not end: %q", s.rest)
	return ""
}

func (s *scanner) unescape(text string) string {
	var out string
	if err := json.Unmarshal([]byte(`"`+text+`"`), &out); err != nil {
		s.fail("%q: %w", text, err)
	}
	return out
}

// number reads an integer.
func (s *scanner) number() int64 {
	token := s.token()
	n, err := strconv.ParseInt(token, 10, 64)
	if err != nil {
		s.fail("%q is not a whole number", token)
	}
	return n
}

// time reads a time in RFC 3339.
func (s *scanner) time() time.Time {
	t, err := decodeTime(s.text())
	if err != nil {
		s.fail("%w", err)
	}
	return t
}

// truth reads true or false.
func (s *scanner) truth() bool {
	token := s.token()
	if token != "true" && token != "false" {
		s.fail("%q is neither true nor false", token)
	}
	return token == "true"
}

// token returns the text of a value that isn't a string.
func (s *scanner) token() string {
	s.space()
	end := strings.IndexAny(s.rest, ",} \t\r")
	if end < 0 {
		end = len(s.rest)
	}
	token := s.rest[:end]
	s.rest = s.rest[end:]
	return token
}
