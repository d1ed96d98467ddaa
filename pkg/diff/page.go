package diff

import (
	"fmt"

	"github.com/lynqctl/lynqctl/internal/page"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Page returns the report as a page for a browser, with all differences.
func Page(title string, r *Report) *page.Page {
	p := &page.Page{Title: title, Facts: append(facts(r), compared(r)...)}
	for _, one := range r.Refusals {
		p.Notices = append(p.Notices, page.Notice{Label: "refused (" + string(one.Guard) + ")", Text: "hub " + one.Hub.String() + ": " + one.What, Fix: one.Fix})
	}
	for i := range r.Leaving {
		l := &r.Leaving[i]
		p.Notices = append(p.Notices, page.Notice{Label: "leaving", Text: "node " + l.Name + ": " + l.Message})
	}
	failed := r.Failed()
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if nodes := failed[n.Problem]; nodes > 0 {
			others := ""
			if nodes > 1 {
				others = " and " + phrase.Count(nodes-1, "other")
			}
			p.Notices = append(p.Notices, page.Notice{Label: "failed", Text: "node " + n.Name + others + ": " + n.Problem})
			delete(failed, n.Problem)
		}
		if node := pageNode(n, p); len(node.Objects) > 0 {
			p.Nodes = append(p.Nodes, *node)
		}
	}
	return p
}

// compared are facts about the rows of each hub, compared with those of the last run.
func compared(r *Report) []string {
	var facts []string
	for i := range r.Evidence {
		e := &r.Evidence[i]
		for _, line := range e.All() {
			facts = append(facts, "hub "+e.Hub.String()+": "+line)
		}
	}
	return facts
}

// facts sum a report up.
func facts(r *Report) []string {
	c := r.Counts()
	if c.Objects == 0 && c.Problems == 0 {
		return []string{"nothing would change: " + phrase.Count(r.Total, "node")}
	}
	facts := []string{fmt.Sprintf("%d of %s would change: %s", c.Nodes, phrase.Count(r.Total, "node"), phrase.Count(c.Objects, "object"))}
	if owners := c.Owners(); owners != "" {
		facts = append(facts, owners)
	}
	return facts
}

// pageNode is a node with its changes. Why apply would fail goes to the page's notices.
func pageNode(n *Node, p *page.Page) *page.Node {
	node := &page.Node{Name: n.Name, Where: "namespace " + n.Namespace + ", form " + n.Form.Name}
	for i := range n.Objects {
		o := &n.Objects[i]
		switch {
		case o.Problem != "":
			p.Notices = append(p.Notices, page.Notice{Label: "apply would fail", Text: "node " + n.Name + ", " + nameOf(o) + ": " + o.Problem})
		case shown(o):
			change := page.Object{Name: nameOf(o), Action: o.What(), Cause: few(o.Causes()), Note: o.Note, Diff: o.Diff}
			if o.Diff == "" && change.Note == "" {
				change.Note = OnlyTracking
			}
			node.Objects = append(node.Objects, change)
		}
	}
	return node
}
