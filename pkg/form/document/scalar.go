package document

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// errNumber says that a plain scalar is a number that JSON or a 64 bit integer
// cannot hold.
var errNumber = errors.New("the number fits neither a 64 bit integer nor a finite float")

// plainScalar is what kubectl makes of a plain (unquoted, untagged) scalar:
// YAML 1.1 as sigs.k8s.io/yaml reads it, then JSON as Kubernetes reads it, so
// that 1.0 is the integer 1. The result has no position.
func plainScalar(text string) (Value, error) {
	switch text {
	case "true":
		return Value{Kind: Bool, Bool: true}, nil
	case "false":
		return Value{Kind: Bool}, nil
	case "", "null", "~":
		return Value{}, nil
	}
	if isDecimal(text) {
		i, err := strconv.ParseInt(text, 10, 64)
		return Value{Kind: Int, Int: i}, err
	}
	if !maybeTyped(text) {
		return Value{Kind: String, Str: text}, nil
	}
	return resolve(text, text)
}

// taggedScalar is the same for a scalar with one of YAML's own tags.
func taggedScalar(tag, text string) (Value, error) {
	return resolve(tag+" "+strconv.Quote(text), text)
}

// resolve asks sigs.k8s.io/yaml what a one-scalar document means. The text is
// the scalar's own, which is what a string resolves to.
func resolve(document, text string) (Value, error) {
	data, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		return Value{}, errNumber
	}
	switch s := string(data); {
	case s == "null":
		return Value{}, nil
	case s == "true", s == "false":
		return Value{Kind: Bool, Bool: s == "true"}, nil
	case strings.HasPrefix(s, `"`):
		return Value{Kind: String, Str: text}, nil
	case !strings.ContainsAny(s, ".eE"):
		i, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return Value{}, errNumber
		}
		return Value{Kind: Int, Int: i}, nil
	default:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return Value{}, errNumber
		}
		return Value{Kind: Float, Float: f}, nil
	}
}

// plainKey is the text that kubectl makes of a plain scalar used as a key: the
// scalar is resolved first, so on is "true". A null key is an error.
func plainKey(text string) (string, error) {
	if text != "" && !maybeTyped(text) {
		return text, nil
	}
	data, err := yaml.YAMLToJSON([]byte(text + ": 0"))
	if err != nil {
		return "", err
	}
	var m map[string]int
	if err := json.Unmarshal(data, &m); err != nil {
		return "", err
	}
	for key := range m {
		return key, nil
	}
	return "", errors.New("no key")
}

// isDecimal tells whether text is a decimal integer in its usual form, short
// enough for an int64 whatever its digits are.
func isDecimal(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "0" {
		return true
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// maybeTyped is false for texts that are surely strings, which spares them the
// YAML library. The words that are no strings are true, yes, on, null and the
// like, the longest "false", and numbers have only the characters below.
func maybeTyped(text string) bool {
	if text == "~" || text == "" {
		return true
	}
	alphanumeric := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			alphanumeric++
		case c != '_' && c != '+' && c != '-' && c != '.':
			return false
		}
	}
	if c := text[0]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return len(text) <= len("false") && strings.IndexByte("yYnNtTfFoO", c) >= 0
	}
	return alphanumeric > 0
}
