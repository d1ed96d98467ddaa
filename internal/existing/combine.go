package existing

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Combined are releases of one chart.
type Combined struct {
	Releases []*Release
	// Columns are the values in which the releases differ, and Rows have them for each release.
	// Secret are those that look like secrets.
	Columns, Secret []string
	Rows            [][]string

	values fields // nil for none
}

// Combine makes columns of the values in which releases differ.
func Combine(releases []*Release) (*Combined, error) {
	c := &Combined{Releases: releases, Rows: make([][]string, len(releases))}
	configs := make([]any, len(releases))
	for i, r := range releases {
		if !reflect.DeepEqual(r.Chart, releases[0].Chart) {
			return nil, fmt.Errorf("releases %s and %s have different charts (init them apart, or upgrade one to the chart of the other)", releases[0].Name, r.Name)
		}
		config, err := r.config()
		if err != nil {
			return nil, fmt.Errorf("release %s: %w", r.Name, err)
		}
		configs[i] = config
	}
	values, err := c.combine("values", configs, releases[0].Chart.defaults())
	if err != nil {
		return nil, err
	}
	c.values, _ = values.(fields)
	return c, nil
}

// config returns the values that a user set.
func (r *Release) config() (fields, error) {
	if len(r.Config) == 0 || string(r.Config) == "null" {
		return fields{}, nil
	}
	v, err := decode(r.Config)
	values, ok := v.(fields)
	if err != nil || !ok {
		return nil, errNoRelease
	}
	return values, nil
}

// defaults returns the values of the chart itself.
func (c *Chart) defaults() any {
	i := slices.IndexFunc(c.Files, func(f File) bool { return f.Path == "values.yaml" })
	if i < 0 {
		return nil
	}
	values, err := Defaults(c.Files[i].Data)
	if err != nil {
		return nil
	}
	return values
}

// combine returns one value for all releases, with templates where they differ. otherwise is the
// chart's value, which releases without one of their own have.
func (c *Combined) combine(path string, all []any, otherwise any) (any, error) {
	if !slices.ContainsFunc(all, func(v any) bool { return !reflect.DeepEqual(v, all[0]) }) {
		return literal{}.of(all[0], path)
	}
	keys := map[string]bool{}
	each := make([]fields, len(all))
	for i, v := range all {
		m, ok := v.(fields)
		if !ok {
			return c.column(path, all)
		}
		each[i] = m
		for key := range m {
			keys[key] = true
		}
	}
	combined := fields{}
	ofChart, _ := otherwise.(fields)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		values := make([]any, len(all))
		for i, m := range each {
			value, found := m[key]
			if !found {
				if value, found = ofChart[key]; !found {
					return nil, fmt.Errorf("%s.%s: release %s doesn't set it, and others do (set it for all, or init the releases apart)", path, key, c.Releases[i].Name)
				}
			}
			values[i] = value
		}
		if strings.Contains(key, "{{") {
			return nil, &TemplateKeyError{Path: path}
		}
		var err error
		if combined[key], err = c.combine(path+"."+key, values, ofChart[key]); err != nil {
			return nil, err
		}
	}
	return combined, nil
}

// errDiffer says that no column can have values.
var errDiffer = errors.New("the releases have lists or different types there, and columns have texts (init the releases apart)")

// column makes a column of single values.
func (c *Combined) column(path string, all []any) (any, error) {
	function := ""
	for i, v := range all {
		text, of, ok := cell(v)
		if !ok || i > 0 && (of == "") != (function == "") || i > 0 && (of == " | bool") != (function == " | bool") {
			return nil, fmt.Errorf("%s: %w", path, errDiffer)
		}
		if i == 0 || of == " | float" {
			function = of
		}
		c.Rows[i] = append(c.Rows[i], text)
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.TrimPrefix(path, "values."))
	for slices.Contains(append(lynq.PredefinedVariables(), "host", "hostOrUrl"), name) || slices.Contains(c.Columns, name) || name[0] >= '0' && name[0] <= '9' {
		name = "value_" + name
	}
	c.Columns = append(c.Columns, name)
	if draft.LooksSecret(name) {
		c.Secret = append(c.Secret, name)
	}
	return "{{ ." + name + function + " }}", nil
}

// cell returns the text of a value in a table, and the function that gives the value again.
func cell(v any) (text, function string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, "", true
	case bool:
		return strconv.FormatBool(v), " | bool", true
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return v.String(), " | int", true
		}
		return v.String(), " | float", true
	}
	return "", "", false
}
