package write

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Manner says how Send writes an object.
type Manner struct {
	// InPlace returns the step as an update in place, or nil if it may recreate the object.
	InPlace func(*plan.Step, map[string]any) *plan.Step
	// Record records a Kubernetes event about a fact that users must know.
	Record func(reason, message string)
	// Notes are causes and managers from before lynqctl deleted the object to recreate it.
	Notes []string
}

// writer writes one object as its form describes it.
type writer struct {
	Manner
	o    *Object
	note []string
	// yields is set if empty values of the manifest must give way, see fields.Yield. strips is
	// set if a custom resource takes no null. dropped is set after fields were dropped that
	// the server refuses beside the manifest. lynqctl does each only once.
	yields, strips, dropped bool
}

// Send brings the object to its desired state, by the strategy of its policy. If the object
// changes meanwhile, it reads it again, up to MaxTries times. The result has the notes even
// with an error.
func (o *Object) Send(ctx context.Context, m Manner) (Result, error) {
	w := &writer{Manner: m, o: o}
	done, err := w.send(ctx)
	done.Notes = w.Notes
	return done, err
}

func (w *writer) send(ctx context.Context) (Result, error) {
	planned := *w.o.Step
	for try := 0; ; try++ {
		w.note = slices.Clone(w.Notes)
		done, err := w.try()
		if err == nil {
			done, err = w.unmark(done)
		}
		if err == nil {
			return w.sent(&planned, done), nil
		}
		if try == MaxTries || ctx.Err() != nil {
			return Result{}, err
		}
		switch p := ProblemOf(err); {
		case p.Kind == ProblemMoved, p.Kind == ProblemReplaced, p.Kind == ProblemGone, p.Kind == ProblemExists, w.reversion(&p):
			if err := w.o.again(); err != nil {
				return Result{}, err
			}
		default:
			return Result{}, w.hinted(err)
		}
	}
}

// sent returns the result of a successful write.
func (w *writer) sent(planned *plan.Step, done Result) Result {
	s := w.o.Step
	done.Unchanged = w.o.unchanged(done)
	if planned.Live == nil && s.Writes() && s.Action != plan.ActionAdopt && done.Unchanged {
		w.o.becomes(*planned) // lynqctl created it, and the answer was lost
		done.Unchanged = false
	}
	switch s := w.o.Step; s.Reason {
	case plan.ReasonTakeover:
		w.note = append([]string{s.Message}, w.note...)
		w.Record("ForceApply", s.Ref().String()+": "+s.Message)
	case plan.ReasonMoved:
		w.note = append([]string{s.Message}, w.note...)
	case plan.ReasonUntracked:
		if s.Message != "" {
			w.note = append([]string{s.Message}, w.note...)
		}
	}
	done.Note = strings.Join(w.note, "; ")
	return done
}

// unmark removes marks that a write left on an object: the markers of an orphan, and
// tracking of another kind or another node. Others set them, so an apply can't remove them.
func (w *writer) unmark(done Result) (Result, error) {
	if done.Meta == nil || w.o.DryRun {
		return done, nil
	}
	patch := map[string]any{}
	labels := strayLabels(w.o.Step.Object, w.o.Me)
	if done.Meta.Labels[wellknown.LabelOrphaned] != "" {
		labels = append(labels, wellknown.LabelOrphaned)
		fields.PatchStrings(patch, "annotations", nil, orphanAnnotations(), done.Meta.Annotations)
	}
	fields.PatchStrings(patch, "labels", nil, labels, done.Meta.Labels)
	me := w.o.Me
	ours := func(r metav1.OwnerReference) bool { return me.UID != "" && r.UID == me.UID }
	if !w.o.Step.Object.Owned && slices.ContainsFunc(done.Meta.OwnerReferences, ours) {
		patch["ownerReferences"] = slices.DeleteFunc(slices.Clone(done.Meta.OwnerReferences), ours)
	}
	if len(patch) == 0 {
		return done, nil
	}
	patch["uid"], patch["resourceVersion"] = string(done.Meta.UID), done.Meta.ResourceVersion
	body, err := fields.Marshal(map[string]any{"metadata": patch})
	if err != nil {
		return Result{}, err
	}
	if _, owners := patch["ownerReferences"]; !owners {
		return w.o.write(Request{Verb: MergePatch, Body: body})
	}
	seen := w.o.Step.Seen(new(tracking.LiveOf(w.o.Step.Ref(), done.Meta)))
	return w.o.reowned(&seen, Request{Verb: MergePatch, Body: body}, false)
}

