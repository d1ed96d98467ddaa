package lynq

import "path"

// Exclusion is a rule that excludes objects: lynqctl never creates, updates or
// deletes them.
type Exclusion struct {
	Kind string // exact, of any group
	Name string // a pattern, in which * stands for any characters
	// Namespace is a pattern too. "" is any namespace, and none.
	Namespace string
	Pos       Pos
}

// Matches tells whether the rule excludes an object.
func (e *Exclusion) Matches(ref Ref) bool {
	return e.Kind == ref.Kind && globs(e.Name, ref.Name) && (e.Namespace == "" || globs(e.Namespace, ref.Namespace))
}

// globs tells whether a pattern matches. One that cannot be read was refused when its
// file was.
func globs(pattern, text string) bool {
	matched, err := path.Match(pattern, text)
	return err == nil && matched
}

// String is Kind/name or Kind/namespace/name, with the patterns of the rule.
func (e *Exclusion) String() string {
	return Ref{Kind: e.Kind, Namespace: e.Namespace, Name: e.Name}.String()
}

// Exclusions are the rules for the objects of a form: its own, and its hub's.
type Exclusions []Exclusion

// Find is the first rule that excludes an object, nil for none.
func (e Exclusions) Find(ref Ref) *Exclusion {
	for i := range e {
		if e[i].Matches(ref) {
			return &e[i]
		}
	}
	return nil
}
