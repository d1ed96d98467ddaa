package plan

import (
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// AsRecorded returns the desired state of an object as its entry describes it.
func AsRecorded(me Owner, r *inventory.Entry) *Object {
	p := lynq.Policy{Lifecycle: r.Lifecycle}
	p.RunOn, p.Unwaited = "", true
	if r.Phase == inventory.PhaseCompleted {
		p.PurgeOrder = new(int)
	}
	return &Object{
		Ref: r.Ref, APIVersion: r.APIVersion, ID: r.ID, Order: r.Order, Digest: r.Digest,
		Owned:  !r.Deletion.Kept().WhenNodeGoes && r.Namespace == me.Namespace,
		Policy: &p, Sensitive: r.Sensitive,
		Ends: kinds.MayEnd(r.Group, r.Kind),
	}
}

// HookAsRecorded returns the part of a hook that its entry describes.
func HookAsRecorded(me Owner, r *inventory.Entry) *Object {
	o := AsRecorded(me, r)
	o.Policy.RunOn, o.Policy.Unwaited, o.Policy.SkipOnDependencyFailure = r.RunOn, false, true
	o.Policy.Timeout = lynq.DefaultPolicy().Timeout
	return o
}
