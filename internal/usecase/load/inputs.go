package load

import (
	"context"
	"errors"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// InputOptions name the files of hubs and forms, and narrow them.
type InputOptions struct {
	Paths     []string // files and directories, "-" is standard input
	Recursive bool
	// Hubs and Forms narrow the inputs, as NAME or NAMESPACE/NAME. Empty means all.
	Hubs, Forms []string
	// NoForms accepts inputs that have only hubs.
	NoForms bool
	// AllowEmpty accepts inputs without hubs and forms.
	AllowEmpty bool
	// Strict refuses a form that shows a secret column outside of Secrets.
	Strict bool
	// Capabilities are those that charts see.
	Capabilities CapabilityOptions
	// Loaded are inputs from an earlier Load, which replace the files. With nil, Read loads
	// the files.
	Loaded *form.Inputs
}

// Read reads the inputs. It returns what is wrong in them as problems, and other failures
// as the error.
func Read(ctx context.Context, e *session.Engine, in *InputOptions) (*form.Inputs, lynq.Problems, error) {
	if in.Loaded != nil {
		return in.Loaded, nil, nil
	}
	if len(in.Paths) == 0 {
		return nil, nil, session.BadUsage(errors.New("no files: pass files or directories with -f PATH"))
	}
	if slices.Contains(in.Paths, "-") {
		e.TellReading("-f -")
	}
	var inputs *form.Inputs
	err := session.Interruptible(ctx, func() error {
		load := e.Memory.Load
		switch {
		case in.AllowEmpty:
			load = e.Memory.LoadAny
		case in.NoForms:
			load = e.Memory.LoadHubs
		}
		loaded, err := load(Builder(ctx, e, in), in.Paths, in.Recursive, e.Stdin)
		inputs = loaded
		return err
	})
	if known := (*session.Error)(nil); errors.As(err, &known) {
		return nil, nil, err
	}
	var problems lynq.Problems
	if err != nil && !errors.As(err, &problems) {
		return nil, nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: "nothing was written"}
	}
	e.Warn(inputs.Warnings)
	return inputs, problems, nil
}

// Forms loads the forms that Hubs and Forms select, without rows and without a cluster. It
// returns a *session.Error for bad inputs.
func Forms(ctx context.Context, e *session.Engine, in *InputOptions) ([]*form.Form, error) {
	inputs, problems, err := Read(ctx, e, in)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, session.BadInputs(problems, "nothing was printed")
	}
	return in.Choose(inputs)
}

// Choose returns the forms that Hubs and Forms select. A form without a namespace is in the
// namespace of its hub.
func (in *InputOptions) Choose(inputs *form.Inputs) ([]*form.Form, error) {
	var hubs, all, ofHubs []lynq.FormKey
	for _, h := range inputs.Hubs {
		hubs = append(hubs, lynq.FormKey{Namespace: h.Namespace, Name: h.Name})
	}
	var left, forms []*form.Form
	for _, f := range inputs.Forms {
		h, this := inputs.Hub(f), nameOf(inputs, f)
		all = append(all, this)
		if len(in.Hubs) == 0 || h != nil && lynq.Names(in.Hubs).Choose(h.Namespace, h.Name) {
			left, ofHubs = append(left, f), append(ofHubs, this)
		}
	}
	err := errors.Join(
		known("hub", "hub", in.Hubs, hubs), known("form", "form", in.Forms, all),
		distinct("hub", "hubs", in.Hubs, hubs), distinct("form", "forms", in.Forms, ofHubs),
	)
	if err != nil {
		return nil, session.BadUsage(err)
	}
	for i, f := range left {
		if lynq.Names(in.Forms).Choose(ofHubs[i].Namespace, ofHubs[i].Name) {
			forms = append(forms, f)
		}
	}
	if alone := (in.NoForms || in.AllowEmpty) && len(all) == 0 && len(in.Forms) == 0; len(forms) == 0 && !alone {
		return nil, session.BadUsage(errors.New("--hub and --form leave no form: none of the named hubs has one of those"))
	}
	return forms, nil
}
