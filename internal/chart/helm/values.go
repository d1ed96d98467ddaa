package helm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// fileValues reads a file of values, and merges its documents.
func fileValues(name string, data []byte) (map[string]any, error) {
	merged := map[string]any{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(append(bytes.Clone(data), '\n'))))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return merged, nil
		}
		if err != nil {
			return nil, wrong(name, "", "%v", err)
		}
		text, err := yaml.YAMLToJSON(document)
		if err != nil {
			return nil, yamlProblem(name, err)
		}
		values, err := decode(text)
		if err != nil {
			return nil, wrong(name, "", "%v", err)
		}
		merged = loader.MergeMaps(merged, values)
	}
}

// decode reads an object of values. null is one without keys.
func decode(text []byte) (map[string]any, error) {
	if len(text) == 0 {
		return map[string]any{}, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, errors.New("the values aren't JSON")
	}
	switch v := value.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		_, err := converted(v, "")
		return v, err
	}
	return nil, errors.New("the values aren't a map of names and values")
}

// converted replaces the numbers in a value, and returns it.
func converted(value any, at string) (any, error) {
	switch v := value.(type) {
	case json.Number:
		n, err := number(string(v))
		if err != nil {
			err = fmt.Errorf("%s: %w", strings.TrimPrefix(at, "."), err)
		}
		return n, err
	case []any:
		for i, element := range v {
			c, err := converted(element, fmt.Sprintf("%s[%d]", at, i))
			if err != nil {
				return nil, err
			}
			v[i] = c
		}
	case map[string]any:
		var first error
		for key, element := range v {
			c, err := converted(element, at+"."+key)
			if err != nil && (first == nil || err.Error() < first.Error()) {
				first = err
			}
			v[key] = c
		}
		return v, first
	}
	return value, nil
}

// number returns the float64 that Helm has for a number in a file of values. A template would
// print a large whole one as 1e+07, so it is an integer, as for helm's flag --set.
func number(text string) (any, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err == nil && strconv.FormatFloat(f, 'g', -1, 64) == text && plain(f) {
		return f, nil
	}
	if strings.ContainsAny(text, ".eE") {
		if err != nil || math.IsInf(f, 0) {
			return nil, errors.New("the number is too large; write it as a text, in quotes")
		}
		return f, nil
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, nil
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		return u, nil
	}
	return nil, errors.New("the number is too large; write it as a text, in quotes")
}

// plain reports whether templates print a number without an exponent.
func plain(f float64) bool { return !strings.Contains(fmt.Sprint(f), "e") }
