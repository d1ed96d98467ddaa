package diff

import (
	"fmt"
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// PlaceOf returns the place of a field in a form. For a field that the form no longer has, it is
// the place of the part that had the field.
func PlaceOf(r *form.Resource, path Path) lynq.Pos {
	at, v := r.Pos, r.Manifest
	if pos, named := templated(r, path); named {
		return pos
	}
	for i, e := range path {
		if i == 0 && r.Kind == "Secret" && e.Field == "data" && len(path) > 1 && v.Field("stringData").Field(path[1].Field) != nil {
			e.Field = "stringData"
		}
		pos, next := within(v, e)
		if next == nil {
			break
		}
		at, v = pos, next
	}
	return at
}

// templated returns the place of metadata that a resource has beside its manifest.
func templated(r *form.Resource, path Path) (lynq.Pos, bool) {
	if len(path) < 2 || path[0].Field != "metadata" {
		return lynq.Pos{}, false
	}
	var entries []form.Entry
	switch path[1].Field {
	case "name":
		return r.NameTemplate.Pos, r.NameTemplate.Pos.File != ""
	case "labels":
		entries = r.Labels
	case "annotations":
		entries = r.Annotations
	}
	for _, e := range entries {
		if len(path) == 3 && e.Key == path[2].Field {
			return e.Text.Pos, true
		}
	}
	return lynq.Pos{}, false
}

// within returns the place and the value of an element, or nil if the value lacks it. The
// only entry of a list is the one, because a template may make its name.
func within(v *document.Value, e Element) (lynq.Pos, *document.Value) {
	if v == nil {
		return lynq.Pos{}, nil
	}
	if !e.Entry {
		for _, f := range v.Fields {
			if f.Key == e.Field {
				return f.Pos, f.Value
			}
		}
		return lynq.Pos{}, nil
	}
	for i, item := range v.Items {
		named := item.Field(e.Key)
		if len(v.Items) == 1 || e.Key == "" && i == e.Index || e.Key != "" && named != nil && textOf(named) == fmt.Sprint(e.Value) {
			return item.Pos, item
		}
	}
	return lynq.Pos{}, nil
}

// textOf returns a string or a whole number as text.
func textOf(v *document.Value) string {
	if v.Kind == document.Int {
		return strconv.FormatInt(v.Int, 10)
	}
	return v.Str
}
