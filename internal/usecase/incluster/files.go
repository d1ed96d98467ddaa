package incluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/deploy"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// remembered returns a function that yields standard input as often as needed. It reads
// standard input once, and only if a path is "-".
func remembered(ctx context.Context, e *session.Engine, paths []string) (func() io.Reader, error) {
	if !slices.Contains(paths, "-") {
		return func() io.Reader { return e.Stdin }, nil
	}
	var text []byte
	err := session.Interruptible(ctx, func() error {
		read, err := files.ReadStdin(e.Stdin)
		text = read
		return err
	})
	if err != nil {
		return nil, session.BadUsage(fmt.Errorf("read standard input: %w", err))
	}
	return func() io.Reader { return bytes.NewReader(text) }, nil
}

// files reads the files for the pods: inputs without Secrets, the files that they name, and
// the names in tombstones.
func (g *gatherer) files(in *form.Inputs, out *deploy.Options) error {
	files, err := form.InputFiles(g.o.Apply.Inputs.Paths, g.o.Apply.Inputs.Recursive, g.stdin())
	if err != nil {
		return g.badInputs(err)
	}
	beside, err := in.BesideFiles(files)
	if err != nil {
		return g.badInputs(err)
	}
	for _, f := range beside {
		files = slices.DeleteFunc(files, func(input form.InputFile) bool { return filepath.Clean(input.Name) == f.File })
		out.Inputs = append(out.Inputs, deploy.File{Name: f.File, Text: f.Text, Path: f.Path})
	}
	for _, f := range files {
		if f.Text != "" {
			out.Inputs = append(out.Inputs, deploy.File{Name: f.Name, Text: f.Text})
		}
		for _, s := range f.Secrets {
			g.Notef("warning: %s: Secret %q is skipped, because a ConfigMap isn't secret: create it in the cluster where hubs refer to it", s.Pos, s.Name)
		}
	}
	if g.tombstones, err = form.LoadTombstones(g.o.Apply.Tombstones.Paths); err != nil {
		return g.badInputs(err)
	}
	for i := range g.tombstones {
		text, err := tombstoneManifest(&g.tombstones[i])
		if err != nil {
			return session.Fail(err)
		}
		out.Tombstones = append(out.Tombstones, deploy.File{Name: fmt.Sprintf("tombstone-%d.yaml", i+1), Text: text})
	}
	return nil
}

func (g *gatherer) badInputs(err error) error {
	if problems, ok := errors.AsType[lynq.Problems](err); ok {
		return session.BadInputs(problems, g.o.Apply.Nothing)
	}
	return &session.Error{Outcome: session.BadInput, Err: err, Summary: g.o.Apply.Nothing}
}

// tombstoneManifest keeps the needed parts of a tombstone. Its file may have more of the
// object, such as the data of a Secret.
func tombstoneManifest(t *lynq.Tombstone) (string, error) {
	metadata := map[string]any{"name": t.Name, "labels": t.Labels}
	if t.Namespace != "" {
		metadata["namespace"] = t.Namespace
	}
	text, err := yaml.Marshal(map[string]any{"apiVersion": t.APIVersion, "kind": t.Kind, "metadata": metadata})
	return string(text), err
}
