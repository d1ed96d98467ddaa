package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// backup writes the manifests of orphans, each to a file that kubectl apply can
// read, and has what it wrote be what is deleted: an orphan that changes later is
// looked at again. Nothing that is there already is overwritten.
func backup(ctx context.Context, client *kube.Client, dir string, orphans []orphan.Orphan) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make a place for the backup: %w", err)
	}
	root, err := os.OpenRoot(dir)
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
			return fmt.Errorf("back up %s: somebody deleted it and made another", o.Full())
		}
		live, err := apply.LiveOfObject(o.Ref, content)
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

// writeManifest writes one manifest, for nobody else to read: beside Secrets,
// many a ConfigMap has something that is nobody's business.
func writeManifest(root *os.Root, ref lynq.Ref, content *unstructured.Unstructured) error {
	text, err := yaml.Marshal(restorable(content))
	if err != nil {
		return err
	}
	folder := ref.Namespace
	if folder == "" {
		folder = "_cluster" // no namespace has an underscore
	}
	if err := root.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	// Some names have colons, which not all file systems take.
	name := strings.ReplaceAll(ref.GroupKind()+"_"+ref.Name, ":", "%3A") + ".yaml"
	file, err := root.OpenFile(filepath.Join(folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
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
	return err
}

// restorable is a manifest without what only a server says of an object.
func restorable(o *unstructured.Unstructured) map[string]any {
	o = o.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(o.Object, "status")
	return o.Object
}