// strayLabels returns the tracking labels that an object of a node must not have.
func strayLabels(o *plan.Object, me plan.Owner) []string {
	if o.Owned {
		return lynq.NodeLabelKeys()
	}
	wanted := lynq.NodeLabels(me.Hub, me.NodeKey)
	return slices.DeleteFunc(lynq.NodeLabelKeys(), func(key string) bool { return wanted[key] != "" })
}

// try writes once. An error of kind ProblemMoved asks for another attempt.
func (w *writer) try() (Result, error) {
	s := w.o.Step
	switch {
	case s.Action == plan.ActionCreate || s.Live == nil:
		return w.create()
	case s.Action == plan.ActionTrack:
		return w.track()
	case s.Recreates():
		return w.applyOrRecreate()
	case s.Applies():
		return w.apply()
	}
	return w.overwrite()
}

// AbsentVersion is a resource version that no object has. A server-side apply with it
// creates an object, and conflicts with an existing one. In a dry run, the resulting object
// has this version too.
const AbsentVersion = "9223372036854775807"

// create creates an object, and never changes an existing one. It uses server-side apply if
// later writes do, so that lynq manages the fields that way from the start.
func (w *writer) create() (Result, error) {
	body, err := w.withoutNulls(w.manifest())
	if err != nil {
		return Result{}, err
	}
	request := Request{Verb: Apply, Body: w.bodyOf(body, "", AbsentVersion)}
	if !w.o.Step.Object.Applied(false) {
		request = Request{Verb: Create, Body: w.bodyOf(body, "", "")}
	}
	done, err := w.o.write(request)
	switch p := ProblemOf(err); {
	case p.Kind == ProblemFields:
		err = ErrExists // the object exists with fields of others, and the server reports these first
	case w.mayStrip(p):
		w.strips = true
		return w.create()
	}
	return done, err
}

// apply sends a server-side apply for an object that existed when the plan was made.
func (w *writer) apply() (Result, error) {
	// The write is only for the version that was decided on.
	uid, version, body, held := w.o.Step.Live.UID, w.o.Step.Live.ResourceVersion, w.manifest(), ""
	if w.needsLive() {
		live, err := w.o.current()
		if err != nil {
			return Result{}, err
		}
		if live, err = w.prepare(live); err != nil {
			return Result{}, err
		}
		if live, err = w.claimNulls(live); err != nil {
			return Result{}, err
		}
		if body, held, err = w.fitted(live); err != nil {
			return Result{}, err
		}
		version = live.GetResourceVersion()
	}
	request := Request{Verb: Apply, Body: w.bodyOf(body, uid, version), Force: w.takesFields()}
	done, err := w.o.reowned(w.o.Step, request, w.o.Step.Object.Owned)
	if p := ProblemOf(err); p.Kind == ProblemFields {
		if err := w.unmoved(held); err != nil {
			return Result{}, err
		}
		if !w.yields && body.HasEmpty() {
			w.yields = true
			return Result{}, ErrMoved // again, without empty values that others fill
		}
		request.Force = true
		if err := w.resolveConflicts(p.Conflicts); err != nil {
			return Result{}, w.inVainForced(request, err)
		}
		done, err = w.o.reowned(w.o.Step, request, w.o.Step.Object.Owned)
	}
	if ProblemOf(err).Kind == ProblemInvalid && w.o.DryRun {
		return w.tryWithout(body, err)
	}
	if err != nil {
		return Result{}, w.release(err, body)
	}
	return w.take(done, func(managed []fields.ManagedSet) fields.Takeover {
		t := fields.TakeoverOfApplied(managed, w.forces())
		t.First = w.o.Step.Action == plan.ActionAdopt || w.o.Step.Reason == plan.ReasonUnconfirmed || w.o.Step.Live.Fields == ""
		return t
	})
}

