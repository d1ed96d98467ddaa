package gitops

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Retained counts the objects that stay in the tree because a rule excludes them. If the
// tree drops Unprotected ones, the target deletes them anyway.
type Retained struct{ Objects, Unprotected int }

// Retain gives excluded objects the bytes that the tree has of them. It removes an object
// from its node if the tree doesn't have it. It also tells the target not to prune these
// objects. Then the object survives, even if somebody removes it from the tree later.
func (d *Dir) Retain(ctx context.Context, in *Input, t policy.Target) (Retained, error) {
	stays := d.excludedFiles(in)
	states := make([]State, len(stays))
	err := d.inFolders(ctx, len(stays), func(i int) string { return stays[i].Path }, func(f *folder, i int, name string) error {
		return f.state(name, nil, &states[i])
	})
	if err != nil {
		return Retained{}, err
	}
	found := map[lynq.NodeKey]map[lynq.Ref][]byte{}
	for i, e := range stays {
		if found[e.Node] == nil {
			found[e.Node] = map[lynq.Ref][]byte{}
		}
		if !states[i].There {
			continue
		}
		for _, doc := range documents(states[i].Content) {
			if err := retain(found[e.Node], doc, t); err != nil {
				return Retained{}, fmt.Errorf("%s: %w", d.fullPath(e.Path), err)
			}
		}
	}
	var kept Retained
	for _, n := range in.Nodes {
		n.Objects = slices.DeleteFunc(n.Objects, func(o Object) bool { return o.Excluded && found[n.Key()][o.Ref] == nil })
		for i := range n.Objects {
			if o := &n.Objects[i]; o.Excluded {
				o.Bytes = found[n.Key()][o.Ref]
				kept.Objects++
				if policy.Unprotected(t, o.Bytes) {
					kept.Unprotected++
				}
			}
		}
	}
	return kept, nil
}

// excludedFiles returns the files of the tree with excluded objects. A run with a selector
// doesn't change them.
func (d *Dir) excludedFiles(in *Input) []*index.Entry {
	excluded := map[lynq.NodeKey]map[lynq.Ref]bool{}
	for _, n := range in.Nodes {
		for i := range n.Objects {
			o := &n.Objects[i]
			switch {
			case !o.Excluded:
			case in.Selected:
				o.Excluded, o.LeftOut = false, true
			case excluded[n.Key()] == nil:
				excluded[n.Key()] = map[lynq.Ref]bool{o.Ref: true}
			default:
				excluded[n.Key()][o.Ref] = true
			}
		}
	}
	return entriesThat(in.Index, func(e *index.Entry) bool {
		return in.Covers(e) && slices.ContainsFunc(e.Objects, func(k index.ObjectKey) bool { return excluded[e.Node][k.Ref] })
	})
}

// retain stores one document of a file under its object.
func retain(found map[lynq.Ref][]byte, doc []byte, t policy.Target) error {
	o, err := yaml.Parse(string(doc))
	if err != nil {
		return fmt.Errorf("an object in it is excluded, and cannot be kept: %w", err)
	}
	group, _ := lynq.SplitAPIVersion(o.GetApiVersion())
	ref := lynq.Ref{Group: group, Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
	found[ref] = doc
	annotations := o.GetAnnotations()
	key, value := policy.Undeleted(t, annotations)
	if key == "" || annotations[key] == value {
		return nil
	}
	if err := o.PipeE(yaml.SetAnnotation(key, value)); err != nil {
		return err
	}
	text, err := o.String()
	found[ref] = []byte(text)
	return err
}
