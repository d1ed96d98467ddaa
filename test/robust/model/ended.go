package model

import (
	"fmt"
	"slices"
)

// Ended has the Jobs that Kubernetes deleted after their work, and the content of each.
type Ended map[Ref]string

// See forgets the Jobs that exist again.
func (e Ended) See(now *Cluster) {
	for ref := range e {
		if _, is := now.At(ref); is {
			delete(e, ref)
		}
	}
}

// ended reports whether the inventory of its node says that the work of an object is done.
func (c *Cluster) ended(r Rendered) bool {
	return slices.ContainsFunc(c.Inventories, func(i Inventory) bool {
		return i.Node == r.Node && slices.ContainsFunc(i.Entries, func(e Entry) bool { return e.Ref == r.Ref && e.Ended })
	})
}

// repeated returns the Jobs that a command created again, although their work is done and
// their manifests are the same.
func (c Command) repeated(before, after *Cluster) []string {
	var wrong []string
	for _, r := range c.rendered {
		now, is := after.At(r.Ref)
		_, was := before.At(r.Ref)
		if body, ended := c.Ended[r.Ref]; is && !was && ended && r.Resource.Ends && r.Certain && before.ended(r) && body == now.Body {
			wrong = append(wrong, fmt.Sprintf("%s was created again, and its work is done", r.Ref))
		}
	}
	return wrong
}
