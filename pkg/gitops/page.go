package gitops

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/page"
)

// Page shows the report as a page for a browser, as diff shows its own. planned is set if the
// run writes nothing.
func (r *Report) Page(title string, planned bool) *page.Page {
	set := r.Groups()
	p := &page.Page{Title: title, Facts: r.Summary(planned), Tables: diff.PageGroups(set.Set), Forms: diff.PageForms(r.Forms)}
	for i := range r.Refusals {
		one := &r.Refusals[i]
		p.Notices = append(p.Notices, page.Notice{Label: "refused (" + string(one.Guard) + ")", Text: refused(one) + ": " + one.What, Fix: one.Fix})
	}
	p.Notices = append(append(p.Notices, diff.PageFindings(set.Set)...), r.notices()...)
	for i := range r.Changes {
		n := &r.Changes[i]
		node := page.Node{Name: n.Name, Where: "namespace " + n.Namespace + ", form " + n.Form.Name}
		for j := range n.Objects {
			o := &n.Objects[j]
			node.Objects = append(node.Objects, page.Object{
				Name: strings.Replace(o.Object, "/", " ", 1), Action: string(o.Change), Cause: strings.Join(o.Causes(), "; "),
				Note: strings.Join(o.Details(), "; "), Group: diff.PageGroup(o.group),
			})
		}
		p.Nodes = append(p.Nodes, node)
	}
	return p
}

// notices name the files and nodes that the run leaves as they are.
func (r *Report) notices() []page.Notice {
	var notices []page.Notice
	for _, c := range r.Conflicts {
		notices = append(notices, page.Notice{Label: "conflict", Text: c.Path + ": " + c.Why, Fix: "take the changes into the form, or overwrite them with --force"})
	}
	if r.Nodes.Failed > 0 {
		notices = append(notices, page.Notice{Label: "failed", Text: phrase.Count(r.Nodes.Failed, "node") + " failed to render, and keep the files that they have"})
	}
	for i := range r.Leaving {
		notices = append(notices, page.Notice{Label: "leaving", Text: r.Leaving[i].String(), Tone: page.Worry})
	}
	for i := range r.Suspended {
		notices = append(notices, page.Notice{Label: "suspended", Text: r.Suspended[i].String(), Tone: page.Worry})
	}
	return notices
}
