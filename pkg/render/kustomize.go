package render

import (
	"fmt"

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
			c.checkKustomize(f.node, append(path, f.key))
		}
		for _, item := range n.items {
			c.checkKustomize(item, append(path, "[]"))
		}
	}
}