// inVainForced replaces the error of a conflict if Force wouldn't help. That is so if one
// of the fields is immutable.
func (w *writer) inVainForced(request Request, conflict error) error {
	_, _, err := w.o.Cluster.Try(w.o.Ctx, w.o.Resource, w.o.named(request))
	if p := ProblemOf(err); p.Kind == ProblemImmutable {
		return &ConflictError{w.hintFor(p)}
	}
	return conflict
}

// unmoved returns ErrMoved if the object no longer has the version of the write. The server
// reports conflicts over fields before it checks the version, and an ignored field may be
// among them.
func (w *writer) unmoved(resourceVersion string) error {
	if resourceVersion == "" {
		return nil
	}
	live, err := w.o.get()
	if err == nil && live.GetResourceVersion() != resourceVersion {
		return ErrMoved
	}
	return err
}

// needsLive reports whether the write depends on the whole live object.
func (w *writer) needsLive() bool {
	s := w.o.Step
	return len(s.Object.Policy.IgnoreFields) > 0 || s.Live.Updated || s.Reason == plan.ReasonTakeover || s.Object.Overrides(s.Live) ||
		w.yields || s.Object.Body.HasNull()
}

// prepare patches managers before an apply. Fields from our updates become removable by an
// apply, and with override so do fields of client-side tools. A takeover also removes the
// controller that owns the object, and the marks of other tools.
func (w *writer) prepare(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	overrides := w.o.Step.Object.Overrides(w.o.Step.Live)
	asks := overrides && !w.forces() || w.o.Step.Reason == plan.ReasonTakeover && !w.takesFields() && w.o.Step.Applies()
	if asks && !w.o.DryRun {
		if err := w.ask(live); err != nil {
			return nil, err
		}
	}
	var patch []byte
	var err error
	if overrides {
		if err := w.tellReclaimed(live); err != nil {
			return nil, err
		}
	}
	if overrides || w.o.Step.Live.Updated && w.o.Step.Applies() {
		if patch, err = fields.UpgradePatch(live, overrides); err != nil {
			return nil, err
		}
	}
	if w.o.Step.Reason == plan.ReasonTakeover {
		if patch, err = withoutMarks(patch, live, w.o.Step.Live.Rare().ControllerUID); err != nil {
			return nil, err
		}
	}
	if patch == nil || w.o.DryRun {
		return live, nil
	}
	done, err := w.o.reowned(w.o.seen(live), Request{Verb: JSONPatch, Body: patch}, false)
	if err != nil {
		return nil, err
	}
	return w.o.left(done)
}

// tellReclaimed notes the fields outside the form that override takes back.
func (w *writer) tellReclaimed(live *unstructured.Unstructured) error {
	said, err := w.manifest().Content()
	if err != nil {
		return err
	}
	reclaimed, err := fields.Reclaimed(live, said)
	if len(reclaimed) > 0 {
		w.note = append(w.note, w.took("took back", "take back", fields.Describe(reclaimed)))
	}
	return err
}

// ask finds conflicts over fields before a write that doesn't force. Call it before a write
// removes other tools' marks or managed fields.
func (w *writer) ask(live *unstructured.Unstructured) error {
	body, _, err := w.fitted(live)
	if err != nil {
		return err
	}
	_, err = w.o.Cluster.Write(w.o.Ctx, w.o.Resource, Request{
		Verb: Apply, Namespace: w.o.Step.Ref().Namespace, Name: w.o.Step.Ref().Name, DryRun: true,
		Body: body.With(uidField(live.GetUID())), // without owners, because the object may still have another controller
	})
	if p := ProblemOf(err); p.Kind == ProblemFields {
		return w.resolveConflicts(p.Conflicts)
	}
	return err
}

