package lynq

import "path"

// Exclusion is a rule that excludes objects: lynqctl never creates, updates or
// deletes them.
type Exclusion struct {
	Kind string // exact, of any group
	Name string // a pattern, in which * stands for any characters
	// Namespace is a pattern, too. "" matches any namespace, and objects without one.
	Namespace string
	Pos       Pos
}

// Matches reports whether the rule excludes an object.
func (e *Exclusion) Matches(ref Ref) bool {
	return e.Kind == ref.Kind && globs(e.Name, ref.Name) && (e.Namespace == "" || globs(e.Namespace, ref.Namespace))
}

// globs reports whether a pattern matches. The loader refused patterns that can't be
// read.
func globs(pattern, text string) bool {
	matched, err := path.Match(pattern, text)
	return err == nil && matched
}

// String returns the rule as Kind/name or Kind/namespace/name.
func (e *Exclusion) String() string {
	return Ref{Kind: e.Kind, Namespace: e.Namespace, Name: e.Name}.String()
}

// Exclusions are the rules for the objects of a form: its own and those of its hub.
type Exclusions []Exclusion

// Find returns the first rule that excludes an object, or nil.
func (e Exclusions) Find(ref Ref) *Exclusion {
	for i := range e {
		if e[i].Matches(ref) {
			return &e[i]
		}
	}
	return nil
}
