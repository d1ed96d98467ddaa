package views

import (
	"slices"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// standing are the problems of a hub's nodes that the log told and that haven't ended. A
// node that fails is tried again and again, and each try has the same problem. The log
// tells it once, and again when it changes or ends.
type standing struct {
	nodes  map[lynq.NodeKey]*standingNode
	causes map[string]*standingCause // by ui.CauseOf
	// ended are causes without a node that the summary has yet to tell.
	ended []*standingCause
	// news is set if a problem began or ended in this round.
	news bool
}

// standingNode has the causes of a failing node, and whether this round told them, too.
type standingNode struct{ causes map[string]bool }

// standingCause is one problem of several nodes.
type standingCause struct {
	why   string // the text for the first node
	lines int    // the nodes with lines of their own
	nodes map[lynq.NodeKey]bool
	// most is the largest number of nodes, and told the one in the last common line.
	most, told int
}

// namedApart is the number of nodes with one cause that have lines of their own.
const namedApart = 2

func newStanding() *standing {
	return &standing{nodes: map[lynq.NodeKey]*standingNode{}, causes: map[string]*standingCause{}}
}

// begins notes a problem of a node in this round. It reports whether the node didn't have
// it before, and whether it needs a line, because few other nodes with the cause had one.
func (s *standing) begins(of lynq.NodeID, problem string) (begins, line bool) {
	key := ui.CauseOf(of, problem)
	n := s.nodes[of.Key()]
	if n == nil {
		n = &standingNode{causes: map[string]bool{}}
		s.nodes[of.Key()] = n
	}
	_, had := n.causes[key]
	n.causes[key] = true
	if had {
		return false, false
	}
	c := s.causes[key]
	if c == nil {
		c = &standingCause{why: problem, nodes: map[lynq.NodeKey]bool{}}
		s.causes[key] = c
	}
	c.nodes[of.Key()] = true
	c.most, s.news = max(c.most, len(c.nodes)), true
	if c.lines >= namedApart {
		return true, false
	}
	c.lines++
	return true, true
}

// ends notes the end of a node's round. The problems that this round didn't tell are over.
func (s *standing) ends(node lynq.NodeKey) {
	n := s.nodes[node]
	if n == nil {
		return
	}
	for key, now := range n.causes {
		if n.causes[key] = false; !now {
			delete(n.causes, key)
			s.leaves(node, key)
		}
	}
	if len(n.causes) == 0 {
		delete(s.nodes, node)
	}
}

// leaves notes that a node doesn't have a problem any more.
func (s *standing) leaves(node lynq.NodeKey, key string) {
	c := s.causes[key]
	if s.news = true; c == nil {
		return
	}
	if delete(c.nodes, node); len(c.nodes) == 0 {
		delete(s.causes, key)
		s.ended = append(s.ended, c)
	}
}

// common returns the failed nodes of a round together with all nodes of the same causes, if
// a common line is due: more nodes have a cause than have lines, and twice as many as in
// its last common line.
func (s *standing) common(failed []report.NodeResult) []report.NodeResult {
	due := map[string]*standingCause{}
	for i := range failed {
		for _, problem := range failed[i].Problems {
			key := ui.CauseOf(failed[i].NodeID, problem)
			if c := s.causes[key]; c != nil && len(c.nodes) > namedApart && len(c.nodes) >= 2*c.told {
				due[key] = c
			}
		}
	}
	var all []report.NodeResult
	for _, c := range due {
		c.told = len(c.nodes)
		for node := range c.nodes {
			all = append(all, report.NodeResult{NodeID: lynq.NodeID{Namespace: node.Namespace, Name: node.Name}, Problems: []string{c.why}})
		}
	}
	slices.SortFunc(all, func(a, b report.NodeResult) int { return a.Key().Compare(b.Key()) })
	return all
}

// over returns the causes that ended since the last call, and forgets whether there is news.
func (s *standing) over() (ended []*standingCause, news bool) {
	ended, news = s.ended, s.news
	s.ended, s.news = nil, false
	return ended, news
}
