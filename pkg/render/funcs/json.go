package funcs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// fromJSON parses a JSON text. It keeps every digit of its numbers. Texts that readers
// read in several ways are errors, such as a key that occurs twice.
func fromJSON(s string) (any, error) {
	if err := validText(s); err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	v, err := jsonValue(d)
	var value *ValueError
	switch {
	case errors.As(err, &value):
		return nil, err
	case err != nil:
		return nil, &ValueError{What: jsonReason(s, err)}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &ValueError{What: "more than one JSON value"}
	}
	if strings.Contains(s, `\u`) && replaced(v) && !strings.Contains(strings.ToLower(s), `\ufffd`) {
		return nil, &ValueError{What: `not JSON: a \u escape is half of a character`}
	}
	return v, nil
}

// replaced reports whether a text has the character that replaces an invalid one.
func replaced(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsRune(v, utf8.RuneError)
	case []any:
		for _, e := range v {
			if replaced(e) {
				return true
			}
		}
	case map[string]any:
		for key, e := range v {
			if replaced(key) || replaced(e) {
				return true
			}
		}
	}
	return false
}

// jsonValue reads one value.
func jsonValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return jsonMap(d)
		}
		return jsonList(d)
	case json.Number:
		return plainNumber(t)
	}
	return token, nil
}

func jsonMap(d *json.Decoder) (any, error) {
	m := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string) // the decoder accepts no other key
		if _, twice := m[key]; twice {
			return nil, &ValueError{What: "the JSON has a key twice in one object"}
		}
		if m[key], err = jsonValue(d); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return m, err
}

func jsonList(d *json.Decoder) (any, error) {
	list := []any{}
	for d.More() {
		v, err := jsonValue(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}

// plainNumber turns a number into an int if possible, so that templates can count with it.
func plainNumber(n json.Number) (any, error) {
	if i, err := n.Int64(); err == nil {
		return int(i), nil
	}
	d, err := ParseDecimal(n.String())
	if err != nil {
		return nil, err
	}
	return number(d), nil
}

// jsonReason describes an error without showing the text.
func jsonReason(s string, err error) string {
	var syntax *json.SyntaxError
	switch {
	case strings.TrimSpace(s) == "":
		return "empty text is not JSON"
	case errors.As(err, &syntax):
		return fmt.Sprintf("not JSON: the mistake is at character %d", syntax.Offset)
	}
	return "not JSON: it breaks off"
}

// toJSON returns an error where sprig's functions return "".
func toJSON(v any, escapeHTML bool, indent string) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	e.SetIndent("", indent)
	v, err := digits(v)
	if err != nil {
		return "", err
	}
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// digits returns a value whose numbers have no exponent. It refuses bytes that are no text,
// because encoders replace them without a word.
func digits(v any) (any, error) {
	return leaves(v, func(v any) (any, error) {
		switch v := v.(type) {
		case string:
			return v, validText(v)
		case float64, json.Number:
			return json.Number(numberText(v)), nil
		}
		return v, nil
	})
}

// validText refuses bytes that are no text.
func validText(s string) error {
	if !utf8.ValidString(s) {
		return &ValueError{What: "the text is not valid UTF-8 (b64enc writes any bytes)"}
	}
	return nil
}