// take takes the form's fields from other managers after a write, if the policy says so.
// The write has succeeded, and later changes of the object don't undo it.
func (w *writer) take(done Result, of func([]fields.ManagedSet) fields.Takeover) (Result, error) {
	for try := 0; ; try++ {
		patch, conflicts, err := w.takePatch(done.Meta, of)
		if err != nil {
			return Result{}, err
		}
		if patch == nil || w.o.DryRun {
			w.tellTaken(conflicts)
			return done, nil
		}
		taken, err := w.o.write(Request{Verb: JSONPatch, Body: patch})
		if err == nil {
			w.tellTaken(conflicts)
			return taken, nil
		}
		if ProblemOf(err).Kind != ProblemMoved || try == MaxTries {
			return Result{}, err
		}
		if done.Meta, err = w.o.Metadata(); err != nil {
			return Result{}, err
		}
		if done.Meta.UID != w.o.Step.Live.UID {
			return Result{}, ErrReplaced
		}
	}
}

// takePatch returns the patch that takes fields, or nil, and the fields.
func (w *writer) takePatch(m *metav1.PartialObjectMetadata, of func([]fields.ManagedSet) fields.Takeover) ([]byte, []fields.Conflict, error) {
	// Most objects have no other manager.
	if !slices.ContainsFunc(m.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return fields.MayTake(&e, true) }) {
		return nil, nil, nil
	}
	managed, err := fields.Sets(m.ManagedFields)
	if err != nil {
		return nil, nil, err
	}
	t := of(managed)
	entries, conflicts, changed, err := t.Take(m.ManagedFields, managed)
	if err != nil || !changed {
		return nil, nil, err
	}
	patch, err := fields.ManagersPatch(m, entries)
	return patch, conflicts, err
}

// release handles an apply that failed because the server can't remove items that the form
// dropped, or refuses fields beside the form's. It takes these items from other managers, or
// claims these fields, so that the next attempt succeeds.
func (w *writer) release(failed error, body manifest.Body) error {
	if ProblemOf(failed).Kind != ProblemInvalid || w.o.DryRun {
		return failed
	}
	said, err := body.Content()
	if err != nil {
		return err
	}
	live, err := w.o.get()
	if err != nil {
		return err
	}
	managed, err := fields.Managed(live)
	if err != nil {
		return err
	}
	t := fields.TakeoverOfApplied(managed, w.forces())
	entries, err := t.Release(live.GetManagedFields(), managed, said)
	if err != nil {
		return err
	}
	if entries == nil {
		return w.dropLeftovers(failed, said, live)
	}
	patch, err := fields.ManagersPatch(live, entries)
	if err != nil {
		return err
	}
	if _, err := w.o.write(Request{Verb: JSONPatch, Body: patch}); err != nil {
		return err
	}
	return ErrMoved
}

// forces reports whether lynqctl takes fields from all other managers.
func (w *writer) forces() bool { return w.o.Step.Object.Policy.Conflict == lynq.ConflictForce }

// tellTaken notes fields that Force takes although their values don't differ. A takeover
// already names their owner.
func (w *writer) tellTaken(conflicts []fields.Conflict) {
	conflicts = slices.DeleteFunc(conflicts, func(f fields.Conflict) bool { return f.ClientSide() })
	if len(conflicts) > 0 && w.o.Step.Reason != plan.ReasonTakeover {
		w.note = append(w.note, w.took("took", "take", fields.Describe(conflicts)))
	}
}

// overwrite implements the strategies merge and replace. Both read the object first.
func (w *writer) overwrite() (Result, error) {
	o := w.o.Step.Object
	live, err := w.o.current()
	if err != nil {
		return Result{}, err
	}
	desired, said, err := w.leaving(live)
	if err != nil {
		return Result{}, err
	}
	theirs := fields.Foreign(live, desired, o.Policy.Patch)
	if err := w.resolveConflicts(theirs); err != nil {
		return Result{}, err
	}
	if live, err = w.prepare(live); err != nil {
		return Result{}, err
	}
	done, err := w.overwritten(live, desired, len(theirs) > 0)
	if err != nil {
		return Result{}, err
	}
	return w.take(done, func([]fields.ManagedSet) fields.Takeover { return fields.TakeoverOfManifest(said, w.forces()) })
}

