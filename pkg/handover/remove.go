package handover

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// remover removes objects of the operator.
type remover struct {
	ctx     context.Context // of the one removal
	cluster apply.Cluster
	dryRun  bool
}

// remove removes the object that lynqctl read, and nothing with it. It succeeds if the object
// is gone or being deleted.
func (r *remover) remove(served lynq.APIResource, l removal) error {
	version, err := r.release(served, &l)
	if err != nil || version == "" {
		return err
	}
	if r.dryRun {
		version = l.version // nothing was written
	}
	permit, err := decide.PermitHandover(l.ref, l.uid, version)
	if err != nil {
		return err
	}
	_, err = r.cluster.Delete(r.ctx, served, permit, write.Deletion{Propagation: metav1.DeletePropagationOrphan, DryRun: r.dryRun})
	switch {
	case err == nil || apierrors.IsNotFound(err):
		return nil
	case !apierrors.IsConflict(err):
		return hint(err)
	}
	// Either an answer was lost, or another client changed it.
	m, lookErr := r.cluster.Metadata(r.ctx, served, l.ref.Namespace, l.ref.Name)
	switch {
	case apierrors.IsNotFound(lookErr):
		return nil
	case lookErr != nil:
		return errors.Join(err, lookErr)
	case m.UID != l.uid || m.DeletionTimestamp != nil:
		return nil
	}
	return changedSince(err)
}

// release removes the operator's finalizer. It returns the version of the object after that,
// or "" if the object is gone.
func (r *remover) release(served lynq.APIResource, l *removal) (version string, err error) {
	patch, err := withoutFinalizers(l.uid, l.version, l.finalizers, l.finalizer)
	if err != nil || patch == nil {
		return l.version, err
	}
	m, err := r.cluster.Write(r.ctx, served, write.Request{Verb: write.JSONPatch, Namespace: l.ref.Namespace, Name: l.ref.Name, Body: patch, DryRun: r.dryRun})
	switch {
	case err == nil:
		return m.ResourceVersion, nil
	case apierrors.IsNotFound(err):
		return "", nil
	case !apierrors.IsConflict(err):
		return "", hint(err)
	}
	// If only the answer was lost, it has no finalizer now.
	m, lookErr := r.cluster.Metadata(r.ctx, served, l.ref.Namespace, l.ref.Name)
	switch {
	case apierrors.IsNotFound(lookErr):
		return "", nil
	case lookErr != nil:
		return "", errors.Join(err, lookErr)
	case m.UID != l.uid || m.DeletionTimestamp != nil || slices.Contains(m.Finalizers, l.finalizer):
		return "", changedSince(err)
	}
	return m.ResourceVersion, nil
}

func changedSince(err error) error {
	return fmt.Errorf("it was changed since this run looked, by the operator maybe; it stays (run it again): %w", err)
}

// RemoveHub removes a hub or a form of the operator that the caller read.
func RemoveHub(ctx context.Context, c apply.Cluster, served lynq.APIResource, o *unstructured.Unstructured) error {
	r := remover{ctx, c, false}
	return r.remove(served, removal{
		ref: lynq.Ref{Group: served.Group, Kind: served.Kind, Namespace: o.GetNamespace(), Name: o.GetName()},
		uid: o.GetUID(), version: o.GetResourceVersion(), finalizers: o.GetFinalizers(), finalizer: wellknown.FinalizerHub,
	})
}

// Manifest returns a hub or a form as lynqctl apply takes it, without the parts that only
// the cluster sets, and without deprecated fields.
func Manifest(o *unstructured.Unstructured) map[string]any {
	metadata := map[string]any{"name": o.GetName(), "namespace": o.GetNamespace()}
	keep := func(field string, m map[string]string) {
		kept := map[string]any{}
		for k, v := range m {
			if k != "kubectl.kubernetes.io/last-applied-configuration" {
				kept[k] = v
			}
		}
		if len(kept) > 0 {
			metadata[field] = kept
		}
	}
	keep("labels", o.GetLabels())
	keep("annotations", o.GetAnnotations())
	return map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "metadata": metadata, "spec": withoutHost(o.Object["spec"])}
}

// withoutHost moves the deprecated mapping hostOrUrl of a hub to the extra ones, where it
// means the same to templates. It doesn't change the spec.
func withoutHost(spec any) any {
	before, _ := spec.(map[string]any)
	values, _ := before["valueMappings"].(map[string]any)
	column, is := values["hostOrUrl"].(string)
	if !is || column == "" {
		return spec
	}
	after := runtime.DeepCopyJSON(before)
	unstructured.RemoveNestedField(after, "valueMappings", "hostOrUrl")
	if err := unstructured.SetNestedField(after, column, "extraValueMappings", "hostOrUrl"); err != nil {
		return spec // its extra mappings are no map, which reading the file reports
	}
	return after
}
