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

// remover removes what the operator has in a cluster.
type remover struct {
	ctx     context.Context // of the one removal that it lives for
	cluster apply.Cluster
	dryRun  bool
}

// remove removes an object as it was read, and nothing with it. One that is gone, or
// is on its way, is no error.
func (r *remover) remove(served lynq.APIResource, l leaver) error {
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
	// An answer that was lost, or another client that changed it.
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

// release takes the operator's finalizer off, and gives the version that the object
// has then; "" where it is gone.
func (r *remover) release(served lynq.APIResource, l *leaver) (version string, err error) {
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
	// An answer that was lost leaves it without the finalizer.
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

// RemoveHub removes a hub or a form of the operator, as it was read.
func RemoveHub(ctx context.Context, c apply.Cluster, served lynq.APIResource, o *unstructured.Unstructured) error {
	r := remover{ctx, c, false}
	return r.remove(served, leaver{
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
