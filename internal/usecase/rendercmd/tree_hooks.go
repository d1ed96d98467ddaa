package rendercmd

import (
	"errors"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// addHooks adds to the nodes the hooks by which Argo CD deletes the objects that tombstones
// name. With a selector, the tree keeps its hooks, like everything else that the selector
// excludes.
func (j *treeJob) addHooks(inputs *load.Inputs, rendered *treeNodes) error {
	hooks := j.o.Hooks
	if hooks == nil {
		return nil
	}
	kinds := rbac.KnownKinds(inputs.Inputs)
	hooks.Plural = func(group, kind string) string { return kinds[form.GroupKind{Group: group, Kind: kind}].Plural }
	var problems lynq.Problems
	left := 0
	for i, n := range rendered.nodes {
		stones := hooks.Meant(rendered.tombstones[i])
		left += len(rendered.tombstones[i]) - len(stones)
		objects, err := hooks.Objects(n.Key(), stones)
		if found, ok := errors.AsType[lynq.Problems](err); ok {
			problems = append(problems, found...)
		} else if err != nil {
			return session.Fail(err)
		}
		for k := range objects {
			if j.o.Settings.Selector != nil {
				objects[k].Bytes, objects[k].LeftOut = nil, true
			}
			n.Objects = append(n.Objects, objects[k])
		}
	}
	if len(problems) > 0 {
		return session.BadInputs(problems, j.o.Nothing)
	}
	if left > 0 {
		j.Notef("warning: %s of volumes, claims, Namespaces or CustomResourceDefinitions are left out (--include-data deletes them, with everything in them)", phrase.Count(left, "tombstone"))
	}
	return nil
}
