package deploy

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// manifests is the template of what is printed.
//
//go:embed manifests.yaml
var manifests string

// printed is what the template sees.
type printed struct {
	*Options
	InputData, TombstoneData  string // as they stand in a ConfigMap
	Digest                    string
	InputsPath, TombstonePath string
}

// Manifests makes manifests for kubectl apply.
func Manifests(o *Options) (string, error) {
	if err := o.check(); err != nil {
		return "", err
	}
	inputs, err := keyed(o.Inputs)
	if err != nil {
		return "", err
	}
	tombstones, err := keyed(o.Tombstones)
	if err != nil {
		return "", fmt.Errorf("tombstones: %w", err)
	}
	p := &printed{Options: o, Digest: digest(inputs, tombstones), InputsPath: inputsPath, TombstonePath: tombstonesPath}
	if p.InputData, err = block(inputs); err != nil {
		return "", err
	}
	if p.TombstoneData, err = block(tombstones); err != nil {
		return "", err
	}
	t, err := template.New("manifests").Funcs(template.FuncMap{"scalar": scalar, "comment": comment}).Parse(manifests)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, p); err != nil {
		return "", err
	}
	return b.String(), nil
}

// scalar is a string in YAML, quoted where it might be taken for something else.
func scalar(s string) string {
	plain := regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(s)
	if !plain || slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}, s) {
		return strconv.Quote(s)
	}
	return s
}

// comment is a text as lines of a comment.
func comment(s string) string {
	return "# " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n# ")
}
