package lynq

// Kept says when an object stays that its node no longer wants.
type Kept struct {
	WhenDropped  bool // the form drops the object, and the node stays
	WhenNodeGoes bool
}

// Ever reports whether the object may stay when its node no longer wants it.
func (k Kept) Ever() bool { return k.WhenDropped || k.WhenNodeGoes }

// Less reports whether lynqctl deletes the object in a case in which the other policy keeps it.
func (k Kept) Less(than Kept) bool {
	return than.WhenDropped && !k.WhenDropped || than.WhenNodeGoes && !k.WhenNodeGoes
}

// Kept returns when the policy keeps an object. An unknown policy keeps nothing.
func (d DeletionPolicy) Kept() Kept {
	switch d {
	case DeleteRetain:
		return Kept{true, true}
	case DeleteRetainOnApply:
		return Kept{WhenDropped: true}
	case DeleteRetainOnDelete:
		return Kept{WhenNodeGoes: true}
	}
	return Kept{}
}

// Or returns the policy that keeps an object whenever one of both does.
func (d DeletionPolicy) Or(other DeletionPolicy) DeletionPolicy {
	a, b := d.Kept(), other.Kept()
	both := Kept{a.WhenDropped || b.WhenDropped, a.WhenNodeGoes || b.WhenNodeGoes}
	for _, policy := range []DeletionPolicy{d, other, DeleteRetain} {
		if policy.Kept() == both {
			return policy
		}
	}
	return d
}
