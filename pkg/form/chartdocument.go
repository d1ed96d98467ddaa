package form

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// ChartObject is an object that a template of a chart makes for a row, as YAML.
type ChartObject struct {
	File string // the template, as positions have it
	Text string
}

// ChartDocument is such an object after somebody read it.
type ChartDocument struct {
	ChartObject
	content *document.Value // without lines, because those of a result are none of the template
}

// ReadChart reads the objects of a release. Problems say what isn't YAML.
func ReadChart(objects []ChartObject) ([]ChartDocument, lynq.Problems) {
	var problems lynq.Problems
	documents := make([]ChartDocument, 0, len(objects))
	for _, o := range objects {
		s := document.ParseRendered(o.File, []byte(o.Text))
		problems = append(problems, s.Problems...)
		for _, v := range s.Documents {
			documents = append(documents, ChartDocument{o, v})
		}
	}
	return documents, problems
}

func (d ChartDocument) kind() string { return d.content.Field("kind").Literal() }

// InInstallOrder returns documents as Helm installs them: by their kinds, other kinds last. Then
// come hooks, by their weights and names. It leaves out hooks with events that Helm doesn't
// know (helm.sh/helm: release/v1/util, SortManifests; action, execHook).
func InInstallOrder(kinds []string, documents []ChartDocument) []ChartDocument {
	type placed struct {
		ChartDocument
		hook       chartHook
		rank       int
		kind, name string
	}
	all := make([]placed, 0, len(documents))
	for _, d := range documents {
		p := placed{ChartDocument: d, hook: hookOf(d.content), kind: d.kind()}
		if p.rank = slices.Index(kinds, p.kind); p.rank < 0 {
			p.rank = len(kinds)
		}
		if p.hook.is {
			p.name = nameOf(d.content)
		}
		if !p.hook.unknown() {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		if a.hook.is != b.hook.is {
			if a.hook.is {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.hook.weight, b.hook.weight), strings.Compare(a.name, b.name), cmp.Compare(a.rank, b.rank), strings.Compare(a.kind, b.kind))
	})
	sorted := make([]ChartDocument, len(all))
	for i, p := range all {
		sorted[i] = p.ChartDocument
	}
	return sorted
}
