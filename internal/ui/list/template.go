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

// The formats that have a template, as kubectl get has them: "jsonpath={.items[*].node}".
const (
	jsonPath      = "jsonpath"
	goTemplate    = "go-template"
	customColumns = "custom-columns"
)

// FormatUsage says in the help of a flag which formats lists have.
const FormatUsage = "table, wide, json, yaml, name, html, jsonpath=TEMPLATE, go-template=TEMPLATE or custom-columns=NAME:PATH,..."

// CheckFormat is an error where lists are not printed in a format.
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

// templatePrinter prints by a template what JSON would have. Members that are not
// there are left out.
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

// templated is a value as a template prints it.
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
	object, _ := content.(map[string]any) // whatever is printed is a struct
	err = p.PrintObj(&unstructured.Unstructured{Object: object}, &b)
	return b.String(), err
}

// plain is a value as JSON has it, in maps and lists.
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

// columnsOf reads "NODE:.node,READY:.ready".
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

// custom is the list with other columns, "" where it is empty.
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
