package initcmd

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/internal/existing"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// The words of --from that are no object.
const (
	FromChart = "chart"
	FromHelm  = "helm"
)

// rowsFile is the table of a form that has no other.
const rowsFile = "rows.csv"

// found is what a form is made of.
type found struct {
	hub string // the name of a new hub
	// rows are those of a new table, each with the uid first. columns are the others.
	rows                   [][]string
	columns, secretColumns []string
	form                   func(names existing.Names, d *draft.Draft) (string, error)
	// more are files beside the form. newDir, if not "", must not exist yet.
	more   []newFile
	newDir string
	// secret is set if files may have values that others must not read.
	secret bool
	notes  []string
}

// runFrom drafts a form of what exists already.
func runFrom(ctx context.Context, e *session.Engine, o *Options) (*Drafted, error) {
	what, err := o.find(ctx, e)
	if err != nil {
		return nil, nothingWritten(err)
	}
	d, from, files, err := o.hubFor(ctx, e, what)
	if err != nil {
		return nil, err
	}
	names := existing.Names{Name: o.Form, Hub: from.hub}
	if from.given && from.namespace == "" {
		names.Namespace = o.Namespace
	}
	text, err := what.form(names, d)
	if err != nil {
		return nil, nothingWritten(err)
	}
	files = append(files, newFile{path: filepath.Join(o.Dir, "form.yaml"), text: text})
	drafted := &Drafted{}
	for _, f := range files {
		drafted.Files = append(drafted.Files, f.path)
	}
	if what.newDir != "" {
		drafted.Files = append(drafted.Files, what.newDir)
	}
	files = append(files, what.more...)
	if what.secret {
		for i := range files {
			files[i].secret = true
		}
	}
	next := "diff"
	if o.From == FromChart {
		next = "render"
	}
	what.notes = append(what.notes, "next: lynqctl "+next+" "+o.inputs())
	drafted.Notes = what.notes
	return drafted, writeNew(o.Dir, files, what.newDir)
}

// find reads what exists.
func (o *Options) find(ctx context.Context, e *session.Engine) (*found, error) {
	switch o.From {
	case FromChart:
		return o.findChart(ctx, e)
	case FromHelm:
		return o.findReleases(ctx, e)
	}
	return o.findObjects(ctx, e)
}

// hubFor returns the hub of the form: one for a source, an existing one, or one for a new table.
func (o *Options) hubFor(ctx context.Context, e *session.Engine, what *found) (*draft.Draft, *origin, []newFile, error) {
	if o.Source != "" || len(o.Paths) > 0 {
		from, err := originOf(ctx, e, o)
		if err != nil {
			return nil, nil, nil, err
		}
		d, err := lookAt(ctx, from, e.Stdin, e.Now())
		if err != nil {
			return nil, nil, nil, nothingWritten(err)
		}
		files, err := o.hubFiles(from, d)
		if err != nil {
			return nil, nil, nil, err
		}
		what.notes = append(what.notes, fmt.Sprintf("hub %s: column %q is the uid", from.hub, d.UID))
		return d, from, files, nil
	}
	d := &draft.Draft{UID: "uid"}
	for _, column := range what.columns {
		d.Mappings = append(d.Mappings, draft.Mapping{Variable: column, Column: column})
	}
	c := endpoint.Connection{Type: endpoint.SourceCSV, Path: rowsFile}
	from := &origin{hub: cmp.Or(o.Name, what.hub), connection: c}
	hub := d.Hub(draft.Names{Namespace: o.Namespace, Name: from.hub}, c, false)
	if len(what.secretColumns) > 0 {
		hub += "  secretColumns: [" + strings.Join(what.secretColumns, ", ") + "]\n"
	}
	var rows strings.Builder
	if err := csv.NewWriter(&rows).WriteAll(append([][]string{append([]string{d.UID}, what.columns...)}, what.rows...)); err != nil {
		return nil, nil, nil, nothingWritten(err)
	}
	what.notes = append(what.notes, fmt.Sprintf("%s in %s; --source names your own table", phrase.Count(len(what.rows), "row"), filepath.Join(o.Dir, rowsFile)))
	return d, from, []newFile{
		{path: filepath.Join(o.Dir, "hub.yaml"), text: hub},
		{path: filepath.Join(o.Dir, rowsFile), text: rows.String()},
	}, nil
}

// inputs returns the flags with which other commands read the new files.
func (o *Options) inputs() string {
	inputs := "-f " + o.Dir
	for _, p := range o.Paths {
		inputs = "-f " + p + " " + inputs
	}
	return inputs
}

func nothingWritten(err error) error {
	if known, ok := errors.AsType[*session.Error](err); ok {
		return known
	}
	return &session.Error{Outcome: session.BadInput, Err: err, Summary: "nothing was written"}
}

// below returns the path of a chart from a folder, and an error if it is not in the folder.
func below(dir, path string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	if err != nil || !filepath.IsLocal(rel) {
		name := filepath.Base(to)
		return "", fmt.Errorf("the chart %s is outside of %s, and a form reads nothing outside of its directory (run: mkdir -p %s && cp -R %s %s, and name %s)", path, dir, dir, path, filepath.Join(dir, name), filepath.Join(dir, name))
	}
	return filepath.ToSlash(rel), nil
}

// lowered returns a name in the letters of names in Kubernetes.
func lowered(name string) string { return hubName(strings.ToLower(name)) }
