package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/suggest"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// nameOf is the name of a form, which without a namespace of its own is in its
// hub's.
func nameOf(inputs *form.Inputs, f *form.Form) lynq.FormKey {
	if h := inputs.Hub(f); h != nil {
		return lynq.FormKey{Namespace: cmp.Or(f.Namespace, h.Namespace), Name: f.Name}
	}
	return lynq.FormKey{Namespace: f.Namespace, Name: f.Name}
}

// calledHubs are what the hubs of inputs are called.
func calledHubs(inputs *form.Inputs) []string {
	var hubs []lynq.FormKey
	for _, h := range inputs.Hubs {
		hubs = append(hubs, lynq.FormKey{Namespace: h.Namespace, Name: h.Name})
	}
	return shortNames(hubs)
}

// calledForms are what the forms of inputs are called.
func calledForms(inputs *form.Inputs) []string {
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

// distinct refuses names that several hubs or forms have.
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
				fix = "give the one without a namespace its metadata.namespace, and say which"
			}
		}
		if len(such) > 1 {
			errs = append(errs, fmt.Errorf("--%s: several %s are called %s: %s (%s)", flag, what, w, strings.Join(such, ", "), fix))
		}
	}
	return errors.Join(errs...)
}

// known checks names that a flag gave.
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
		errs = append(errs, fmt.Errorf("--%s: no %s %q is in the inputs (%s)", flag, what, w, suggest.Fix(w, names)))
	}
	return errors.Join(errs...)
}
