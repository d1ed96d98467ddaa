package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// conflictError is a conflict over fields that the policy does not let us win.
type conflictError struct{ message string }

func (e *conflictError) Error() string { return e.message }

// errReplaced: the object that was observed is gone, and another is in its
// place.
var errReplaced = errors.New("it was deleted and created again meanwhile; apply again")

// errMoved: the object changed since it was read.
var errMoved = errors.New("it changes all the time; apply again")

// resolveConflicts decides conflicts over fields. Force takes them. Else what is ours
// and was changed since by an update, which knows no owners, is drift and is
// taken back; what another manager applied, or what was never ours, is not.
func (w *sender) resolveConflicts(conflicts []fields.Conflict) error {
	// Fields that we set by an update are ours too, and so is the tracking of what
	// is ours.
	override := w.s.Object.Policy.Patch == lynq.PatchOverride
	conflicts = slices.DeleteFunc(slices.Clone(conflicts), func(f fields.Conflict) bool {
		return override && f.ClientSide() || f.Manager == lynq.FieldManager || w.s.Action != plan.ActionAdopt && tracking(f)
	})
	if len(conflicts) == 0 {
		return nil
	}
	s := w.s
	list := fields.Describe(conflicts)
	if s.Object.Policy.Conflict == lynq.ConflictForce {
		w.note = append(w.note, "took "+list)
		w.record(eventNormal, "ForceApply", s.ref().String()+": took "+list)
		return nil
	}
	if w.s.Repairs() && !slices.ContainsFunc(conflicts, func(f fields.Conflict) bool { return f.Applied }) {
		w.note = append(w.note, "took back "+list)
		return nil
	}
	return &conflictError{fields.ManagedBy(conflicts) + " (conflictPolicy Stuck; Force would take it)"}
}

// conflict ends a step whose object has another owner, or fields of one.
func (n *nodeRun) conflict(s *stepRun, message string) {
	n.record(eventWarning, "ResourceConflict", s.ref().String()+": "+message)
	n.end(s, OutcomeConflicted, message)
}

// failed ends a step with an error, and says what to do about it.
func (n *nodeRun) failed(s *stepRun, err error) {
	if s.Reason == plan.ReasonGivenUp {
		message := "it is left behind, as it is: " + describeWrite(s.ref(), err)
		if n.owner().Collected(s.Live) {
			message += "; the garbage collector deletes it when it may, for it belonged to the inventory"
		}
		n.leaveBehind(s, message)
		return
	}
	if n.Options.DryRun && s.Object != nil && n.comesInto(s, err) {
		return
	}
	if s.hook() {
		err = n.inHookNamespace(s, err)
	} else if s.ref().Namespace == n.plan.Namespace {
		err = InNamespace(n.plan.Namespace, OrAnotherNamespace, err) // where its inventory is, too
	}
	var conflict *conflictError
	conflicts := errors.As(err, &conflict)
	switch unwritten := conflicts || problemOf(err).refused; {
	case s.Entry != nil || s.Object == nil:
	case unwritten && !s.touched:
		s.entry = nil // it need not be remembered
	default:
		r := plan.NewEntry(s.Object)
		r.Adopted = s.Adopted
		s.entry = &r
	}
	if conflicts {
		n.conflict(s, conflict.message)
		return
	}
	if n.finishing.Err() != nil && errors.Is(err, context.Canceled) {
		n.breakOff(s, OutcomeSkipped, "interrupted while it was written: "+s.describe(err))
		return
	}
	n.inVain(s, err)
	n.end(s, OutcomeFailed, s.describe(err))
}

// comesInto: in a server dry run, an object whose namespace or kind the run
// would make first cannot be tried.
func (n *nodeRun) comesInto(s *stepRun, err error) bool {
	p := problemOf(err)
	switch {
	case p.kind == problemNoNamespace && n.providers["namespace/"+s.ref().Namespace] != nil:
		n.untried(s, plan.ReasonNamespaceNew, "its namespace comes into being first")
	case meta.IsNoMatchError(err) && n.providers["kind/"+s.Object.GroupKind()] != nil:
		n.untried(s, plan.ReasonKindNew, "its kind comes into being first")
	default:
		return false
	}
	return true
}

func (n *nodeRun) untried(s *stepRun, why plan.Reason, message string) {
	step := *s.Step
	step.Reason = why
	s.Step = &step
	n.end(s, OutcomeDone, "not tried: "+message)
}

// orphan marks an object that is retained, and lets it go.
func (n *nodeRun) orphan(s *stepRun) {
	reason := lynq.ReasonRemovedFromTemplate
	if n.plan.Desired == nil {
		reason = lynq.ReasonNodeDeleted
	}
	n.untrack(s, fields.MetadataChange{
		SetLabels: map[string]string{lynq.LabelOrphaned: "true"},
		SetAnnotations: map[string]string{
			lynq.AnnotationOrphanedAt:     n.Now().UTC().Format(time.RFC3339),
			lynq.AnnotationOrphanedReason: reason,
			lynq.AnnotationOrphanedFrom:   strings.Join([]string{n.plan.Hub, n.plan.Namespace, n.plan.Name, s.Entry.ID}, "/"),
		},
	})
}

