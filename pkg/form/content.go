package form

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// StringOnly reports whether Kubernetes requires a string at a path of a manifest. This
// holds for labels, annotations, matchLabels, nodeSelector, data of ConfigMaps and
// Secrets, env values, args and commands. The path has the keys from the manifest's root,
// and "[]" for a list item.
func StringOnly(apiVersion, kind string, path []string) bool {
	n := len(path)
	if n < 2 {
		return false
	}
	parent, last := path[n-2], path[n-1]
	switch {
	case last == "[]":
		return parent == "args" || parent == "command"
	case parent == "labels", parent == "annotations", parent == "matchLabels", parent == "nodeSelector":
		// In an OpenAPI schema, this is the schema of a field with this name.
		return n == 2 || path[n-3] != "properties"
	case last == "value" && parent == "[]":
		return n > 2 && path[n-3] == "env"
	case n == 2 && apiVersion == "v1" && kind == "ConfigMap":
		return parent == "data" || parent == "binaryData"
	case n == 2 && apiVersion == "v1" && kind == "Secret":
		return parent == "data" || parent == "stringData"
	}
	return false
}

// contentChecker searches a manifest for forbidden keys, and for values that must be
// strings.
type contentChecker struct {
	*object
	apiVersion, kind string
}

// walk checks a value at a path and everything below it.
func (c *contentChecker) walk(v *document.Value, path []string) {
	for _, item := range v.Items {
		below := slices.Concat(path, []string{"[]"})
		c.checkString(item, below)
		c.walk(item, below)
	}
	for _, f := range v.Fields {
		below := slices.Concat(path, []string{f.Key})
		if document.IsTemplate(f.Key) {
			c.fail(f.Pos, "only values can be templates", "key %q has a template", f.Key)
		}
		if where := metadataOf(path); where != "" {
			checkKey(c.object, f.Pos, where, f.Key)
		}
		c.checkString(f.Value, below)
		c.walk(f.Value, below)
	}
}

// metadataOf returns "labels" or "annotations" if the path leads to those of an object or
// of an object's template. Otherwise it returns "".
func metadataOf(path []string) string {
	n := len(path)
	if n < 2 || path[n-2] != "metadata" || path[n-1] != "labels" && path[n-1] != "annotations" {
		return ""
	}
	return path[n-1]
}

// checkKey refuses keys of labels and annotations that lynqctl sets itself.
func checkKey(o *object, pos lynq.Pos, where, key string) {
	switch {
	case document.IsTemplate(key) && strings.HasSuffix(where, "Template"):
		o.fail(pos, "only values can be templates", "key %q of %s has a template", key, where)
	case wellknown.Reserved(key):
		o.fail(pos, "remove it", "key %q of %s is set by lynqctl", key, where)
	}
}

// checkString reports a value that must be a string and isn't.
func (c *contentChecker) checkString(v *document.Value, path []string) {
	if v.Kind == document.String || !c.wantsString(path) {
		return
	}
	c.fail(v.Pos, stringFix(v), "%s must be a string, found %s", c.name(pathText(path)), v.Describe())
}

// wantsString is stricter than StringOnly if the object's schema is unknown. A mapping
// named labels may have any values there.
func (c *contentChecker) wantsString(path []string) bool {
	if !StringOnly(c.apiVersion, c.kind, path) {
		return false
	}
	group, _ := lynq.SplitAPIVersion(c.apiVersion)
	known := kinds.BuiltIn(group) && c.kind != "CustomResourceDefinition" // a definition names fields of other kinds
	return known || slices.Contains([]string{"metadata.labels", "metadata.annotations"}, strings.Join(path[:2], "."))
}

// pathText writes a path as messages have it: spec.containers[].args[].
func pathText(path []string) string {
	return strings.ReplaceAll(strings.Join(path, "."), ".[]", "[]")
}
