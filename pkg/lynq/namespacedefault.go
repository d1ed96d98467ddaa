package lynq

// NamespaceDefault names objects that no user put into a namespace. They don't keep lynqctl
// from deleting the namespace.
type NamespaceDefault struct {
	// Kind is a kind as Ref.GroupKind returns it: with .group, except for the core group.
	Kind string `json:"kind"`
	// Name is a pattern, in which * stands for any characters.
	Name string `json:"name"`
}

// Matches reports whether an object is one of them. A pattern that can't be read
// matches nothing.
func (d NamespaceDefault) Matches(ref Ref) bool {
	return d.Kind == ref.GroupKind() && globs(d.Name, ref.Name)
}
