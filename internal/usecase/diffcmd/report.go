package diffcmd

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// report returns the result of a diffRun.
func (t *diffRun) report(plans []plan.Plan) (*diff.Report, error) {
	r := &diff.Report{}
	for i := range plans {
		r.Refusals = append(r.Refusals, plans[i].Refusals...)
		for k := range plans[i].Leaving {
			l := &plans[i].Leaving[k]
			r.Total++
			r.Leaving = append(r.Leaving, diff.Leaving{NodeID: l.NodeID, Since: l.Since, Until: l.Until, Message: report.LeavingText(l)})
		}
		if e := plans[i].Evidence; e != nil {
			r.Evidence = append(r.Evidence, *e)
		}
		for k := range plans[i].Nodes {
			r.Total++
			p := &plans[i].Nodes[k]
			if t.nodes[p] == nil {
				t.compare(p, "") // the run had nothing to try
			}
			if n := t.nodes[p]; n.Problem != "" || len(n.Objects) > 0 {
				r.Nodes = append(r.Nodes, *n)
			}
		}
	}
	slices.SortStableFunc(r.Nodes, func(a, b diff.Node) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	if t.err != nil {
		return nil, &session.Error{Outcome: session.BadInput, Err: t.err}
	}
	return r, nil
}

// compare finds out what apply would do to a finished node. outcome is that of the trial, or
// "".
func (t *diffRun) compare(p *plan.NodePlan, outcome report.Outcome) {
	n := &diff.Node{NodeID: p.NodeID}
	if p.Desired != nil && p.Desired.Failed != nil {
		failure := report.FailureOf(p.Desired.Failed)
		n.Problem, n.Shared = failure.Message, failure.Shared
	}
	if p.Unmet != "" && !p.Suspended {
		n.Problem, n.Shared = p.Unmet, ""
	}
	var err error
	for i := 0; i < len(p.Steps) && n.Problem == "" && err == nil; i++ {
		s := &p.Steps[i]
		if ending, set := t.ending[stepKey{p.Key(), refOf(s)}]; set {
			s = &ending
		}
		o := diff.Object{Ref: refOf(s), Action: string(s.Action), Reason: string(s.Reason), Note: s.Message, Adopted: s.Adopted, Effects: s.Effects()}
		if err = t.object(&o, p, s); err == nil && (o.Changes() || o.Problem != "" || o.Skipped) {
			n.Objects = append(n.Objects, o)
		}
	}
	if err == nil && outcome == report.OutcomeDone && len(n.Objects) == 0 && p.Desired == nil && !p.Moves() {
		n.Objects, err = onlyInventory(p)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nodes[p] = n
	if t.err == nil {
		t.err = err
	}
}

// onlyInventory returns the inventory of a node of which apply deletes nothing else. Diffs
// leave out the inventories of other nodes, because those go with the node's objects.
func onlyInventory(p *plan.NodePlan) ([]diff.Object, error) {
	o := diff.Object{
		Ref:        lynq.Ref{Kind: "ConfigMap", Namespace: p.Namespace, Name: inventory.Name(p.Name)},
		APIVersion: "v1", Action: string(plan.ActionDelete), Reason: string(plan.ReasonNodeGone), Note: "it is the node's inventory, and lists no object to delete",
	}
	cause := diff.CauseRowGone
	if p.Deleted {
		o.Reason, cause = string(plan.ReasonNodeDeleted), diff.CauseDeleted
	}
	live := map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "metadata": map[string]any{"name": o.Name, "namespace": o.Namespace}}
	err := o.Compare(live, nil, diff.Origin{Whole: cause})
	return []diff.Object{o}, err
}

// object fills in what apply would do to one object.
func (t *diffRun) object(o *diff.Object, p *plan.NodePlan, s *plan.Step) error {
	if s.Object != nil {
		o.ID, o.APIVersion = s.Object.ID, s.Object.APIVersion
	} else {
		o.ID, o.APIVersion = s.Entry.ID, s.Entry.APIVersion
	}
	event, told := t.take(stepKey{p.Key(), o.Ref})
	if told {
		o.Note = event.Message
	}
	switch {
	case told && (event.Outcome == report.OutcomeFailed || event.Outcome == report.OutcomeConflicted):
		o.Problem, o.Note = event.Message, ""
		return nil
	case told && event.Outcome == report.OutcomeSkipped:
		o.Skipped = s.Action != plan.ActionSkip || s.Reason == plan.ReasonExcluded
		return nil
	case s.Action == plan.ActionKeep:
		o.Keep()
		return nil
	case s.Object == nil && (s.Live == nil || s.To != nil):
		return nil // a trial, if any, is of another node that has the object
	}
	if s.Object != nil && s.Object.Policy.Hook() {
		t.takeSides(o.Ref)
		return o.Compare(nil, outline(s.Object), diff.Origin{Whole: diff.CauseHook})
	}
	origin, err := t.origin(p, s)
	if err != nil {
		return err
	}
	if untried := untried(s); untried != "" {
		o.Note = strings.TrimPrefix(o.Note+"; ", "; ") + untried
	}
	tried, found := t.takeSides(o.Ref)
	if !found && s.Action == plan.ActionCreate {
		tried, found = sides{next: origin.Desired}, true // the server couldn't try it
	}
	if !found {
		return nil
	}
	err = o.Compare(tried.live, tried.next, *origin)
	if !t.keepSides {
		o.Before, o.After = "", ""
	}
	return err
}

// outline returns the parts of a hook that diff may show. A Secret holds the hook's
// manifest, which may have values that nobody recorded elsewhere.
func outline(o *plan.Object) map[string]any {
	return map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "metadata": map[string]any{"name": o.Name, "namespace": o.Namespace}}
}

