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
	"github.com/lynqctl/lynqctl/pkg/apply/gate"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

var (
	// ErrTurned says that the step became one that is carried out in another way.
	ErrTurned = errors.New("it is not to be written any more; apply again")
	// ErrExists says that an object exists where one was to be created.
	ErrExists = errors.New("it exists, and another client keeps changing it; apply again")
)

// MaxTries bounds how often a write is tried again because the object changed
// meanwhile.
const MaxTries = 8

// Result holds the outcome of a write.
type Result struct {
	Meta      *metav1.PartialObjectMetadata
	Sent      bool   // some request came to it
	Unchanged bool   // the object is as it was
	Note      string // for people: what was taken from whom
	// Notes say why the object is deleted to be created again.
	Notes []string
}

// Object is an object of the cluster in the hands of a step. Whatever is written to it is
// for the object that was observed, and what has changed since is decided again.
type Object struct {
	Cluster  Cluster
	Ctx      context.Context // outlasts an interruption by the grace
	DryRun   bool
	Resource lynq.APIResource
	Me       plan.Owner
	Owner    map[string]any // the reference to the node's inventory
	// Own asks the gate whether that may become an owner of the object.
	Own func(*plan.Step) (gate.OwnersPermit, error)
	// Decide decides the step again on the object as it is now.
	Decide func(*plan.Step, *tracking.Live) (plan.Step, decide.Verdict)

	Step    *plan.Step // as it was decided last
	Touched bool       // some write succeeded
	// asked: the plan asked the server about what current gave, and a write would change it.
	asked bool
}

// becomes has the step go on as another one.
func (o *Object) becomes(next plan.Step) { o.Step = &next }

// LookAt reads what there is of the object, nil for nothing.
func (o *Object) LookAt() (*tracking.Live, error) {
	m, err := o.Metadata()
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := tracking.LiveOf(o.Step.Ref(), m)
	l.Labels = m.Labels
	return &l, nil
}

// Metadata reads the metadata of the object, whoever it belongs to.
func (o *Object) Metadata() (*metav1.PartialObjectMetadata, error) {
	return o.Cluster.Metadata(o.Ctx, o.Resource, o.Step.Ref().Namespace, o.Step.Ref().Name)
}

// again looks at an object that is not as it was observed, and decides on it. What
// is left alone from now on is ErrTurned.
func (o *Object) again() error {
	o.asked = false
	now, err := o.LookAt()
	if err != nil {
		return err
	}
	step, _ := o.Decide(o.Step, now)
	if step.Action == plan.ActionKeep && o.Touched {
		// What this run began to write it completes.
		step.Action, step.Reason, step.Message = o.Step.Action, o.Step.Reason, o.Step.Message
	}
	o.becomes(step)
	if step.Writes() || now == nil {
		return nil
	}
	return ErrTurned
}

// current reads the object that was observed. Where the decision on it does not
// hold any more it is ErrMoved.
func (o *Object) current() (live *unstructured.Unstructured, err error) {
	if live = o.Step.Live.Asked; live != nil {
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

// left reads the object as a write of this step left it: what holds for the write
// holds for it.
func (o *Object) left(done Result) (*unstructured.Unstructured, error) {
	live, err := o.get()
	if err == nil && live.GetResourceVersion() != done.Meta.ResourceVersion {
		return nil, ErrMoved
	}
	return live, err
}

// change changes an object's metadata alone: as an apply of all that we applied,
// so that a later one can take it back, or as a patch where we applied nothing.
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
	body, err := plan.NewBody(content)
	if err != nil {
		return Result{}, err
	}
	request := Request{Verb: Apply, Body: body.With(uidField(live.GetUID()), versionField(live.GetResourceVersion())), Force: true}
	return o.reowned(o.seen(live), request, o.adds(c.Owners))
}

// get reads the object that was observed; another one in its place, or none, is
// an error.
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

// unchanged judges the answer of a write: it tells whether the object is as it was when
// the write was decided on. The server gives an object a new version if it changed, and
// only then; to a dry run it gives none.
func (o *Object) unchanged(done Result) bool {
	switch {
	case !done.Sent:
		return true
	case o.DryRun || o.Step.Live == nil || done.Meta == nil:
		return false
	}
	return done.Meta.UID == o.Step.Live.UID && done.Meta.ResourceVersion == o.Step.Live.ResourceVersion
}

// reowned is write for what may change owner references of the object as a step has seen
// it. adds tells whether the object gets one to the node's inventory.
func (o *Object) reowned(seen *plan.Step, r Request, adds bool) (_ Result, err error) {
	switch {
	case o.DryRun: // changes nothing
	case adds:
		r.Owners, err = o.Own(seen)
	default:
		r.Owners, err = gate.PermitDetach(seen)
	}
	if err != nil {
		return Result{}, err
	}
	return o.write(r)
}

// seen is the step with the owners that the object has now.
func (o *Object) seen(live *unstructured.Unstructured) *plan.Step {
	l := *o.Step.Live
	l.Owners = nil
	for _, r := range live.GetOwnerReferences() {
		l.Owners = append(l.Owners, r.UID)
	}
	return new(o.Step.Seen(&l))
}

// adds tells whether the node's inventory is one of some owners.
func (o *Object) adds(owners []any) bool {
	return slices.ContainsFunc(owners, func(owner any) bool {
		r, _ := owner.(map[string]any)
		return r["uid"] == o.Owner["uid"]
	})
}

// owners are the owner references that an object is to have: those of others,
// and ours where that is how it is tracked.
func (o *Object) owners(live *unstructured.Unstructured) []any {
	references, _, _ := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	kept := slices.DeleteFunc(references, wellknown.IsOwnerNode)
	if o.Step.Object != nil && o.Step.Object.Owned {
		kept = append(kept, o.Owner)
	}
	return kept
}

// named is a request for the step's object.
func (o *Object) named(r Request) Request {
	r.Namespace, r.Name = o.Step.Ref().Namespace, o.Step.Ref().Name
	return r
}
