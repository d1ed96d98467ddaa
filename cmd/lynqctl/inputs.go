package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	f.StringSliceVar(&in.hubs, "hub", nil, "only these hubs, as NAME or NAMESPACE/NAME")
	f.StringSliceVar(&in.formNames, "form", nil, "only these forms, as NAME or NAMESPACE/NAME")
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

// forms are the forms that --hub and --form leave. A form without a namespace is in
// that of its hub.
func (in *inputFlags) forms(inputs *form.Inputs) ([]*form.Form, error) {
	var hubs, all, ofHubs []named
	for _, h := range inputs.Hubs {
		hubs = append(hubs, named{h.Namespace, h.Name})
	}
	var left, forms []*form.Form
	for _, f := range inputs.Forms {
		h, this := inputs.Hub(f), nameOf(inputs, f)
		all = append(all, this)
		if len(in.hubs) == 0 || h != nil && lynq.Names(in.hubs).Choose(h.Namespace, h.Name) {
			left, ofHubs = append(left, f), append(ofHubs, this)
		}
	}
	err := errors.Join(
		known("hub", "hub", in.hubs, hubs), known("form", "form", in.formNames, all),
		distinct("hub", "hubs", in.hubs, hubs), distinct("form", "forms", in.formNames, ofHubs),
	)
	if err != nil {
		return nil, badUsage(err)
	}
	for i, f := range left {
		if lynq.Names(in.formNames).Choose(ofHubs[i].namespace, ofHubs[i].name) {
			forms = append(forms, f)
		}
	}
	if len(forms) == 0 {
		return nil, badUsage(errors.New("--hub and --form leave no form: none of the named hubs has one of those"))
	}
	return forms, nil
}

// named is a hub or a form.
type named struct{ namespace, name string }

func (n named) String() string { return lynq.FormKey{Namespace: n.namespace, Name: n.name}.String() }

// nameOf is the name of a form, which without a namespace of its own is in its
// hub's.
func nameOf(inputs *form.Inputs, f *form.Form) named {
	if h := inputs.Hub(f); h != nil {
		return named{cmp.Or(f.Namespace, h.Namespace), f.Name}
	}
	return named{f.Namespace, f.Name}
}

// shortNames are what hubs or forms can be called: where several have one name, it
// takes the namespace too.
func shortNames(all []named) []string {
	count := map[string]int{}
	for _, n := range all {
		count[n.name]++
	}
	names := make([]string, len(all))
	for i, n := range all {
		if names[i] = n.name; count[n.name] > 1 {
			names[i] = n.String()
		}
	}
	return names
}

// distinct refuses names that several hubs or forms have.
func distinct(flag, what string, wanted []string, all []named) error {
	var errs []error
	for _, w := range wanted {
		var such []string
		fix := "say which"
		for _, n := range all {
			if n.name != w {
				continue
			}
			if such = append(such, n.String()); n.namespace == "" {
				fix = "give the one without a namespace its metadata.namespace, and say which"
			}
		}
		if len(such) > 1 {
			errs = append(errs, fmt.Errorf("--%s: several %s are called %s: %s (%s)", flag, what, w, strings.Join(such, ", "), fix))
		}
	}
	return errors.Join(errs...)
}

// known checks names given with a flag.
func known(flag, what string, wanted []string, all []named) error {
	var errs []error
	for _, w := range wanted {
		if slices.ContainsFunc(all, func(n named) bool { return lynq.Names{w}.Choose(n.namespace, n.name) }) {
			continue
		}
		names := make([]string, len(all))
		for i, n := range all {
			if names[i] = n.name; strings.Contains(w, "/") {
				names[i] = n.String()
			}
		}
		errs = append(errs, fmt.Errorf("--%s: no %s %q is in the inputs (%s)", flag, what, w, suggest.Fix(w, names)))
	}
	return errors.Join(errs...)
}

// hubPrograms are the compiled forms of one hub.
type hubPrograms struct {
	hub *form.Hub
	// key is the hub's identity: without a namespace where neither its file has one
	// nor a cluster is asked.
	key      lynq.HubKey
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
			hubs, i = append(hubs, hubPrograms{hub: h, key: lynq.HubKey{Namespace: h.Namespace, Name: h.Name}}), len(hubs)
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
