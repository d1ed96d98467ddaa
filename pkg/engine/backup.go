package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// reader reads whole objects. *kube.Client has it.
type reader interface {
	Get(ctx context.Context, r lynq.APIResource, namespace, name string) (*unstructured.Unstructured, error)
}

// backup writes the manifests of orphans, each to a file that kubectl apply can
// read, and has what it wrote be what is deleted. Nothing that is there already is
// overwritten.
func backup(ctx context.Context, client reader, dir string, orphans []orphan.Orphan) error {
	root, err := openDir(dir)
	if err != nil {
		return fmt.Errorf("make a place for the backup: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only looked up in
	for i := range orphans {
		o := &orphans[i]
		content, err := client.Get(ctx, o.Resource, o.Namespace, o.Name)
		if err != nil {
			return fmt.Errorf("back up %s: %w", o.Full(), err)
		}
		if content.GetUID() != o.UID {
			return fmt.Errorf("back up %s: it was deleted and created again", o.Full())
		}
		live, err := plan.LiveOfObject(o.Ref, content)
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

// writeManifest writes one manifest, that only its owner may read: beside
// Secrets, many a ConfigMap holds something confidential. One that is there
// already, and says the same, will do.
func writeManifest(root *os.Root, ref lynq.Ref, content *unstructured.Unstructured) error {
	text, err := yaml.Marshal(restorable(ref, content))
	if err != nil {
		return err
	}
	if volume, _, _ := unstructured.NestedString(content.Object, "spec", "volumeName"); volume != "" {
		text = append([]byte(volumeNote), text...)
	}
	name := backupName(ref)
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return writeOnce(root, name, text, "--backup-dir")
}

// openDir makes a directory that only its owner may read, where there is none.
func openDir(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// backupName is the file of an object: a folder for each namespace.
func backupName(ref lynq.Ref) string {
	folder := ref.Namespace
	if folder == "" {
		folder = "_cluster" // no namespace has an underscore
	}
	// Some names have colons, which not all file systems take.
	return filepath.Join(folder, strings.ReplaceAll(ref.GroupKind()+"_"+ref.Name, ":", "%3A")+".yaml")
}

// writeOnce writes a file that is not there yet. One that is there, and says the
// same, will do.
func writeOnce(root *os.Root, name string, text []byte, flag string) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if there, readErr := root.ReadFile(name); readErr == nil && bytes.Equal(there, text) {
			return nil
		}
		return fmt.Errorf("%s is there already, and is not what would be written (name another %s)", filepath.Join(root.Name(), name), flag)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = root.Remove(name) // half of it is of no use
	}
	return err
}

// volumeNote heads the manifest of a claim that has a volume.
const volumeNote = `# spec.volumeName is the volume that this claim had. If that is gone, the claim
# waits for it in vain: take the line off, and it gets a new volume, an empty one.
`

// restorable is a manifest that kubectl apply makes the object of again: without
// what only a server says of an object, and without what ties it to others by
// their uids, for those are gone by then.
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
		// They say that the claim is bound, which the new one is not yet.
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations", "pv.kubernetes.io/bind-completed")
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations", "pv.kubernetes.io/bound-by-controller")
	case "PersistentVolume":
		unstructured.RemoveNestedField(o.Object, "spec", "claimRef", "uid")
		unstructured.RemoveNestedField(o.Object, "spec", "claimRef", "resourceVersion")
	}
	return o.Object
}

// withoutSelector leaves to the server how a Job finds its pods: by the Job's uid.
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
