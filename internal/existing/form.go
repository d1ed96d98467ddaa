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

// Form returns a form that makes the objects of the releases. path is the chart's path from the
// form's file.
func (c *Combined) Form(names Names, path string) (string, error) {
	var w writer
	first := c.Releases[0]
	about := fmt.Sprintf("From release %s in namespace %s: chart %s %s, revision %d.", first.Name, first.Namespace, line(first.Chart.Name), line(first.Chart.Version), first.Version)
	if n := len(c.Releases); n > 1 {
		about = fmt.Sprintf("From %d releases in namespace %s: chart %s %s.", n, first.Namespace, line(first.Chart.Name), line(first.Chart.Version))
	}
	w.head(about, names.Namespace, names.Name, names.Hub)
	if ran := c.Ran(); len(ran) > 0 {
		w.line("  # Helm ran these hooks when it installed a release, so they don't run again for it.")
		w.line("  exclude:")
		for _, h := range ran {
			w.line("    - {kind: %s, name: %s, namespace: %s}", scalar(h.Kind), scalar(h.Name), scalar(h.Namespace))
		}
	}
	w.line("  charts:")
	w.line("    - id: %s", scalar(ChartID(first.Chart.Name)))
	w.line("      path: %s", scalar(path))
	w.line(`      releaseName: "{{ .uid }}"`)
	if first.Chart.HasCRDs {
		w.line("      # Helm installed crds/, and keeps it.")
		w.line("      skipCRDs: true")
	}
	w.line("      defaults:")
	w.line("        # The first apply takes objects and fields from Helm. Remove this when it has.")
	for _, id := range c.taken() {
		w.line("        - {match: {id: %q}, conflictPolicy: Force}", id)
	}
	if slices.Contains(c.kinds(), "PersistentVolumeClaim") {
		w.line("        - {match: {kind: PersistentVolumeClaim}, deletionPolicy: Retain}")
	}
	if len(c.values) == 0 {
		return w.String(), nil
	}
	w.line("      # What was set in Helm. Columns can have more of it: \"{{ .plan }}\".")
	w.line("      values:")
	err := w.value(8, c.values)
	return w.String(), err
}

// Ran returns the hooks that Helm ran when it installed the releases. Their objects are no longer
// needed, whether they exist or not.
func (c *Combined) Ran() []Hook {
	var ran []Hook
	for _, r := range c.Releases {
		for _, h := range r.Hooks {
			if slices.Contains(h.Events, "pre-install") || slices.Contains(h.Events, "post-install") {
				ran = append(ran, h)
			}
		}
	}
	return ran
}

// kinds returns the kinds of the releases' objects, each once.
func (c *Combined) kinds() []string {
	var kinds []string
	for _, r := range c.Releases {
		kinds = append(kinds, r.Kinds...)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// taken returns patterns for the ids of the objects that Helm has. Deletion hooks take no
// existing object, so the patterns don't match them.
func (c *Combined) taken() []string {
	var hooks, ids []string
	for _, r := range c.Releases {
		for _, h := range r.Hooks {
			if slices.Contains(h.Events, "pre-delete") {
				hooks = append(hooks, h.Kind)
			}
		}
	}
	if len(hooks) == 0 {
		return []string{"*"}
	}
	for _, kind := range c.kinds() {
		if !slices.Contains(hooks, kind) {
			ids = append(ids, ChartID(c.Releases[0].Chart.Name)+"-"+line(strings.ToLower(kind))+"*")
		}
	}
	return ids
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
