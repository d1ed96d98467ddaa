package lynq

// NamespaceDefault names objects that are in namespaces without being put
// there by a user, so that they keep none from being deleted.
type NamespaceDefault struct {
	// Kind is a kind as Ref.GroupKind says it: with .group behind it where that is
	// not the core group.
	Kind string `json:"kind"`
	// Name is a pattern, in which * stands for any characters.
	Name string `json:"name"`
}

// Matches tells whether an object is one of them. A pattern that cannot be read
// matches nothing.
func (d NamespaceDefault) Matches(ref Ref) bool {
	return d.Kind == ref.GroupKind() && globs(d.Name, ref.Name)
}
