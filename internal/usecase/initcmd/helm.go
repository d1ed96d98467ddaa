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

// findReleases reads releases of Helm from the cluster.
func (o *Options) findReleases(ctx context.Context, e *session.Engine) (*found, error) {
	f := &found{secret: true}
	if len(o.Args) > 1 && o.Source != "" || len(o.Args) > 1 && len(o.Paths) > 0 {
		return nil, errors.New("several releases make a table of their own (leave out --source and -f)")
	}
	var releases []*existing.Release
	for _, name := range o.Args {
		r, later, err := o.readRelease(ctx, e, name)
		if err != nil {
			return nil, err
		}
		if r.Name != name {
			return nil, fmt.Errorf("release %s: its Secret has another release", name)
		}
		o.Namespace = r.Namespace
		releases = append(releases, r)
		f.notes = append(f.notes, fmt.Sprintf("release %s, revision %d: the new files may have secret values, so only you may read them", name, r.Version))
		if later != "" {
			f.notes = append(f.notes, later)
		}
	}
	c, err := existing.Combine(releases)
	if err != nil {
		return nil, err
	}
	path, err := o.chartOf(ctx, e, releases[0], f)
	if err != nil {
		return nil, err
	}
	f.hub, f.columns, f.secretColumns = lowered(releases[0].Chart.Name), c.Columns, c.Secret
	for i, r := range releases {
		f.rows = append(f.rows, append([]string{r.Name}, c.Rows[i]...))
	}
	f.form = func(names existing.Names, _ *draft.Draft) (string, error) { return c.Form(names, path) }
	if ran := c.Ran(); len(ran) > 0 {
		f.notes = append(f.notes, fmt.Sprintf("Helm ran %s at the installation; the form excludes them for these tenants, and new rows run them", phrase.Count(len(ran), "hook")))
	}
	f.notes = append(f.notes, "don't run helm uninstall, because it deletes the objects")
	return f, nil
}

// chartOf returns the path of a release's chart from the form, and adds its files to what is
// found.
func (o *Options) chartOf(ctx context.Context, e *session.Engine, r *existing.Release, f *found) (string, error) {
	if o.Chart != "" {
		return o.openChart(ctx, e, o.Chart, r.Chart.Version)
	}
	if r.Chart.Lost {
		return "", fmt.Errorf("release %s: its chart has subcharts, which Helm doesn't keep (run: helm pull CHART --version %s --untar --untardir %s, and pass --chart %s)", r.Name, r.Chart.Version, o.Dir, filepath.Join(o.Dir, r.Chart.Name))
	}
	id := existing.ChartID(r.Chart.Name)
	f.newDir = filepath.Join(o.Dir, id)
	for _, file := range r.Chart.Files {
		f.more = append(f.more, newFile{path: filepath.Join(f.newDir, filepath.FromSlash(file.Path)), text: string(file.Data)})
	}
	return id, nil
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
