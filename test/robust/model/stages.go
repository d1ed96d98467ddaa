package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Stage is a stage of a form's rollout: the rows with this plan, or the next ones, by
// number or as a percentage of all.
type Stage struct {
	Plan          string
	Rows, Percent int
	Pause         bool
}

// stages returns the stage of each active row, counted from 0. Rows that no stage selects
// are in one after the last.
func (f *Form) stages(rows []Row) map[string]int {
	of := map[string]int{}
	active := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return !r.Active })
	slices.SortFunc(active, func(a, b Row) int { return strings.Compare(a.UID, b.UID) })
	for k, s := range f.Stages {
		const percent = 100
		most := s.Rows + (len(active)*s.Percent+percent-1)/percent
		for _, r := range active {
			if _, taken := of[r.UID]; !taken && (s.Plan != "" && r.Columns["plan"] == s.Plan || s.Plan == "" && most > 0) {
				of[r.UID] = k
				most--
			}
		}
	}
	for _, r := range active {
		if _, taken := of[r.UID]; !taken {
			of[r.UID] = len(f.Stages)
		}
	}
	return of
}

// mark returns the revision in objects: none before the form first changes all of them.
func (f *Form) mark() string { return strings.TrimPrefix(strconv.Itoa(f.Revision), "0") }

// rollout is a form with stages in a run.
type rollout struct {
	Command
	form          *Form
	node          func(row string) Node
	stage         map[string]int
	before, after *Cluster
}

// staged names the nodes that a form changed before their stages had begun. If a person
// named the nodes, the run has no stages.
func (c Command) staged(before, after *Cluster) []string {
	var wrong []string
	for _, hub := range c.Inputs {
		for i := range hub.Forms {
			form := &hub.Forms[i]
			if c.Verb != "apply" || len(form.Stages) == 0 || len(c.Nodes) > 0 {
				continue
			}
			node := func(row string) Node { return Node{hub.Name, form.Name, row} }
			r := rollout{c, form, node, form.stages(hub.Rows), before, after}
			for _, row := range slices.Sorted(maps.Keys(r.stage)) {
				if why := r.waits(row); why != "" && len(r.moved(row)) > 0 {
					wrong = append(wrong, fmt.Sprintf("form %s changed node %s of stage %d: %s", form.Name, node(row).Name(), r.stage[row]+1, why))
				}
			}
		}
	}
	return wrong
}

// waits says why the run must not change a row's node, or returns "".
func (r rollout) waits(row string) string {
	mine, pauses := r.stage[row], 0
	if r.Stage > 0 && mine >= r.Stage {
		return fmt.Sprintf("the run ends with stage %d", r.Stage)
	}
	for k := range mine {
		behind, begun := 0, false
		for other, stage := range r.stage {
			if stage == k && len(r.have(r.after, other, false)) > 0 && (r.Label == "" || r.Label == other) {
				behind++
			}
			begun = begun || stage > k && len(r.have(r.before, other, true)) > 0
			if stage == k && r.later(other, row) {
				return "node " + r.node(other).Name() + " of an earlier stage was written after it"
			}
		}
		if behind > r.form.MaxFailed {
			return fmt.Sprintf("%d nodes of stage %d are as they were", behind, k+1)
		}
		if r.form.Stages[k].Pause && !begun {
			pauses++
		}
		if pauses > 1 || pauses > 0 && (!r.Continue || !r.paused(k)) { // --continue ends one
			return fmt.Sprintf("the rollout pauses after stage %d", k+1)
		}
	}
	return ""
}

// paused reports whether the rollout waited at the pause of a stage before the run: of each
// stage up to it, only as many nodes as may fail were as an earlier form had them.
func (r rollout) paused(stage int) bool {
	behind := map[int]int{}
	for row, of := range r.stage {
		if len(r.have(r.before, row, false)) > 0 && (r.Label == "" || r.Label == row) {
			behind[of]++
		}
	}
	for k := range stage + 1 {
		if behind[k] > r.form.MaxFailed {
			return false
		}
	}
	return true
}

// have returns the rendered objects of a row's node with the form's current revision, or
// with an earlier one.
func (r rollout) have(c *Cluster, row string, now bool) map[string]Object {
	have := map[string]Object{}
	for _, o := range c.Objects {
		holder, _ := c.Holder(o)
		if holder == nil || holder.Node != r.node(row) || c.Condemned(o) || unmanaged(o) || (o.Annotations["revision"] == r.form.mark()) != now {
			continue
		}
		if slices.ContainsFunc(r.rendered, func(d Rendered) bool { return d.Ref == o.Ref && d.Node == holder.Node && d.Certain && !d.Excluded }) {
			have[o.UID] = o
		}
	}
	return have
}

// moved returns the objects of a row's node that the run brought to the current revision,
// or deleted.
func (r rollout) moved(row string) []Ref {
	var moved []Ref
	for uid, o := range r.have(r.before, row, false) {
		now, is := r.after.Objects[uid]
		if !is || r.after.Condemned(now) || now.Annotations["revision"] == r.form.mark() {
			moved = append(moved, o.Ref)
		}
	}
	return moved
}

// later reports whether the run wrote an object of one node after one of another.
func (r rollout) later(one, other string) bool {
	first := slices.IndexFunc(r.Writes, func(w Ref) bool { return slices.Contains(r.moved(other), w) })
	return first >= 0 && slices.ContainsFunc(r.Writes[first:], func(w Ref) bool { return slices.Contains(r.moved(one), w) })
}