// take returns the last event of an object, and forgets it.
func (t *diffRun) take(k stepKey) (report.Event, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, told := t.ended[k]
	delete(t.ended, k)
	return e, told
}

// takeSides returns the two sides of an object, and forgets them.
func (t *diffRun) takeSides(ref lynq.Ref) (sides, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, found := t.sides[ref]
	delete(t.sides, ref)
	return s, found
}

// place returns a function that finds the fields of a node's resource in its form. It
// returns nil if the form doesn't have the resource.
func (t *diffRun) place(n *plan.NodePlan, id string) func(diff.Path) lynq.Pos {
	p := t.programs[schedule.Form{Hub: n.Hub, Form: n.Form}]
	if p == nil {
		return nil
	}
	r := p.Form.Resource(id)
	if r == nil {
		return nil
	}
	return func(path diff.Path) lynq.Pos { return diff.PlaceOf(r, path) }
}

// edit returns a function that finds how the form changed since it made an object. It returns
// nil if nobody recorded that.
func (t *diffRun) edit(n *plan.NodePlan, s *plan.Step) func() *changeset.Edit {
	p, id, was := t.programs[schedule.Form{Hub: n.Hub, Form: n.Form}], s.Object.ID, s.Entry.Template
	if p == nil || was == "" {
		return nil
	}
	return func() *changeset.Edit {
		return t.edits.Find(p, id, was, func(version *render.Program) bool { return version.Template(id) == was })
	}
}

// origin collects from the plan why an object would change.
func (t *diffRun) origin(p *plan.NodePlan, s *plan.Step) (*diff.Origin, error) {
	origin := &diff.Origin{Whole: wholeCause(s), Secrets: diff.Secrets{Filter: t.secretValues}}
	fed, known := t.secrets(p, s.ID())
	origin.Secrets.Fields = fed
	if s.Object == nil {
		origin.Secrets.Removed = !known
		return origin, nil
	}
	content, err := s.Object.Body.Content()
	if err != nil {
		return nil, err
	}
	origin.Desired, origin.Sources = content, t.sources(p, s.Object.ID)
	origin.Replaces = s.Object.Policy.Patch == lynq.PatchReplace && (s.Live == nil || !s.Applies())
	if s.Entry != nil && s.Live != nil {
		origin.Same = s.Entry.Digest == s.Object.Digest
		origin.Place, origin.Edit = t.place(p, s.Object.ID), t.edit(p, s)
		origin.SameForm = s.Entry.Template != "" && s.Entry.Template == s.Object.Template
		origin.Secrets.Removed = !known || t.secretHubs[p.Hub] && !origin.SameForm
		origin.Secrets.Changed = s.Entry.Sensitive && !origin.SameForm
		origin.SameVersion = plan.SameVersion(t.version, s.Entry, p.Inventory, t.hubs[p.Hub])
		// A node that failed may lack values of earlier runs.
		if inv := p.Inventory; inv != nil && inv.Status.Failed+inv.Status.Skipped+inv.Status.Conflicted == 0 && t.unchanged[p.Hub] != nil {
			origin.Unchanged = t.unchanged[p.Hub](p.UID)
		}
		origin.Held = s.Object.Applied(s.Adopted) && s.Live.Fields != "" && s.Live.Fields == s.Entry.Fields
	}
	return origin, nil
}

