package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/suggest"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// inputFlags are the flags that name and narrow hubs and forms.
type inputFlags struct {
	paths     []string
	recursive bool
	hubs      []string
	formNames []string
}

func (in *inputFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&in.paths, "filename", "f", nil, "file or directory with hubs and forms, '-' for standard input (may be repeated)")
	f.BoolVarP(&in.recursive, "recursive", "R", false, "read sub-directories too")
	f.StringSliceVar(&in.hubs, "hub", nil, "only these hubs")
	f.StringSliceVar(&in.formNames, "form", nil, "only these forms")
}

// load reads the inputs. Problems are what is wrong with them; the error is
// anything else.
func (in *inputFlags) load(ctx context.Context, a *app) (*form.Inputs, lynq.Problems, error) {
	if len(in.paths) == 0 {
		return nil, nil, badUsage(errors.New("no inputs: give files or directories with -f PATH"))
	}
	if slices.Contains(in.paths, "-") {
		a.tellReading("-f -")
	}
	var inputs *form.Inputs
	err := interruptible(ctx, func() error {
		loaded, err := form.Load(in.paths, in.recursive, a.stdin)
		inputs = loaded
		return err
	})
	var problems lynq.Problems
	if err != nil && !errors.As(err, &problems) {
		return nil, nil, &exitError{code: exitBadInput, err: err, summary: "nothing was written"}
	}
	a.warn(inputs.Warnings)
	return inputs, problems, nil
}

// forms are the forms that --hub and --form leave.
func (in *inputFlags) forms(inputs *form.Inputs) ([]*form.Form, error) {
	hubNames, formNames := []string{}, []string{}
	for _, h := range inputs.Hubs {
		hubNames = append(hubNames, h.Name)
	}
	for _, f := range inputs.Forms {
		formNames = append(formNames, f.Name)
	}
	if err := errors.Join(known("hub", "hub", in.hubs, hubNames), known("form", "form", in.formNames, formNames)); err != nil {
		return nil, badUsage(err)
	}
	var forms []*form.Form
	for _, f := range inputs.Forms {
		if (len(in.hubs) == 0 || slices.Contains(in.hubs, f.HubID)) &&
			(len(in.formNames) == 0 || slices.Contains(in.formNames, f.Name)) {
			forms = append(forms, f)
		}
	}
	if len(forms) == 0 {
		return nil, badUsage(errors.New("--hub and --form leave no form: none of the named hubs has one of those"))
	}
	return forms, nil
}

// known checks names given with a flag.
func known(flag, what string, wanted, names []string) error {
	var errs []error
	for _, w := range wanted {
		if slices.Contains(names, w) {
			continue
		}
		errs = append(errs, fmt.Errorf("--%s: no %s %q is in the inputs (%s)", flag, what, w, suggest.Fix(w, names)))
	}
	return errors.Join(errs...)
}

// hubPrograms are the compiled forms of one hub.
type hubPrograms struct {
	hub      *form.Hub
	programs []*render.Program
}

// namespaces are those of the nodes that the forms make.
func (h *hubPrograms) namespaces() []string {
	var all []string
	for _, p := range h.programs {
		all = append(all, p.Namespace)
	}
	return all
}

func hubNames(hubs []hubPrograms) []string {
	names := make([]string, len(hubs))
	for i, h := range hubs {
		names[i] = h.hub.Name
	}
	return names
}

func allPrograms(hubs []hubPrograms) []*render.Program {
	var all []*render.Program
	for _, h := range hubs {
		all = append(all, h.programs...)
	}
	return all
}

// compile compiles forms and groups them by hub, in the order of the forms.
func compile(inputs *form.Inputs, forms []*form.Form, o render.Options) ([]hubPrograms, lynq.Problems) {
	o.ClusterScoped = inputs.ClusterScoped
	var hubs []hubPrograms
	var problems lynq.Problems
	for _, f := range forms {
		h := inputs.Hub(f)
		if h == nil {
			continue // a problem of the inputs, told with them
		}
		p, ps := render.Compile(f, h, o)
		problems = append(problems, ps...)
		i := slices.IndexFunc(hubs, func(hp hubPrograms) bool { return hp.hub == h })
		if i < 0 {
			hubs, i = append(hubs, hubPrograms{hub: h}), len(hubs)
		}
		hubs[i].programs = append(hubs[i].programs, p)
	}
	slices.SortStableFunc(hubs, func(a, b hubPrograms) int {
		return slices.Index(inputs.Hubs, a.hub) - slices.Index(inputs.Hubs, b.hub)
	})
	return hubs, problems
}

// prepare loads and compiles what a command needs, and reports everything that
// is wrong with it at once.
func (in *inputFlags) prepare(ctx context.Context, a *app, options func(forms []*form.Form, inputs *form.Inputs) (render.Options, error), nothing string) (*form.Inputs, []hubPrograms, error) {
	inputs, problems, err := in.load(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	forms := inputs.Forms
	if len(problems) == 0 {
		if forms, err = in.forms(inputs); err != nil {
			return nil, nil, err
		}
	}
	o, optionsErr := options(forms, inputs)
	hubs, more := compile(inputs, forms, o)
	if problems = append(problems, more...); len(problems) > 0 {
		return nil, nil, badInputs(problems, nothing)
	}
	if optionsErr != nil {
		return nil, nil, optionsErr
	}
	return inputs, hubs, nil
}
