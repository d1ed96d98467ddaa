package policy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ohler55/ojg/jp"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// JSONPointer converts a JSONPath to a JSON pointer (RFC 6901), which names one field. It
// returns false if this is impossible.
func JSONPointer(path string) (string, bool) {
	expr, err := jp.ParseString(path)
	if err != nil {
		return "", false
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for i, fragment := range expr {
		switch f := fragment.(type) {
		case jp.Root:
			if i > 0 {
				return "", false
			}
		case jp.Child:
			b.WriteString("/" + escape.Replace(string(f)))
		case jp.Nth:
			if f < 0 {
				return "", false
			}
			b.WriteString("/" + strconv.Itoa(int(f)))
		default:
			return "", false
		}
	}
	return b.String(), b.Len() > 0
}

// JQPath converts a JSONPath to a path expression of jq. Missing fields cause no error. It
// returns false if no equivalent expression is known.
func JQPath(path string) (string, bool) {
	expr, err := jp.ParseString(path)
	if err != nil || len(expr) < 2 {
		return "", false
	}
	var q jqWriter
	for i, fragment := range expr {
		ok := true
		switch f := fragment.(type) {
		case jp.Root:
			ok = i == 0
		case jp.Child:
			q.field(string(f))
		case jp.Nth:
			q.step("[" + strconv.Itoa(int(f)) + "]?")
		case jp.Wildcard:
			q.step("[]?")
		case *jp.Filter:
			ok = q.filter(f)
		default:
			ok = false
		}
		if !ok {
			return "", false
		}
	}
	return q.String(), true
}

// unlike reports the paths that can't be converted.
func unlike(s *subject, what string, sayable func(path string) bool) string {
	lost := slices.DeleteFunc(slices.Clone(s.Policy.IgnoreFields), sayable)
	if len(lost) == 0 {
		return ""
	}
	return fmt.Sprintf(what, listed(lost))
}

// jqWriter builds an expression of jq.
type jqWriter struct{ strings.Builder }

// field appends access to a field of a map.
func (q *jqWriter) field(name string) {
	if isJQName(name) {
		q.WriteString("." + name + "?")
		return
	}
	q.step("[" + JQText(name) + "]?")
}

// step appends a step after the current expression.
func (q *jqWriter) step(s string) {
	if q.Len() == 0 || strings.HasSuffix(q.Builder.String(), " ") {
		q.WriteByte('.')
	}
	q.WriteString(s)
}

// filter appends a selection of list items with a certain value in a field.
func (q *jqWriter) filter(f *jp.Filter) bool {
	// The expression checks the text of the filter, because other filters may lack parts.
	field := regexp.MustCompile(`^\[\?\(@((?:\.[A-Za-z_][A-Za-z0-9_]*)+) == `).FindStringSubmatch(f.String())
	if field == nil {
		return false
	}
	form := f.Inspect()
	var value string
	switch v := form.Right.(type) {
	case string:
		value = JQText(v)
	case bool:
		value = strconv.FormatBool(v)
	case int64:
		value = strconv.FormatInt(v, 10)
	default:
		return false
	}
	if form.Op != "==" {
		return false
	}
	q.step("[]? | select(")
	for _, name := range strings.Split(field[1], ".")[1:] {
		q.WriteString("." + name + "?")
	}
	q.WriteString(" == " + value + ") | ")
	return true
}

// String returns the expression so far.
func (q *jqWriter) String() string { return strings.TrimSuffix(q.Builder.String(), " | ") }

// isJQName reports whether jq accepts a name without quotes.
func isJQName(name string) bool {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name)
}

// JQText returns a string for jq. It equals the JSON string, because that has no
// interpolation.
func JQText(s string) string {
	quoted, _ := json.Marshal(s) // a string always encodes
	return string(quoted)
}

// SecretTwins returns the paths that mean the same field of a Secret. The server moves
// stringData of a manifest to data.
func SecretTwins(r *form.Resource, path string) []string {
	expr, err := jp.ParseString(path)
	if err != nil || r.Kind != "Secret" || r.APIVersion != "v1" || len(expr) < 2 {
		return []string{path}
	}
	first, _ := expr[1].(jp.Child)
	if first != "data" && first != "stringData" {
		return []string{path}
	}
	twins := make([]string, 0, 2)
	for _, field := range []jp.Child{"data", "stringData"} {
		twin := append(jp.Expr{}, expr...)
		twin[1] = field
		twins = append(twins, twin.String())
	}
	return twins
}
