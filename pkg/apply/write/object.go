package write

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

var (
	// ErrTurned means that the step changed, and the caller must execute it in another way.
	ErrTurned = errors.New("it is not to be written any more; apply again")
	// ErrExists means that the object to create exists already.
	ErrExists = errors.New("it exists, and another client keeps changing it; apply again")
)

// MaxTries limits how often lynqctl repeats a write because the object changed meanwhile.
const MaxTries = 8

// Result is the result of a write.
type Result struct {
	Meta      *metav1.PartialObjectMetadata
	Sent      bool   // lynqctl sent a request
	Unchanged bool   // the write didn't change the object
	Note      string // for people: which fields came from which manager
	// Notes say why lynqctl deletes the object to recreate it.
	Notes []string
}

// Object is an object of the cluster with its step. Every write is for the observed
// version. If the object changed since, the step is decided again.
type Object struct {
	Cluster  Cluster
	Ctx      context.Context // continues for the grace period after an interruption
	DryRun   bool
	Resource lynq.APIResource
	Me       plan.Owner
	Owner    map[string]any // the reference to the node's inventory
	// Own asks the gate whether the inventory may become an owner of the object.
	Own func(*plan.Step) (decide.OwnersPermit, error)
	// Decide decides the step again for the current object.
	Decide func(*plan.Step, *tracking.Live) (plan.Step, decide.Verdict)

	Step    *plan.Step // the step as decided last
	Touched bool       // some write succeeded
	// asked is set if the plan asked the server about the version from current, and a write
	// would change it.
	asked bool
}

// becomes makes the step continue as another one.
func (o *Object) becomes(next plan.Step) { o.Step = &next }

// LookAt reads the object, and returns nil if it doesn't exist.
func (o *Object) LookAt() (*tracking.Live, error) {
	m, err := o.Metadata()
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := tracking.LiveOf(o.Step.Ref(), m)
	l.Change(func(r *tracking.Rare) { r.Labels = m.Labels })
	return &l, nil
}

// Metadata reads the metadata of the object, whatever its owner.
func (o *Object) Metadata() (*metav1.PartialObjectMetadata, error) {
	return o.Cluster.Metadata(o.Ctx, o.Resource, o.Step.Ref().Namespace, o.Step.Ref().Name)
}

// again reads an object that changed, and decides the step again. It returns ErrTurned if
// lynqctl must no longer write it.
func (o *Object) again() error {
	o.asked = false
	now, err := o.LookAt()
	if err != nil {
		return err
	}
	step, _ := o.Decide(o.Step, now)
	if step.Action == plan.ActionKeep && o.Touched {
		// The run completes its own writes.
		step.Action, step.Reason, step.Message = o.Step.Action, o.Step.Reason, o.Step.Message
	}
	o.becomes(step)
	if step.Writes() || now == nil {
		return nil
	}
	return ErrTurned
}

// current reads the observed object. It returns ErrMoved if the decision no longer holds.
func (o *Object) current() (live *unstructured.Unstructured, err error) {
	if live = o.Step.Live.Rare().Asked; live != nil {
		o.asked = true
	} else if live, err = o.get(); err != nil {
		return nil, err
	}
	now, err := tracking.LiveOfObject(o.Step.Ref(), live)
	if err != nil {
		return nil, err
	}
	step, verdict := o.Decide(o.Step, now)
	if verdict != decide.VerdictHolds {
		return nil, ErrMoved
	}
	o.becomes(step)
	return live, nil
}

// left reads the object after a write of this step. The decision for the write holds for it
// too.
func (o *Object) left(done Result) (*unstructured.Unstructured, error) {
	live, err := o.get()
	if err == nil && live.GetResourceVersion() != done.Meta.ResourceVersion {
		return nil, ErrMoved
	}
	return live, err
}

// change changes only an object's metadata. It applies everything that lynqctl applied
// before, so that a later apply can undo it. If lynqctl applied nothing, it sends a patch.
func (o *Object) change(live *unstructured.Unstructured, c fields.MetadataChange) (Result, error) {
	content, ours, err := fields.Retracked(live, c)
	if err != nil {
		return Result{}, err
	}
	if !ours {
		patch, err := fields.MetadataPatch(live, c)
		if err != nil {
			return Result{}, err
		}
		return o.reowned(o.seen(live), Request{Verb: MergePatch, Body: patch}, o.adds(c.Owners))
	}
	body, err := manifest.Encode(content)
	if err != nil {
		return Result{}, err
	}
	request := Request{Verb: Apply, Body: body.With(uidField(live.GetUID()), versionField(live.GetResourceVersion())), Force: true}
	return o.reowned(o.seen(live), request, o.adds(c.Owners))
}

// get reads the observed object. It returns an error if the object doesn't exist, or
// another one has its name.
func (o *Object) get() (*unstructured.Unstructured, error) {
	live, err := o.Cluster.Get(o.Ctx, o.Resource, o.Step.Ref().Namespace, o.Step.Ref().Name)
	if err != nil {
		return nil, err
	}
	if live.GetUID() != o.Step.Live.UID {
		return nil, ErrReplaced
	}
	return live, nil
}

func (o *Object) write(r Request) (Result, error) {
	r.Namespace, r.Name = o.Step.Ref().Namespace, o.Step.Ref().Name
	r.DryRun = o.DryRun
	meta, err := o.Cluster.Write(o.Ctx, o.Resource, r)
	o.Touched = o.Touched || err == nil
	return Result{Meta: meta, Sent: true}, err
}

// unchanged reports whether a write left the object as it was decided on. The server gives
// an object a new version exactly if it changed. A dry run shows no version.
func (o *Object) unchanged(done Result) bool {
	switch {
	case !done.Sent:
		return true
	case o.DryRun || o.Step.Live == nil || done.Meta == nil:
		return false
	}
	return done.Meta.UID == o.Step.Live.UID && done.Meta.ResourceVersion == o.Step.Live.ResourceVersion
}

// reowned is write for requests that may change owner references. seen is the step with the
// object's current owners. adds says whether the object gets a reference to the node's
// inventory.
func (o *Object) reowned(seen *plan.Step, r Request, adds bool) (_ Result, err error) {
	switch {
	case o.DryRun: // a dry run changes nothing
	case adds:
		r.Owners, err = o.Own(seen)
	default:
		r.Owners, err = decide.PermitDetach(seen)
	}
	if err != nil {
		return Result{}, err
	}
	return o.write(r)
}

// seen returns the step with the object's current owners.
func (o *Object) seen(live *unstructured.Unstructured) *plan.Step {
	l := *o.Step.Live
	l.Owners = nil
	for _, r := range live.GetOwnerReferences() {
		l.Owners = append(l.Owners, r.UID)
	}
	return new(o.Step.Seen(&l))
}

// adds reports whether the node's inventory is among some owners.
func (o *Object) adds(owners []any) bool {
	return slices.ContainsFunc(owners, func(owner any) bool {
		r, _ := owner.(map[string]any)
		return r["uid"] == o.Owner["uid"]
	})
}

// owners returns the desired owner references of an object. It keeps those of others, and
// adds ours if the object is tracked that way.
func (o *Object) owners(live *unstructured.Unstructured) []any {
	references, _, _ := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	kept := slices.DeleteFunc(references, o.leadsHere)
	if o.Step.Object != nil && o.Step.Object.Owned {
		kept = append(kept, o.Owner)
	}
	return kept
}

// named returns a request for the step's object.
func (o *Object) named(r Request) Request {
	r.Namespace, r.Name = o.Step.Ref().Namespace, o.Step.Ref().Name
	return r
}
