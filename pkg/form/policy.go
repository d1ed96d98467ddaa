package form

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A saying is a resource's value for one policy.
type saying struct {
	value string // in the spelling of the table of policies; "" if the resource sets none
	text  string // the form's spelling
	pos   lynq.Pos
	by    *policyDefault // nil if the resource itself sets the policy
}

// readPolicies reads all policies of a table (lynq.Policies), and finds contradictions. It
// needs the manifest first.
func readPolicies(o *object, r *Resource, table []lynq.PolicyField, defaults []*policyDefault) {
	r.Policy = lynq.DefaultOf(table)
	said := make(map[string]saying, len(table))
	for i := range table {
		if f := &table[i]; f.Kind != lynq.OtherPolicy {
			if said[f.Field] = readPolicy(o, r, f); said[f.Field].value == "" {
				said[f.Field] = defaultFor(defaults, r, f)
			}
			if said[f.Field].value != "" {
				f.Set(&r.Policy, said[f.Field].value)
			}
		}
	}
	r.Policy.Readiness = readReadiness(o, r)
	r.IgnoreFields = readIgnoreFields(o, r)
	for _, path := range r.IgnoreFields {
		r.Policy.IgnoreFields = append(r.Policy.IgnoreFields, path.Text)
	}
	checkReconcile(o, r, said["creationPolicy"], said["reconcilePolicy"])
	checkPurge(o, r, said["purgeOrder"])
	checkContradictions(o, r, table, said)
	checkHook(o, r, table, said)
	checkTTL(o, r)
	checkAnnotations(o, r, table)
}

// readPolicy reads a policy from its field and its annotation. If they differ, it reports
// an error, because it can't know which one is right.
func readPolicy(o *object, r *Resource, f *lynq.PolicyField) saying {
	field, annotation := policyField(o, f), policyAnnotation(o, r, f)
	switch {
	case field.value == "":
		return annotation
	case annotation.value != "" && annotation.value != field.value:
		o.fail(annotation.pos, "set it once", "%s is %s on line %d, and annotation %s is %s", o.name(f.Field), field.text, field.pos.Line, f.Annotation, annotation.text)
	}
	return field
}

// policyField reads a policy from its field. It reports a wrong value.
func policyField(o *object, f *lynq.PolicyField) saying {
	v := o.get(f.Field)
	if v == nil {
		return saying{}
	}
	switch f.Kind {
	case lynq.WavePolicy, lynq.SecondsPolicy:
		lowest := o.field(f.Field).Low
		if n := o.integer(f.Field, lowest-1); n >= lowest {
			return saying{value: strconv.Itoa(n), text: strconv.Itoa(n), pos: v.Pos}
		}
		return saying{}
	case lynq.FlagPolicy:
		if on := strconv.FormatBool(o.boolean(f.Field)); v.Kind == document.Bool {
			return saying{value: on, text: on, pos: v.Pos}
		}
		return saying{}
	}
	return policyText(o, f, o.name(f.Field), o.text(f.Field))
}

// policyAnnotation reads a policy from its annotation. It reports a wrong value.
func policyAnnotation(o *object, r *Resource, f *lynq.PolicyField) saying {
	if f.Annotation == "" {
		return saying{}
	}
	t, name := annotationText(o, r, f.Annotation), "annotation "+f.Annotation
	if !t.IsSet() || f.Kind != lynq.WavePolicy {
		return policyText(o, f, name, plain(f, t))
	}
	wave, err := strconv.ParseInt(t.Text, 10, 16)
	if err != nil {
		o.fail(t.Pos, "", "%s must be a whole number from %d to %d, found %q", name, lynq.LowestWave, lynq.HighestWave, t.Text)
		return saying{}
	}
	return saying{value: strconv.FormatInt(wave, 10), text: strconv.FormatInt(wave, 10), pos: t.Pos}
}

// policyText reads a word or a time. name is the field or annotation.
func policyText(o *object, f *lynq.PolicyField, name string, t Text) saying {
	switch {
	case !t.IsSet():
		return saying{}
	case f.Kind == lynq.IntervalPolicy:
		after := reapplyAfter(o, name, t)
		if after == 0 {
			return saying{}
		}
		return saying{value: after.String(), text: t.Text, pos: t.Pos}
	case f.Annotation == "":
		word := oneOf(o, f.Field, t, "", f.Values)
		return saying{value: word, text: word, pos: t.Pos}
	}
	word := anyCase(o, name, t, f.Values)
	return saying{value: word, text: word, pos: t.Pos}
}

// plain converts an annotation to the field's spelling.
func plain(f *lynq.PolicyField, annotation Text) Text {
	for word, same := range f.Synonyms {
		if slices.Contains(cases(word), annotation.Text) {
			annotation.Text = same
		}
	}
	return annotation
}

// checkContradictions reports policies that exclude each other.
func checkContradictions(o *object, r *Resource, table []lynq.PolicyField, said map[string]saying) {
	values := map[string]string{}
	for i := range table {
		values[table[i].Field] = cmp.Or(table[i].Get(&r.Policy), table[i].Default)
	}
	for i := range table {
		f := &table[i]
		for _, c := range f.Contradicts {
			if say := said[f.Field]; say.value != "" && (c.Value == "" || c.Value == say.value) && values[c.Field] != c.Be {
				say.fail(o, r, "remove one of them", "%s is %s, and %s is %s: %s%s", o.name(f.Field), say.text, c.Field, values[c.Field], c.Why, said[c.Field].origin(c.Field))
			}
		}
	}
}

// checkAnnotations reports policies in places where they have no effect.
func checkAnnotations(o *object, r *Resource, table []lynq.PolicyField) {
	var keys []string
	for i := range table {
		f := &table[i]
		if f.Annotation == "" {
			continue
		}
		keys = append(keys, f.Annotation)
		for _, e := range r.Annotations {
			if e.Key == f.Annotation {
				o.fail(e.Text.Pos, "write "+f.Field+", or annotate the manifest in spec.metadata", "annotationsTemplate cannot set %s, which no row may change", f.Annotation)
			}
		}
	}
	annotations := r.Manifest.Field("metadata").Field("annotations")
	if annotations != nil {
		warnNear(o, annotations.Fields, keys)
	}
}
