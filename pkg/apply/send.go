package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// sender writes one object.
type sender struct {
	*nodeRun
	s    *stepRun
	note []string
	// fresh: the object was looked at anew, just now.
	fresh bool
}

// send brings an object to what is desired, by the strategy of its policy. What
// changes under its hands is looked at again, so many times.
func (n *nodeRun) send(ctx context.Context, s *stepRun) (result, error) {
	w := &sender{nodeRun: n, s: s}
	for try := 0; ; try++ {
		w.note = nil
		done, err := w.try()
		if err == nil {
			done, err = w.unmark(done)
		}
		if err == nil {
			if s.Reason == ReasonTakeover {
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
		case problemMoved:
			if err := w.refresh(); err != nil {
				return result{}, err
			}
		case problemReplaced, problemGone:
			gone, readErr := w.isGone()
			if readErr != nil {
				return result{}, readErr
			}
			if !gone {
				return result{}, err
			}
		default:
			return result{}, err
		}
	}
}

// unmark takes the markers of an orphan off that a write has left on the object:
// others set them, the operator say, so that an apply cannot.
func (w *sender) unmark(done result) (result, error) {
	if done.meta == nil || done.meta.Labels[lynq.LabelOrphaned] == "" || w.Options.DryRun {
		return done, nil
	}
	metadata := map[string]any{"uid": string(done.meta.UID), "resourceVersion": done.meta.ResourceVersion}
	patchStrings(metadata, "labels", nil, []string{lynq.LabelOrphaned}, done.meta.Labels)
	patchStrings(metadata, "annotations", nil, orphanAnnotations(), done.meta.Annotations)
	patch, err := marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return result{}, err
	}
	return w.write(Write{Verb: MergePatch, Body: patch})
}

// isGone looks whether the object that was observed is gone; if so, it is to be
// made anew.
func (w *sender) isGone() (bool, error) {
	if w.s.Live == nil {
		return false, nil
	}
	_, err := w.Cluster.Metadata(w.finishing, w.s.resource, w.s.ref().Namespace, w.s.ref().Name)
	if !apierrors.IsNotFound(err) {
		return false, err
	}
	anew := *w.s.Step
	anew.Action, anew.Reason, anew.Live = ActionCreate, ReasonVanished, nil
	w.s.Step = &anew
	return true, nil
}

// try writes once. An error of kind problemMoved asks for another try.
func (w *sender) try() (result, error) {
	s := w.s
	switch {
	case s.Action == ActionCreate || s.Live == nil:
		return w.create()
	case s.Action == ActionTrack:
		return w.track()
	case s.Object.Policy.Patch == lynq.PatchApply:
		return w.apply()
	}
	return w.overwrite()
}

// create makes an object that is not there. Server-side apply is used for what
// is applied later, so that the fields are managed that way from the start.
func (w *sender) create() (result, error) {
	if w.s.Object.Policy.Patch == lynq.PatchApply {
		return w.write(Write{Verb: Apply, Body: w.body("", "")})
	}
	done, err := w.write(Write{Verb: Create, Body: w.body("", "")})
	if problemOf(err).kind != problemExists {
		return done, err
	}
	// Somebody was quicker, or an answer was lost: what is there decides.
	m, readErr := w.Cluster.Metadata(w.finishing, w.s.resource, w.s.ref().Namespace, w.s.ref().Name)
	if readErr != nil {
		return result{}, readErr
	}
	l := liveOf(w.s.ref(), m)
	me := w.owner()
	if me.tracks(&l) {
		return result{meta: m}, nil
	}
	return result{}, err
}

// apply is a server-side apply of an object that was there when the plan was
// made.
func (w *sender) apply() (result, error) {
	s := w.s
	uid, resourceVersion, body := s.Live.UID, "", s.Object.Body
	if w.needsLive() {
		live, err := w.current()
		if err != nil {
			return result{}, err
		}
		if live, err = w.prepare(live); err != nil {
			return result{}, err
		}
		if body, resourceVersion, err = w.withoutIgnored(live); err != nil {
			return result{}, err
		}
	}
	version := resourceVersion
	if !w.needsLive() && !w.fresh {
		version = s.Live.ResourceVersion // what was decided on
	}
	request := Write{Verb: Apply, Body: w.bodyOf(body, uid, version), Force: s.Reason == ReasonTakeover}
	done, err := w.write(request)
	if p := problemOf(err); p.kind == problemFields {
		if err := w.unmoved(resourceVersion); err != nil {
			return result{}, err
		}
		if err := w.contend(p); err != nil {
			return result{}, err
		}
		request.Force = true
		done, err = w.write(request)
	}
	// The server gives an object a new version if it changed, and only then.
	done.unchanged = err == nil && !w.Options.DryRun && done.meta.ResourceVersion == s.Live.ResourceVersion
	return done, err
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
	return len(s.Object.Policy.IgnoreFields) > 0 || s.Live.Updated || s.Reason == ReasonTakeover ||
		s.Action == ActionAdopt && s.Live.ClientSide
}

