package source

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// yamlText returns a value's text, and whether the value is NULL. A scalar keeps its text,
// and other values become JSON.
func (m *yamlMembers) yamlText(node *yaml.Node) (string, bool) {
	node = resolveAlias(node)
	if node.Kind == yaml.ScalarNode {
		if !m.tagged(node) || node.ShortTag() == yaml.NodeTagNull {
			return "", true
		}
		return node.Value, false
	}
	w := yamlJSON{members: m, open: map[*yaml.Node]bool{}}
	w.value(node)
	return string(w.text), false
}

// tagged checks an explicit tag. Tags that change a value, or that the value doesn't fit,
// are problems.
func (m *yamlMembers) tagged(node *yaml.Node) bool {
	if node.Style&yaml.TaggedStyle == 0 {
		return true
	}
	tag := node.ShortTag()
	plain := (&yaml.Node{Kind: yaml.ScalarNode, Value: node.Value}).ShortTag()
	var fits bool
	switch node.Kind {
	case yaml.MappingNode:
		fits = tag == yaml.NodeTagMap
	case yaml.SequenceNode:
		fits = tag == yaml.NodeTagSeq
	default:
		fits = tag == yaml.NodeTagString || tag == plain && tag != "!!merge" || tag == yaml.NodeTagFloat && plain == yaml.NodeTagInt
	}
	if !fits {
		m.problems.Add(lynq.Pos{File: m.file, Line: node.Line}, "write the value as a text, without a tag", "lynqctl doesn't read values with this YAML tag")
	}
	return fits
}

// yamlJSON writes a value as JSON without white space. Numbers keep their digits, and keys
// their order, as in rows from JSON.
type yamlJSON struct {
	members *yamlMembers
	text    []byte
	open    map[*yaml.Node]bool // values that aren't finished: an anchor may contain itself
}

// problem adds a problem at a node.
func (w *yamlJSON) problem(node *yaml.Node, what, fix string) {
	w.members.problems.Add(lynq.Pos{File: w.members.file, Line: node.Line}, fix, "%s", what)
}

// value writes a value. If it is too long, the rest is left out, and the row is an error.
func (w *yamlJSON) value(node *yaml.Node) {
	target := resolveAlias(node)
	switch {
	case len(w.text) > fault.MaxRow:
		return // aliases of aliases would never end
	case w.open[target]:
		w.problem(node, "the value contains itself", "write it without the alias")
		return
	case !w.members.tagged(target):
		return
	}
	w.open[target] = true
	switch target.Kind {
	case yaml.MappingNode:
		w.object(target)
	case yaml.SequenceNode:
		w.text = append(w.text, '[')
		for i, item := range target.Content {
			if i > 0 {
				w.text = append(w.text, ',')
			}
			w.value(item)
		}
		w.text = append(w.text, ']')
	default:
		w.scalar(target)
	}
	delete(w.open, target)
}

// object writes a mapping.
func (w *yamlJSON) object(node *yaml.Node) {
	members := yamlMembers{file: w.members.file, inner: true, values: map[string]*yaml.Node{}, done: map[*yaml.Node]bool{}, problems: w.members.problems}
	members.collect(node)
	w.text = append(w.text, '{')
	for i, name := range members.names {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.quote(node, name)
		w.text = append(w.text, ':')
		w.value(members.values[name])
	}
	w.text = append(w.text, '}')
}

// scalar writes a number of JSON as it is written, and other scalars as texts. A number that
// JSON can't write, such as 0x1F or 010, is a text, because readers differ about it.
func (w *yamlJSON) scalar(node *yaml.Node) {
	value := jsontext.Value(node.Value)
	number := value.Kind() == jsontext.KindNumber && value.IsValid()
	plain := node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
	switch tag := node.ShortTag(); {
	case tag == yaml.NodeTagNull:
		w.text = append(w.text, "null"...)
	case tag == yaml.NodeTagBool:
		w.text = append(w.text, strings.ToLower(node.Value)...)
	case number && (plain || tag == yaml.NodeTagInt || tag == yaml.NodeTagFloat):
		w.text = append(w.text, node.Value...)
	default:
		w.quote(node, node.Value)
	}
}

// quote writes a text.
func (w *yamlJSON) quote(node *yaml.Node, text string) {
	quoted, err := jsontext.AppendQuote(w.text, text)
	if err != nil {
		w.problem(node, "the text is not UTF-8", fixFileText)
		return
	}
	w.text = quoted
}

// syntax adds the line to a parser's error. The parser has it in its text, except for a few
// errors, whose place the text of the file shows.
func (s *yamlSource) syntax(text string, err error) error {
	what := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if n, _ := fmt.Sscanf(what, "line %d:", &line); n == 1 {
		_, what, _ = strings.Cut(what, ": ")
		return &Error{Place: s.file.at(line), What: "this is not YAML", Fix: "check the indentation and the quotes near it", Err: errors.New(withoutValues("", what))}
	}
	if name, ok := strings.CutPrefix(what, "unknown anchor '"); ok {
		// The message doesn't show the name, because a password may begin with a star.
		name, _, _ = strings.Cut(name, "'")
		alias := regexp.MustCompile(`(?m)^(?:[^#\n]*[\s\[{,:-])?\*` + regexp.QuoteMeta(name) + `(?:[\s,\]}]|$)`)
		if at := alias.FindStringIndex(text); at != nil {
			line = lineAt(text, at[0])
		}
		return &Error{Place: s.file.at(max(line, 1)), What: "this is not YAML: an alias has no anchor", Fix: "quote a value that begins with *"}
	}
	bad := strings.IndexFunc(text, func(c rune) bool {
		return c == utf8.RuneError || unicode.IsControl(c) && !strings.ContainsRune("\t\r\n\u0085", c)
	})
	return &Error{Place: s.file.at(lineAt(text, max(bad, 0))), What: "this is not YAML", Fix: "save the file as UTF-8 without control characters", Err: errors.New(withoutValues("", what))}
}

// lineAt returns the line of an offset.
func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }
