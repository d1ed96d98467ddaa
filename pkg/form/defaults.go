package form

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// policyDefault sets policies of the resources that it matches.
type policyDefault struct {
	name string // spec.defaults[0]
	pos  lynq.Pos
	// Empty texts match all resources. id may have * for any characters.
	kind, apiVersion, id Text
	said                 map[string]saying // by the policies' fields
}

// readDefaults reads spec.defaults.
func readDefaults(spec *object) []*policyDefault {
	var defaults []*policyDefault
	for _, o := range spec.objects("defaults") {
		item := o.value
		if item.Kind != document.Map {
			continue
		}
		d := &policyDefault{name: o.path, pos: item.Pos, said: map[string]saying{}}
		match := o.needObject("match")
		d.kind, d.apiVersion, d.id = matchText(match, "kind"), matchText(match, "apiVersion"), matchText(match, "id")
		match.done()
		checkGlob(match, "id", d.id)
		empty := d.kind.Text == "" && d.apiVersion.Text == "" && d.id.Text == ""
		if empty && match.value.Kind == document.Map {
			match.fail(match.value.Pos, "write kind: KIND", "%s needs kind, apiVersion or id", match.path)
		}
		table := lynq.Policies()
		set := false
		for k := range table {
			f := &table[k]
			if f.Kind == lynq.OtherPolicy {
				continue
			}
			set = set || o.value.Field(f.Field) != nil
			if say := policyField(o, f); say.value != "" {
				say.by = d
				d.said[f.Field] = say
			}
		}
		o.done()
		if !set {
			o.fail(item.Pos, "add a policy, such as deletionPolicy: Retain", "%s sets no policy", o.path)
		}
		if !empty {
			defaults = append(defaults, d)
		}
	}
	return defaults
}

// matchText returns a text that resources must have. Only an absent one matches all of them.
func matchText(match *object, field string) Text {
	t := match.text(field)
	if t.IsSet() && (t.Text == "" || strings.ContainsFunc(t.Text, unicode.IsSpace)) {
		match.fail(t.Pos, "write it without white space, or leave it out", "%s %q is not valid", match.name(field), t.Text)
		return Text{}
	}
	return t
}

// matches reports whether a default is for a resource.
func (d *policyDefault) matches(r *Resource) bool {
	id := d.id.Text == ""
	if !id {
		id, _ = path.Match(d.id.Text, r.ID) // checkGlob has checked the pattern
	}
	return id && (d.kind.Text == "" || d.kind.Text == r.Kind) && (d.apiVersion.Text == "" || d.apiVersion.Text == r.APIVersion)
}

// defaultFor returns what the last matching default says about a policy.
func defaultFor(defaults []*policyDefault, r *Resource, f *lynq.PolicyField) saying {
	for _, d := range slices.Backward(defaults) {
		if say := d.said[f.Field]; say.value != "" && d.matches(r) {
			return say
		}
	}
	return saying{}
}

// checkDefaults reports defaults that match nothing. A misspelled kind would leave the
// objects unprotected that it means.
func checkDefaults(rep *report, subject string, defaults []*policyDefault, entries []*entry) {
	for _, d := range defaults {
		if slices.ContainsFunc(entries, func(e *entry) bool { return d.matches(e.Resource) }) {
			continue
		}
		var asked, kinds, versions, ids []string
		for _, e := range entries {
			kinds, versions, ids = append(kinds, e.Kind), append(versions, e.APIVersion), append(ids, e.ID)
		}
		fix := ""
		for _, one := range []struct {
			field string
			text  Text
			known []string
		}{{"kind", d.kind, kinds}, {"apiVersion", d.apiVersion, versions}, {"id", d.id, ids}} {
			if one.text.Text == "" {
				continue
			}
			asked = append(asked, one.field+" "+one.text.Text)
			if near, ok := suggest.Near(one.text.Text, one.known); ok && near != one.text.Text && fix == "" {
				fix = fmt.Sprintf("did you mean %q?", near)
			}
		}
		if fix == "" {
			fix = "remove it, or check its spelling"
		}
		rep.problems.Add(d.pos, fix, "%s: %s: no resource of the form has %s", subject, d.name, strings.Join(asked, ", "))
	}
}

// fail reports a wrong policy where the form sets it. The place of a default doesn't show
// the resource, so the message does.
func (s saying) fail(o *object, r *Resource, fix, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.by != nil {
		text += fmt.Sprintf(" (%s sets it for the resource at %s)", s.by.name, r.Pos)
		fix = "narrow match, or set the policy on the resource"
	}
	o.fail(s.pos, fix, "%s", text)
}

// origin names the default that set a policy, for messages at other places.
func (s saying) origin(field string) string {
	if s.by == nil {
		return ""
	}
	return fmt.Sprintf(" (%s at %s sets %s)", s.by.name, s.pos, field)
}
