package load

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// nameOf returns the name of a form. A form without a namespace is in its hub's.
func nameOf(inputs *form.Inputs, f *form.Form) lynq.FormKey {
	if h := inputs.Hub(f); h != nil {
		return lynq.FormKey{Namespace: cmp.Or(f.Namespace, h.Namespace), Name: f.Name}
	}
	return f.Key()
}

// CalledHubs returns the names by which flags can select the hubs of inputs.
func CalledHubs(inputs *form.Inputs) []string {
	var hubs []lynq.FormKey
	for _, h := range inputs.Hubs {
		hubs = append(hubs, lynq.FormKey{Namespace: h.Namespace, Name: h.Name})
	}
	return shortNames(hubs)
}

// CalledForms returns the names by which flags can select the forms of inputs.
func CalledForms(inputs *form.Inputs) []string {
	var forms []lynq.FormKey
	for _, f := range inputs.Forms {
		forms = append(forms, nameOf(inputs, f))
	}
	return shortNames(forms)
}

func shortNames(keys []lynq.FormKey) []string {
	short := lynq.ShortNames{}
	for _, k := range keys {
		short.See(k.Namespace, k.Name)
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = short.Of(k.Namespace, k.Name)
	}
	return names
}

// distinct refuses names that several hubs or forms share.
func distinct(flag, what string, wanted []string, all []lynq.FormKey) error {
	var errs []error
	for _, w := range wanted {
		var such []string
		fix := "say which"
		for _, n := range all {
			if n.Name != w {
				continue
			}
			if such = append(such, n.String()); n.Namespace == "" {
				fix = "set metadata.namespace in the one without a namespace, and pick one"
			}
		}
		if len(such) > 1 {
			errs = append(errs, fmt.Errorf("--%s: several %s are called %s: %s (%s)", flag, what, w, strings.Join(such, ", "), fix))
		}
	}
	return errors.Join(errs...)
}

// known refuses names in a flag that no hub or form has.
func known(flag, what string, wanted []string, all []lynq.FormKey) error {
	var errs []error
	for _, w := range wanted {
		if slices.ContainsFunc(all, func(n lynq.FormKey) bool { return lynq.Names{w}.Choose(n.Namespace, n.Name) }) {
			continue
		}
		names := make([]string, len(all))
		for i, n := range all {
			if names[i] = n.Name; strings.Contains(w, "/") {
				names[i] = n.String()
			}
		}
		errs = append(errs, fmt.Errorf("--%s: no %s %q in your files (%s)", flag, what, w, suggest.Fix(w, names)))
	}
	return errors.Join(errs...)
}

// FormKey returns the key of a form whose hub is in the given namespace. A form without a
// namespace is in its hub's.
func FormKey(f *form.Form, hubNamespace string) lynq.FormKey {
	return lynq.FormKey{Namespace: cmp.Or(f.Namespace, hubNamespace), Name: f.Name}
}

// KeptNames reports whether a node keeps its recorded name. See render.Settings.
type KeptNames = func(p *render.Program, plain string) bool

// UnknownNodes refuses names given with --node that no node has. If several forms could
// have a node with a plain name, no node has that name.
func UnknownNodes(missing, forms []string) *session.Error {
	e := &session.Error{Outcome: session.BadInput,
		Err: fmt.Errorf("--node: there is no node %s (a node is an active row and a form, named UID-FORM)", strings.Join(missing, ", ")),
	}
	for _, name := range missing {
		for _, form := range forms {
			uid, fits := strings.CutSuffix(name, "-"+form)
			if fits && naming.Dashed(form) && !render.AskedFor(map[string]bool{name: true}, name, form, forms) {
				e.Err = fmt.Errorf("%w; row %s with form %s is called %s", e.Err, uid, form, naming.NodeName(uid, form))
			}
		}
	}
	return e
}

// MappedValues returns the values of a row that may be part of objects' names.
func MappedValues(h *form.Hub, row []string) []string {
	columns := render.Columns(h)
	var values []string
	for _, m := range h.Mappings {
		if m.Variable != "activate" {
			values = append(values, strings.Clone(row[slices.Index(columns, m.Column)]))
		}
	}
	return values
}
