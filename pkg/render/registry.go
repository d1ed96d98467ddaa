package render

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// objectKey is a 128-bit hash that identifies an object. Equal keys count as the same
// object. With half a million objects, the chance of a mistake is one in 10^27.
type objectKey [2]uint64

// ownedKey is the key of an object, with the resource that renders it.
type ownedKey struct {
	objectKey
	resource int
}

// theNode marks the node itself among its resources.
const theNode = -1

// hashSeeds are the seeds of object keys. They differ from run to run, but results don't
// depend on them.
type hashSeeds [2]maphash.Seed

func (s hashSeeds) key(b []byte) objectKey {
	return objectKey{maphash.Bytes(s[0], b), maphash.Bytes(s[1], b)}
}

// registry knows the node of each object. It stores uids and hashes only, and only for
// nodes that might have duplicates.
type registry struct {
	seeds   hashSeeds
	objects map[objectKey]owner
	count   int // number of all nodes
	nodes   [][]nodeOwner
}

// owner is a resource of a stored node, or theNode.
type owner struct{ node, resource int32 }

// nodesAtOnce is the number of nodes for which the registry allocates at once. It never
// moves them, because moving a million nodes costs more than the lookup.
const nodesAtOnce = 1024

type nodeOwner struct {
	number  int   // index among all yielded nodes
	place   int32 // index among the stored nodes
	uid     string
	program *Program
	count   int // number of its objects
	failed  bool
	kept    bool // its name comes from Settings.Recorded
	lost    bool // another node has its name
}

func newRegistry() registry {
	return registry{
		seeds:   hashSeeds{maphash.MakeSeed(), maphash.MakeSeed()},
		objects: map[objectKey]owner{},
	}
}

// node adds the next node. It doesn't store a node that can't have duplicates.
func (r *registry) node(uid string, p *Program, kept, keep bool) *nodeOwner {
	r.count++
	n := nodeOwner{number: r.count - 1, uid: uid, program: p, kept: kept}
	if !keep {
		return &n
	}
	n.uid = strings.Clone(uid) // the clone doesn't keep the rest of the row
	last := len(r.nodes) - 1
	if last < 0 || len(r.nodes[last]) == nodesAtOnce {
		r.nodes, last = append(r.nodes, make([]nodeOwner, 0, nodesAtOnce)), last+1
	}
	n.place = int32(last*nodesAtOnce + len(r.nodes[last])) //nolint:gosec // the number of nodes fits
	r.nodes[last] = append(r.nodes[last], n)
	return r.of(n.place)
}

// of returns the node at a place.
func (r *registry) of(place int32) *nodeOwner { return &r.nodes[place/nodesAtOnce][place%nodesAtOnce] }

// add registers an object, or returns its first owner.
func (r *registry) add(k ownedKey, node *nodeOwner) (first owner, taken bool) {
	first, taken = r.objects[k.objectKey]
	if !taken {
		r.objects[k.objectKey] = owner{node.place, int32(k.resource)} //nolint:gosec // the number of resources fits
	}
	return first, taken
}

// describe names the first owner of an object from a node's point of view.
func (r *registry) describe(o owner, from *nodeOwner) string {
	n := r.of(o.node)
	switch {
	case n == from:
		return n.program.named(int(o.resource)) + " of the same row"
	case o.resource == theNode:
		return fmt.Sprintf("row %s with form %q", phrase.Quote(n.uid), n.program.Form.Name)
	}
	return fmt.Sprintf("row %s (form %q, %s)", phrase.Quote(n.uid), n.program.Form.Name, n.program.named(int(o.resource)))
}

// named names a resource in messages. Only the row of a chart's object knows its id.
func (p *Program) named(resource int) string {
	if resource >= len(p.resources) {
		return "a chart"
	}
	return fmt.Sprintf("resource %q", p.resources[resource].ID)
}