// overwritten merges into the live object or replaces it, if that changes anything. others
// says whether other managers changed it.
func (w *writer) overwritten(live *unstructured.Unstructured, desired map[string]any, others bool) (Result, error) {
	o := w.o.Step.Object
	m, err := tracking.MetadataOf(live)
	if err != nil {
		return Result{}, err
	}
	l := tracking.LiveOf(w.o.Step.Ref(), m)
	tracked := w.o.Me.Tracked(o, &l) && !l.Orphaned
	// A comparison misses fields that the form dropped, because lynq manages them like
	// defaults. So only the server knows what a replacement changes.
	sure := o.Policy.Patch == lynq.PatchMerge
	switch {
	case tracked && sure && !fields.WouldChange(o.Policy.Patch, desired, live):
		return Result{Meta: m}, nil
	case o.Policy.Patch == lynq.PatchReplace:
		request, err := w.replacement(desired, live)
		if err != nil || tracked && !others && w.needless(request, live) {
			return Result{Meta: m}, err
		}
		return w.o.reowned(w.o.seen(live), request, o.Owned)
	case !tracked:
		// A merge removes nothing, so another write removes stray tracking. Then lynqctl
		// reads the object again.
		done, err := w.trackUnwritten(live)
		if err != nil {
			return Result{}, err
		}
		if live, err = w.o.left(done); err != nil {
			return Result{}, err
		}
	}
	request, err := w.merge(desired, live)
	if err != nil || tracked && !others && w.needless(request, live) {
		return Result{Meta: m}, err
	}
	done, err := w.o.write(request)
	if p := ProblemOf(err); p.Kind == ProblemInvalid {
		return w.mergeWithout(desired, live, p, done, err)
	}
	return done, err
}

// needless asks the server whether a write of the same manifest would change nothing. If
// admission changes the object, it always differs from the manifest. The write would then
// only change the time in managedFields.
func (w *writer) needless(request Request, live *unstructured.Unstructured) bool {
	if !w.confirmed() || w.o.asked {
		return false
	}
	request.Namespace, request.Name = w.o.Step.Ref().Namespace, w.o.Step.Ref().Name
	would, _, err := w.o.Cluster.Try(w.o.Ctx, w.o.Resource, request)
	return err == nil && fields.SameContent(would, live) // the write itself reports the error
}

// confirmed reports whether the manifest is the one of the last write.
func (w *writer) confirmed() bool {
	r := w.o.Step.Entry
	return r != nil && r.Digest == w.o.Step.Object.Digest && r.UID == string(w.o.Step.Live.UID)
}

func (w *writer) replacement(desired map[string]any, live *unstructured.Unstructured) (Request, error) {
	content, err := fields.Replacement(desired, live)
	if err != nil {
		return Request{}, err
	}
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata["ownerReferences"] = w.o.owners(live) // set it even if no owner is left
	}
	body, err := fields.Marshal(content)
	return Request{Verb: Update, Body: body}, err
}

// merge returns a strategic merge patch for Kubernetes' own kinds, and a JSON merge patch
// for custom resources. Their API server knows no strategies.
func (w *writer) merge(desired map[string]any, live *unstructured.Unstructured) (Request, error) {
	metadata, _ := desired["metadata"].(map[string]any)
	metadata["uid"], metadata["resourceVersion"] = string(live.GetUID()), live.GetResourceVersion()
	verb := MergePatch
	if w.builtIn() {
		verb, desired = StrategicPatch, fields.MergedLists(desired, live)
	}
	body, err := fields.Marshal(desired)
	return Request{Verb: verb, Body: body}, err
}

// track fixes the tracking of an object, and leaves its content alone.
func (w *writer) track() (Result, error) {
	live, err := w.o.current()
	if err != nil {
		return Result{}, err
	}
	change, err := w.tracking(live)
	if err != nil {
		return Result{}, err
	}
	return w.o.change(live, change)
}

