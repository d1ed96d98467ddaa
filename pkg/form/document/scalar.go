package document

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// errNumber means that a plain scalar is a number that neither JSON nor a 64 bit integer
// can represent.
var errNumber = errors.New("the number fits neither a 64 bit integer nor a finite float")

// plainScalar reads a plain (unquoted, untagged) scalar as kubectl does. sigs.k8s.io/yaml
// reads it as YAML 1.1, and Kubernetes then reads the JSON. So 1.0 is the integer 1. The
// result has no position.
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

// taggedScalar reads a scalar with one of YAML's own tags.
func taggedScalar(tag, text string) (Value, error) {
	return resolve(tag+" "+strconv.Quote(text), text)
}

// resolve lets sigs.k8s.io/yaml parse a document with one scalar. A string resolves to
// text, which is the scalar's own.
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

// plainKey returns the text that kubectl makes of a plain scalar as a key. It resolves the
// scalar first, so on becomes "true". A null key is an error.
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

// isDecimal reports whether text is a decimal integer in its usual form. The text must be
// so short that any digits fit an int64.
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

// maybeTyped returns false for texts that are certainly strings, which saves a call of the
// YAML library. Of words, only those of YAML 1.1 for booleans and null have other types.
// Numbers have only the characters below.
func maybeTyped(text string) bool {
	if text == "~" || text == "" {
		return true
	}
	if isLetter(text[0]) {
		switch strings.ToLower(text) {
		case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
			return true
		}
		return false
	}
	const signs, numerals = "_+-.", "0123456789abcdefABCDEFxXo"
	others := strings.Trim(text, signs+numerals)
	if isDigit(text[0]) && others != "" {
		return false // as in 100m
	}
	for i := range len(others) {
		if c := others[i]; !isLetter(c) && !isDigit(c) && strings.IndexByte(signs, c) < 0 {
			return false
		}
	}
	return strings.Trim(text, signs) != ""
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
