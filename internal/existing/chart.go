package existing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// LocalChart is a chart beside a form.
type LocalChart struct {
	Name, Version, Path string
	HasCRDs             bool
	// Values are the chart's own values, with numbers as json.Number.
	Values map[string]any
}

// Defaults reads a chart's values.yaml.
func Defaults(text []byte) (map[string]any, error) {
	inJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(bytes.TrimSpace(inJSON), []byte("null")) {
		return nil, nil
	}
	v, err := decode(inJSON)
	if values, ok := v.(map[string]any); ok && err == nil {
		return values, nil
	}
	return nil, errors.New("it has no map of values")
}

// Form returns a form with the chart. Values get variables with their names, and comments name
// the others.
func (c *LocalChart) Form(names Names, variables []string) string {
	var w writer
	w.head(fmt.Sprintf("Every active row gets chart %s %s.", line(c.Name), line(c.Version)), names.Namespace, names.Name, names.Hub)
	w.line("  # While ten nodes change or have failed, no other node changes.")
	w.line("  rollout: {maxSkew: 10}")
	w.line("  charts:")
	w.line("    - id: %s", scalar(ChartID(c.Name)))
	w.line("      path: %s", scalar(c.Path))
	w.line(`      releaseName: "{{ .uid }}"`)
	if c.HasCRDs {
		w.line("      # Install them once: kubectl apply --server-side -f %s/crds/", line(c.Path))
		w.line("      skipCRDs: true")
	}
	var lines, others []string
	for _, key := range slices.Sorted(maps.Keys(c.Values)) {
		if text := valueOf(key, c.Values[key], variables); text != "" {
			lines = append(lines, text)
		} else {
			others = append(others, line(key))
		}
	}
	if len(lines) > 0 {
		w.line("      values:")
		for _, text := range lines {
			w.line("        %s", text)
		}
	}
	if len(others) > 0 {
		w.line("      # Values of the chart that you can set: %s.", strings.Join(others, ", "))
	}
	return w.String()
}

// valueOf returns the line that sets a value from the variable of its name, or "".
func valueOf(key string, value any, variables []string) string {
	i := slices.IndexFunc(variables, func(v string) bool { return plain(v) == plain(key) })
	if i < 0 {
		return ""
	}
	ref := lynq.VariableRef(variables[i])
	switch value := value.(type) {
	case json.Number:
		if _, err := value.Int64(); err == nil {
			ref += " | int"
		} else {
			ref += " | float"
		}
	case bool:
		ref += " | bool"
	case string, nil:
	default:
		return ""
	}
	return scalar(key) + ": " + quoted("{{ "+ref+" }}")
}

// plain returns a name without its spelling: replicaCount, replica_count and replicas are equal.
func plain(name string) string {
	name = strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(name))
	return strings.TrimSuffix(strings.TrimSuffix(name, "count"), "s")
}

func quoted(text string) string {
	if strings.Contains(text, `"`) {
		return "'" + text + "'"
	}
	return `"` + text + `"`
}
