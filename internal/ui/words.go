package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// objectName returns an object's name for people: kind, then namespace/name.
func objectName(r lynq.Ref) string {
	if r.Namespace == "" {
		return tty.Safe(r.Kind + " " + r.Name)
	}
	return tty.Safe(r.Kind + " " + r.Namespace + "/" + r.Name)
}

// leavingName returns the name of an action's object. If the object leaves its node, the
// name says whether it was adopted, because its loss then affects another owner.
func leavingName(r lynq.Ref, a plan.Action, adopted bool) string {
	if adopted && leaves(a) {
		return objectName(r) + " (adopted)"
	}
	return objectName(r)
}

// leaves reports whether an action removes an object from its node.
func leaves(a plan.Action) bool {
	switch a {
	case plan.ActionDelete, plan.ActionCollect, plan.ActionOrphan, plan.ActionRelease:
		return true
	}
	return false
}

// actions returns all actions, in the order for counts.
func actions() []plan.Action {
	return []plan.Action{
		plan.ActionCreate, plan.ActionUpdate, plan.ActionRecreate, plan.ActionAdopt, plan.ActionTrack,
		plan.ActionPurge, plan.ActionDelete, plan.ActionCollect, plan.ActionOrphan, plan.ActionRelease,
		plan.ActionBlock, plan.ActionSkip, plan.ActionKeep,
	}
}

// changes reports whether an action changes the cluster or the inventory.
func changes(a plan.Action) bool {
	switch a {
	case plan.ActionKeep, plan.ActionSkip, plan.ActionBlock, "":
		return false
	}
	return true
}

// done returns a finished action in words.
func done(a plan.Action) string {
	switch a {
	case plan.ActionCreate, plan.ActionUpdate, plan.ActionRecreate, plan.ActionPurge, plan.ActionDelete:
		return string(a) + "d"
	case plan.ActionAdopt, plan.ActionOrphan:
		return string(a) + "ed"
	case plan.ActionTrack:
		return "relabelled"
	case plan.ActionRelease:
		return "no longer managed"
	case plan.ActionCollect:
		return "left to the garbage collector"
	case plan.ActionKeep:
		return "unchanged"
	case plan.ActionSkip:
		return "skipped"
	case plan.ActionBlock:
		return "conflicted"
	}
	return tty.Safe(string(a))
}

// planned returns a future action in words, after a number: "3 to create".
func planned(a plan.Action) string {
	switch a {
	case plan.ActionKeep:
		return "unchanged"
	case plan.ActionSkip:
		return "to skip"
	case plan.ActionCollect:
		return "to leave to the garbage collector"
	case plan.ActionBlock:
		return "in conflict"
	}
	return "to " + actionWord(a)
}

// ended returns the result of a step in words: "updated", "update failed".
func ended(a plan.Action, o report.Outcome) string {
	switch o {
	case report.OutcomeDone:
		return done(a)
	case report.OutcomeFailed:
		if !changes(a) {
			return "failed"
		}
		return actionWord(a) + " failed"
	case report.OutcomeConflicted:
		return "conflict"
	case report.OutcomeNotReady:
		return "not ready"
	}
	return tty.Safe(string(o))
}

// Shown returns a condition, state, finding or reason as tables and lines show it. Programs
// get the word itself.
func Shown(word string) string {
	head, why, degraded := strings.Cut(word, ": ")
	if degraded {
		return head + ": " + Shown(why)
	}
	for from, to := range map[string]string{
		status.Leaving:                      "Deleting",
		string(plan.ReasonNodeGone):         "Row inactive or deleted",
		string(plan.ReasonVanished):         "Missing",
		string(plan.ReasonUnowned):          "No owner",
		string(plan.ReasonAlreadyGone):      "Already deleted",
		wellknown.ReasonNodeDeleted:         "Tenant deleted",
		wellknown.ReasonRemovedFromTemplate: "Removed from form",
	} {
		if word == from {
			return to
		}
	}
	return word
}

// actionWord returns an action as people read it.
func actionWord(a plan.Action) string {
	switch a {
	case plan.ActionTrack:
		return "relabel"
	case plan.ActionRelease:
		return "stop managing"
	}
	return tty.Safe(string(a))
}

