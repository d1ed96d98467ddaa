package ui

import (
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// standing are the problems of a hub's nodes that the log told and that haven't ended. A
// node that fails is tried again and again, and each try has the same problem. The log
// tells it once, and again when it changes or ends.
type standing struct {
	nodes  map[lynq.NodeKey]*standingNode
	causes map[string]*standingCause
	// tried are the nodes that ended in this round.
	tried map[lynq.NodeKey]bool
	// over are causes without a node that the log has yet to tell.
	over []*standingCause
	// news is set if a problem began or ended in this round.
	news bool
}

// standingNode has the causes of a failing node, and which of them this round told, too.
type standingNode struct {
	causes map[string]bool
	seen   time.Time
}

// standingCause is one problem of several nodes.
type standingCause struct {
	why   Text
	lines int // the nodes with lines of their own
	nodes map[lynq.NodeKey]bool
	names []string // the first nodes
	most  int      // the largest number of nodes
	told  int      // the number in the last common line
}

const (
	// namedApart is the number of nodes with one cause that have lines of their own.
	namedApart = 2
	// namedOver is the number of nodes that the last line of a cause names.
	namedOver = 3
	// forgotAfter is how long a node counts as failing after its last try. The longest
	// pause between tries is 5 minutes. A row may leave without an event.
	forgotAfter = 15 * time.Minute
)

func newStanding() *standing {
	return &standing{nodes: map[lynq.NodeKey]*standingNode{}, causes: map[string]*standingCause{}, tried: map[lynq.NodeKey]bool{}}
}

// begins notes a problem of a node in this round, as a line of that type tells it. It
// reports whether the node didn't have the problem before, and whether it needs a line,
// because few other nodes with the cause had one.
func (s *standing) begins(of lynq.NodeID, line string, problem *report.Details, now time.Time) (begins, apart bool) {
	key := line + ": " + report.CauseOf(of, problem)
	n := s.nodes[of.Key()]
	if n == nil {
		n = &standingNode{causes: map[string]bool{}}
		s.nodes[of.Key()] = n
	}
	_, had := n.causes[key]
	n.causes[key], n.seen = true, now
	if had {
		return false, false
	}
	c := s.causes[key]
	if c == nil {
		c = &standingCause{nodes: map[lynq.NodeKey]bool{}}
		s.causes[key] = c
	}
	c.why.Add(problem)
	if c.nodes[of.Key()] = true; len(c.names) < namedOver {
		c.names = append(c.names, of.Name)
	}
	c.most, s.news = max(c.most, len(c.nodes)), true
	if c.lines >= namedApart {
		return true, false
	}
	c.lines++
	return true, true
}

// summary ends a round in which these nodes failed. It returns the causes that need a
// common line, those that ended, and whether the round has news.
func (s *standing) summary(failed []report.NodeResult, now time.Time) (common, over []*standingCause, news bool) {
	var due []string
	for i := range failed {
		for k := range failed[i].Problems {
			problem := &failed[i].Problems[k]
			s.begins(failed[i].NodeID, lineOfCause, problem, now)
			due = append(due, lineOfCause+": "+report.CauseOf(failed[i].NodeID, problem))
		}
	}
	for node := range s.tried {
		s.ends(node)
	}
	for node, n := range s.nodes {
		if now.Sub(n.seen) > forgotAfter {
			for key := range n.causes {
				n.causes[key] = false
			}
			s.ends(node)
		}
	}
	for _, key := range due {
		if c := s.causes[key]; c != nil && len(c.nodes) > namedApart && len(c.nodes) >= 2*c.told {
			c.told = len(c.nodes)
			common = append(common, c)
		}
	}
	over, news = s.over, s.news
	s.over, s.news = nil, false
	clear(s.tried)
	slices.SortFunc(over, func(a, b *standingCause) int { return strings.Compare(a.why.String(), b.why.String()) })
	return common, over, news
}

// lineOfCause is the type of lines that count the nodes of a cause.
const lineOfCause = "cause"

// ends notes the end of a node's try. The problems that this try didn't have are over.
func (s *standing) ends(node lynq.NodeKey) {
	n := s.nodes[node]
	if n == nil {
		return
	}
	for key, now := range n.causes {
		if n.causes[key] = false; !now {
			s.leaves(node, key)
		}
	}
	if len(n.causes) == 0 {
		delete(s.nodes, node)
	}
}

// leaves removes a node from a cause that the node doesn't have any more.
func (s *standing) leaves(node lynq.NodeKey, key string) {
	c := s.causes[key]
	s.news = true
	delete(s.nodes[node].causes, key)
	if delete(c.nodes, node); len(c.nodes) > 0 {
		return
	}
	if delete(s.causes, key); strings.HasPrefix(key, lineOfCause) {
		s.over = append(s.over, c)
	}
}

// first returns the names of the nodes that have the problem, in order.
func (c *standingCause) first() []string {
	names := make([]string, 0, len(c.nodes))
	for node := range c.nodes {
		names = append(names, node.Name)
	}
	slices.Sort(names)
	return names
}
