package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/render"
)

// nodePrint is what of a node is compared: its objects, and a hash of each.
type nodePrint struct {
	Namespace string        `json:"namespace"`
	Node      string        `json:"node"`
	Failed    bool          `json:"failed,omitempty"`
	Objects   []objectPrint `json:"objects"`
}

type objectPrint struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
}

// prints takes what is compared of nodes that are rendered. It is a render.ObjectSink.
type prints struct{ Nodes []nodePrint }

// Write implements render.ObjectSink.
func (s *prints) Write(w render.Written) {
	n := nodePrint{Namespace: w.Namespace, Node: w.Name, Failed: w.Failed}
	for _, o := range w.Objects {
		sum := sha256.Sum256(w.Bytes[o.Start:o.End])
		n.Objects = append(n.Objects, objectPrint{o.Full(), o.ID, hex.EncodeToString(sum[:])})
	}
	s.Nodes = append(s.Nodes, n)
}

// Drop implements render.Sink.
func (s *prints) Drop(i int) bool {
	s.Nodes[i].Failed, s.Nodes[i].Objects = true, nil
	return true
}

// Add implements render.Sink; an ObjectSink is never given bytes alone.
func (*prints) Add([]byte) error { return nil }

// firstDifference names the first node or object that is not alike, "" where all
// are. Nodes come in another order the second time.
func firstDifference(first, second []nodePrint) string {
	again := map[[2]string]*nodePrint{}
	for i := range second {
		again[[2]string{second[i].Namespace, second[i].Node}] = &second[i]
	}
	for i := range first {
		n := &first[i]
		key := [2]string{n.Namespace, n.Node}
		name := fmt.Sprintf("node %s/%s", n.Namespace, n.Node)
		other := again[key]
		delete(again, key)
		switch {
		case other == nil:
			return name + " is there the first time only"
		case n.Failed != other.Failed:
			return name + " can be rendered one time and not the other"
		case len(n.Objects) != len(other.Objects):
			return name + " has another number of objects"
		}
		for j, o := range n.Objects {
			if o != other.Objects[j] {
				return fmt.Sprintf("%s, resource %q, %s", name, o.ID, o.Object)
			}
		}
	}
	for _, n := range second {
		if again[[2]string{n.Namespace, n.Node}] != nil {
			return fmt.Sprintf("node %s/%s is there the second time only", n.Namespace, n.Node)
		}
	}
	return ""
}
