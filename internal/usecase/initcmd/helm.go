package initcmd

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/internal/existing"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// findRelease reads a release of Helm from the cluster.
func (o *Options) findRelease(ctx context.Context, e *session.Engine) (*found, error) {
	name := o.Args[0]
	r, later, err := o.readRelease(ctx, e, name)
	if err != nil {
		return nil, err
	}
	if o.Namespace = r.Namespace; r.Name != name {
		return nil, fmt.Errorf("release %s: its Secret has another release", name)
	}
	id := existing.ChartID(r.Chart.Name)
	f := &found{hub: lowered(r.Chart.Name), uid: name, secret: true}
	path := id
	if o.Chart != "" {
		if path, err = o.openChart(ctx, e, o.Chart, r.Chart.Version); err != nil {
			return nil, err
		}
	} else {
		if r.Chart.Lost {
			return nil, fmt.Errorf("release %s: its chart has subcharts, which Helm doesn't keep (run: helm pull CHART --version %s --untar --untardir %s, and pass --chart %s)", name, r.Chart.Version, o.Dir, filepath.Join(o.Dir, r.Chart.Name))
		}
		f.newDir = filepath.Join(o.Dir, id)
		for _, file := range r.Chart.Files {
			f.more = append(f.more, newFile{path: filepath.Join(f.newDir, filepath.FromSlash(file.Path)), text: string(file.Data)})
		}
	}
	f.form = func(names existing.Names, _ *draft.Draft) (string, error) { return r.Form(names, path) }
	f.notes = append(f.notes, fmt.Sprintf("release %s, revision %d: the new files may have secret values, so only you may read them", name, r.Version))
	if later != "" {
		f.notes = append(f.notes, later)
	}
	if ran := r.Ran(); len(ran) > 0 {
		f.notes = append(f.notes, fmt.Sprintf("Helm ran %s at the installation; the form excludes them for this release, and new rows run them", phrase.Count(len(ran), "hook")))
	}
	f.notes = append(f.notes, "don't run helm uninstall, because it deletes the objects")
	return f, nil
}

// readRelease returns the newest deployed revision of a release. later says whether a newer
// revision did not succeed.
func (o *Options) readRelease(ctx context.Context, e *session.Engine, name string) (r *existing.Release, later string, err error) {
	namespace, err := session.NamespaceMeant(&o.Access, o.Namespace, false)
	if err != nil {
		return nil, "", err
	}
	client, err := e.ConnectToLook(&o.Access)
	if err != nil {
		return nil, "", err
	}
	secrets := lynq.APIResource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true}
	var newest *unstructured.Unstructured
	version, last, state := 0, 0, ""
	err = client.Objects(ctx, secrets, namespace, "owner=helm,name="+name, func(s *unstructured.Unstructured) {
		n, err := strconv.Atoi(s.GetLabels()["version"])
		status := s.GetLabels()["status"]
		if err != nil {
			return
		}
		if status == "deployed" && n > version {
			version, newest = n, s
		}
		if n > last {
			last, state = n, status
		}
	})
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("release %s: %w", name, err)
	case newest == nil && last == 0:
		return nil, "", fmt.Errorf("namespace %s has no release %s that Helm keeps in a Secret (helm list -A shows releases; -n names another namespace)", namespace, name)
	case newest == nil:
		return nil, "", fmt.Errorf("release %s in namespace %s has no deployed revision; its last one is %s (complete it with helm upgrade or helm rollback)", name, namespace, phrase.Quote(state))
	case last > version:
		later = fmt.Sprintf("revision %d is %s, so the objects may differ from revision %d; look at the diff", last, phrase.Quote(state), version)
	}
	encoded, _, err := unstructured.NestedString(newest.Object, "data", "release")
	if err != nil {
		return nil, "", errors.New("the Secret " + newest.GetName() + " has no key release")
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, "", fmt.Errorf("the Secret %s has no valid base64", newest.GetName())
	}
	if r, err = existing.ReadRelease(data); err != nil {
		return nil, "", fmt.Errorf("the Secret %s: %w", newest.GetName(), err)
	}
	if r.Namespace != namespace {
		return nil, "", fmt.Errorf("the Secret %s has a release of another namespace", newest.GetName())
	}
	return r, later, nil
}