// endWord returns a node's result as people read it.
func endWord(status string) string {
	switch status {
	case string(report.OutcomeDone):
		return "applied"
	case string(report.OutcomeNotReady):
		return "not ready"
	case statusNotDone:
		return "not started"
	}
	return tty.Safe(status)
}

// Commas joins the parts that aren't empty with commas.
func Commas(parts ...string) string {
	kept := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ", ")
}

// Some returns a count with a word, or "" for 0.
func Some(n int, word string) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n) + " " + word
}

// age returns a duration to the second: 45s, 3m20s, 2h5m.
func age(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	hours, minutes, seconds := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case hours > 0:
		return fmt.Sprintf("%dh%dm", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("%dm%ds", minutes, seconds)
	}
	return fmt.Sprintf("%ds", seconds)
}

// elapsed returns the duration of a run, to the tenth of a second below a minute.
func elapsed(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return age(d)
}

// summaryLine sums up a run in a line.
func summaryLine(s *report.Summary) string {
	prefix := ""
	if s.Interrupted {
		prefix = "interrupted: "
	}
	if s.DryRun {
		prefix += "dry run: "
	}
	nodes := sum(s.Nodes) + s.Leaving
	objects := sum(s.Objects)
	return prefix + phrase.Count(nodes, "node") + colon(nodeCounts(s)) + "; " +
		phrase.Count(objects, "object") + colon(objectCounts(s)) + "; " + elapsed(s.Elapsed)
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

func nodeCounts(s *report.Summary) string {
	return Commas(
		Some(s.Nodes[report.OutcomeUnchanged], "unchanged"),
		Some(s.Nodes[report.OutcomeDone], "changed"),
		Some(s.Leaving, "leaving"),
		badCounts(s.Nodes),
	)
}

func objectCounts(s *report.Summary) string {
	parts := []string{Some(s.Objects[report.OutcomeUnchanged], "unchanged")}
	for _, a := range actions() {
		if changes(a) {
			parts = append(parts, Some(s.Actions[a], done(a))+ofAdopted(s.Adopted[a]))
		}
	}
	return Commas(append(parts, badCounts(s.Objects))...)
}

func badCounts[Outcome ~string](m map[Outcome]int) string {
	return Commas(
		Some(m[Outcome(report.OutcomeInterrupted)], "interrupted"),
		Some(m[Outcome(report.OutcomeSkipped)], "skipped"),
		Some(m[Outcome(report.OutcomeNotReady)], "not ready"),
		Some(m[Outcome(report.OutcomeConflicted)], "conflicted"),
		Some(m[Outcome(report.OutcomeFailed)], "failed"),
	)
}

// planCounts counts what a plan does to objects: "3 to create, 2 to delete (1 adopted)".
func planCounts(counts, adopted map[plan.Action]int) string {
	var parts []string
	for _, a := range actions() {
		if a != plan.ActionKeep {
			parts = append(parts, Some(counts[a], planned(a))+ofAdopted(adopted[a]))
		}
	}
	return Commas(parts...)
}

// ofAdopted says after a count how many of the objects were adopted.
func ofAdopted(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d adopted)", n)
}

func sum[K comparable](m map[K]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

// refusalText says why lynqctl did nothing, and below that what helps.
func refusalText(r plan.Refusal, p tty.Paint) string {
	about := ""
	if r.Hub.Name != "" {
		about = "hub " + tty.Safe(r.Hub.String()) + ": "
	}
	text := p.Failed("refused") + " (" + tty.Safe(string(r.Guard)) + "): " + about + tty.Safe(r.What) + "\n"
	if r.Fix != "" {
		text += "  " + tty.Safe(r.Fix) + "\n"
	}
	return text
}

// joined returns a problem with its fix in parentheses.
func joined(what, fix string) string {
	if fix = strings.TrimSpace(fix); fix == "" {
		return what
	}
	return what + " (" + fix + ")"
}

// DoneCounts returns counts of finished actions in words: "3 created".
func DoneCounts(counts map[string]int) []string {
	var parts []string
	for _, a := range actions() {
		if n := counts[string(a)]; n > 0 && changes(a) {
			parts = append(parts, strconv.Itoa(n)+" "+done(a))
		}
	}
	return parts
}

// ActionShown returns an action as tables show it.
func ActionShown(action string) string { return actionWord(plan.Action(action)) }
