package helm

import (
	"path"
	"regexp"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// kinds returns the kinds that the templates of a chart and its subcharts name, each once and
// sorted. Values decide later which of them a release has.
func kinds(c *chart.Chart) []wire.Kind {
	found := map[wire.Kind]bool{}
	addKinds(c, found)
	all := make([]wire.Kind, 0, len(found))
	for k := range found {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b wire.Kind) int { return strings.Compare(a.Kind+" "+a.APIVersion, b.Kind+" "+b.APIVersion) })
	return all
}

func addKinds(c *chart.Chart, found map[wire.Kind]bool) {
	for _, file := range c.Templates {
		if file == nil {
			continue
		}
		for document := range strings.SplitSeq(string(file.Data), "\n---") {
			if printsObjects(file.Name, document) {
				found[wire.Kind{}] = true
			}
			for _, kind := range fieldTexts(document, "kind") {
				k := wire.Kind{Kind: kind}
				if versions := fieldTexts(document, "apiVersion"); len(versions) == 1 {
					k.APIVersion = versions[0]
				}
				found[k] = true
			}
		}
	}
	for _, sub := range c.Dependencies() {
		addKinds(sub, found)
	}
}

// printsObjects reports whether a document of a template may print objects that a value, a file
// or another template has.
func printsObjects(name, document string) bool {
	base := path.Base(name)
	if strings.HasPrefix(base, "_") || strings.HasSuffix(base, "NOTES.txt") || len(fieldTexts(document, "kind")) > 0 {
		return false
	}
	return regexp.MustCompile(`(?m)^[^:\n]*\{\{[^}]*\b(tpl|include|template|toYaml|toJson|Files\.Get)\b`).MatchString(document)
}

// fieldTexts returns the texts of a field at the beginning of lines, "" for computed ones.
func fieldTexts(document, field string) []string {
	var texts []string
	for _, match := range regexp.MustCompile(`(?m)^(?:- )?`+field+`:[ \t]*(.*?)[ \t\r]*$`).FindAllStringSubmatch(document, -1) {
		text := strings.Trim(match[1], `"'`)
		if strings.ContainsAny(text, "{} #") {
			text = ""
		}
		texts = append(texts, text)
	}
	return texts
}
