package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// sender writes one object.
type sender struct {
	*nodeRun
	s    *stepRun
	note []string
}

// send brings an object to what is desired, by the strategy of its policy. What
// changes under its hands is looked at again, so many times.
func (n *nodeRun) send(ctx context.Context, s *stepRun) (result, error) {
	w := &sender{nodeRun: n, s: s}
	planned := s.Step
	for try := 0; ; try++ {
		w.note = slices.Clone(s.notes)
		done, err := w.try()
		if err == nil {
			done, err = w.unmark(done)
		}
		if err == nil {
			if planned.Live == nil && s.Writes() && s.Action != plan.ActionAdopt && done.unchanged {
				s.Step, done.unchanged = planned, false // it was made here, and the answer was lost
			}
			if s.Reason == plan.ReasonTakeover {
				w.note = append([]string{s.Message}, w.note...)
				w.record(eventNormal, "ForceApply", s.ref().String()+": "+s.Message)
			}
			done.note = strings.Join(w.note, "; ")
			return done, nil
		}
		if try == maxTries || ctx.Err() != nil {
			return result{}, err
		}
		switch problemOf(err).kind {
		case problemMoved, problemReplaced, problemGone, problemExists:
			if err := w.again(); err != nil {
				return result{}, err
			}
		default:
			return result{}, err
		}
	}
}

// unmark takes off an object what a write has left there and it must not have: the
// markers of an orphan, and tracking of another way or another node. Others set
// them, so that an apply cannot.
func (w *sender) unmark(done result) (result, error) {
	if done.meta == nil || w.Options.DryRun {
		return done, nil
	}
	patch := map[string]any{}
	labels := strayLabels(w.s.Object)
	if done.meta.Labels[lynq.LabelOrphaned] != "" {
		labels = append(labels, lynq.LabelOrphaned)
		fields.PatchStrings(patch, "annotations", nil, orphanAnnotations(), done.meta.Annotations)
	}
	fields.PatchStrings(patch, "labels", nil, labels, done.meta.Labels)
	me := w.owner()
	ours := func(r metav1.OwnerReference) bool { return me.UID != "" && r.UID == me.UID }
	if !w.s.Object.Owned && slices.ContainsFunc(done.meta.OwnerReferences, ours) {
		patch["ownerReferences"] = slices.DeleteFunc(slices.Clone(done.meta.OwnerReferences), ours)
	}
	if len(patch) == 0 {
		return done, nil
	}
	patch["uid"], patch["resourceVersion"] = string(done.meta.UID), done.meta.ResourceVersion
	body, err := fields.Marshal(map[string]any{"metadata": patch})
	if err != nil {
		return result{}, err
	}
	if _, owners := patch["ownerReferences"]; !owners {
		return w.write(Write{Verb: MergePatch, Body: body})
	}
	seen := *w.s.Step
	seen.Live = new(plan.LiveOf(w.s.ref(), done.meta))
	return w.reownedAs(&seen, Write{Verb: MergePatch, Body: body})
}

// strayLabels are the labels of tracking that an object is not to have.
func strayLabels(o *plan.Object) []string {
	if o.Owned {
		return []string{lynq.LabelNode, lynq.LabelNodeNamespace}
	}
	return nil
}

