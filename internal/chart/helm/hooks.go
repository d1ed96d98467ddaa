package helm

import (
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	release "helm.sh/helm/v4/pkg/release/v1"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// hookWarnings names the templates with hooks for events that only Helm knows. Tests are no
// such hooks, because nobody expects them from an installation.
func (o *opened) hookWarnings(c *chart.Chart) []wire.Problem {
	only := []release.HookEvent{release.HookPostDelete, release.HookPreUpgrade, release.HookPostUpgrade, release.HookPreRollback, release.HookPostRollback}
	var all []wire.Problem
	for _, t := range c.Templates {
		for line, events := range hookLines(string(t.Data)) {
			lost := slices.DeleteFunc(events, func(event string) bool { return !slices.Contains(only, release.HookEvent(event)) })
			if len(lost) > 0 {
				all = append(all, wire.Problem{
					File: o.origin(t), Line: line + 1, What: "lynqctl runs no hook for " + strings.Join(lost, ", "),
					Fix: "if tenants need it, write a Job into the form",
				})
			}
		}
	}
	for _, sub := range c.Dependencies() {
		all = append(all, o.hookWarnings(sub)...)
	}
	return all
}

// hasHook reports whether a template of a chart or its subcharts may be a hook for an event.
func hasHook(c *chart.Chart, event release.HookEvent) bool {
	of := func(t string) bool {
		for _, events := range hookLines(t) {
			if slices.Contains(events, event.String()) || slices.ContainsFunc(events, func(text string) bool { return strings.Contains(text, "{{") }) {
				return true
			}
		}
		return false
	}
	for _, t := range c.Templates {
		if of(string(t.Data)) {
			return true
		}
	}
	return slices.ContainsFunc(c.Dependencies(), func(sub *chart.Chart) bool { return hasHook(sub, event) })
}

// withoutTests removes the templates of a chart and its subcharts that make nothing but tests,
// which no installation has. Tests often have random names.
func withoutTests(c *chart.Chart) {
	c.Templates = slices.DeleteFunc(c.Templates, func(f *common.File) bool { return f != nil && onlyTests(f.Name, string(f.Data)) })
	for _, sub := range c.Dependencies() {
		withoutTests(sub)
	}
}

// onlyTests reports whether each document of a template is a hook for helm test, and no other
// template needs it.
func onlyTests(name, template string) bool {
	if strings.HasPrefix(path.Base(name), "_") || strings.Contains(template, "define") || strings.Contains(template, "block") {
		return false
	}
	tests := 0
	for document := range strings.SplitSeq("\n"+template, "\n---") {
		hook := false
		for _, events := range hookLines(document) {
			for _, event := range events {
				if event != release.HookTest.String() && event != "test-success" {
					return false
				}
				hook = true
			}
		}
		switch {
		case hook:
			tests++
		case len(fieldTexts(document, "kind")) > 0 || printsObjects(name, document):
			return false
		}
	}
	return tests > 0
}

// hookLines yields the lines with annotations of hooks, counted from 0, and their events.
func hookLines(template string) func(yield func(int, []string) bool) {
	return func(yield func(int, []string) bool) {
		for i, line := range strings.Split(template, "\n") {
			_, value, found := strings.Cut(line, release.HookAnnotation)
			value, isKey := strings.CutPrefix(strings.TrimLeft(value, `"'`), ":")
			if !found || !isKey {
				continue
			}
			events := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(` ,"'}`, r) || r == '\r' })
			if strings.Contains(value, "{{") {
				events = []string{value} // only a release tells
			}
			if !yield(i, events) {
				return
			}
		}
	}
}
