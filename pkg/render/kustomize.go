package render

import (
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/render/scalar"
)

// lostCharacterError is a text that kustomize would refuse or change.
type lostCharacterError struct{ character rune }

func (e *lostCharacterError) Error() string {
	return fmt.Sprintf("kustomize cannot build an object with the character %U (remove the character; or encode the text, in a Secret or as binaryData)", e.character)
}

// checkKustomizeText refuses a result that kustomize can't build.
func checkKustomizeText(text []byte) error {
	if r, lost := scalar.LostToKustomize(text); lost {
		return &lostCharacterError{r}
	}
	return nil
}

// tabbedAnnotationError is an annotation that kustomize writes but can't read again.
type tabbedAnnotationError struct{}

func (tabbedAnnotationError) Error() string {
	return "kustomize cannot build an object with an annotation of several lines that begins with a tab (begin it with another character)"
}

// obeyedAnnotationError is an annotation that changes what kustomize builds.
type obeyedAnnotationError struct{ key string }

func (e *obeyedAnnotationError) Error() string {
	return fmt.Sprintf("kustomize obeys annotation %s, and leaves the object out or renames it (remove the annotation)", e.key)
}

// obeyed reports whether kustomize obeys an annotation. It leaves out objects with
// local-config, so Argo CD and Flux would delete them. Its own annotations are internal.
func obeyed(key string) bool {
	return key == "config.kubernetes.io/local-config" || key == "kustomize.config.k8s.io/needs-hash" || strings.HasPrefix(key, "internal.config.kubernetes.io/")
}

// listError is an object that kustomize takes for a list of objects. It builds the items in
// place of the object.
type listError struct{ kind string }

func (e *listError) Error() string {
	return fmt.Sprintf("kustomize takes kind %s with items for a list of objects, and never builds the object itself (write each item as a resource, or apply the object without kustomize)", e.kind)
}

// checkList refuses an object that kustomize takes for a list.
func (c *compiler) checkList(r *resource) {
	if items := r.Manifest.Field("items"); items != nil && strings.HasSuffix(r.Kind, "List") {
		c.fail(c.place(items.Pos, "items"), "", "%v", &listError{r.Kind})
	}
}

// checkKustomize refuses the form's own keys and texts that kustomize can't build.
func (c *compiler) checkKustomize(n *node, path []string) {
	check := func(s string, path []string) {
		if r, lost := scalar.LostToKustomize(s); lost {
			c.fail(c.place(c.res.Pos, fieldPath(path)), "", "%v", &lostCharacterError{r})
		}
	}
	switch {
	case n.slot != noSlot:
	case n.kind == document.String:
		check(n.value.Str, path)
		if len(path) == 3 && path[0] == "metadata" && path[1] == "annotations" && scalar.Tabbed(n.static) {
			c.fail(c.place(c.res.Pos, fieldPath(path)), "", "%v", tabbedAnnotationError{})
		}
	default:
		for _, f := range n.fields {
			check(f.key, path)
			if len(path) == 2 && path[0] == "metadata" && path[1] == "annotations" && obeyed(f.key) {
				c.fail(c.place(c.res.Pos, fieldPath(append(path, f.key))), "", "%v", &obeyedAnnotationError{f.key})
			}
			c.checkKustomize(f.node, append(path, f.key))
		}
		for _, item := range n.items {
			c.checkKustomize(item, append(path, "[]"))
		}
	}
}
