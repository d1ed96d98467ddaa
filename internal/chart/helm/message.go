package helm

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// longest is the length of a message at which it is cut.
const longest = 400

// plainText cuts a long text, and removes what the error of a library may quote of values.
func plainText(text string) string {
	text = regexp.MustCompile("`[^`]*`").ReplaceAllString(text, "…")
	text = regexp.MustCompile(`"(?:[^"\\]|\\.){60,}"`).ReplaceAllString(text, "…")
	return cut(text)
}

func cut(text string) string {
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}

// yamlReason shortens an error of a YAML library. It returns its line, or 0.
func yamlReason(text string) (string, int) {
	for _, noise := range []string{"error converting YAML to JSON: ", "error unmarshaling JSON: ", "while decoding JSON: ", "yaml: ", "json: "} {
		text = strings.ReplaceAll(text, noise, "")
	}
	line := 0
	if m := regexp.MustCompile(`^line (\d+): (.*)$`).FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1]) // only digits
		text = m[2]
	}
	wrongType := regexp.MustCompile(`cannot unmarshal (\S+) into Go struct field \S*?\.(\S+) of type \S+`)
	return wrongType.ReplaceAllString(plainText(text), "$2 can't be a $1"), line
}

// yamlProblem returns the problem of a file that isn't YAML.
func yamlProblem(file string, err error) error {
	text, line := yamlReason(err.Error())
	return &problem{wire.Problem{File: file, Line: line, What: "the file isn't YAML: " + text, Fix: "correct the file"}}
}

// templateProblem returns the problem of an error of Helm's engine.
func (r *releaseRender) templateProblem(err error) error {
	text := err.Error()
	p := wire.Problem{}
	p.What, p.Fix = templateReason(text)
	if m := authorsText().FindStringSubmatch(text); m != nil && r.request.Secret && !written(r.chart, m[1]) {
		p.What = "a template refuses the values (the reason could show a secret)"
	}
	if refused, ok := refusalIn(text); ok {
		p.What, p.Fix = refused.what, refused.fix
	}
	places := r.places(text)
	if len(places) == 0 {
		return &problem{p}
	}
	p.File, p.Line = places[len(places)-1].File, places[len(places)-1].Line
	if outer := places[0]; outer.File != p.File {
		p.What += fmt.Sprintf(" (%s:%d includes it)", outer.File, outer.Line)
	}
	return &problem{p}
}

// authorsText matches an error that a template makes with fail or required.
func authorsText() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^execution error at \([^)]*\): (.*)$`)
}

// written reports whether a template of a chart or its subcharts has a text, so that the text
// has no value.
func written(c *chart.Chart, text string) bool {
	has := func(t *common.File) bool { return strings.Contains(string(t.Data), text) }
	return slices.ContainsFunc(c.Templates, has) || slices.ContainsFunc(c.Dependencies(), func(sub *chart.Chart) bool { return written(sub, text) })
}

// places returns the places of the templates in an error, from the one that is rendered to the
// innermost one.
func (r *releaseRender) places(text string) []wire.Problem {
	var all []wire.Problem
	for _, m := range regexp.MustCompile(`([^\s"'(:][^\s"'(:]*):(\d+)`).FindAllStringSubmatch(text, -1) {
		if name, ok := r.names[m[1]]; ok {
			line, _ := strconv.Atoi(m[2]) // only digits
			all = append(all, wire.Problem{File: name, Line: line})
		}
	}
	return all
}

// templateReason returns the cause in an error of Helm's engine, and what to do. Causes that a
// function names may quote a value, so that quoted texts are left out.
func templateReason(text string) (what, fix string) {
	const values = "correct the values of the chart"
	if m := authorsText().FindStringSubmatch(text); m != nil {
		return cut(m[1]), values // the chart's author wrote it, with fail or required
	}
	if m := regexp.MustCompile(`(?s)^parse error at \([^)]*\): (.*)$`).FindStringSubmatch(text); m != nil {
		return cut(m[1]), "correct the template"
	}
	text = regexp.MustCompile(`(cannot parse template|tpl function execution for) "(?:[^"\\]|\\.)*"`).ReplaceAllString(text, "$1")
	m := regexp.MustCompile(`(?s)^.* at <(.*?)>:\s*(.*)$`).FindStringSubmatch(text)
	if m == nil {
		return plainText(text), values
	}
	cause := strings.TrimSpace(m[2])
	if called := regexp.MustCompile(`(?s)^error calling (\w+):\s*(.*)$`).FindStringSubmatch(cause); called != nil {
		cause = called[2]
		if called[1] != "include" && called[1] != "tpl" {
			cause = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`).ReplaceAllString(cause, "…")
		}
	}
	cause = regexp.MustCompile(`(?s)^.*template: (?:[^\s:]+(?::\d+)+: )?`).ReplaceAllString(cause, "")
	return plainText("at " + m[1] + ": " + cause), values
}