// try writes once. An error of kind problemMoved asks for another try.
func (w *sender) try() (result, error) {
	s := w.s
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

// AbsentVersion is a resource version that no object has: a server-side apply with
// it creates an object, and is a conflict where there is one. Tried by a dry run,
// the object to be has it too.
const AbsentVersion = "9223372036854775807"

// create makes an object that is not there, and changes none that is. Server-side
// apply is used for what is applied later, so that the fields are managed that way
// from the start.
func (w *sender) create() (result, error) {
	if !w.s.Object.Applied(false) {
		return w.write(Write{Verb: Create, Body: w.body("", "")})
	}
	done, err := w.write(Write{Verb: Apply, Body: w.body("", AbsentVersion)})
	if problemOf(err).kind == problemFields {
		err = errExists // with fields of others, of which the server tells first
	}
	return done, err
}

// apply is a server-side apply of an object that was there when the plan was
// made.
func (w *sender) apply() (result, error) {
	s := w.s
	// What is written is for the object as it was decided on.
	uid, version, body, held := s.Live.UID, s.Live.ResourceVersion, w.manifest(), ""
	if w.needsLive() {
		live, err := w.current()
		if err != nil {
			return result{}, err
		}
		if live, err = w.prepare(live); err != nil {
			return result{}, err
		}
		if body, held, err = w.withoutIgnored(live); err != nil {
			return result{}, err
		}
		version = live.GetResourceVersion()
	}
	request := Write{Verb: Apply, Body: w.bodyOf(body, uid, version), Force: w.takesFields()}
	done, err := w.write(request)
	if p := problemOf(err); p.kind == problemFields {
		if err := w.unmoved(held); err != nil {
			return result{}, err
		}
		request.Force = true
		if err := w.resolveConflicts(p.conflicts); err != nil {
			return result{}, w.inVainForced(request, err)
		}
		done, err = w.write(request)
	}
	if err != nil {
		return result{}, w.release(err, body)
	}
	// The server gives an object a new version if it changed, and only then.
	done.unchanged = !w.Options.DryRun && done.meta.ResourceVersion == s.Live.ResourceVersion
	return w.take(done, func(managed []fields.ManagedSet) fields.Taker {
		t := fields.TakerOfApplied(managed, w.forces())
		t.First = s.Action == plan.ActionAdopt || s.Reason == plan.ReasonUnconfirmed || s.Live.Fields == ""
		return t
	})
}

// inVainForced is the error of a conflict over fields: where Force would not help,
// since one of them cannot change on an object that exists, that is what is told.
func (w *sender) inVainForced(request Write, conflict error) error {
	_, _, err := w.Cluster.Try(w.finishing, w.s.resource, w.named(request))
	if p := problemOf(err); p.kind == problemImmutable {
		return &conflictError{w.s.immutable(p.paths)}
	}
	return conflict
}

// unmoved is an error where the object no longer has the version that a write was
// for: the server tells of conflicts over fields before it looks at that, and a
// field that is to be ignored may be among them.
func (w *sender) unmoved(resourceVersion string) error {
	if resourceVersion == "" {
		return nil
	}
	live, err := w.get()
	if err == nil && live.GetResourceVersion() != resourceVersion {
		return errMoved
	}
	return err
}

// needsLive tells whether the whole live object counts.
func (w *sender) needsLive() bool {
	s := w.s
	return len(s.Object.Policy.IgnoreFields) > 0 || s.Live.Updated || s.Reason == plan.ReasonTakeover || s.Object.Overrides(s.Live)
}

// prepare makes what we set by updates ours to remove by an apply, under override also
// what client-side tools set, and, at a takeover, removes the controller that owns the object, and the marks of others.
func (w *sender) prepare(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	overrides := w.s.Object.Overrides(w.s.Live)
	asks := overrides && !w.forces() || w.s.Reason == plan.ReasonTakeover && !w.takesFields() && w.s.Applies()
	if asks && !w.Options.DryRun {
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
	if overrides || w.s.Live.Updated && w.s.Applies() {
		if patch, err = fields.UpgradePatch(live, overrides); err != nil {
			return nil, err
		}
	}
	if w.s.Reason == plan.ReasonTakeover {
		if patch, err = withoutMarks(patch, live, w.s.Live.ControllerUID); err != nil {
			return nil, err
		}
	}
	if patch == nil || w.Options.DryRun {
		return live, nil
	}
	done, err := w.reowned(Write{Verb: JSONPatch, Body: patch})
	if err != nil {
		return nil, err
	}
	return w.left(done)
}

// tellReclaimed says what override takes back that the form does not have.
func (w *sender) tellReclaimed(live *unstructured.Unstructured) error {
	manifest, err := w.manifest().Content()
	if err != nil {
		return err
	}
	reclaimed, err := fields.Reclaimed(live, manifest)
	if len(reclaimed) > 0 {
		w.note = append(w.note, "took back "+fields.Describe(reclaimed))
	}
	return err
}

// ask finds out whose fields a write would change that takes none. It comes before
// the marks of others go, or what they manage.
func (w *sender) ask(live *unstructured.Unstructured) error {
	body, _, err := w.withoutIgnored(live)
	if err != nil {
		return err
	}
	_, err = w.Cluster.Write(w.finishing, w.s.resource, Write{
		Verb: Apply, Namespace: w.s.ref().Namespace, Name: w.s.ref().Name, DryRun: true,
		Body: body.With(uidField(live.GetUID())), // it may have another controller yet
	})
	if p := problemOf(err); p.kind == problemFields {
		return w.resolveConflicts(p.conflicts)
	}
	return err
}

// take takes from other managers what a write has set of the form's fields, as
// their policy says. The write is done: whatever moves the object now does not
// undo it.
func (w *sender) take(done result, of func([]fields.ManagedSet) fields.Taker) (result, error) {
	for try := 0; ; try++ {
		patch, conflicts, err := w.takePatch(done.meta, of)
		if err != nil {
			return result{}, err
		}
		if patch == nil || w.Options.DryRun {
			w.tellTaken(conflicts)
			return done, nil
		}
		taken, err := w.write(Write{Verb: JSONPatch, Body: patch})
		if err == nil {
			w.tellTaken(conflicts)
			return taken, nil
		}
		if problemOf(err).kind != problemMoved || try == maxTries {
			return result{}, err
		}
		if done.meta, err = w.Cluster.Metadata(w.finishing, w.s.resource, w.s.ref().Namespace, w.s.ref().Name); err != nil {
			return result{}, err
		}
		if done.meta.UID != w.s.Live.UID {
			return result{}, errReplaced
		}
	}
}

// takePatch is the patch by which fields are taken, nil for none, and which those are.
func (w *sender) takePatch(m *metav1.PartialObjectMetadata, of func([]fields.ManagedSet) fields.Taker) ([]byte, []fields.Conflict, error) {
	// Most objects are lynq's alone.
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
	patch, err := fields.ManagersPatch(entries, m.ResourceVersion)
	return patch, conflicts, err
}

// release takes from other managers what keeps the server from removing items that
// the form dropped, where an apply failed by that. The next try then succeeds.
func (w *sender) release(failed error, body plan.Body) error {
	if problemOf(failed).kind != problemInvalid || w.Options.DryRun {
		return failed
	}
	manifest, err := body.Content()
	if err != nil {
		return err
	}
	live, err := w.get()
	if err != nil {
		return err
	}
	managed, err := fields.Managed(live)
	if err != nil {
		return err
	}
	t := fields.TakerOfApplied(managed, w.forces())
	entries, err := t.Release(live.GetManagedFields(), managed, manifest)
	if err != nil {
		return err
	}
	if entries == nil {
		return failed
	}
	patch, err := fields.ManagersPatch(entries, live.GetResourceVersion())
	if err != nil {
		return err
	}
	if _, err := w.write(Write{Verb: JSONPatch, Body: patch}); err != nil {
		return err
	}
	return errMoved
}

// forces tells whether fields are taken from all others.
func (w *sender) forces() bool { return w.s.Object.Policy.Conflict == lynq.ConflictForce }

// tellTaken says what is taken of fields that Force takes although no one wants
// them otherwise. A takeover says from whom it is.
func (w *sender) tellTaken(conflicts []fields.Conflict) {
	conflicts = slices.DeleteFunc(conflicts, func(f fields.Conflict) bool { return f.ClientSide() })
	if len(conflicts) > 0 && w.s.Reason != plan.ReasonTakeover {
		w.note = append(w.note, "took "+fields.Describe(conflicts))
	}
}

// withoutIgnored is the body without the fields that are to be ignored, and the
// version that it holds for.
func (w *sender) withoutIgnored(live *unstructured.Unstructured) (plan.Body, string, error) {
	o, manifest := w.s.Object, w.manifest()
	if len(o.Policy.IgnoreFields) == 0 {
		return manifest, "", nil
	}
	content, err := manifest.Content()
	if err != nil {
		return nil, "", err
	}
	changed, precondition, err := fields.Ignore(content, live, o.Policy.IgnoreFields)
	if err != nil {
		return nil, "", fmt.Errorf("ignoreFields: %w", err)
	}
	body, err := plan.NewBody(changed)
	if err != nil || !precondition {
		return body, "", err
	}
	return body, live.GetResourceVersion(), nil
}

// overwrite is the strategies merge and replace: both look at the object first.
func (w *sender) overwrite() (result, error) {
	o := w.s.Object
	live, err := w.current()
	if err != nil {
		return result{}, err
	}
	before := live
	said, err := w.manifest().Content()
	if err != nil {
		return result{}, err
	}
	desired := said
	if len(o.Policy.IgnoreFields) > 0 {
		if desired, err = fields.CarryIgnored(said, live, o.Policy.IgnoreFields); err != nil {
			return result{}, fmt.Errorf("ignoreFields: %w", err)
		}
		if said, err = fields.DropIgnored(said, live, o.Policy.IgnoreFields); err != nil {
			return result{}, fmt.Errorf("ignoreFields: %w", err)
		}
	}
	theirs := fields.Foreign(live, desired, o.Policy.Patch)
	if err := w.resolveConflicts(theirs); err != nil {
		return result{}, err
	}
	if live, err = w.prepare(live); err != nil {
		return result{}, err
	}
	done, err := w.overwritten(before, live, desired, len(theirs) > 0)
	if err != nil {
		return result{}, err
	}
	return w.take(done, func([]fields.ManagedSet) fields.Taker { return fields.TakerOfManifest(said, w.forces()) })
}

// overwritten merges into the live object, or replaces it, where that would change
// anything. Before is what it was when it was decided on; others tells whether other
// managers changed it.
func (w *sender) overwritten(before, live *unstructured.Unstructured, desired map[string]any, others bool) (result, error) {
	o := w.s.Object
	m, err := plan.MetadataOf(live)
	if err != nil {
		return result{}, err
	}
	l := plan.LiveOf(w.s.ref(), m)
	tracked := w.owner().Tracked(o, &l) && !l.Orphaned
	// What the form dropped is in no comparison, since it is lynq's like the
	// defaults of what it made: of a replacement only the server knows.
	sure := o.Policy.Patch == lynq.PatchMerge || w.Options.DryRun && w.confirmed()
	switch {
	case tracked && sure && !fields.WouldChange(o.Policy.Patch, desired, live):
		return result{meta: m, unchanged: true}, nil
	case o.Policy.Patch == lynq.PatchReplace:
		request, err := w.replacement(desired, live)
		if err != nil || tracked && !others && w.idle(request, live) {
			return result{meta: m, unchanged: true}, err
		}
		done, err := w.reowned(request)
		return w.compared(before, done), err
	case !tracked:
		// A merge removes nothing: what is to go has a write of its own, and the
		// object is looked at again.
		done, err := w.trackUnwritten()
		if err != nil {
			return result{}, err
		}
		if live, err = w.left(done); err != nil {
			return result{}, err
		}
	}
	request, err := w.merge(desired, live)
	if err != nil || tracked && !others && w.idle(request, live) {
		return result{meta: m, unchanged: true}, err
	}
	done, err := w.write(request)
	return w.compared(before, done), err
}

// idle asks the server whether a write would leave an object as it is that was
// written from the same manifest before. What admission changes of it differs from the
// manifest for ever, and a write would change nothing but the time in managedFields.
func (w *sender) idle(request Write, live *unstructured.Unstructured) bool {
	if w.Options.DryRun || !w.confirmed() {
		return false
	}
	request.Namespace, request.Name = w.s.ref().Namespace, w.s.ref().Name
	would, _, err := w.Cluster.Try(w.finishing, w.s.resource, request)
	return err == nil && fields.SameContent(would, live) // the write itself tells of an error
}

// confirmed tells whether the manifest is the one that was written last.
func (w *sender) confirmed() bool {
	r := w.s.Entry
	return r != nil && r.Digest == w.s.Object.Digest && r.UID == string(w.s.Live.UID)
}

// compared is the result of a write to a live object: the server gives an object
// a new version if it changed, and only then.
func (w *sender) compared(live *unstructured.Unstructured, done result) result {
	done.unchanged = done.meta != nil && !w.Options.DryRun && done.meta.ResourceVersion == live.GetResourceVersion()
	return done
}

func (w *sender) replacement(desired map[string]any, live *unstructured.Unstructured) (Write, error) {
	content, err := fields.Replacement(desired, live)
	if err != nil {
		return Write{}, err
	}
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata["ownerReferences"] = w.owners(live) // also where none is left
	}
	body, err := fields.Marshal(content)
	return Write{Verb: Update, Body: body}, err
}

// merge is a strategic merge patch for Kubernetes' own kinds, and a JSON merge
// patch for custom resources, whose API server knows no strategy for them.
func (w *sender) merge(desired map[string]any, live *unstructured.Unstructured) (Write, error) {
	metadata, _ := desired["metadata"].(map[string]any)
	metadata["uid"], metadata["resourceVersion"] = string(live.GetUID()), live.GetResourceVersion()
	body, err := fields.Marshal(desired)
	verb := MergePatch
	if lynq.BuiltIn(w.s.Object.Group) {
		verb = StrategicPatch
	}
	return Write{Verb: verb, Body: body}, err
}

// track puts the tracking of an object right, and leaves its content alone.
func (w *sender) track() (result, error) {
	live, err := w.current()
	if err != nil {
		return result{}, err
	}
	change, err := w.tracking(live)
	if err != nil {
		return result{}, err
	}
	done, err := w.change(live, change)
	return w.compared(live, done), err
}

// trackUnwritten is track before the content is written: only when it is, the
// annotation may say that the object was created once.
func (w *sender) trackUnwritten() (result, error) {
	live, err := w.current()
	if err != nil {
		return result{}, err
	}
	change, err := w.tracking(live)
	if err != nil {
		return result{}, err
	}
	delete(change.SetAnnotations, lynq.AnnotationCreatedOnce)
	return w.change(live, change)
}

// change changes an object's metadata alone: as an apply of all that we applied,
// so that a later one can take it back, or as a patch where we applied nothing.
func (w *sender) change(live *unstructured.Unstructured, c fields.MetadataChange) (result, error) {
	content, ours, err := fields.Retracked(live, c)
	if err != nil {
		return result{}, err
	}
	if !ours {
		patch, err := fields.MetadataPatch(live, c)
		if err != nil {
			return result{}, err
		}
		return w.reowned(Write{Verb: MergePatch, Body: patch})
	}
	body, err := plan.NewBody(content)
	if err != nil {
		return result{}, err
	}
	return w.reowned(Write{Verb: Apply, Body: body.With(uidField(live.GetUID()), versionField(live.GetResourceVersion())), Force: true})
}

// get reads the object that was observed; another one in its place, or none, is
// an error.
func (w *sender) get() (*unstructured.Unstructured, error) {
	live, err := w.Cluster.Get(w.finishing, w.s.resource, w.s.ref().Namespace, w.s.ref().Name)
	if err != nil {
		return nil, err
	}
	if live.GetUID() != w.s.Live.UID {
		return nil, errReplaced
	}
	return live, nil
}

func (w *sender) write(r Write) (result, error) {
	r.Namespace, r.Name = w.s.ref().Namespace, w.s.ref().Name
	r.DryRun = w.Options.DryRun
	meta, err := w.Cluster.Write(w.finishing, w.s.resource, r)
	w.s.touched = w.s.touched || err == nil
	return result{meta: meta}, err
}

// reowned is write for what may change owner references.
func (w *sender) reowned(r Write) (result, error) { return w.reownedAs(w.s.Step, r) }

func (w *sender) reownedAs(seen *plan.Step, r Write) (result, error) {
	permit, err := plan.PermitOwners(seen)
	if err != nil {
		return result{}, err
	}
	r.Owners = permit
	return w.write(r)
}

func (w *sender) body(uid types.UID, resourceVersion string) []byte {
	return w.bodyOf(w.manifest(), uid, resourceVersion)
}

// manifest is the object's, with what the node knows of it.
func (w *sender) manifest() plan.Body {
	if w.s.Adopted {
		return w.s.Object.Body.Annotated(lynq.AnnotationAdopted, "true")
	}
	return w.s.Object.Body
}

// takesFields: at a takeover others lose what they manage with other values.
func (w *sender) takesFields() bool {
	return w.s.Reason == plan.ReasonTakeover && w.s.Object.Policy.Conflict == lynq.ConflictForce
}

// bodyOf is a body with what only the cluster knows.
func (w *sender) bodyOf(b plan.Body, uid types.UID, resourceVersion string) []byte {
	owners := ""
	if w.s.Object.Owned {
		owners = `"ownerReferences":[` + ownerJSON(w.ownerReference()) + `]`
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

// ownerReference is the reference to the node's inventory. It does not say
// blockOwnerDeletion: where OwnerReferencesPermissionEnforcement is on, that needs
// the right to change the finalizers of ConfigMaps, and all it does is to hold an
// inventory that is deleted in the foreground, which our own finalizer does.
func (n *nodeRun) ownerReference() map[string]any {
	uid := string(placeholderUID)
	if n.inventory != nil && n.inventory.UID != "" {
		uid = n.inventory.UID
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "name": inventory.Name(n.plan.Name), "uid": uid,
		"controller": true,
	}
}

func ownerJSON(reference map[string]any) string {
	b, err := json.Marshal(reference)
	if err != nil {
		return "{}" // strings and booleans always encode
	}
	return string(b)
}

// tracking is the change that gives an object the tracking that it is to have.
func (w *sender) tracking(live *unstructured.Unstructured) (fields.MetadataChange, error) {
	content, err := w.manifest().Content()
	if err != nil {
		return fields.MetadataChange{}, err
	}
	desired := unstructured.Unstructured{Object: content}
	c := fields.MetadataChange{
		SetLabels:         map[string]string{},
		SetAnnotations:    map[string]string{},
		RemoveLabels:      []string{lynq.LabelOrphaned},
		RemoveAnnotations: orphanAnnotations(),
		Owners:            w.owners(live),
	}
	for _, key := range trackingLabels() {
		if value, wanted := desired.GetLabels()[key]; wanted {
			c.SetLabels[key] = value
		} else {
			c.RemoveLabels = append(c.RemoveLabels, key)
		}
	}
	for _, key := range trackingAnnotations() {
		if value, wanted := desired.GetAnnotations()[key]; wanted {
			c.SetAnnotations[key] = value
		} else {
			c.RemoveAnnotations = append(c.RemoveAnnotations, key)
		}
	}
	return c, nil
}

func orphanAnnotations() []string {
	return []string{lynq.AnnotationOrphanedAt, lynq.AnnotationOrphanedReason, lynq.AnnotationOrphanedFrom}
}

func trackingLabels() []string {
	return []string{lynq.LabelHub, lynq.LabelNode, lynq.LabelNodeNamespace, lynq.LabelPartOf}
}

func trackingAnnotations() []string {
	return []string{lynq.AnnotationDeletionPolicy, lynq.AnnotationResourceID, lynq.AnnotationCreatedOnce, lynq.AnnotationAdopted}
}

// owners are the owner references that an object is to have: those of others,
// and ours where that is how it is tracked.
func (w *sender) owners(live *unstructured.Unstructured) []any {
	references, _, _ := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	kept := slices.DeleteFunc(references, lynq.IsOwnerNode)
	if w.s.Object != nil && w.s.Object.Owned {
		kept = append(kept, w.ownerReference())
	}
	return kept
}