// prepare makes what others left on an object ours to remove: fields of client
// side applies, and at a takeover the controller that owns it.
func (w *sender) prepare(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s := w.s
	adopt := s.Action == ActionAdopt && s.Live.ClientSide
	if !adopt && !s.Live.Updated && s.Reason != ReasonTakeover {
		return live, nil
	}
	if adopt && s.Reason != ReasonTakeover && !w.Options.DryRun {
		if err := w.ask(live); err != nil {
			return nil, err
		}
	}
	return w.upgraded(live)
}

// ask finds out whose fields an adoption takes. Once they are ours by the
// upgrade, nobody can tell.
func (w *sender) ask(live *unstructured.Unstructured) error {
	body, _, err := w.withoutIgnored(live)
	if err != nil {
		return err
	}
	_, err = w.writeDry(Write{Verb: Apply, Body: w.bodyOf(body, live.GetUID(), "")})
	if p := problemOf(err); p.kind == problemFields {
		return w.contend(p)
	}
	return err
}

// upgraded is the object once what client side tools and our own updates set of
// it counts as applied by us, and, at a takeover, once its controller and the
// marks of others are gone.
func (w *sender) upgraded(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s := w.s
	patch, err := upgradePatch(live, s.Action == ActionAdopt && s.Live.ClientSide)
	if err != nil {
		return nil, err
	}
	if s.Reason == ReasonTakeover {
		if patch, err = withoutMarks(patch, live, s.Live.ControllerUID); err != nil {
			return nil, err
		}
	}
	if patch == nil || w.Options.DryRun {
		return live, nil
	}
	if _, err := w.write(Write{Verb: JSONPatch, Body: patch}); err != nil {
		return nil, err
	}
	return w.get()
}

// withoutIgnored is the body without the fields that are to be ignored, and the
// version that it holds for.
func (w *sender) withoutIgnored(live *unstructured.Unstructured) (Body, string, error) {
	o := w.s.Object
	if len(o.Policy.IgnoreFields) == 0 {
		return o.Body, "", nil
	}
	content, err := o.Body.Content()
	if err != nil {
		return nil, "", err
	}
	changed, precondition, err := ignoreFields(content, live, o.Policy.IgnoreFields)
	if err != nil {
		return nil, "", fmt.Errorf("ignoreFields: %w", err)
	}
	body, err := NewBody(changed)
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
	desired, err := o.Body.Content()
	if err != nil {
		return result{}, err
	}
	if len(o.Policy.IgnoreFields) > 0 {
		if desired, err = carryIgnored(desired, live, o.Policy.IgnoreFields); err != nil {
			return result{}, fmt.Errorf("ignoreFields: %w", err)
		}
	}
	if err := w.contendFor(w.foreign(live, desired)); err != nil {
		return result{}, err
	}
	if w.s.Action == ActionAdopt && (w.s.Live.ClientSide || w.s.Reason == ReasonTakeover) {
		if live, err = w.upgraded(live); err != nil {
			return result{}, err
		}
	}
	m, err := metadataOf(live)
	if err != nil {
		return result{}, err
	}
	l := liveOf(w.s.ref(), m)
	tracked := w.owner().tracked(o, &l) && !l.Orphaned
	// What the form dropped is in no comparison, since it is lynq's like the
	// defaults of what it made: of a replacement only the server knows.
	sure := o.Policy.Patch == lynq.PatchMerge || w.Options.DryRun && w.confirmed()
	switch {
	case tracked && sure && !wouldChange(o.Policy.Patch, desired, live):
		return result{meta: m, unchanged: true}, nil
	case o.Policy.Patch == lynq.PatchReplace:
		done, err := w.replace(desired, live)
		return w.compared(live, done), err
	case !tracked:
		// A merge removes nothing: what is to go has a write of its own, and the
		// object is looked at again.
		if _, err := w.track(); err != nil {
			return result{}, err
		}
		if live, err = w.get(); err != nil {
			return result{}, err
		}
	}
	done, err := w.merge(desired, live)
	return w.compared(live, done), err
}

// confirmed tells whether the manifest is the one that was written last.
func (w *sender) confirmed() bool {
	r := w.s.Record
	return r != nil && r.Digest == w.s.Object.Digest && r.UID == string(w.s.Live.UID)
}

// compared is the result of a write to a live object: the server gives an object
// a new version if it changed, and only then.
func (w *sender) compared(live *unstructured.Unstructured, done result) result {
	done.unchanged = done.meta != nil && !w.Options.DryRun && done.meta.ResourceVersion == live.GetResourceVersion()
	return done
}

