package fields

import (
	"bytes"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// MayUnclaim reports whether Unclaim may change a manifest.
func MayUnclaim(ref lynq.Ref, b manifest.Body) bool {
	if !b.HasEmpty() {
		return false
	}
	return len(kinds.FilledFields(ref.Group, ref.Kind)) > 0 || bytes.Contains(b, []byte(`"finalizers":`))
}

// Unclaim removes empty values from a manifest where the server, a controller or an
// injector fills the field. A write of such a value would take the field from them. It
// changes the manifest itself.
func Unclaim(manifest map[string]any) {
	emptied(manifest, []string{"metadata", "finalizers"}, kinds.Filled{})
	for _, f := range filledIn(manifest) {
		emptied(manifest, f.Path, f)
	}
}

// filledIn returns the fields that others fill in an object with a manifest.
func filledIn(manifest map[string]any) []kinds.Filled {
	u := unstructured.Unstructured{Object: manifest}
	group, _ := lynq.SplitAPIVersion(u.GetAPIVersion())
	return slices.DeleteFunc(kinds.FilledFields(group, u.GetKind()), func(f kinds.Filled) bool {
		return f.If != "" && empty(manifest[f.If]) || f.Type != "" && manifest["type"] != f.Type
	})
}

// emptied removes the field at a path if it is empty.
func emptied(v any, path []string, f kinds.Filled) {
	if len(path) == 0 {
		return
	}
	step, rest := path[0], path[1:]
	switch v := v.(type) {
	case map[string]any:
		child, said := v[step]
		switch {
		case !said:
		case len(rest) > 0:
			emptied(child, rest, f)
		case empty(child) || child == "" && !f.Text || child == int64(0) && f.Zero:
			delete(v, step)
		}
	case []any:
		for _, item := range v {
			if step == kinds.Each {
				emptied(item, rest, f)
			}
		}
	}
}