// trackUnwritten works like track before the content is written. The annotation of an
// object that is created once must not exist before its content does.
func (w *writer) trackUnwritten(live *unstructured.Unstructured) (Result, error) {
	change, err := w.tracking(live)
	if err != nil {
		return Result{}, err
	}
	delete(change.SetAnnotations, wellknown.AnnotationCreatedOnce)
	return w.o.change(live, change)
}

// manifest returns the object's manifest with its mark, and with the node's annotation for
// adopted objects.
func (w *writer) manifest() manifest.Body {
	o := w.o.Step.Object
	body := o.Body
	if o.Mark != "" && !o.Policy.Creation.Once() {
		body = body.Annotated(wellknown.AnnotationDigest, o.Mark)
	}
	if w.o.Step.Adopted {
		body = body.Annotated(wellknown.AnnotationAdopted, "true")
	}
	return body
}

// takesFields reports whether a takeover takes fields with other values from their
// managers.
func (w *writer) takesFields() bool {
	return w.o.Step.Reason == plan.ReasonTakeover && w.o.Step.Object.Policy.Conflict == lynq.ConflictForce
}

// bodyOf returns a body with values that only the cluster knows.
func (w *writer) bodyOf(b manifest.Body, uid types.UID, resourceVersion string) []byte {
	owners := ""
	if w.o.Step.Object.Owned {
		owners = `"ownerReferences":[` + ownerJSON(w.o.Owner) + `]`
	}
	return b.With(owners, uidField(uid), versionField(resourceVersion))
}

func uidField(uid types.UID) string {
	if uid == "" {
		return ""
	}
	return `"uid":` + strconv.Quote(string(uid))
}

func versionField(resourceVersion string) string {
	if resourceVersion == "" {
		return ""
	}
	return `"resourceVersion":` + strconv.Quote(resourceVersion)
}

func ownerJSON(reference map[string]any) string {
	b, err := json.Marshal(reference)
	if err != nil {
		return "{}" // strings and booleans always encode
	}
	return string(b)
}

// tracking returns the change that gives an object its desired tracking.
func (w *writer) tracking(live *unstructured.Unstructured) (fields.MetadataChange, error) {
	content, err := w.manifest().Content()
	if err != nil {
		return fields.MetadataChange{}, err
	}
	desired := unstructured.Unstructured{Object: content}
	c := fields.MetadataChange{
		SetLabels:         map[string]string{},
		SetAnnotations:    map[string]string{},
		RemoveLabels:      []string{wellknown.LabelOrphaned},
		RemoveAnnotations: orphanAnnotations(),
		Owners:            w.o.owners(live),
	}
	for _, key := range TrackingLabels() {
		if value, wanted := desired.GetLabels()[key]; wanted {
			c.SetLabels[key] = value
		} else {
			c.RemoveLabels = append(c.RemoveLabels, key)
		}
	}
	for _, key := range TrackingAnnotations() {
		if key == wellknown.AnnotationDigest {
			continue // it is about the content, which this change doesn't write
		}
		if value, wanted := desired.GetAnnotations()[key]; wanted {
			c.SetAnnotations[key] = value
		} else {
			c.RemoveAnnotations = append(c.RemoveAnnotations, key)
		}
	}
	return c, nil
}

func orphanAnnotations() []string {
	return []string{wellknown.AnnotationOrphanedAt, wellknown.AnnotationOrphanedReason, wellknown.AnnotationOrphanedFrom, wellknown.AnnotationHoldsData}
}

// TrackingLabels returns the labels that nodes use to track their objects.
func TrackingLabels() []string {
	return append(lynq.NodeLabelKeys(), wellknown.LabelHub, wellknown.LabelPartOf)
}

// TrackingAnnotations returns the annotations that nodes set on their objects.
func TrackingAnnotations() []string {
	return []string{wellknown.AnnotationDeletionPolicy, wellknown.AnnotationResourceID, wellknown.AnnotationCreatedOnce, wellknown.AnnotationAdopted, wellknown.AnnotationDigest}
}
