package render

import (
	"fmt"
	"hash/maphash"

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

// registry knows which node has which object. What it keeps is all that a run
// keeps of its rows: uids and hashes.
type registry struct {
	seeds   hashSeeds
	objects map[objectKey]owner
	nodes   []nodeOwner
}

// owner is a resource of a node, or theNode.
type owner struct{ node, resource int32 }

type nodeOwner struct {
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

// node registers the next node.
func (r *registry) node(uid string, p *Program, kept bool) int {
	r.nodes = append(r.nodes, nodeOwner{uid: uid, program: p, kept: kept})
	return len(r.nodes) - 1
}

// add registers an object, or tells whose it is.
func (r *registry) add(k ownedKey, node int) (first owner, taken bool) {
	first, taken = r.objects[k.objectKey]
	if !taken {
		r.objects[k.objectKey] = owner{int32(node), int32(k.resource)} //nolint:gosec // counts of nodes and resources
	}
	return first, taken
}

// describe names the first owner of an object, as seen from node id.
func (r *registry) describe(o owner, id int) string {
	n := r.nodes[o.node]
	switch {
	case int(o.node) == id:
		return fmt.Sprintf("resource %q of the same row", n.program.resources[o.resource].ID)
	case o.resource == theNode:
		return fmt.Sprintf("row %s with form %q", phrase.Quote(n.uid), n.program.Form.Name)
	}
	return fmt.Sprintf("row %s (form %q, resource %q)", phrase.Quote(n.uid), n.program.Form.Name, n.program.resources[o.resource].ID)
}
