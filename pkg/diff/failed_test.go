package diff

import (
	"fmt"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestFailed: nodes that fail for one cause count as one, also if each message names its row.
func TestFailed(t *testing.T) {
	var r Report
	for _, row := range []string{"acme", "bolt", "port"} { // the message has the last one as a word
		n := Node{NodeID: lynq.NodeID{Name: row + "-web", Form: lynq.FormKey{Name: "web"}}}
		n.Problem = fmt.Sprintf("it failed to render: f.yaml:3: row %q: no port", row)
		n.Shared = "it failed to render: f.yaml:3: no port"
		r.Nodes = append(r.Nodes, n)
	}
	r.Nodes[1].Problem, r.Nodes[1].Shared = "its form waits", ""
	got := r.Failed()
	if len(got) != 2 || got[&r.Nodes[0]] != 2 || got[&r.Nodes[1]] != 1 {
		t.Errorf("failed nodes: %v", got)
	}
}
