package list

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// The formats with a template, as in kubectl get: "jsonpath={.items[*].node}".
const (
	jsonPath      = "jsonpath"
	goTemplate    = "go-template"
	customColumns = "custom-columns"
)

// FormatUsage lists the formats in the help of a flag.
const FormatUsage = "table, wide, json, yaml, name, html, jsonpath=TEMPLATE, go-template=TEMPLATE or custom-columns=NAME:PATH,..."

// CheckFormat returns an error for an unknown format, or a bad template.
func CheckFormat(f tty.Format) error {
	if slices.Contains(Formats(), f) {
		return nil
	}
	name, template, ok := strings.Cut(string(f), "=")
	var err error
	switch {
	case name == customColumns && ok:
		_, err = columnsOf(template)
	case (name == jsonPath || name == goTemplate) && ok:
		_, err = templatePrinter(name, template)
	case name == customColumns, name == jsonPath, name == goTemplate:
		err = fmt.Errorf("there is no template (-o %s=...)", name)
	default:
		return fmt.Errorf("-o %q is unknown; it takes %s", f, FormatUsage)
	}
	if err != nil {
		return fmt.Errorf("-o %s: %w", name, err)
	}
	return nil
}

// templatePrinter returns a printer that applies a template to the JSON form. It omits
// missing fields.
func templatePrinter(name, template string) (printers.ResourcePrinter, error) {
	if template == "" {
		return nil, errors.New("the template is empty")
	}
	if name == goTemplate {
		p, err := printers.NewGoTemplatePrinter([]byte(template))
		if err != nil {
			return nil, err
		}
		p.AllowMissingKeys(true)
		return p, nil
	}
	p, err := printers.NewJSONPathPrinter(template)
	if err != nil {
		return nil, err
	}
	p.AllowMissingKeys(true)
	return p, nil
}

// templated returns a value as a template prints it.
func templated(name, template string, v any) (string, error) {
	p, err := templatePrinter(name, template)
	if err != nil {
		return "", err
	}
	content, err := plain(v)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	object, _ := content.(map[string]any) // every printed value is a struct
	err = p.PrintObj(&unstructured.Unstructured{Object: object}, &b)
	return b.String(), err
}

// plain returns a value in its JSON form, as maps and lists.
func plain(v any) (any, error) {
	text, err := indented(v)
	if err != nil {
		return nil, err
	}
	var d any
	err = utiljson.Unmarshal(text, &d)
	return d, err
}

// column is a column of custom-columns.
type column struct {
	name string
	path *jsonpath.JSONPath
}

// columnsOf parses "NODE:.node,READY:.ready".
func columnsOf(spec string) ([]column, error) {
	var columns []column
	for part := range strings.SplitSeq(spec, ",") {
		name, path, ok := strings.Cut(part, ":")
		if !ok || name == "" || path == "" {
			return nil, fmt.Errorf("%q is no NAME:PATH", part)
		}
		field, err := fieldPath(path)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column{name, field})
	}
	return columns, nil
}

// custom returns the list with other columns, or "" for an empty list.
func (l *List) custom(spec string, out tty.Stream) (string, error) {
	columns, err := columnsOf(spec)
	if err != nil || len(l.Items) == 0 {
		return "", err
	}
	var rows [][]string
	if !l.NoHeaders {
		rows = append(rows, nil)
		for _, c := range columns {
			rows[0] = append(rows[0], c.name)
		}
	}
	for i := range l.Items {
		data, err := plain(l.Items[i].Data)
		if err != nil {
			return "", err
		}
		var row []string
		for _, c := range columns {
			values, err := valuesAt(c.path, data)
			if err != nil {
				return "", err
			}
			row = append(row, cmp.Or(out.Field(cellOf(values)), "-"))
		}
		rows = append(rows, row)
	}
	return tty.Align("", tty.ColumnGap, rows), nil
}

// cellOf shows values as kubectl does.
func cellOf(values []any) string {
	if len(values) == 0 {
		return "<none>"
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ",")
}
