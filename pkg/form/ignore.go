package form

import (
	"slices"
	"strings"

	"github.com/ohler55/ojg/jp"
)

// readIgnoreFields reads the paths that lynqctl ignores after the first creation. It
// checks them against the resource's manifest, and returns only the valid ones.
func readIgnoreFields(o *object, r *Resource) []Text {
	texts := o.texts("ignoreFields")
	if len(texts) == 0 {
		return nil
	}
	if r.Policy.Creation.Once() {
		o.warn(texts[0].Pos, "remove it", "ignoreFields has no effect with creationPolicy Once")
	}
	manifest := r.Manifest.PlainMap()
	// A path must not reach fields that identify the object. nameTemplate and
	// targetNamespace may set these fields instead of the manifest.
	identified := r.Manifest.PlainMap()
	identify(identified)
	return slices.DeleteFunc(texts, func(t Text) bool {
		expr, err := jp.ParseString(t.Text)
		switch {
		case err != nil:
			o.fail(t.Pos, "write a JSONPath such as $.spec.replicas", "ignoreFields %q is not a JSONPath: %v", t.Text, err)
		case !strings.HasPrefix(t.Text, "$"):
			o.fail(t.Pos, "write a JSONPath such as $.spec.replicas", "ignoreFields %q must begin with $", t.Text)
		case len(expr) < 2:
			o.fail(t.Pos, "name a field", "ignoreFields %q is the whole object", t.Text)
		case hitsIdentity(expr, identified):
			o.fail(t.Pos, "name fields of the content only", "ignoreFields %q takes in what identifies the object", t.Text)
		default:
			if len(expr.Locate(manifest, 1)) == 0 {
				o.warn(t.Pos, "check the path", "ignoreFields %q matches nothing in this resource's spec", t.Text)
			}
			return false
		}
		return true
	})
}

// identify adds all fields that identify an object.
func identify(manifest map[string]any) {
	metadata, ok := manifest["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		manifest["metadata"] = metadata
	}
	manifest["apiVersion"], manifest["kind"] = "v1", "Kind"
	metadata["name"], metadata["namespace"] = "name", "namespace"
}

// hitsIdentity reports whether a path matches a field that identifies the object, or a
// parent of such a field.
func hitsIdentity(expr jp.Expr, manifest map[string]any) bool {
	for _, location := range expr.Locate(manifest, 0) {
		switch location.String() {
		case "$", "$.apiVersion", "$.kind", "$.metadata", "$.metadata.name", "$.metadata.namespace":
			return true
		}
	}
	return false
}