// releaseObject forgets an object. One that another owner took over and that still has
// our tracking loses that: with a reference to the inventory it would be
// collected as soon as that goes.
func (n *nodeRun) releaseObject(ctx context.Context, s *stepRun) {
	if s.Reason == plan.ReasonGivenUp && s.Live == nil {
		n.leaveBehind(s, s.Message)
		return
	}
	if s.Reason == plan.ReasonAlreadyGone && s.Message != "" {
		n.report(Event{Type: EventWarning, Object: s.ref(), ID: s.id(), Message: s.Message + "; its entry is dropped"})
	}
	if me := n.owner(); s.Live == nil || s.To != (plan.NodeKey{}) || !me.Tracks(s.Live) && !me.Owns(s.Live) {
		s.entry = nil
		n.end(s, OutcomeDone, s.Message)
		return
	}
	err := n.served(ctx, s, func() (err error) {
		s.resource, err = n.resourceOf(s)
		return err
	})
	switch {
	case err != nil:
		n.failed(s, err)
	case s.Live.Record:
		n.disown(s)
	default:
		n.untrack(s, fields.MetadataChange{RemoveAnnotations: trackingAnnotations()})
	}
}

// disown takes the reference to the node's inventory off a record that an older
// lynqctl took for an object of the node: with the inventory, the collector would
// delete it. What else is on it is that record's own.
func (n *nodeRun) disown(s *stepRun) {
	w := &sender{nodeRun: n, s: s}
	n.untracked(s, w.tryDisown)
}

func (w *sender) tryDisown() error {
	live, err := w.get()
	if errors.Is(err, errReplaced) {
		return nil
	}
	if err != nil {
		return err
	}
	me := w.owner()
	references, _, _ := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	kept := slices.DeleteFunc(slices.Clone(references), func(reference any) bool {
		r, _ := reference.(map[string]any)
		return me.UID != "" && r["uid"] == string(me.UID)
	})
	if len(kept) == len(references) {
		return nil
	}
	patch, err := fields.MetadataPatch(live, fields.MetadataChange{Owners: kept})
	if err == nil {
		_, err = w.reowned(Write{Verb: MergePatch, Body: patch})
	}
	return err
}

// leaveBehind gives up on an object that a person named, and says so: no one
// remembers it from now on.
func (n *nodeRun) leaveBehind(s *stepRun, message string) {
	left := *s.Step
	left.Action = plan.ActionRelease
	s.Step, s.entry = &left, nil
	n.report(Event{Type: EventWarning, Object: s.ref(), ID: s.id(), Message: message})
	n.end(s, OutcomeDone, message)
}

// untrack takes the node's tracking off an object, along with another change.
func (n *nodeRun) untrack(s *stepRun, c fields.MetadataChange) {
	w := &sender{nodeRun: n, s: s}
	c.RemoveLabels = append(c.RemoveLabels, trackingLabels()...)
	n.untracked(s, func() error { return w.tryUntrack(c) })
}

// untracked tries to take tracking off an object, and forgets it then.
func (n *nodeRun) untracked(s *stepRun, attempt func() error) {
	for try := 0; ; try++ {
		err := attempt()
		switch {
		case errors.Is(err, errTurned):
			n.execute(n.finishing, s)
			return
		case err == nil || apierrors.IsNotFound(err):
			s.entry = nil
			n.end(s, OutcomeDone, s.Message)
			return
		case problemOf(err).kind != problemMoved || try == maxTries:
			n.failed(s, err)
			return
		}
	}
}

func (w *sender) tryUntrack(c fields.MetadataChange) error {
	live, err := w.get()
	if errors.Is(err, errReplaced) {
		return nil // it is another object, and nothing of it is ours
	}
	if err != nil {
		return err
	}
	now, err := plan.LiveOfObject(w.s.ref(), live)
	if err != nil {
		return err
	}
	step, verdict := w.recheck(w.s, now)
	w.s.Step = &step
	switch me := w.owner(); {
	case verdict != plan.VerdictHolds:
		return errTurned
	case !me.Tracks(now) && !me.Owns(now):
		return nil // another owner has it by now
	}
	c.Owners = w.owners(live)
	done, err := w.change(live, c)
	if err != nil || w.Options.DryRun {
		return err
	}
	l := plan.LiveOf(w.s.ref(), done.meta)
	if !w.owner().Tracks(&l) {
		return nil
	}
	// Another client applied the same tracking, from a copy perhaps, so that an
	// apply leaves it there.
	if live, err = w.left(done); err != nil {
		return err
	}
	c.Owners = w.owners(live)
	patch, err := fields.MetadataPatch(live, c)
	if err == nil {
		_, err = w.reowned(Write{Verb: MergePatch, Body: patch})
	}
	return err
}
