package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// Annotate gives the resources of a form the annotations by which a target
// honours their policies, and tells which policies it cannot honour. Which those
// are depends on the objects that point the target at the tree, as some policies
// live there. What the form sets itself goes first.
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

// subject is a resource and its surroundings.
type subject struct {
	*form.Resource
	form  *form.Form
	order *Order
	i     int // its place in the order
	apps  Apps
}

// entry is a policy, and what becomes of it with each target.
type entry struct {
	policy     string
	of         func(*subject) bool // tells which resources have it
	argo, flux remedy
}

// remedy is what a target makes of a policy.
type remedy struct {
	set  func(*subject) []setting
	lost func(*subject) string // what happens instead, "" where nothing is lost
}

// setting is an annotation, or for a list of options one of them.
type setting struct {
	key, value string
	option     bool
}

// apply makes the settings, and collects what is lost.
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

// ownFirst tells that what a form itself says goes before a policy.
func ownFirst(key, own string) string {
	return fmt.Sprintf("the form's own annotation goes first: %s: %s", key, own)
}

// put puts a setting into the annotations of a resource. False means that the
// form itself says otherwise, or something that only shows with a row.
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

// ownAnnotation is an annotation of a resource as the form has it now.
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

// setAnnotation sets an annotation over what the resource has under that key.
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
