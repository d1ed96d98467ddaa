package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Make converts a rendered node for a run. The objects get the label of the node's
// ApplySet.
func Make(n *lynq.Node) (*Node, error) {
	made := Head(n)
	made.NotIncluded, made.Tombstones = n.NotIncluded, n.Tombstones
	partOf := inventory.ID(n.Namespace, inventory.Name(n.Name))
	var err error
	if made.Objects, err = makeObjects(n.Objects, n.Row, partOf); err != nil {
		return nil, err
	}
	excluded := func(o lynq.Object) bool { return o.Exclusion != nil } // lynqctl never creates it, so it never runs it
	if made.Hooks, err = makeObjects(slices.DeleteFunc(n.Hooks, excluded), n.Row, partOf); err != nil {
		return nil, err
	}
	for i := range made.Hooks {
		recorded, err := made.Hooks[i].HookManifest()
		if err != nil {
			return nil, err
		}
		made.Hooks[i].Digest, made.Hooks[i].Mark = inventory.HookDigest(recorded), ""
	}
	return made, nil
}

// Head converts a rendered node without its objects.
func Head(n *lynq.Node) *Node {
	return &Node{
		NodeID:             n.NodeID,
		TemplateGeneration: n.Generation, Match: n.Match, DependForms: n.DependForms, Extra: n.Extra,
	}
}

// makeObjects converts objects. Each comes after all objects that it depends on.
func makeObjects(objects []lynq.Object, row, partOf string) ([]Object, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	made := make([]Object, len(objects))
	for i := range objects {
		o, err := makeObject(&objects[i], row, partOf)
		if err != nil {
			return nil, fmt.Errorf("resource %q: %s: %w", objects[i].ID, objects[i].Ref, err)
		}
		o.Order = OrderOf(&o, made[:i])
		made[i] = o
	}
	return made, nil
}

func makeObject(o *lynq.Object, row, partOf string) (Object, error) {
	if err := o.Body.Check(); err != nil {
		return Object{}, err
	}
	var err error
	body, policy := o.Body, o.Policy
	if o.Kind == "Secret" || o.GroupKind() == lynq.StatefulSet || fields.MayUnclaim(o.Ref, body) { // their values matter
		content, err := body.Content()
		if err != nil {
			return Object{}, err
		}
		if lynq.TakesClaims(o.Ref, content) && !policy.Data {
			taking := *policy
			taking.Data, policy = true, &taking
		}
		fields.Unclaim(content)
		// A changed Secret then differs only in its data.
		if body, err = manifest.Encode(fields.FoldSecret(content)); err != nil {
			return Object{}, err
		}
	}
	var node []string
	if policy.OnNodeChange {
		node = []string{o.Template, row}
	}
	made := Object{
		Ref: o.Ref, APIVersion: o.APIVersion, ID: o.ID, Template: o.Template, DependIDs: o.DependIDs,
		Policy: policy, Owned: !body.HasLabel(wellknown.LabelNode), Exclusion: o.Exclusion, Sensitive: o.Sensitive,
		Body:   body.Labelled(wellknown.LabelPartOf, partOf),
		AtOnce: o.Group == "" && o.Kind == "Service" && ready.AtOnce(body),
	}
	made.Digest = digest(made.Body, policy, node)
	made.Mark = made.Digest
	if node != nil {
		made.Mark = digest(made.Body, policy, nil) + rowMark
	}
	if made.Ends, err = ends(o.Ref, policy, body); err != nil {
		return Object{}, err
	}
	return made, nil
}

// ends reports whether an object ends by itself. A Pod restarts its containers forever by
// default. Of a custom resource, only the form's readiness can say it.
func ends(ref lynq.Ref, p *lynq.Policy, b manifest.Body) (bool, error) {
	switch {
	case !kinds.MayEnd(ref.Group, ref.Kind):
		return false, nil
	case ref.Group == "batch", p.Readiness.Completes():
		return true, nil
	case ref.Group != "":
		return false, nil
	}
	content, err := b.Content()
	if err != nil {
		return false, err
	}
	spec, _ := content["spec"].(map[string]any)
	restarts, _ := spec["restartPolicy"].(string)
	return restarts == "Never" || restarts == "OnFailure", nil
}

// digest covers the manifest, the policies for writing it, and parts of its node that
// require another write. It returns 16 hex digits of a SHA-256.
func digest(b manifest.Body, p *lynq.Policy, node []string) string {
	h := sha256.New()
	h.Write(b)
	writePolicy(h, p)
	for _, text := range node {
		_, _ = fmt.Fprintf(h, "\x00%s", text)
	}
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0])[:8])
}

// DigestIn returns the digest that the object would have in another node with other
// tracking. It returns "" for an object that lynqctl also writes for other reasons than its
// manifest.
func (o *Object) DigestIn(hub lynq.HubKey, node lynq.NodeKey) (string, error) {
	if o.Policy.OnNodeChange {
		return "", nil
	}
	content, err := o.Body.Content()
	if err != nil {
		return "", err
	}
	metadata, _ := content["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	if labels == nil {
		return "", manifest.ErrNoMetadata
	}
	labels[wellknown.LabelHub] = hub.Name
	labels[wellknown.LabelPartOf] = inventory.ID(node.Namespace, inventory.Name(node.Name))
	if _, labelled := labels[wellknown.LabelNode]; labelled {
		delete(labels, wellknown.LabelHubNamespace)
		for key, value := range lynq.NodeLabels(hub, node) {
			labels[key] = value
		}
	}
	body, err := manifest.Encode(content)
	if err != nil {
		return "", err
	}
	return digest(body, o.Policy, nil), nil
}

// writePolicy writes the policies that the table calls Written, and ignoreFields.
// Annotations in the manifest cover the deletion policy and Once.
func writePolicy(h hash.Hash, p *lynq.Policy) {
	_, _ = fmt.Fprintf(h, "\x00%s\x00%s", p.Patch, strings.Join(p.IgnoreFields, "\x00"))
}
