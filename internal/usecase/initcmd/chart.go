package initcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/internal/existing"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/bounded"
)

// openChart checks a chart, and returns its path from the form's file. A version, if it is not
// "", must be the chart's.
func (o *Options) openChart(ctx context.Context, e *session.Engine, path, version string) (string, error) {
	rel, err := below(o.Dir, path)
	if err != nil {
		return "", err
	}
	opened, err := o.describe(ctx, e, rel)
	if err != nil {
		return "", err
	}
	if version != "" && opened.Version != version {
		return "", fmt.Errorf("the chart %s has version %s, and the release has %s (name the chart of that version)", path, opened.Version, version)
	}
	return rel, nil
}

// describe opens a chart. CustomResourceDefinitions in it are no error here.
func (o *Options) describe(ctx context.Context, e *session.Engine, path string) (*wire.Opened, error) {
	if e.Helper == nil {
		return nil, errors.New("this program reads no charts")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	return e.Helper.Open(ctx, wire.Open{Dir: dir, Path: path, SkipCRDs: true})
}

// maxValues limits the default values of a chart.
const maxValues = 4 << 20

// findChart reads a chart.
func (o *Options) findChart(ctx context.Context, e *session.Engine) (*found, error) {
	path := o.Args[0]
	rel, err := below(o.Dir, path)
	if err != nil {
		return nil, err
	}
	opened, err := o.describe(ctx, e, rel)
	if err != nil {
		return nil, err
	}
	c := existing.LocalChart{Name: opened.Name, Version: opened.Version, Path: rel}
	for _, file := range opened.Files {
		c.HasCRDs = c.HasCRDs || strings.HasPrefix(file, rel+"/crds/")
	}
	f := &found{hub: lowered(opened.Name), rows: [][]string{{"acme"}}}
	for _, w := range opened.Warnings {
		f.notes = append(f.notes, "warning: "+w.File+": "+w.What)
	}
	values, err := bounded.ReadFile(filepath.Join(o.Dir, filepath.FromSlash(rel), "values.yaml"), maxValues)
	if err == nil { // an archive has them inside, and a chart may have none
		if c.Values, err = existing.Defaults(values); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(path, "values.yaml"), err)
		}
	}
	f.form = func(names existing.Names, d *draft.Draft) (string, error) {
		var variables []string
		for _, m := range d.Mappings {
			variables = append(variables, m.Variable)
		}
		return c.Form(names, variables), nil
	}
	return f, nil
}
