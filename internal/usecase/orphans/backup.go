package orphans

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/usecase/backup"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// reader reads whole objects. *kube.Client implements it.
type reader interface {
	Get(ctx context.Context, r lynq.APIResource, namespace, name string) (*unstructured.Unstructured, error)
}

// saveManifests writes the manifest of each orphan to a file for kubectl apply. It replaces the
// orphans' metadata by what it read, so that prune deletes exactly what it saved. It never
// overwrites a file.
func saveManifests(ctx context.Context, client reader, dir string, orphans []orphan.Orphan) error {
	root, err := backup.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("make a place for the backup: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	for i := range orphans {
		o := &orphans[i]
		content, err := client.Get(ctx, o.Resource, o.Namespace, o.Name)
		if err != nil {
			return fmt.Errorf("back up %s: %w", o.Full(), err)
		}
		if content.GetUID() != o.UID {
			return fmt.Errorf("back up %s: it was deleted and created again", o.Full())
		}
		live, err := tracking.LiveOfObject(o.Ref, content)
		if err != nil {
			return fmt.Errorf("back up %s: %w", o.Full(), err)
		}
		o.Live = live
		if err := writeManifest(root, o.Ref, content); err != nil {
			return fmt.Errorf("back up %s: %w", o.Full(), err)
		}
	}
	return nil
}

// writeManifest writes one manifest that only its owner may read, because ConfigMaps hold
// confidential values, too. It accepts an existing file with the same content.
func writeManifest(root *os.Root, ref lynq.Ref, content *unstructured.Unstructured) error {
	text, err := yaml.Marshal(restorable(ref, content))
	if err != nil {
		return err
	}
	if volume, _, _ := unstructured.NestedString(content.Object, "spec", "volumeName"); volume != "" {
		text = append([]byte(volumeNote), text...)
	}
	name := backup.Name(ref)
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return backup.WriteOnce(root, name, text, "--backup-dir")
}

// volumeNote precedes the manifest of a claim that has a volume.
const volumeNote = `# spec.volumeName is the volume that this claim had. If that is gone, the claim
# waits for it in vain: take the line off, and it gets a new volume, an empty one.
`

// restorable returns a manifest from which kubectl apply creates the object again. It drops
// fields that only a server sets, and references to uids, which won't exist any more.
func restorable(ref lynq.Ref, o *unstructured.Unstructured) map[string]any {
	o = o.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "ownerReferences"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(o.Object, "status")
	switch ref.GroupKind() {
	case "Job.batch":
		withoutSelector(o)
	case "PersistentVolumeClaim":
		// These annotations say that the claim is bound, but a new claim isn't.
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations", "pv.kubernetes.io/bind-completed")
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations", "pv.kubernetes.io/bound-by-controller")
	case "PersistentVolume":
		unstructured.RemoveNestedField(o.Object, "spec", "claimRef", "uid")
		unstructured.RemoveNestedField(o.Object, "spec", "claimRef", "resourceVersion")
	}
	return o.Object
}

// withoutSelector drops the selector of a Job, because the server generates it from the
// Job's uid.
func withoutSelector(job *unstructured.Unstructured) {
	if manual, _, _ := unstructured.NestedBool(job.Object, "spec", "manualSelector"); manual {
		return
	}
	unstructured.RemoveNestedField(job.Object, "spec", "selector")
	for _, label := range []string{"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"} {
		unstructured.RemoveNestedField(job.Object, "spec", "template", "metadata", "labels", label)
		unstructured.RemoveNestedField(job.Object, "metadata", "labels", label)
	}
}
