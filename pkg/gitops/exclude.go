package gitops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Retained is how many objects stay in the tree because a rule excludes them. The target
// deletes Unprotected ones all the same when the tree drops them.
type Retained struct{ Objects, Unprotected int }

// Retain gives the objects that a rule excludes the bytes that the tree has of them,
// and takes those off their nodes that the tree does not have. The target is told not
// to prune what stays: the rule keeps it as it is, and whoever takes it out of the
// tree later on deletes nothing by that.
func (d *Dir) Retain(ctx context.Context, in *Input, t Target) (Retained, error) {
	stays := d.excludedFiles(in)
	states := make([]State, len(stays))
	err := d.inFolders(ctx, len(stays), func(i int) string { return stays[i].Path }, func(f *folder, i int, name string) error {
		return f.state(name, nil, &states[i])
	})
	if err != nil {
		return Retained{}, err
	}
	found := map[NodeKey]map[lynq.Ref][]byte{}
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
		n.Objects = slices.DeleteFunc(n.Objects, func(o Object) bool { return o.Excluded && found[n.NodeKey][o.Ref] == nil })
		for i := range n.Objects {
			if o := &n.Objects[i]; o.Excluded {
				o.Bytes = found[n.NodeKey][o.Ref]
				kept.Objects++
				if unprotected(t, o.Bytes) {
					kept.Unprotected++
				}
			}
		}
	}
	return kept, nil
}

// excludedFiles are the files of the tree that hold objects which a rule excludes. A
// run with a selector leaves those as they are.
func (d *Dir) excludedFiles(in *Input) []*Entry {
	excluded := map[NodeKey]map[lynq.Ref]bool{}
	for _, n := range in.Nodes {
		for i := range n.Objects {
			o := &n.Objects[i]
			switch {
			case !o.Excluded:
			case in.Selected:
				o.Excluded, o.LeftOut = false, true
			case excluded[n.NodeKey] == nil:
				excluded[n.NodeKey] = map[lynq.Ref]bool{o.Ref: true}
			default:
				excluded[n.NodeKey][o.Ref] = true
			}
		}
	}
	return entriesThat(in.Index, func(e *Entry) bool {
		return in.covers(e) && slices.ContainsFunc(e.Objects, func(k ObjectKey) bool { return excluded[e.Node][k.Ref] })
	})
}

// retain keeps one document of a file by the object that it is.
func retain(found map[lynq.Ref][]byte, doc []byte, t Target) error {
	o, err := yaml.Parse(string(doc))
	if err != nil {
		return fmt.Errorf("an object in it is excluded, and cannot be kept: %w", err)
	}
	group, _ := lynq.SplitAPIVersion(o.GetApiVersion())
	ref := lynq.Ref{Group: group, Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
	found[ref] = doc
	annotations := o.GetAnnotations()
	key, value := undeleted(t, annotations)
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

// undeleted is the annotation by which a target keeps an object that the tree drops, or
// that loses its Application; none where no target is known.
func undeleted(t Target, annotations map[string]string) (key, value string) {
	switch t {
	case TargetArgo:
		return argoSyncOptions, withOptions(annotations[argoSyncOptions], "Prune=false", "Delete=false")
	case TargetFlux:
		return fluxPrune, fluxDisabled
	}
	return "", ""
}

// withOptions puts options of Argo CD into a list, in the place of those of the same
// name: the first one counts.
func withOptions(list string, options ...string) string {
	var all []string
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		name, _, _ := strings.Cut(item, "=")
		if item != "" && !slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
			all = append(all, item)
		}
	}
	return strings.Join(append(all, options...), ",")
}

// unprotected tells whether a target deletes an object that the tree drops although the
// tree says otherwise: Flux looks at the object in the cluster, which never gets the
// annotation where it is applied only once.
func unprotected(t Target, doc []byte) bool {
	o, err := yaml.Parse(string(doc))
	if err != nil || t != TargetFlux {
		return false
	}
	annotations := o.GetAnnotations()
	kept := annotations[lynq.AnnotationDeletionPolicy] != string(lynq.DeleteDelete) // from the first on
	return strings.EqualFold(annotations[fluxSSA], fluxIfNotPresent) && !kept
}
