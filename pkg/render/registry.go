package render

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// objectKey is a 128-bit hash of what tells an object from all others. Two
// keys that are equal are taken for the same object: with half a million
// objects, a mistake has a chance of one to 10^27.
type objectKey [2]uint64

// ownedKey is the key of an object and the resource that renders it.
type ownedKey struct {
	objectKey
	resource int
}

// theNode stands for the node itself among its resources.
const theNode = -1

// hashSeeds make object keys. They differ from run to run, and no result hangs
// on them.
type hashSeeds [2]maphash.Seed

func (s hashSeeds) key(b []byte) objectKey {
	return objectKey{maphash.Bytes(s[0], b), maphash.Bytes(s[1], b)}
}

// registry knows which node has which object. It keeps uids and hashes, and only of nodes
// that have what could be there twice.
type registry struct {
	seeds   hashSeeds
	objects map[objectKey]owner
	count   int // of all nodes
	nodes   [][]nodeOwner
}

// owner is a resource of a node that is kept, or theNode.
type owner struct{ node, resource int32 }

// nodesAtOnce is how many nodes the registry makes room for at a time. They stay where they
// are: a million that move with each growth cost more than their search.
const nodesAtOnce = 1024

type nodeOwner struct {
	number  int   // among all nodes that were yielded
	place   int32 // among those that are kept
	uid     string
	program *Program
	count   int // of its objects
	failed  bool
	kept    bool // it has its name by Settings.Recorded
	lost    bool // its name is another node's
}

func newRegistry() registry {
	return registry{
		seeds:   hashSeeds{maphash.MakeSeed(), maphash.MakeSeed()},
		objects: map[objectKey]owner{},
	}
}

// node is the next node. One that has nothing which could be there twice is not kept.
func (r *registry) node(uid string, p *Program, kept, keep bool) *nodeOwner {
	r.count++
	n := nodeOwner{number: r.count - 1, uid: uid, program: p, kept: kept}
	if !keep {
		return &n
	}
	n.uid = strings.Clone(uid) // without the rest of its row
	last := len(r.nodes) - 1
	if last < 0 || len(r.nodes[last]) == nodesAtOnce {
		r.nodes, last = append(r.nodes, make([]nodeOwner, 0, nodesAtOnce)), last+1
	}
	n.place = int32(last*nodesAtOnce + len(r.nodes[last])) //nolint:gosec // a count of nodes
	r.nodes[last] = append(r.nodes[last], n)
	return r.of(n.place)
}

// of is a node by its place.
func (r *registry) of(place int32) *nodeOwner { return &r.nodes[place/nodesAtOnce][place%nodesAtOnce] }

// add registers an object, or tells whose it is.
func (r *registry) add(k ownedKey, node *nodeOwner) (first owner, taken bool) {
	first, taken = r.objects[k.objectKey]
	if !taken {
		r.objects[k.objectKey] = owner{node.place, int32(k.resource)} //nolint:gosec // a number of a form's
	}
	return first, taken
}

// describe names the first owner of an object, as seen from a node.
func (r *registry) describe(o owner, from *nodeOwner) string {
	n := r.of(o.node)
	switch {
	case n == from:
		return fmt.Sprintf("resource %q of the same row", n.program.resources[o.resource].ID)
	case o.resource == theNode:
		return fmt.Sprintf("row %s with form %q", phrase.Quote(n.uid), n.program.Form.Name)
	}
	return fmt.Sprintf("row %s (form %q, resource %q)", phrase.Quote(n.uid), n.program.Form.Name, n.program.resources[o.resource].ID)
}
