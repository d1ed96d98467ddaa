package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// Annotate adds annotations to a form's resources so that a target honors their policies.
// It returns the policies that the target doesn't honor. These depend on apps, because
// some policies belong to the objects that deploy the tree. Annotations in the form win.
func Annotate(f *form.Form, t Target, apps Apps) []Loss {
	if t != Argo && t != Flux {
		return nil
	}
	var losses []Loss
	o := OrderOf(f)
	for _, e := range table() {
		for i, r := range f.Wanted() {
			if s := (&subject{Resource: r, form: f, order: o, i: i, apps: apps}); e.of(s) {
				losses = append(losses, e.apply(s, t)...)
			}
		}
	}
	for _, r := range f.Hooks() {
		losses = append(losses, Loss{Form: f.Name, Resource: r.ID, Policy: "runOn: Delete", Instead: "it is left out, and nothing is run before a tenant's objects are deleted"})
	}
	return append(losses, formLosses(f, t)...)
}

// subject is a resource with its context.
type subject struct {
	*form.Resource
	form  *form.Form
	order *Order
	i     int // index in the order
	apps  Apps
}

// entry is a policy with its remedy for each target.
type entry struct {
	policy     string
	of         func(*subject) bool // reports whether a resource has the policy
	argo, flux remedy
}

// remedy says how a target honors a policy.
type remedy struct {
	set  func(*subject) []setting
	lost func(*subject) string // the result instead; "" if nothing is lost
}

// setting is an annotation, or one option of an annotation with a list.
type setting struct {
	key, value string
	option     bool
}

// apply sets the annotations, and returns the losses.
func (e *entry) apply(s *subject, t Target) []Loss {
	cure := e.argo
	if t == Flux {
		cure = e.flux
	}
	var instead []string
	if cure.set != nil {
		for _, g := range cure.set(s) {
			if own, ok := g.put(s.Resource); !ok {
				instead = append(instead, ownFirst(g.key, own))
			}
		}
	}
	if cure.lost != nil {
		if what := cure.lost(s); what != "" {
			instead = append(instead, what)
		}
	}
	var losses []Loss
	for _, what := range slices.Compact(instead) {
		losses = append(losses, Loss{Form: s.form.Name, Resource: s.ID, Policy: e.policy, Instead: what})
	}
	return losses
}

// ownFirst says that the form's own annotation wins over a policy.
func ownFirst(key, own string) string {
	return fmt.Sprintf("the form's own annotation goes first: %s: %s", key, own)
}

// put adds a setting to a resource. It returns false if the form sets something else, or
// if the value depends on the row.
func (g setting) put(r *form.Resource) (own string, ok bool) {
	own, has := ownAnnotation(r, g.key)
	if !has {
		setAnnotation(r, g.key, g.value)
		return "", true
	}
	if strings.Contains(own, "{{") {
		return own, false
	}
	if !g.option {
		return own, strings.EqualFold(strings.TrimSpace(own), g.value)
	}
	name, _, _ := strings.Cut(g.value, "=")
	for _, option := range strings.Split(own, ",") {
		if option = strings.TrimSpace(option); strings.HasPrefix(option, name+"=") {
			return option, option == g.value
		}
	}
	setAnnotation(r, g.key, strings.TrimLeft(strings.TrimRight(own, ", ")+","+g.value, ","))
	return "", true
}

// ownAnnotation returns the current annotation of a resource.
func ownAnnotation(r *form.Resource, key string) (string, bool) {
	for _, a := range r.Annotations {
		if a.Key == key {
			return a.Text.Text, true
		}
	}
	if v := r.Manifest.Field("metadata").Field("annotations").Field(key); v != nil {
		return v.Str, true
	}
	return "", false
}

// setAnnotation sets an annotation of a resource, and replaces an existing one.
func setAnnotation(r *form.Resource, key, value string) {
	a := form.Entry{Key: key, Text: form.Text{Pos: r.Pos, Text: value}}
	i, found := slices.BinarySearchFunc(r.Annotations, key, func(e form.Entry, key string) int { return cmp.Compare(e.Key, key) })
	annotations := slices.Clone(r.Annotations)
	if found {
		annotations[i] = a
	} else {
		annotations = slices.Insert(annotations, i, a)
	}
	r.Annotations = annotations
}
