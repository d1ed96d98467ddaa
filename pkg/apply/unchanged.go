package apply

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// Causes finds out why objects aren't ready.
type Causes interface {
	// Cause returns one line that says why an object isn't ready, or "" if that isn't
	// known.
	Cause(ctx context.Context, ref lynq.Ref) string
	// Stuck returns a cause that lasts until somebody changes something, or "".
	Stuck(ctx context.Context, ref lynq.Ref) string
}

// unchanged finds the objects that a run left unchanged and that aren't ready.
type unchanged struct {
	objects  observe.ObjectReader
	causes   Causes // may be nil
	reporter report.Reporter
	now      func() time.Time
	// sighted has each hub's notes from its last run. They count only with the same rules
	// of readiness.
	sighted map[lynq.HubKey]string
	rules   string
	secrets *redact.Filter
}

// causesTold is the largest number of unready objects with a cause. Each cause costs
// requests.
const causesTold = 3

// leftStep is a step that left an object unchanged.
type leftStep struct {
	*plan.Step
	of    *report.NodeResult
	ended bool // a run saw its work complete
}

// leftAlone reports whether a step left an awaited object unchanged. A hook is no such object:
// the run waited for it, and may have deleted it since.
func leftAlone(s *report.StepResult) bool {
	o, why := s.Object, s.Reason
	return o != nil && s.Outcome == report.OutcomeUnchanged && !o.Policy.Hook() && why != plan.ReasonLeftOut && why != plan.ReasonUnmanaged && why != plan.ReasonCompleted && o.Awaited()
}

// leftOf returns the steps that left awaited objects unchanged, by hub.
func leftOf(nodes []report.NodeResult) map[lynq.HubKey][]leftStep {
	all := map[lynq.HubKey][]leftStep{}
	for i := range nodes {
		n := &nodes[i]
		for j := range n.Steps {
			if s := &n.Steps[j]; leftAlone(s) {
				all[n.Hub] = append(all[n.Hub], leftStep{s.Step, n, s.Ended})
			}
		}
	}
	return all
}

// unready finds the unchanged objects that aren't ready. It sends one list request for each
// awaited kind, and none if forms wait for no kind. It doesn't read objects that the last
// run saw ready and that didn't change since. The notes are for the next run.
func (u *unchanged) unready(ctx context.Context, nodes []report.NodeResult) (all []report.Unready, notes map[lynq.HubKey]string) {
	left, notes := leftOf(nodes), map[lynq.HubKey]string{}
	for _, hub := range slices.SortedFunc(maps.Keys(left), lynq.HubKey.Compare) {
		unready, note, err := u.unreadyOf(ctx, hub, left[hub])
		notes[hub] = note
		if err != nil {
			u.reporter.Report(report.Event{Time: u.now(), Type: report.EventWarning, NodeID: lynq.NodeID{Hub: hub}, Details: report.Details{Message: "lynqctl can't tell whether its unchanged objects are ready: " + err.Error()}})
		}
		all = append(all, unready...)
	}
	slices.SortFunc(all, func(a, b report.Unready) int {
		return cmp.Or(cmp.Compare(a.Node.String(), b.Node.String()), cmp.Compare(a.Object.String(), b.Object.String()))
	})
	u.explain(ctx, all[:min(len(all), causesTold)])
	return all, notes
}

// explain adds causes to the messages of unready objects.
func (u *unchanged) explain(ctx context.Context, unready []report.Unready) {
	for i := range unready {
		o := &unready[i]
		if u.causes == nil || ctx.Err() != nil {
			return
		}
		if cause := u.causes.Cause(ctx, o.Object); cause != "" && !strings.Contains(o.Message, cause) {
			o.Message += "; " + u.secrets.Hide(cause)
		}
	}
}

// unreadyOf returns the unready objects of a hub, and a note of the others. It returns both
// even with an error about objects that it couldn't read.
func (u *unchanged) unreadyOf(ctx context.Context, hub lynq.HubKey, left []leftStep) (unready []report.Unready, note string, unknown error) {
	known := ready.ParseNotes(u.sighted[hub], u.rules)
	classes := ""
	if known.Classes() != "" {
		classes = classesOf(observe.StorageClasses(ctx, u.objects))
	}
	seen := make([]ready.Noted, len(left))
	for i := range left {
		seen[i] = sightOf(left[i].Object.Ref, left[i].Live)
	}
	unsure := known.Unsure(seen, classes)
	objects := make(map[lynq.Ref]string, len(unsure))
	for i := range left {
		if o := left[i].Object; unsure[o.Ref] {
			objects[o.Ref] = o.APIVersion
		}
	}
	sight, err := observe.ReadinessOf(ctx, u.objects, hub.Name, len(left), objects)
	if err != nil {
		return nil, "", err
	}
	for i := range seen {
		ref := seen[i].Ref
		if !unsure[ref] {
			continue
		}
		s := &left[i]
		why, isReady := s.unready(sight)
		switch err := sight.Unknown[ref]; {
		case err != nil:
			unknown, seen[i] = err, sightOf(ref, nil)
		case why != "":
			unready, seen[i] = append(unready, report.Unready{Node: s.of.Key(), Object: ref, Message: u.secrets.Hide(why), Ready: isReady}), sightOf(ref, nil)
		default:
			seen[i] = sightOf(ref, sight.Live[ref])
		}
	}
	if now := classesOf(sight.Classes); now != "" && classes != "" && now != classes {
		return unready, "", unknown // the classes changed meanwhile
	} else if now != "" {
		classes = now
	}
	return unready, ready.EncodeNotes(seen, u.rules, classes), unknown
}

// sightOf returns the version of an object. The version is empty if nobody has seen the
// object.
func sightOf(ref lynq.Ref, l *tracking.Live) ready.Noted {
	if l == nil {
		return ready.Noted{Ref: ref}
	}
	return ready.Noted{Ref: ref, UID: l.UID, Version: l.ResourceVersion}
}

// classesOf returns a short name for storage classes, or "" if they don't matter or aren't
// known.
func classesOf(c *ready.StorageClasses) string {
	text := c.String()
	if text == "" {
		return ""
	}
	return ready.ShortDigest(text)
}

// unready says why the step's object isn't as it should be, or returns "". isReady reports
// whether it counts as ready anyway. Status has the same rule.
func (s *leftStep) unready(sight *observe.ObservedReadiness) (why string, isReady bool) {
	ref := s.Object.Ref
	now := sight.Ready[ref]
	live := sight.Live[ref]
	switch {
	case s.ended && (live == nil || live.Deleting):
		return "", true // its work is done, and its TTL or a person deletes it
	case live == nil:
		return "another client deleted it meanwhile", false
	case now.State != ready.StateReady:
		return cmp.Or(now.Message, "its state is unknown"), s.Entry != nil && now.PodsLost(func(v ready.Version) bool { return s.Entry.SawReady(v.UID, v.Generation, v.Altered) })
	case sight.Stopped[ref] && s.Reason != plan.ReasonCreatedOnce:
		return "another client scaled it to zero. The form doesn't set replicas, so apply leaves it. To start it: kubectl scale " + strings.ToLower(ref.Kind) + " " + ref.Name + " -n " + ref.Namespace + " --replicas=1", true
	}
	return "", true
}
