package form

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// StringOnly tells whether Kubernetes wants a string at a path of a manifest,
// whatever the value looks like: in labels, annotations, matchLabels and
// nodeSelector, in the data of ConfigMaps and Secrets, and in env values, args
// and commands. The path has the keys from the manifest's root, and "[]" for an
// item of a list.
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
		// In an OpenAPI schema this is the schema of a field of that name.
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

// contentChecker looks through a whole manifest for keys that may not be there
// and for values that must be strings.
type contentChecker struct {
	*object
	apiVersion, kind string
}

// walk checks everything below a value. The path is that of the value.
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

// metadataOf is "labels" or "annotations" for a mapping at a path that holds
// those of an object, be it one that the manifest is a template of, and "" for
// all other mappings.
func metadataOf(path []string) string {
	n := len(path)
	if n < 2 || path[n-2] != "metadata" || path[n-1] != "labels" && path[n-1] != "annotations" {
		return ""
	}
	return path[n-1]
}

// checkKey refuses the keys of labels and annotations that are not the form's
// to set.
func checkKey(o *object, pos lynq.Pos, where, key string) {
	switch {
	case document.IsTemplate(key) && strings.HasSuffix(where, "Template"):
		o.fail(pos, "only values can be templates", "key %q of %s has a template", key, where)
	case wellknown.Reserved(key):
		o.fail(pos, "remove it", "key %q of %s is set by lynqctl", key, where)
	}
}

// checkString reports a value that must be a string and is none.
func (c *contentChecker) checkString(v *document.Value, path []string) {
	if v.Kind == document.String || !c.wantsString(path) {
		return
	}
	c.fail(v.Pos, stringFix(v), "%s must be a string, found %s", c.name(pathText(path)), v.Describe())
}

// wantsString is narrower than StringOnly for objects whose schema is not
// known: there a mapping named labels may be anything.
func (c *contentChecker) wantsString(path []string) bool {
	if !StringOnly(c.apiVersion, c.kind, path) {
		return false
	}
	group, _ := lynq.SplitAPIVersion(c.apiVersion)
	known := kinds.BuiltIn(group) && c.kind != "CustomResourceDefinition" // which names fields of other kinds
	return known || slices.Contains([]string{"metadata.labels", "metadata.annotations"}, strings.Join(path[:2], "."))
}

// pathText writes a path as messages have it: spec.containers[].args[].
func pathText(path []string) string {
	return strings.ReplaceAll(strings.Join(path, "."), ".[]", "[]")
}
