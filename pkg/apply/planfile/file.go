package planfile

import (
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// What a File says of itself.
const (
	APIVersion = "lynq.sh/v1"
	Kind       = "Plan"
)

// File is a plan that was written down. The same plans give the same bytes.
type File struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// ID names the plan, and proves that lynqctl wrote all of it: a digest of the rest that
	// only those can make who may read the namespaces of the hubs.
	ID string `json:"id"`
	Origin
	Plans []Plan `json:"plans"`
}

// Origin says where a plan comes from.
type Origin struct {
	// Version is that of the lynqctl that wrote it. Command is the command that carries it out.
	Version string `json:"version"`
	Command string `json:"command"`
	// Namespaces are those that its Key comes from, sorted.
	Namespaces []string `json:"namespaces"`
}

// Plan is the part of one hub.
type Plan struct {
	HubNamespace string `json:"hubNamespace"`
	Hub          string `json:"hub"`
	// Tombstones: it has the objects that tombstones name.
	Tombstones bool   `json:"tombstones,omitempty"`
	Nodes      []Node `json:"nodes"`
}

// Node is a node that the plan changes, or that another of its nodes waits for.
type Node struct {
	Namespace     string `json:"namespace"`
	Name          string `json:"name"`
	FormNamespace string `json:"formNamespace,omitempty"`
	Form          string `json:"form,omitempty"`
	// Leaves: the node is deleted.
	Leaves bool `json:"leaves,omitempty"`
	// Row is a keyed digest of what lynqctl records of the row beside its objects.
	Row string `json:"row,omitempty"`
	// Leaving: the grace period of the node begins, or another one counts. It has no steps.
	Leaving bool `json:"leaving,omitempty"`
	// Inventory is the one that the plan was made with, nil for a new node.
	Inventory *Version `json:"inventory,omitempty"`
	Steps     []Step   `json:"steps,omitempty"`
}

// Key names the node.
func (n *Node) Key() lynq.NodeKey { return lynq.NodeKey{Namespace: n.Namespace, Name: n.Name} }

// Version is a version of an object. One of Generation and ResourceVersion is set:
// controllers write the status of what has a generation, and that is no change of it.
type Version struct {
	UID             string `json:"uid"`
	Generation      int64  `json:"generation,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Marks is a keyed digest of the labels, annotations, owners and field managers that
	// lynqctl decides by.
	Marks string `json:"marks,omitempty"`
}

// Step says which action lynqctl takes on one object, and what the action depends on.
type Step struct {
	Action    plan.Action   `json:"action"`
	Reason    reason.Reason `json:"reason,omitempty"`
	Group     string        `json:"group,omitempty"`
	Kind      string        `json:"kind"`
	Namespace string        `json:"namespace,omitempty"`
	Name      string        `json:"name"`
	ID        string        `json:"id,omitempty"`
	// Manifest is a keyed digest of the rendered object, Form one of what the form says of
	// it, whatever the row, and of its policies.
	Manifest string `json:"manifest,omitempty"`
	Form     string `json:"form,omitempty"`
	// Object is the object as the plan saw it, nil for none, and where it doesn't matter.
	Object *Version `json:"object,omitempty"`
}

// Ref names the object.
func (s *Step) Ref() lynq.Ref {
	return lynq.Ref{Group: s.Group, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}
}

// Key names the hub of a part.
func (p *Plan) Key() lynq.HubKey { return lynq.HubKey{Namespace: p.HubNamespace, Name: p.Hub} }

// Nodes are the nodes of a hub that the file has, or those of its tombstones.
func (f *File) Nodes(hub lynq.HubKey, tombstones bool) map[lynq.NodeKey]bool {
	nodes := map[lynq.NodeKey]bool{}
	for i := range f.Plans {
		if p := &f.Plans[i]; p.Key() == hub && p.Tombstones == tombstones {
			for k := range p.Nodes {
				nodes[p.Nodes[k].Key()] = true
			}
		}
	}
	return nodes
}

// Objects are the objects of all steps.
func (f *File) Objects() map[lynq.Ref]bool {
	objects := map[lynq.Ref]bool{}
	for i := range f.Plans {
		for k := range f.Plans[i].Nodes {
			for l := range f.Plans[i].Nodes[k].Steps {
				objects[f.Plans[i].Nodes[k].Steps[l].Ref()] = true
			}
		}
	}
	return objects
}

// Within gives the nodes of plans that the file has. A plan of tombstones without any is left
// out. Other nodes that change nothing stay: the rollouts of their forms go by them.
func (f *File) Within(plans []plan.Plan) []plan.Plan {
	var some []plan.Plan
	for _, p := range plans {
		nodes := f.Nodes(p.Hub, p.After)
		p.Nodes = slices.DeleteFunc(slices.Clone(p.Nodes), func(n plan.NodePlan) bool {
			idle := n.Desired != nil && n.Desired.Failed == nil && !changes(&n)
			return !nodes[n.Key()] && !idle
		})
		if p.After && len(p.Nodes) == 0 {
			continue
		}
		p.Leaving = slices.DeleteFunc(slices.Clone(p.Leaving), func(l plan.Leaving) bool { return !nodes[l.Key()] })
		p.Count()
		some = append(some, p)
	}
	return some
}

// Empty tells whether the plan changes nothing.
func (f *File) Empty() bool { return len(f.Plans) == 0 }

// Encode gives the bytes of a file, which end with a newline.
func (f *File) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(f)
	return b.Bytes(), err
}

// Decode reads the bytes of a file. Its errors say what is wrong with them. Whether lynqctl
// wrote them shows Sealed.
func Decode(b []byte) (*File, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("it isn't JSON: %w", err)
	}
	if head.APIVersion != APIVersion || head.Kind != Kind {
		return nil, fmt.Errorf("apiVersion %q and kind %q aren't those of a plan of this lynqctl, %q and %q", head.APIVersion, head.Kind, APIVersion, Kind)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	f := &File{}
	if err := dec.Decode(f); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("something follows the plan")
	}
	return f, nil
}

// Sealed tells whether lynqctl wrote the file with this key, and nobody changed it since.
func (f *File) Sealed(k Key) bool {
	id, err := k.seal(f)
	return err == nil && hmac.Equal([]byte(id), []byte(f.ID))
}
