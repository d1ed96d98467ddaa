package list

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/util/jsonpath"
)

// CheckSort returns an error if a list can't be sorted by a path.
func CheckSort(path string) error {
	if path == "" {
		return nil
	}
	if _, err := fieldPath(path); err != nil {
		return fmt.Errorf("--sort-by: %w", err)
	}
	return nil
}

// fieldPath parses the path of a field: node, .node or {.node}.
func fieldPath(path string) (*jsonpath.JSONPath, error) {
	inner := strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	p := jsonpath.New("field").AllowMissingKeys(true)
	if err := p.Parse("{." + strings.TrimPrefix(inner, ".") + "}"); err != nil {
		return nil, fmt.Errorf("%q is no path: %w (write it as .name or {.name})", path, err)
	}
	return p, nil
}

// valuesAt returns the values at a path, without nulls.
func valuesAt(p *jsonpath.JSONPath, data any) ([]any, error) {
	results, err := p.FindResults(data)
	if err != nil {
		return nil, err
	}
	var values []any
	for _, v := range slices.Concat(results...) {
		if v.IsValid() && v.CanInterface() && v.Interface() != nil {
			values = append(values, v.Interface())
		}
	}
	return values, nil
}

// sorted returns the items in the requested order. Items without a value come first.
func (l *List) sorted() ([]Item, error) {
	if l.SortBy == "" {
		return l.Items, nil
	}
	path, err := fieldPath(l.SortBy)
	if err != nil {
		return nil, err
	}
	type keyed struct {
		Item
		key any
	}
	items, found := make([]keyed, len(l.Items)), false
	for i, item := range l.Items {
		data, err := plain(item.Data)
		if err != nil {
			return nil, err
		}
		values, err := valuesAt(path, data)
		if err != nil {
			return nil, err
		}
		items[i].Item = item
		if len(values) > 0 {
			items[i].key, found = values[0], true
		}
	}
	if !found && len(items) > 0 {
		return nil, fmt.Errorf("--sort-by: nothing in the list has a field %s (-o json shows the fields)", l.SortBy)
	}
	slices.SortStableFunc(items, func(a, b keyed) int { return compareValues(a.key, b.key) })
	out := make([]Item, len(items))
	for i := range items {
		out[i] = items[i].Item
	}
	return out, nil
}

// compareValues compares numbers and sizes by value, and anything else as text.
func compareValues(a, b any) int {
	if a == nil || b == nil {
		return cmp.Compare(boolToInt(a != nil), boolToInt(b != nil))
	}
	x, y := fmt.Sprint(a), fmt.Sprint(b)
	first, err := resource.ParseQuantity(x)
	second, err2 := resource.ParseQuantity(y)
	if err == nil && err2 == nil {
		return first.Cmp(second)
	}
	return cmp.Compare(x, y)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
