package load

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"

	"github.com/lynqctl/lynqctl/internal/chart"
	"github.com/lynqctl/lynqctl/internal/chart/wire"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// charts implements render.Charts with the helper of a run.
type charts struct {
	ctx    context.Context // of the run, because renderers know none
	helper *chart.Helper
}

// builder implements form.Builder. It asks the cluster at most once.
type builder struct {
	charts
	capabilities CapabilityOptions

	mu     sync.Mutex
	asked  bool
	served Capabilities
	failed error
}

// Builder returns what builds kustomizations and reads charts of forms in a run, or nil.
func Builder(ctx context.Context, e *session.Engine, in *InputOptions) form.Builder {
	if e.Helper == nil {
		return nil
	}
	return &builder{charts: charts{ctx, e.Helper}, capabilities: in.Capabilities}
}

// Build builds a kustomization.
func (c charts) Build(at lynq.Pos, dir, base string, texts map[string][]byte) (form.Base, lynq.Problems) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return form.Base{}, lynq.Problems{{Pos: at, What: err.Error()}}
	}
	built, err := c.helper.Build(c.ctx, wire.Build{Dir: full, Base: base, Texts: texts})
	var made form.Base
	if built != nil {
		made.Texts, made.Missing = built.Texts, built.Missing
	}
	if err != nil {
		return made, problemsOf(dir, at, err)
	}
	for _, o := range built.Objects {
		made.Objects = append(made.Objects, form.BaseObject{File: o.File, Text: o.Text, Suffix: o.Suffix})
	}
	return made, nil
}

// Open reads a chart. Its problems name the form, and files of the chart.
func (b *builder) Open(of *form.Chart) (form.OpenedChart, lynq.Problems) {
	dir, err := filepath.Abs(of.Dir())
	if err != nil {
		return form.OpenedChart{}, lynq.Problems{{Pos: of.Path.Pos, What: err.Error()}}
	}
	o := wire.Open{Dir: dir, Path: filepath.ToSlash(of.Path.Text), Kept: of.Past, SkipCRDs: of.SkipCRDs, EmptyLookups: of.EmptyLookups}
	for _, file := range of.ValuesFiles {
		o.ValuesFiles = append(o.ValuesFiles, filepath.ToSlash(file.Text))
	}
	opened, err := b.open(o)
	if err != nil {
		return form.OpenedChart{}, inForm(of, problemsOf(of.Dir(), of.Path.Pos, err))
	}
	r := form.OpenedChart{Handle: opened.Chart, Name: opened.Name, Version: opened.Version, Digest: opened.Digest, DeletionHooks: opened.DeletionHooks, InstallOrder: opened.InstallOrder}
	for _, file := range opened.Files {
		r.Files = append(r.Files, filepath.Join(of.Dir(), filepath.FromSlash(file)))
	}
	for _, k := range opened.Kinds {
		r.Kinds = append(r.Kinds, form.ChartKind{APIVersion: k.APIVersion, Kind: k.Kind})
	}
	r.Warnings = append(placed(of.Dir(), of.Path.Pos, opened.Warnings), b.capabilities.guessed(of, opened)...)
	return r, nil
}

// Release returns the objects of a release. Its problems name files of the chart.
func (c charts) Release(of *form.Chart, r *render.Release) ([]form.ChartObject, lynq.Problems) {
	rendered, err := c.helper.Render(c.ctx, wire.Render{Chart: of.Opened.Handle, ReleaseName: r.Name, Namespace: r.Namespace, Values: json.RawMessage(r.Values), Secret: r.Secret, Check: r.Check})
	if err != nil {
		return nil, problemsOf(of.Dir(), of.Path.Pos, err)
	}
	objects := make([]form.ChartObject, len(rendered.Objects))
	for i, o := range rendered.Objects {
		objects[i] = form.ChartObject{File: fileIn(of.Dir(), o.File), Text: o.Text}
	}
	return objects, nil
}

// problemsOf returns what the helper says is wrong. Problems without a file have a place in
// the form.
func problemsOf(dir string, at lynq.Pos, err error) lynq.Problems {
	var found *chart.ProblemsError
	if !errors.As(err, &found) {
		return lynq.Problems{{Pos: at, What: err.Error()}}
	}
	return placed(dir, at, found.Problems)
}

// inForm returns problems of the whole chart with the form's place, because they often are wrong
// paths.
func inForm(of *form.Chart, problems lynq.Problems) lynq.Problems {
	whole := fileIn(of.Dir(), of.Path.Text)
	if ref, err := lynq.ParseChart(of.Path.Text); err == nil {
		whole = ref.Short()
	}
	for i := range problems {
		if p := &problems[i]; p.Pos.File == whole {
			p.Pos, p.What = of.Path.Pos, whole+": "+p.What
		}
	}
	return problems
}

// fileIn returns the place of a file that the helper names. A file of a chart in a registry
// already has its address.
func fileIn(dir, file string) string {
	if lynq.IsChart(file) {
		return file
	}
	return filepath.Join(dir, filepath.FromSlash(file))
}

// placed returns problems with places as positions have them.
func placed(dir string, at lynq.Pos, found []wire.Problem) lynq.Problems {
	problems := make(lynq.Problems, len(found))
	for i, p := range found {
		problems[i] = lynq.Problem{Pos: at, What: p.What, Fix: p.Fix}
		if p.File != "" {
			problems[i].Pos = lynq.Pos{File: fileIn(dir, p.File), Line: p.Line}
		}
	}
	return problems
}
