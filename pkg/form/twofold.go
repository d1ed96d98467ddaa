package form

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/internal/suggest"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A twofold policy has two spellings: a field of the resource's entry, and an
// annotation on its manifest. Its words are written as IfUnowned, ifUnowned or
// if-unowned in both.
type twofold struct {
	field, annotation string
	synonyms          map[string]string // words of the annotation that the field spells otherwise
}

func adoptionPolicy() twofold {
	return twofold{field: "adoptionPolicy", annotation: lynq.AnnotationAdoptionPolicy}
}

func deletionPolicy() twofold {
	return twofold{"deletionPolicy", lynq.AnnotationDeletePolicy, map[string]string{"Orphan": string(lynq.DeleteRetain)}}
}

// readiness is no word, but has two spellings too.
func readiness() twofold { return twofold{field: "readiness", annotation: lynq.AnnotationStatusHint} }

// twofoldPolicies are all of them.
func twofoldPolicies() []twofold {
	return append(wavePolicies(), adoptionPolicy(), reconcilePolicy(), reapplyInterval(), deletionPolicy(), patchStrategy(), readiness(), runOn())
}

// readTwofold reads the policies that have two spellings. The manifest has been
// read.
func readTwofold(o *object, r *Resource) {
	r.Policy.Adoption = twofoldWord(o, r, adoptionPolicy(), lynq.AdoptNever, lynq.AdoptIfUnowned, lynq.AdoptAlways)
	readReconcile(o, r)
	readReapply(o, r)
	r.Policy.Readiness = readReadiness(o, r)
	r.Policy.Deletion = cmp.Or(twofoldWord(o, r, deletionPolicy(), lynq.DeletionPolicies()...), r.Policy.Deletion)
	readWaves(o, r)
	readPatchStrategy(o, r)
	readRunOn(o, r)
	checkTwofoldKeys(o, r)
}

// twofoldWord is the word of a policy, "" where neither spelling has one. Two that
// disagree are an error: nothing tells which one is meant.
func twofoldWord[T ~string](o *object, r *Resource, p twofold, allowed ...T) T {
	field := o.text(p.field)
	annotation := annotationText(o, r, p.annotation)
	byField, said := anyCase(o, o.name(p.field), field, allowed)
	byAnnotation, annotated := anyCase(o, "annotation "+p.annotation, p.plain(annotation), allowed)
	switch {
	case said && annotated && byField != byAnnotation:
		o.fail(annotation.Pos, "say it once", "%s is %s on line %d, and annotation %s is %s", o.name(p.field), byField, field.Pos.Line, p.annotation, byAnnotation)
	case annotated:
		return byAnnotation
	}
	return byField
}

// pos is where a policy is said.
func (p twofold) pos(o *object, r *Resource) lynq.Pos {
	if f := o.value.Field(p.field); f != nil {
		return f.Pos
	}
	return fieldPos(r.Manifest.Field("metadata").Field("annotations"), p.annotation)
}

// plain is an annotation in the words of the field.
func (p twofold) plain(annotation Text) Text {
	for word, same := range p.synonyms {
		if slices.Contains(cases(word), annotation.Text) {
			annotation.Text = same
		}
	}
	return annotation
}

// anyCase is the one of the allowed words that a text spells in any case; false for
// a text that is absent or spells none, which is reported.
func anyCase[T ~string](o *object, name string, t Text, allowed []T) (T, bool) {
	if !t.isSet() {
		return "", false
	}
	words := make([]string, len(allowed))
	for i, word := range allowed {
		words[i] = string(word)
		if slices.Contains(cases(words[i]), t.Text) {
			return word, true
		}
	}
	fix := ""
	if slices.Contains(cases("Default"), t.Text) {
		fix = "leave it out, which is the default"
	} else if near, ok := suggest.Near(pascal(t.Text), words); ok { // they are all in the message
		fix = suggest.Fix(near, words)
	}
	o.fail(t.Pos, fix, "%s must be one of %s; found %q", name, strings.Join(words, ", "), t.Text)
	return "", false
}

// cases are a word as it is, in PascalCase, in camelCase and in kebab-case.
func cases(word string) []string {
	var kebab strings.Builder
	for i, r := range word {
		if i > 0 && unicode.IsUpper(r) {
			kebab.WriteByte('-')
		}
		kebab.WriteRune(unicode.ToLower(r))
	}
	return []string{word, strings.ToUpper(word[:1]) + word[1:], strings.ToLower(word[:1]) + word[1:], kebab.String()}
}

// pascal is a mistyped word as it may have been meant.
func pascal(word string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(word, "-") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// annotationText is an annotation of the manifest. One that is no string has been
// reported.
func annotationText(o *object, r *Resource, key string) Text {
	v := r.Manifest.Field("metadata").Field("annotations").Field(key)
	switch {
	case v == nil || v.Kind != String:
		return Text{}
	case isTemplate(v.Str):
		o.fail(v.Pos, "write it out", "annotation %s may not be a template", key)
		return Text{}
	}
	return Text{Pos: v.Pos, Text: v.Str}
}

// checkTwofoldKeys looks for policies where they have no effect.
func checkTwofoldKeys(o *object, r *Resource) {
	var keys []string
	for _, p := range twofoldPolicies() {
		keys = append(keys, p.annotation)
		for _, e := range r.Annotations {
			if e.Key == p.annotation {
				o.fail(e.Text.Pos, "write "+p.field+", or annotate the manifest in spec.metadata", "annotationsTemplate cannot set %s, which no row may change", p.annotation)
			}
		}
	}
	annotations := r.Manifest.Field("metadata").Field("annotations")
	if annotations == nil {
		return
	}
	for _, f := range annotations.Fields {
		name, ours := strings.CutPrefix(f.Key, lynq.KeyPrefix)
		if !ours || slices.Contains(keys, f.Key) || lynq.Reserved(f.Key) || name == "" {
			continue
		}
		if near, ok := suggest.Near(f.Key, keys); ok {
			o.warn(f.Pos, "did you mean "+near+"?", "annotation %s means nothing to lynqctl", f.Key)
		}
	}
}
