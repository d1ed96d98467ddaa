package funcs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// helms returns Helm's own functions that turn values into texts and back. Their results
// are texts and values like others: lynqctl never parses them as a part of a manifest.
func helms() template.FuncMap {
	return template.FuncMap{
		"toYaml":     toYAML,
		"mustToYaml": toYAML,
		"fromYaml":   fromYAML,
		"toToml":     toTOML,
		"mustToToml": toTOML,
		"required":   required,
	}
}

// required returns v, or the message as an error if v is missing or an empty text.
func required(message string, v any) (any, error) {
	if v == nil || v == "" {
		return nil, &ValueError{What: message}
	}
	return v, nil
}

// toYAML writes a value as YAML that all readers read alike, without the last line break.
func toYAML(v any) (string, error) {
	text, err := appendYAML(nil, v, 0)
	return strings.TrimPrefix(string(text), "\n"), err
}

// appendYAML writes a value after a key or a dash. indent is that of the value's lines.
func appendYAML(dst []byte, v any, indent int) ([]byte, error) {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return append(dst, "null"...), nil
	case isNumber(v):
		return append(dst, numberText(v)...), nil
	case r.Kind() == reflect.Bool:
		return strconv.AppendBool(dst, r.Bool()), nil
	case r.Kind() == reflect.Map:
		return appendMap(dst, v, indent)
	case isList(r):
		return appendList(dst, v, indent)
	}
	s, err := text(v)
	err = cmp.Or(err, validText(s))
	style := scalar.StyleOf(s)
	if style == scalar.Literal && len(dst) == 0 {
		style = scalar.Double // a whole document has no indentation that a block needs
	}
	return scalar.Append(dst, s, style, max(0, indent-2)), err
}

func appendMap(dst []byte, v any, indent int) ([]byte, error) {
	m, ok := v.(map[string]any)
	if s, texts := v.(map[string]string); texts {
		m, ok = make(map[string]any, len(s)), true
		for key, value := range s {
			m[key] = value
		}
	}
	switch {
	case !ok:
		return dst, notA(v, "a map with texts as keys")
	case len(m) == 0:
		return append(dst, "{}"...), nil
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		dst = scalar.AppendKey(scalar.AppendSpaces(append(dst, '\n'), indent), key)
		var err error
		if dst, err = appendMember(append(dst, ':'), m[key], indent); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func appendList(dst []byte, v any, indent int) ([]byte, error) {
	list, err := elements(v)
	if err != nil {
		return dst, err
	}
	if len(list) == 0 {
		return append(dst, "[]"...), nil
	}
	for _, e := range list {
		dst = append(scalar.AppendSpaces(append(dst, '\n'), indent), '-')
		if dst, err = appendMember(dst, e, indent); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendMember writes the value of a key or a list item. Maps and lists begin a new line.
func appendMember(dst []byte, v any, indent int) ([]byte, error) {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Map && r.Len() > 0 || isList(r) && r.Len() > 0 {
		return appendYAML(dst, v, indent+2)
	}
	return appendYAML(append(dst, ' '), v, indent+2)
}

// fromYAML parses a YAML text. Texts that readers read in several ways are errors, such as
// yes, 010 or an anchor.
func fromYAML(s string) (any, error) {
	d := yaml.NewDecoder(strings.NewReader(s))
	var document, more yaml.Node
	if err := d.Decode(&document); err != nil || len(document.Content) != 1 {
		if strings.TrimSpace(s) == "" || err == nil || errors.Is(err, io.EOF) {
			return nil, &ValueError{What: "empty text is not YAML"}
		}
		return nil, &ValueError{What: "not YAML: check the indentation and the quotes"}
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &ValueError{What: "more than one YAML document"}
	}
	return yamlValue(document.Content[0])
}

func yamlValue(n *yaml.Node) (any, error) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return nil, yamlError(n, "anchors and aliases are not read here")
	case n.Style&yaml.TaggedStyle != 0:
		return nil, yamlError(n, "tags such as %s are not read here", n.Tag)
	case n.Kind == yaml.MappingNode:
		return yamlMap(n)
	case n.Kind == yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			var err error
			if list[i], err = yamlValue(item); err != nil {
				return nil, err
			}
		}
		return list, nil
	case n.Style != 0:
		return n.Value, nil // quoted, or a block of lines
	}
	return yamlScalar(n)
}

func yamlMap(n *yaml.Node) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		key, err := yamlValue(k)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		switch _, twice := m[name]; {
		case !ok:
			return nil, yamlError(k, "a key is no text: quote it")
		case twice:
			return nil, yamlError(k, "a key occurs twice")
		}
		if m[name], err = yamlValue(n.Content[i+1]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// yamlScalar reads a scalar without quotes. JSON's notations of numbers, true, false and
// null mean the same to all readers.
func yamlScalar(n *yaml.Node) (any, error) {
	switch s := n.Value; {
	case s == "true" || s == "false":
		return s == "true", nil
	case s == "" || s == "null" || s == "~":
		return nil, nil //nolint:nilnil // YAML's null
	case !scalar.Ambiguous(s) && isDecimal(s) == isJSONNumber(s):
		return s, nil
	case isJSONNumber(s):
		d, err := ParseDecimal(s)
		if err != nil {
			return nil, err
		}
		if d.IsInteger() && d.BigInt().IsInt64() && !strings.ContainsAny(s, ".eE") {
			return int(d.IntPart()), nil
		}
		return number(d), nil
	}
	return nil, yamlError(n, "readers differ about %s: quote a text, and write a number in decimal", phrase.Quote(n.Value))
}

// isJSONNumber reports whether JSON has this notation of a number.
func isJSONNumber(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return isDecimal(s) && !strings.HasPrefix(s, "+") && digits[0] != '.' && !strings.Contains(s+" ", ". ") &&
		(digits[0] != '0' || len(digits) == 1 || strings.IndexByte(".eE", digits[1]) >= 0)
}

func yamlError(n *yaml.Node, format string, args ...any) error {
	return &ValueError{value: n.Value, What: fmt.Sprintf("line %d of the YAML: ", n.Line) + fmt.Sprintf(format, args...)}
}

// toTOML writes a map as TOML, without the last line break. TOML has no null.
func toTOML(v any) (string, error) {
	if _, ok := v.(map[string]any); !ok {
		return "", notA(written(v), "a map, and TOML is made of one")
	}
	if _, err := Printable(v); err != nil {
		return "", err
	}
	var b strings.Builder
	e := toml.NewEncoder(&b)
	e.Indent = ""
	v, err := digits(v)
	if err != nil {
		return "", err
	}
	if err := e.Encode(v); err != nil {
		return "", &ValueError{What: "the map can't be written as TOML"}
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
