package plan

import (
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// AsRecorded gives what a run wants that wants just what is recorded.
func AsRecorded(me Owner, r *inventory.Entry) *Object {
	p := lynq.Policy{Lifecycle: r.Lifecycle}
	p.RunOn, p.Unwaited = "", true
	if r.Phase == inventory.PhaseCompleted {
		p.PurgeOrder = new(int)
	}
	return &Object{
		Ref: r.Ref, APIVersion: r.APIVersion, ID: r.ID, Order: r.Order, Digest: r.Digest,
		Owned:  !r.Deletion.Kept().WhenNodeGoes && r.Namespace == me.Namespace,
		Policy: &p,
	}
}

// HookAsRecorded gives what an inventory alone tells of a hook.
func HookAsRecorded(me Owner, r *inventory.Entry) *Object {
	o := AsRecorded(me, r)
	o.Policy.RunOn, o.Policy.Unwaited, o.Policy.SkipOnDependencyFailure = r.RunOn, false, true
	o.Policy.Timeout = lynq.DefaultPolicy().Timeout
	return o
}
