package list

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v2"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// document is a list in JSON and YAML, like a List of Kubernetes with more fields.
// kubectl's printers would sort the fields by name.
type document struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Items      []any    `json:"items"`
	Totals     any      `json:"totals,omitempty"`
	Sums       any      `json:"sums,omitempty"` // an older name of Totals
	Warnings   []string `json:"warnings,omitempty"`
}

func (l *List) document() document {
	d := document{APIVersion: "v1", Kind: "List", Items: make([]any, len(l.Items)), Totals: l.Sums, Sums: l.Sums, Warnings: l.Warnings}
	for i := range l.Items {
		d.Items[i] = l.Items[i].Data
	}
	return d
}

func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(v)
	return b.Bytes(), err
}

func asJSON(v any) (string, error) {
	text, err := indented(v)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for line := range bytes.Lines(text) {
		b.Write(tty.SafeJSON(bytes.TrimSuffix(line, []byte("\n"))))
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// YAML prints a value with the names and the order of JSON. It can't reuse the JSON text,
// because JSON strings may contain characters that YAML must escape.
func YAML(v any) (string, error) {
	d, err := plain(v)
	if err != nil {
		return "", err
	}
	text, err := yaml.Marshal(d)
	return string(text), err
}
