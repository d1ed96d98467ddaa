package inventory

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A run reads the entries of all nodes, so a line is scanned by hand: strings
// are parts of the line, and nothing is reflected upon. encoding/json takes 0.65 s
// of processor time for 10 000 inventories of five entries, this 0.15 s; an apply
// that finds nothing to do takes 2 s for all.

// encodeEntries is a JSON list with one entry per line, without what is empty.
// The entries must be sorted.
func encodeEntries(entries []Entry) (string, error) {
	lines := make([]string, len(entries))
	seen := make(map[lynq.Ref]bool, len(entries))
	for i := range entries {
		r := &entries[i]
		if err := r.check(); err != nil {
			return "", err
		}
		if seen[r.Ref] {
			return "", fmt.Errorf("%s is recorded twice", r.Ref)
		}
		seen[r.Ref] = true
		line, err := lynq.JSON(struct {
			Key string `json:"key"`
			*Entry
		}{r.Key(), r})
		if err != nil {
			return "", err
		}
		lines[i] = "\n" + line
	}
	return "[" + strings.Join(lines, ",") + "\n]", nil
}

// check finds what would not read back as it was written.
func (r *Entry) check() error {
	ref, id, err := parseKey(r.Key())
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	ref.Group = group
	switch {
	case err != nil || ref != r.Ref || id != r.ID:
		return fmt.Errorf("%q with id %q and apiVersion %q cannot be recorded", r.Ref, r.ID, r.APIVersion)
	case !slices.Contains(creations(), r.Creation), !slices.Contains(deletions(), r.Deletion),
		!slices.Contains(conflicts(), r.Conflict), !slices.Contains(patches(), r.Patch):
		return fmt.Errorf("%s has a policy that is none: %q %q %q %q", r.Ref, r.Creation, r.Deletion, r.Conflict, r.Patch)
	case !slices.Contains(phases(), r.Phase):
		return fmt.Errorf("%s has a phase that is none: %q", r.Ref, r.Phase)
	}
	for _, text := range []string{r.Key(), r.APIVersion, r.UID, r.Digest, r.Template, r.ResourceVersion, r.Fields, r.Defaults} {
		if !utf8.ValidString(text) {
			return errors.New("an entry is no valid UTF-8")
		}
	}
	return nil
}

// decodeEntries reads what encodeEntries writes, in any order. An error comes
// with its line, from 1.
func decodeEntries(text string) (entries []Entry, line int, err error) {
	if !utf8.ValidString(text) {
		return nil, 1, errors.New("it is no valid UTF-8")
	}
	first, rest, more := strings.Cut(text, "\n")
	line = 1
	if strings.TrimSpace(first) != "[" || !more {
		return nil, line, errors.New(`it does not begin with a line "["`)
	}
	entries = make([]Entry, 0, strings.Count(rest, "\n"))
	comma := true // the line before ends with one
	for more {
		line++
		var s string
		s, rest, more = strings.Cut(rest, "\n")
		s = strings.TrimSpace(s)
		switch {
		case s == "]" && comma && len(entries) > 0:
			return nil, line - 1, errors.New("the last entry ends with a comma")
		case s == "]" && strings.TrimSpace(rest) != "":
			return nil, line + 1, errors.New("the list has ended, but there is more")
		case s == "]":
			entries, err = inOrder(entries)
			return entries, line, err
		case !comma:
			return nil, line - 1, errors.New("it does not end with a comma, but another entry follows")
		}
		s, comma = strings.CutSuffix(s, ",")
		entries = append(entries, Entry{})
		if err := entries[len(entries)-1].parse(s); err != nil {
			return nil, line, err
		}
	}
	return nil, line, errors.New(`it does not end with a line "]"`)
}

