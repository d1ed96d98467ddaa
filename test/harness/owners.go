package harness

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// FieldOwners returns the managers of one field, in the order of managedFields. Each is
// "MANAGER OPERATION", such as "lynq Apply", with "/SUBRESOURCE" if it has one. A path
// looks like .spec.replicas, .metadata.labels["lynq.sh/hub"] or
// .spec.containers[name=web].image.
func FieldOwners(obj *unstructured.Unstructured, path string) ([]string, error) {
	field, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	var owners []string
	for _, entry := range obj.GetManagedFields() {
		set := &fieldpath.Set{}
		if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return nil, fmt.Errorf("managed fields of %s: %w", entry.Manager, err)
		}
		if !set.Has(field) {
			continue
		}
		owner := entry.Manager + " " + string(entry.Operation)
		if entry.Subresource != "" {
			owner += "/" + entry.Subresource
		}
		owners = append(owners, owner)
	}
	return owners, nil
}

// parsePath parses the notation of FieldOwners.
func parsePath(text string) (fieldpath.Path, error) {
	var parts []any
	rest := text
	for rest != "" {
		var part any
		switch {
		case strings.HasPrefix(rest, `["`):
			key, after, ok := strings.Cut(rest[2:], `"]`)
			if !ok {
				return nil, fmt.Errorf(`path %s: [" without "]`, text)
			}
			part, rest = key, after
		case rest[0] == '[':
			key, after, ok := strings.Cut(rest[1:], "]")
			name, value, isKey := strings.Cut(key, "=")
			if !ok || !isKey {
				return nil, fmt.Errorf("path %s: want [KEY=VALUE] or [\"KEY\"]", text)
			}
			part, rest = fieldpath.KeyByFields(name, value), after
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			part, rest = rest[1:1+end], rest[1+end:]
		default:
			return nil, fmt.Errorf("path %s: want a dot or a bracket before %q", text, rest)
		}
		parts = append(parts, part)
	}
	return fieldpath.MakePath(parts...)
}
