package existing

import (
	"fmt"
	"slices"
	"strings"
)

// Names are those of a form and its hub.
type Names struct {
	// Namespace is the form's, "" for its hub's.
	Namespace, Name, Hub string
}

// Form returns a form that makes the objects of the release. path is the chart's path from the
// form's file.
func (r *Release) Form(names Names, path string) (string, error) {
	var w writer
	w.head(fmt.Sprintf("From release %s in namespace %s: chart %s %s, revision %d.", r.Name, r.Namespace, line(r.Chart.Name), line(r.Chart.Version), r.Version), names.Namespace, names.Name, names.Hub)
	if ran := r.Ran(); len(ran) > 0 {
		w.line("  # Helm ran these hooks when it installed the release, so they don't run again for it.")
		w.line("  exclude:")
		for _, h := range ran {
			w.line("    - {kind: %s, name: %s, namespace: %s}", scalar(h.Kind), scalar(h.Name), scalar(h.Namespace))
		}
	}
	w.line("  charts:")
	w.line("    - id: %s", scalar(ChartID(r.Chart.Name)))
	w.line("      path: %s", scalar(path))
	w.line(`      releaseName: "{{ .uid }}"`)
	if r.Chart.HasCRDs {
		w.line("      # Helm installed crds/, and keeps it.")
		w.line("      skipCRDs: true")
	}
	w.line("      defaults:")
	w.line("        # The first apply takes objects and fields from Helm. Remove this when it has.")
	for _, id := range r.taken() {
		w.line("        - {match: {id: %q}, conflictPolicy: Force}", id)
	}
	if slices.Contains(r.Kinds, "PersistentVolumeClaim") {
		w.line("        - {match: {kind: PersistentVolumeClaim}, deletionPolicy: Retain}")
	}
	if err := r.writeValues(&w); err != nil {
		return "", err
	}
	return w.String(), nil
}

// taken returns patterns for the ids of the objects that Helm has. Deletion hooks take no
// existing object, so the patterns don't match them.
func (r *Release) taken() []string {
	var hooks, ids []string
	for _, h := range r.Hooks {
		if slices.Contains(h.Events, "pre-delete") {
			hooks = append(hooks, h.Kind)
		}
	}
	if len(hooks) == 0 {
		return []string{"*"}
	}
	for _, kind := range r.Kinds {
		if !slices.Contains(hooks, kind) {
			ids = append(ids, ChartID(r.Chart.Name)+"-"+line(strings.ToLower(kind))+"*")
		}
	}
	return ids
}

// writeValues writes what the user gave Helm.
func (r *Release) writeValues(w *writer) error {
	config, err := decode(r.Config)
	if len(r.Config) == 0 || config == nil {
		return nil
	}
	values, ok := config.(map[string]any)
	if err != nil || !ok {
		return errNoRelease
	}
	if len(values) == 0 {
		return nil
	}
	v, err := literal{}.of(values, "values")
	if err != nil {
		return err
	}
	w.line("      # The values of the release. Use columns for those that differ: \"{{ .plan }}\".")
	w.line("      values:")
	return w.value(8, v)
}

// ChartID returns the id for a chart in a form, which is also the name of its directory.
func ChartID(name string) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	const most = 50
	if id = strings.Trim(id[:min(len(id), most)], "-"); id == "" {
		return "chart"
	}
	return id
}

// line returns a text for a comment.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}
