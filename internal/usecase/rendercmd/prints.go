package rendercmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/render"
)

// nodePrint holds the parts of a node that Check compares: its objects, and a hash of each.
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

// prints are the nodePrints of a run.
type prints []nodePrint

// printOf returns the nodePrint of a rendered node.
func printOf(r *render.Rendered[render.Document]) nodePrint {
	n := nodePrint{Namespace: r.Namespace, Node: r.Name, Failed: len(r.Problems) > 0}
	for _, o := range r.Out.Objects {
		sum := sha256.Sum256(r.Out.Bytes[o.Start:o.End])
		n.Objects = append(n.Objects, objectPrint{o.Full(), o.ID, hex.EncodeToString(sum[:])})
	}
	return n
}

// firstDifference names the first node or object that differs, or "". The second pass has
// the nodes in another order.
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
			return name + " exists only the first time"
		case n.Failed != other.Failed:
			return name + " fails to render one time and not the other"
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
			return fmt.Sprintf("node %s/%s exists only the second time", n.Namespace, n.Node)
		}
	}
	return ""
}