// foreign are the fields that a merge or a replacement would take from others.
// At the adoption of what a client side tool made, its fields that the manifest
// does not have are not among them: they go with its manifest, as they do under
// server-side apply, and most of them are defaults.
func (w *sender) foreign(live *unstructured.Unstructured, desired map[string]any) []fieldConflict {
	fields := foreignManagers(live, desired, w.s.Object.Policy.Patch)
	if w.s.Action != ActionAdopt || !w.s.Live.ClientSide {
		return fields
	}
	changed := foreignManagers(live, desired, lynq.PatchMerge)
	return slices.DeleteFunc(fields, func(f fieldConflict) bool { return f.clientSide() && !slices.Contains(changed, f) })
}

func (w *sender) replace(desired map[string]any, live *unstructured.Unstructured) (result, error) {
	content, err := replaceBody(desired, live)
	if err != nil {
		return result{}, err
	}
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata["ownerReferences"] = w.owners(live) // also where none is left
	}
	body, err := marshal(content)
	if err != nil {
		return result{}, err
	}
	return w.write(Write{Verb: Update, Body: body})
}

// merge is a strategic merge patch for Kubernetes' own kinds, and a JSON merge
// patch for custom resources, whose API server knows no strategy for them.
func (w *sender) merge(desired map[string]any, live *unstructured.Unstructured) (result, error) {
	metadata, _ := desired["metadata"].(map[string]any)
	metadata["uid"], metadata["resourceVersion"] = string(live.GetUID()), live.GetResourceVersion()
	body, err := marshal(desired)
	if err != nil {
		return result{}, err
	}
	if strings.Contains(w.s.Object.Group, ".") && !strings.HasSuffix(w.s.Object.Group, ".k8s.io") {
		return w.write(Write{Verb: MergePatch, Body: body})
	}
	done, err := w.write(Write{Verb: StrategicPatch, Body: body})
	if apierrors.IsUnsupportedMediaType(err) {
		return w.write(Write{Verb: MergePatch, Body: body})
	}
	return done, err
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

// change changes an object's metadata alone: as an apply of all that we applied,
// so that a later one can take it back, or as a patch where we applied nothing.
func (w *sender) change(live *unstructured.Unstructured, c trackChange) (result, error) {
	content, ours, err := retracked(live, c)
	if err != nil {
		return result{}, err
	}
	if !ours {
		patch, err := metadataPatch(live, c)
		if err != nil {
			return result{}, err
		}
		return w.write(Write{Verb: MergePatch, Body: patch})
	}
	body, err := NewBody(content)
	if err != nil {
		return result{}, err
	}
	return w.write(Write{Verb: Apply, Body: body.with(uidField(live.GetUID()), versionField(live.GetResourceVersion())), Force: true})
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

func (w *sender) writeDry(r Write) (result, error) {
	r.Namespace, r.Name, r.DryRun = w.s.ref().Namespace, w.s.ref().Name, true
	meta, err := w.Cluster.Write(w.finishing, w.s.resource, r)
	return result{meta: meta}, err
}

func (w *sender) body(uid types.UID, resourceVersion string) []byte {
	return w.bodyOf(w.s.Object.Body, uid, resourceVersion)
}

// bodyOf is a body with what only the cluster knows.
func (w *sender) bodyOf(b Body, uid types.UID, resourceVersion string) []byte {
	owners := ""
	if w.s.Object.Owned {
		owners = `"ownerReferences":[` + ownerJSON(w.ownerReference()) + `]`
	}
	return b.with(owners, uidField(uid), versionField(resourceVersion))
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

// ownerReference is the reference to the node's inventory.
func (n *nodeRun) ownerReference() map[string]any {
	uid := string(placeholderUID)
	if n.inventory != nil && n.inventory.UID != "" {
		uid = n.inventory.UID
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "name": inventory.Name(n.plan.Name), "uid": uid,
		"controller": true, "blockOwnerDeletion": true,
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
func (w *sender) tracking(live *unstructured.Unstructured) (trackChange, error) {
	content, err := w.s.Object.Body.Content()
	if err != nil {
		return trackChange{}, err
	}
	desired := unstructured.Unstructured{Object: content}
	c := trackChange{
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
	return []string{lynq.AnnotationDeletionPolicy, lynq.AnnotationResourceID, lynq.AnnotationCreatedOnce}
}

// owners are the owner references that an object is to have: those of others,
// and ours where that is how it is tracked.
func (w *sender) owners(live *unstructured.Unstructured) []any {
	references, _, _ := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	kept := slices.DeleteFunc(references, isRecord)
	if w.s.Object != nil && w.s.Object.Owned {
		kept = append(kept, w.ownerReference())
	}
	return kept
}

// isRecord tells whether an owner reference is to an inventory.
func isRecord(reference any) bool {
	r, _ := reference.(map[string]any)
	name, _ := r["name"].(string)
	return r["kind"] == "ConfigMap" && r["apiVersion"] == "v1" && strings.HasPrefix(name, inventory.Name(""))
}