// untried says which additional write apply sends before it applies an object, or "". The
// server can try only one of two writes.
func untried(s *plan.Step) string {
	if s.Object == nil || s.Live == nil {
		return ""
	}
	var parts []string
	if s.Reason == plan.ReasonTakeover {
		parts = append(parts, "labels and annotations of the tool")
	}
	if s.Action != plan.ActionTrack && s.Live.Updated && s.Applies() {
		parts = append(parts, "fields that another patchStrategy wrote and the form lacks")
	}
	if s.Action != plan.ActionTrack && s.Object.Overrides(s.Live) {
		parts = append(parts, "fields that kubectl or Helm set and the form lacks")
	}
	if len(parts) == 0 {
		return ""
	}
	return "removes " + strings.Join(parts, ", and ") + "; a dry run can't test that"
}

func refOf(s *plan.Step) lynq.Ref {
	if s.Object != nil {
		return s.Object.Ref
	}
	return s.Entry.Ref
}

// wholeCause returns the cause that all fields of an object share. It returns "" if each
// field has its own.
func wholeCause(s *plan.Step) diff.CauseKind {
	switch s.Reason {
	case plan.ReasonNew:
		return diff.CauseNew
	case plan.ReasonVanished, plan.ReasonDeleting:
		return diff.CauseGone
	case plan.ReasonDue:
		return diff.CauseDue
	case plan.ReasonReplaced:
		return diff.CauseReplaced
	case plan.ReasonUnconfirmed:
		return diff.CauseUnknown
	case plan.ReasonOrphan, plan.ReasonUnowned, plan.ReasonTakeover:
		return diff.CauseAdopted
	case plan.ReasonMoved:
		return diff.CauseMoved
	case plan.ReasonRenamed:
		return diff.CauseRenamed
	case plan.ReasonRemoved:
		return diff.CauseRemoved
	case plan.ReasonNotIncluded:
		return diff.CauseNotIncluded
	case plan.ReasonLeftover:
		return diff.CauseLeftover
	case plan.ReasonNodeGone:
		return diff.CauseRowGone
	case plan.ReasonNodeDeleted:
		return diff.CauseDeleted
	case plan.ReasonTakenOver:
		return diff.CauseTracking
	}
	return ""
}

// programsOf returns the compiled forms of hubs.
func programsOf(hubs []load.HubPrograms) map[schedule.Form]*render.Program {
	programs := map[schedule.Form]*render.Program{}
	for _, h := range hubs {
		for _, p := range h.Programs {
			programs[schedule.Form{Hub: h.Key, Form: load.FormKey(p.Form, h.Key.Namespace)}] = p
		}
	}
	return programs
}

// has reports whether a form has a resource.
func has(p *render.Program, id string) bool {
	return p.Form.Resource(id) != nil
}

// secrets returns the fields of a node's resource that secret columns feed. known is false
// if the hub has secret columns, but the form lacks the resource.
func (t *diffRun) secrets(n *plan.NodePlan, id string) (fields [][]string, known bool) {
	p := t.programs[schedule.Form{Hub: n.Hub, Form: n.Form}]
	if p == nil {
		return nil, !t.secretHubs[n.Hub]
	}
	for _, f := range p.Fields(id) {
		if f.Secret {
			fields = append(fields, f.Path)
		}
	}
	return fields, has(p, id) || !t.secretHubs[n.Hub]
}

// sources returns the fields of a node's resource that columns feed, or nil if unknown.
func (t *diffRun) sources(n *plan.NodePlan, id string) []diff.Source {
	p := t.programs[schedule.Form{Hub: n.Hub, Form: n.Form}]
	if p == nil {
		return nil
	}
	sources := []diff.Source{}
	for _, f := range p.Fields(id) {
		sources = append(sources, diff.Source{Path: f.Path, Columns: f.Columns})
	}
	if r := p.Form.Resource(id); r != nil && r.Policy.OnNodeChange {
		columns := render.Columns(p.Hub)
		for _, l := range p.Hub.Lookups {
			columns = append(columns, lynq.LookupColumn(l.Name))
		}
		sources = append(sources, diff.Source{Columns: columns})
	}
	return sources
}

// secretHubsOf returns the hubs that have secret columns.
func secretHubsOf(hubs []load.HubPrograms) map[lynq.HubKey]bool {
	secret := map[lynq.HubKey]bool{}
	for _, h := range hubs {
		secret[h.Key] = h.Hub.HasSecrets()
	}
	return secret
}
