package fields

import (
	"bytes"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Contested reports whether other managers have a field that a manifest sets, and that lynq
// doesn't manage any more. The server records managers, so only writers of the object
// change the answer. A field that another client removed has no manager, and isn't found.
func Contested(ours, others []*metav1.FieldsV1, body manifest.Body) (bool, error) {
	mine, err := unionOf(ours)
	if err != nil {
		return false, err
	}
	theirs, err := unionOf(others)
	if err != nil {
		return false, err
	}
	var content map[string]any
	taken := false
	theirs.Leaves().Iterate(func(p fieldpath.Path) {
		if taken || err != nil || !named(body, p) || manages(mine, p) {
			return
		}
		if content == nil {
			content, err = body.Content()
		}
		v, said := valueAt(content, p)
		taken = err == nil && said && v != "" && !empty(v)
	})
	return taken, err
}

// unionOf returns the fields of all sets.
func unionOf(sets []*metav1.FieldsV1) (*fieldpath.Set, error) {
	all := fieldpath.NewSet()
	for _, s := range sets {
		set, err := fieldsOf(&metav1.ManagedFieldsEntry{Manager: wellknown.FieldManager, FieldsV1: s})
		if err != nil {
			return nil, err
		}
		all = all.Union(set)
	}
	return all, nil
}

// manages reports whether a set has the field at a path, a part of it, or the whole that it
// is a part of.
func manages(set *fieldpath.Set, p fieldpath.Path) bool {
	for _, pe := range p {
		below, partly := set.Children.Get(pe)
		if !partly {
			return set.Members.Has(pe)
		}
		set = below
	}
	return !set.Empty()
}

// named reports whether the text of a manifest has the last name of a path, which is
// quicker than to read it. Most fields of others have names that no form sets.
func named(body manifest.Body, p fieldpath.Path) bool {
	name := p[len(p)-1].FieldName
	return name == nil || bytes.Contains(body, strconv.AppendQuote(nil, *name))
}

// valueAt returns the value that a manifest sets at a path.
func valueAt(manifest map[string]any, path fieldpath.Path) (any, bool) {
	var v any = manifest
	for _, pe := range path {
		var said bool
		if v, said = saidAt(v, pe); !said {
			return nil, false
		}
	}
	return v, true
}
