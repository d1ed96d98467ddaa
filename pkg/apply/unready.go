package apply

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Unready is an object that a run left as it is, and that is not ready.
type Unready struct {
	Node    plan.NodeKey
	Object  lynq.Ref
	Message string
}

// causesTold is for how many unready objects causes are asked for.
const causesTold = 3

// leftStep is a step that left an object as it was.
type leftStep struct {
	*plan.Step
	node plan.NodeKey
}

// left tells whether a step left an object as it was that is to be ready.
func (s *stepRun) left() bool {
	o := s.Object
	return o != nil && s.outcome == OutcomeUnchanged && s.Reason != plan.ReasonLeftOut && s.Reason != plan.ReasonUnmanaged && s.Reason != plan.ReasonCompleted &&
		o.Policy.WaitForReady && !ready.Always(o.Group, o.Kind, o.Body)
}

// findUnready looks at the objects that the run left as they were: one list for each
// kind of them whose readiness forms wait for, and none where there are no such.
func (r *run) findUnready(ctx context.Context) []Unready {
	if r.Objects == nil || r.Options.DryRun || ctx.Err() != nil {
		return nil
	}
	var all []Unready
	for _, hub := range slices.SortedFunc(maps.Keys(r.stats.left), lynq.HubKey.Compare) {
		unready, err := r.unreadyOf(ctx, hub.Name, r.stats.left[hub])
		if err != nil {
			r.Reporter.Report(Event{Time: r.Now(), Type: EventWarning, Hub: hub, Message: "whether its unchanged objects are ready is not known: " + err.Error()})
		}
		all = append(all, unready...)
	}
	slices.SortFunc(all, func(a, b Unready) int {
		return cmp.Or(cmp.Compare(a.Node.String(), b.Node.String()), cmp.Compare(a.Object.String(), b.Object.String()))
	})
	r.explain(ctx, all[:min(len(all), causesTold)])
	return all
}

// explain adds why objects are not ready.
func (r *run) explain(ctx context.Context, unready []Unready) {
	for i := range unready {
		u := &unready[i]
		if r.Causes == nil || ctx.Err() != nil {
			return
		}
		if cause := r.Causes.Cause(ctx, u.Object); cause != "" && !strings.Contains(u.Message, cause) {
			u.Message += "; " + cause
		}
	}
}

// unreadyOf finds those of a hub. What could not be looked at is an error beside them.
func (r *run) unreadyOf(ctx context.Context, hub string, left map[lynq.Ref]leftStep) ([]Unready, error) {
	o := newObserver(r.Objects, hub)
	o.readiness = newReadinessReader(r.Objects)
	if err := o.kinds(ctx, kindsOf(left)); err != nil {
		return nil, err
	}
	o.readiness.settleClaims(ctx)
	var unready []Unready
	var unknown error
	for ref, s := range left {
		if err := o.seen.Unknown[ref]; err != nil {
			unknown = err
			continue
		}
		if why := o.unready(s); why != "" {
			unready = append(unready, Unready{Node: s.node, Object: ref, Message: why})
		}
	}
	return unready, unknown
}

// kindsOf are the kinds of the objects of steps.
func kindsOf(steps map[lynq.Ref]leftStep) []wantedKind {
	index := map[string]int{}
	var kinds []wantedKind
	for ref, s := range steps {
		i, known := index[ref.GroupKind()]
		if !known {
			_, version := lynq.SplitAPIVersion(s.Object.APIVersion)
			i = len(kinds)
			index[ref.GroupKind()] = i
			kinds = append(kinds, wantedKind{group: ref.Group, version: version, kind: ref.Kind, refs: map[lynq.Ref]bool{}})
		}
		kinds[i].refs[ref] = true
	}
	return kinds
}

// unready is why an object is not ready, "" where it is.
func (o *observer) unready(s leftStep) string {
	ref := s.Object.Ref
	now := o.readiness.ready[ref]
	switch {
	case o.seen.Live[ref] == nil:
		return "it was deleted meanwhile"
	case now.State != ready.StateReady:
		return orUnknown(now.Message)
	case o.readiness.stopped[ref] && s.Reason != plan.ReasonCreatedOnce:
		return "another client scaled it to zero, and its form sets no replicas (kubectl scale starts it again)"
	}
	return ""
}
