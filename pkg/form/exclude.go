package form

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// readExclude reads which objects a hub or a form excludes, from spec.exclude and the
// annotation. A bad rule is an error, because lynqctl would otherwise create objects that
// a user excluded.
func readExclude(spec *object, m meta) lynq.Exclusions {
	rules := readExclusions(spec, spec.name("exclude"), spec.list("exclude"))
	name := "annotation " + wellknown.AnnotationDisabledResources
	for _, a := range m.Annotations {
		switch near, ok := suggest.Near(a.Key, []string{wellknown.AnnotationDisabledResources}); {
		case a.Key == wellknown.AnnotationDisabledResources:
			rules = slices.Concat(rules, readExclusions(spec, name, annotatedList(spec, name, a.Text)))
		case ok && strings.HasPrefix(a.Key, wellknown.KeyPrefix):
			spec.fail(a.Text.Pos, "did you mean "+near+"?", "annotation %s is unknown to lynqctl", a.Key)
		}
	}
	return rules
}

// annotatedList reads a YAML list from an annotation. Its problems have the file's lines
// if the annotation is a block of lines.
func annotatedList(o *object, name string, t Text) []*document.Value {
	before := t.Pos.Line
	if !strings.Contains(t.Text, "\n") {
		before--
	}
	documents, complete := parse(o.report, t.Pos.File, []byte(strings.Repeat("\n", max(0, before))+t.Text))
	switch {
	case !complete:
		return nil // already reported
	case len(documents) == 0:
		return nil
	case len(documents) > 1 || documents[0].Kind != document.List:
		o.fail(t.Pos, "write - {kind: KIND, name: NAME}, one per line", "%s must be a list in YAML", name)
		return nil
	}
	return documents[0].Items
}

func readExclusions(spec *object, name string, items []*document.Value) lynq.Exclusions {
	var rules lynq.Exclusions
	for i, item := range items {
		o := spec.below(fmt.Sprintf("%s[%d]", name, i), item, "exclude")
		kind, pattern, namespace := o.needText("kind"), o.needText("name"), o.text("namespace")
		o.done()
		if kind.IsSet() && !naming.IsDNS1123Label(strings.ToLower(kind.Text)) {
			o.fail(kind.Pos, "write the kind alone, as ConfigMap; it takes no pattern", "%s %q is not a kind", o.name("kind"), kind.Text)
		}
		checkGlob(o, "name", pattern)
		if checkGlob(o, "namespace", namespace); namespace.IsSet() && namespace.Text == "" {
			o.fail(namespace.Pos, "leave it out for any namespace", "%s is empty", o.name("namespace"))
		}
		rules = append(rules, lynq.Exclusion{Kind: kind.Text, Name: pattern.Text, Namespace: namespace.Text, Pos: item.Pos})
	}
	return rules
}

// checkGlob refuses invalid patterns for names. Only * is special. path.Match gives other
// characters a meaning, too, but no name has them.
func checkGlob(o *object, field string, t Text) {
	if strings.ContainsAny(t.Text, "?[]\\/ \t\n{}") {
		o.fail(t.Pos, "write a name, with * for any characters", "%s %q is not a pattern for names", o.name(field), t.Text)
	}
}
