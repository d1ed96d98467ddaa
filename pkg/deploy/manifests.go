package deploy

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// templates are the templates of the manifests.
//
//go:embed *.yaml
var templates embed.FS

// printed is the data of the templates.
type printed struct {
	*Options
	Kind                      Kind
	Component                 string // a label
	Arguments                 []string
	Pods                      int
	InputData, TombstoneData  string // as blocks of a ConfigMap
	Digest                    string
	InputsPath, TombstonePath string
	// Items are the paths of the inputs, nil if the keys are the paths.
	Items []item
	// Port is the port of a watch, 0 for a run that ends.
	Port int
	// Parallelism and Schedule are for shards.
	Parallelism int
	Schedule    string
}

// print renders a template into manifests for kubectl apply.
func (o *Options) print(name string, p *printed) (string, error) {
	inputs, items, err := keyed(o.Inputs, p.Kind)
	if err != nil {
		return "", err
	}
	tombstones, _, err := keyed(o.Tombstones, p.Kind)
	if err != nil {
		return "", fmt.Errorf("tombstones: %w", err)
	}
	p.Options, p.Digest, p.InputsPath, p.TombstonePath, p.Items = o, digest(inputs, tombstones), inputsPath, tombstonesPath, items
	if p.InputData, err = block(inputs); err != nil {
		return "", err
	}
	if p.TombstoneData, err = block(tombstones); err != nil {
		return "", err
	}
	t := template.New(name)
	t.Funcs(template.FuncMap{"scalar": scalar, "comment": comment, "deeper": func(part string, data any) (string, error) { return deeper(t, part, data) }})
	if _, err := t.ParseFS(templates, "*.yaml"); err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, p); err != nil {
		return "", err
	}
	return b.String(), nil
}

// deeper returns a part with the indentation that it has in another object.
func deeper(t *template.Template, part string, data any) (string, error) {
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, part, data); err != nil {
		return "", err
	}
	const indent = "    "
	return indent + strings.ReplaceAll(b.String(), "\n", "\n"+indent), nil
}

// scalar returns a string as YAML, in quotes if it could be another type.
func scalar(s string) string {
	plain := regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(s)
	if !plain || slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}, s) {
		return strconv.Quote(s)
	}
	return s
}

// comment returns a text as lines of a comment.
func comment(s string) string {
	return "# " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n# ")
}
