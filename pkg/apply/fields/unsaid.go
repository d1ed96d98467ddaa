package fields

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Unsaid returns the paths of fields in sets that a manifest doesn't set. If lynq manages
// the sets by updates, these are the server's defaults at creation, and fields of earlier
// forms.
func Unsaid(sets []*metav1.FieldsV1, manifest map[string]any) ([]string, error) {
	var paths []string
	for _, fields := range sets {
		set, err := fieldsOf(&metav1.ManagedFieldsEntry{Manager: wellknown.FieldManager, FieldsV1: fields})
		if err != nil {
			return nil, err
		}
		set.Iterate(func(p fieldpath.Path) {
			if !says(manifest, p) {
				paths = append(paths, p.String())
			}
		})
	}
	return paths, nil
}

// says reports whether a manifest sets the field at a path. Tracking counts too, because
// lynqctl adds it to the manifest.
func says(manifest map[string]any, path fieldpath.Path) bool {
	if len(path) > 1 && path[0].FieldName != nil && *path[0].FieldName == "metadata" &&
		path[1].FieldName != nil && *path[1].FieldName == "ownerReferences" {
		return true
	}
	var v any = manifest
	for _, pe := range path {
		var said bool
		if v, said = saidAt(v, pe); !said {
			return false
		}
	}
	return true
}
