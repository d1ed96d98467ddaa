package adoptoperator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/usecase/backup"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/handover"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// export writes hubs and forms as files that lynqctl apply reads.
func (j *job) export(o *operated) error {
	var files []exported
	for _, u := range slices.Concat(o.hubs, o.forms) {
		text, err := yaml.Marshal(handover.Manifest(u))
		if err != nil {
			return fmt.Errorf("export %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
		}
		name := strings.ToLower(strings.TrimPrefix(u.GetKind(), "Lynq")) + "-" + u.GetName() + ".yaml"
		if i := slices.IndexFunc(files, func(f exported) bool { return f.name == name }); i >= 0 {
			return fmt.Errorf("export: namespaces %s and %s both have a %s %s (export one namespace at a time, with -n)", files[i].namespace, u.GetNamespace(), u.GetKind(), u.GetName())
		}
		files = append(files, exported{name, u.GetNamespace(), text})
	}
	root, err := backup.OpenDir(j.o.ExportDir)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	for _, f := range files {
		if err := backup.WriteOnce(root, f.name, f.text, "--export-dir"); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	j.run.Engine.Notef("%s and %s are in %s", phrase.Count(len(o.hubs), "hub"), phrase.Count(len(o.forms), "form"), j.o.ExportDir)
	return nil
}

// exported is a file of an export.
type exported struct {
	name, namespace string
	text            []byte
}

// backup writes whole LynqNodes, and the metadata of the objects that the run changes. It
// writes no content of those objects, because the run doesn't change it and it may be
// secret. If an earlier run wrote a backup of the same object, backup keeps that older one.
func (j *job) backup(o *operated, planned *handover.Plan) error {
	root, err := backup.OpenDir(j.o.BackupDir)
	if err != nil {
		return fmt.Errorf("make a place for the backup: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	write := func(ref lynq.Ref, uid types.UID, v any) error {
		text, err := yaml.Marshal(v)
		if err != nil {
			return err
		}
		name := backup.Name(ref)
		if there, err := root.ReadFile(name); err == nil && uidIn(there) == uid {
			return nil
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		return backup.WriteOnce(root, name, text, "--backup-dir")
	}
	for _, u := range slices.Concat(o.whole, o.hubs, o.forms) {
		ref := lynq.Ref{Group: wellknown.Group, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
		if err := write(ref, u.GetUID(), u.Object); err != nil {
			return fmt.Errorf("back up %s: %w", ref.Full(), err)
		}
	}
	for i := range planned.Nodes {
		for k := range planned.Nodes[i].Objects {
			object := &planned.Nodes[i].Objects[k]
			if object.Step.Action != plan.ActionTrack {
				continue
			}
			if err := write(object.Ref, object.Meta.UID, object.Meta); err != nil {
				return fmt.Errorf("back up %s: %w", object.Full(), err)
			}
		}
	}
	return nil
}

// uidIn returns the uid of the object in a backup.
func uidIn(text []byte) types.UID {
	var o metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(text, &o); err != nil {
		return ""
	}
	return o.UID
}

// finish removes hubs and forms without LynqNodes if the user asked for it. It tells the
// user what to do with the rest.
func (j *job) finish(ctx context.Context, o *operated) error {
	keys := j.allHubs(o)
	now, err := j.read(ctx)
	if err != nil {
		return session.Fail(err)
	}
	if err := j.readForms(ctx, now, func(p lynq.HubKey) bool { return slices.Contains(keys, p) }); err != nil {
		j.run.Engine.Notef("do not start the operator again while its LynqHubs and LynqForms are there, which could not be looked at: %v", err)
	}
	var errs []error
	for _, p := range keys {
		hubs := slices.DeleteFunc(slices.Clone(now.hubs), func(h *unstructured.Unstructured) bool {
			return (lynq.HubKey{Namespace: h.GetNamespace(), Name: h.GetName()}) != p
		})
		forms := slices.DeleteFunc(slices.Clone(now.forms), func(f *unstructured.Unstructured) bool { return hubOf(f) != p })
		switch {
		case now.left[p] > 0:
			j.run.Engine.Notef("hub %s/%s has %s left that the operator had; until they are handed over too, lynqctl apply refuses it", p.Namespace, p.Name, phrase.Count(now.left[p], "LynqNode"))
		case len(hubs)+len(forms) == 0:
			j.run.Engine.Notef("hub %s/%s is handed over", p.Namespace, p.Name)
		case j.o.RemoveForms:
			errs = append(errs, j.removeForms(ctx, p, hubs, forms))
		default:
			j.run.Engine.Notef("hub %[1]s/%[2]s is handed over. Do not start the operator again while %[3]s: it would create its LynqNodes again. To delete them: lynqctl adopt-operator -n %[1]s --hub %[2]s --export-dir DIR --remove-forms",
				p.Namespace, p.Name, stillThere(p, hubs, forms))
		}
	}
	return session.Fail(errors.Join(errs...))
}

// stillThere names the hub and forms from which the operator would start again.
func stillThere(p lynq.HubKey, hubs, forms []*unstructured.Unstructured) string {
	var parts []string
	if len(hubs) > 0 {
		parts = append(parts, "LynqHub "+p.Name)
	}
	switch len(forms) {
	case 0:
	case 1:
		parts = append(parts, "LynqForm "+forms[0].GetName())
	default:
		parts = append(parts, phrase.Count(len(forms), "LynqForm"))
	}
	if len(hubs)+len(forms) == 1 {
		return parts[0] + " is there"
	}
	return strings.Join(parts, " and ") + " are there"
}

// removeForms deletes a hub of the operator and its forms. It deletes the forms first,
// because they mean nothing without the hub.
func (j *job) removeForms(ctx context.Context, p lynq.HubKey, hubs, forms []*unstructured.Unstructured) error {
	for _, u := range slices.Concat(forms, hubs) {
		served, err := j.run.Client.Resource(ctx, wellknown.Group, "", u.GetKind())
		if err == nil {
			err = handover.RemoveHub(ctx, j.run.Client, served, u)
		}
		if err != nil {
			return fmt.Errorf("remove %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
		}
	}
	j.run.Engine.Notef("hub %s/%s: migration complete. Next: lynqctl apply -f %s", p.Namespace, p.Name, j.o.ExportDir)
	return nil
}
