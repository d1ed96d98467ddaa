package existing

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// TemplateKeyError says that a key has a template's beginning, which forms don't allow.
type TemplateKeyError struct{ Path string }

// Error implements error.
func (e *TemplateKeyError) Error() string {
	return "a key in " + e.Path + " has {{, and forms take no templates in keys"
}

// literal changes texts so that a form gives them as they are. name, if not "", becomes the
// uid's template where texts are this name, or begin with it.
type literal struct{ name string }

// of returns a copy of a value with other texts.
func (l literal) of(v any, at string) (any, error) {
	switch v := v.(type) {
	case string:
		return l.text(v, at), nil
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			next, err := l.of(item, at)
			if err != nil {
				return nil, err
			}
			items[i] = next
		}
		return items, nil
	case map[string]any:
		fields := make(map[string]any, len(v))
		for key, value := range v {
			if strings.Contains(key, "{{") {
				return nil, &TemplateKeyError{Path: at}
			}
			next, err := l.of(value, at+"."+key)
			if err != nil {
				return nil, err
			}
			fields[key] = next
		}
		return fields, nil
	}
	return v, nil
}

// text returns a template that renders a text. Names of images are those of all tenants.
func (l literal) text(text, at string) string {
	escaped := strings.ReplaceAll(text, "{{", `{{ "{{" }}`)
	if l.name == "" || strings.HasSuffix(at, ".image") {
		return escaped
	}
	rest, found := strings.CutPrefix(escaped, l.name)
	if found && (rest == "" || strings.ContainsAny(rest[:1], "-.")) {
		return "{{ .uid }}" + rest
	}
	return escaped
}

// decode reads JSON. Whole numbers stay whole.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// writer writes YAML line by line.
type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) {
	_, _ = fmt.Fprintf(w, format+"\n", args...) // memory accepts everything
}

// value writes a value as indented YAML.
func (w *writer) value(indent int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if text, err = yaml.JSONToYAML(text); err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if line != "\n" {
			w.WriteString(strings.Repeat(" ", indent))
		}
		w.WriteString(line)
	}
	return nil
}

// scalar returns a text in YAML, in quotes where another reader might see another type.
func scalar(text string) string {
	words := []string{"true", "false", "null", "yes", "no", "on", "off"}
	if regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_/.-]*[A-Za-z0-9])?$`).MatchString(text) && len(text) > 1 && !slices.Contains(words, strings.ToLower(text)) {
		return text
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return `""` // a string always has an encoding
	}
	return string(quoted)
}

// head writes the beginning of a form.
func (w *writer) head(about, namespace, name, hub string) {
	w.line("# yaml-language-server: $schema=https://raw.githubusercontent.com/lynqctl/lynqctl/main/schemas/lynqform.schema.json")
	w.line("# %s", about)
	w.line("apiVersion: operator.lynq.sh/v1")
	w.line("kind: LynqForm")
	w.line("metadata:")
	w.line("  name: %s", scalar(name))
	if namespace != "" {
		w.line("  namespace: %s", scalar(namespace))
	}
	w.line("spec:")
	w.line("  hubId: %s", scalar(hub))
}
