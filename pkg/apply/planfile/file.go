package planfile

import (
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// These identify a File.
const (
	APIVersion = "lynq.sh/v1"
	Kind       = "Plan"
)

// File is a plan in a file. The same plans give the same bytes.
type File struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// ID names the plan and proves that lynqctl wrote all of it. It is a digest of the
	// rest, and requires permission to read the hubs' namespaces.
	ID string `json:"id"`
	Origin
	Plans []Plan `json:"plans"`
}

// Origin says where a plan comes from.
type Origin struct {
	// Version is the version of the lynqctl that wrote the file. Command is the command
	// that executes it.
	Version string `json:"version"`
	Command string `json:"command"`
	// Namespaces are the sorted names of the namespaces that make the Key.
	Namespaces []string `json:"namespaces"`
}

// Plan is the part for one hub.
type Plan struct {
	HubNamespace string `json:"hubNamespace"`
	Hub          string `json:"hub"`
	// Tombstones is set if the part has the objects that tombstones name.
	Tombstones bool `json:"tombstones,omitempty"`
	// Ran says which plans ran on the hub before somebody made this one, nil for none.
	Ran   *Ran   `json:"ran,omitempty"`
	Nodes []Node `json:"nodes"`
}

// Ran is the state of the record of the plans that ran on a hub. It makes the same changes
// another plan after they ran.
type Ran struct {
	UID   string `json:"uid"` // of the record
	Plans int    `json:"plans"`
}

// Node is a node that the plan changes, or for which such a node waits.
type Node struct {
	Namespace     string `json:"namespace"`
	Name          string `json:"name"`
	FormNamespace string `json:"formNamespace,omitempty"`
	Form          string `json:"form,omitempty"`
	// Leaves is set if the plan deletes the node.
	Leaves bool `json:"leaves,omitempty"`
	// Row is a keyed digest of the data that lynqctl records of the row beside its objects.
	Row string `json:"row,omitempty"`
	// Leaving is set if the node's grace period begins, or changes. Such a node has no
	// steps. GracePeriod is the length of that period.
	Leaving     bool   `json:"leaving,omitempty"`
	GracePeriod string `json:"gracePeriod,omitempty"`
	// Inventory is the version of the inventory that the plan is based on, nil for a new
	// node.
	Inventory *Version `json:"inventory,omitempty"`
	Steps     []Step   `json:"steps,omitempty"`
}

// Key identifies the node.
func (n *Node) Key() lynq.NodeKey { return lynq.NodeKey{Namespace: n.Namespace, Name: n.Name} }

// Version is a version of an object. Either Generation or ResourceVersion is set. If the
// object has a generation, that is enough, because writes of the status don't matter.
type Version struct {
	UID             string `json:"uid"`
	Generation      int64  `json:"generation,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Marks is a keyed digest of the labels, annotations, owners and field managers that
	// lynqctl's decisions depend on.
	Marks string `json:"marks,omitempty"`
}

// Step is lynqctl's action on one object, with everything that the action depends on.
type Step struct {
	Action plan.Action `json:"action"`
	Reason plan.Reason `json:"reason,omitempty"`
	lynq.RefFields
	ID string `json:"id,omitempty"`
	// Manifest is a keyed digest of the rendered object. Form is a keyed digest of its
	// template and policies, independent of the row.
	Manifest string `json:"manifest,omitempty"`
	Form     string `json:"form,omitempty"`
	// Object is the version of the object that the plan is based on. It is nil if the
	// object doesn't exist or doesn't matter.
	Object *Version `json:"object,omitempty"`
}

// Key identifies the hub.
func (p *Plan) Key() lynq.HubKey { return lynq.HubKey{Namespace: p.HubNamespace, Name: p.Hub} }

// Nodes returns a hub's nodes in the file, or the nodes of its tombstones.
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

// Objects returns the objects of all steps.
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

// Within limits plans to the nodes in the file. It drops a plan of tombstones without
// nodes. It keeps other nodes that change nothing, because rollouts of their forms count
// them.
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

// Empty reports whether the plan changes nothing.
func (f *File) Empty() bool { return len(f.Plans) == 0 }

// Encode returns the file as JSON that ends with a newline.
func (f *File) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(f)
	return b.Bytes(), err
}

// Decode reads a file. The error says what is wrong with the bytes. Only Sealed proves that
// lynqctl wrote them.
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

// Sealed reports whether lynqctl wrote the file with this key and nobody changed it since.
func (f *File) Sealed(k Key) bool {
	id, err := k.seal(f)
	return err == nil && f.keyed() && hmac.Equal([]byte(id), []byte(f.ID))
}

// keyed reports whether the key comes from the namespaces of all hubs in the file. The file
// itself names the key's namespaces, so a forger would name none, or their own. Orphans have
// no hub with a namespace, and their own namespaces count.
func (f *File) keyed() bool {
	for i := range f.Plans {
		p := &f.Plans[i]
		if p.HubNamespace != "" && !slices.Contains(f.Namespaces, p.HubNamespace) {
			return false
		}
		for k := range p.Nodes {
			for l := range p.Nodes[k].Steps {
				if s := &p.Nodes[k].Steps[l]; p.HubNamespace == "" && s.Namespace != "" && !slices.Contains(f.Namespaces, s.Namespace) {
					return false
				}
			}
		}
	}
	return true
}