// inOrder sorts entries and refuses two of one object.
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
func (r *Entry) parse(line string) error {
	s := scanner{rest: line}
	var key string
	s.expect('{')
	for first := true; s.err == nil && !s.skip('}'); first = false {
		if !first {
			s.expect(',')
		}
		name := s.text()
		s.expect(':')
		r.member(&s, name, &key)
	}
	switch {
	case s.err != nil:
		return s.err
	case strings.TrimSpace(s.rest) != "":
		return fmt.Errorf("a line holds one entry; there is more: %q", s.rest)
	case key == "":
		return errors.New("it has no key")
	case r.APIVersion == "":
		return fmt.Errorf("%s has no apiVersion", key)
	}
	var err error
	if r.Ref, r.ID, err = parseKey(key); err != nil {
		return err
	}
	r.Group, _ = lynq.SplitAPIVersion(r.APIVersion)
	return nil
}

// member reads one member's value.
func (r *Entry) member(s *scanner, name string, key *string) {
	switch name {
	case "key":
		*key = s.text()
	case "apiVersion":
		r.APIVersion = s.text()
	case "uid":
		r.UID = s.text()
	case "digest":
		r.Digest = s.text()
	case "template":
		r.Template = s.text()
	case "generation":
		r.Generation = s.number()
	case "resourceVersion":
		r.ResourceVersion = s.text()
	case "fields":
		r.Fields = s.text()
	case "defaults":
		r.Defaults = s.text()
	case "written":
		r.Written = s.time()
	case "creation":
		r.Creation = word(s, name, creations())
	case "deletion":
		r.Deletion = word(s, name, deletions())
	case "conflict":
		r.Conflict = word(s, name, conflicts())
	case "patch":
		r.Patch = word(s, name, patches())
	case "order":
		r.Order = int(s.number())
	case "phase":
		r.Phase = word(s, name, phases())
	case "deleteOrder":
		r.DeleteOrder = int(s.number())
	case "ready":
		r.Ready = s.truth()
	case "unwaited":
		r.Unwaited = s.truth()
	case "adopted":
		r.Adopted = s.truth()
	case "excluded":
		r.Excluded = s.truth()
	case "holdsData":
		r.Data = s.truth()
	case "runOn":
		r.RunOn = word(s, name, []lynq.RunOn{lynq.RunOnDelete})
	default:
		s.fail("%q is no part of an entry", name)
	}
}

// The values of policies. Nothing is one where it was not recorded.
func creations() []lynq.CreationPolicy {
	return []lynq.CreationPolicy{lynq.CreateWhenNeeded, lynq.CreateOnce, ""}
}

func deletions() []lynq.DeletionPolicy {
	return append(lynq.DeletionPolicies(), "")
}

func conflicts() []lynq.ConflictPolicy {
	return []lynq.ConflictPolicy{lynq.ConflictStuck, lynq.ConflictForce, ""}
}

func patches() []lynq.PatchStrategy {
	return append(lynq.PatchStrategies(), "")
}

func phases() []Phase { return []Phase{PhaseRunning, PhaseFailed, PhaseCompleted, ""} }

// word reads a string that must be one of some.
func word[T ~string](s *scanner, name string, known []T) T {
	text := s.text()
	for _, k := range known {
		if string(k) == text {
			return k
		}
	}
	s.fail("%s is %q", name, text)
	return ""
}

// parseKey reads Kind/Namespace/Name@id or Kind/Name@id. The group is not in it.
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

// scanner reads JSON of strings, whole numbers, true and false. The first error
// stays; after it nothing is read.
type scanner struct {
	rest string
	err  error
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// space skips what may be between tokens.
func (s *scanner) space() {
	for s.rest != "" && (s.rest[0] == ' ' || s.rest[0] == '\t' || s.rest[0] == '\r') {
		s.rest = s.rest[1:]
	}
}

// skip takes a character, if it is next.
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

// number reads a whole number.
func (s *scanner) number() int64 {
	token := s.token()
	n, err := strconv.ParseInt(token, 10, 64)
	if err != nil {
		s.fail("%q is no whole number", token)
	}
	return n
}

// time reads a time as RFC 3339 has it.
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

// token takes what goes up to the end of a value that is no string.
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
