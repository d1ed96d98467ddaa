package watchcmd

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// A round that deletes needs the rows of all hubs in the files, because another row may
// render the object. Reading them may take long, and a source may never answer. So the
// reading may outlast the round. The round does everything else, and the next round
// deletes. No hub stops because of another one's source.

const (
	// surveyWithin limits how long a round waits for the rows of the other hubs.
	surveyWithin = 2 * time.Second
	// surveyFor is how long rows count after their reading, if no round used them.
	surveyFor = time.Minute
)

// errSurveying says that a round doesn't know yet what the other hubs render.
var errSurveying = errors.New("lynqctl is still reading the rows of the other hubs")

// survey is a reading of the rows of all hubs in the files.
type survey struct {
	in *hubInputs // the inputs of its round
	// rows are those of the round's hubs when the reading began. A row that was there then
	// may have moved to a hub that was read before.
	rows map[lynq.HubKey]*hubRows
	read func(context.Context) ([]*plan.Node, error)
	stop context.CancelFunc
	done chan struct{}
	// asked is set if the current round needs it, and used if the round got the result.
	asked, used bool

	// After done:
	nodes []*plan.Node
	err   error
	ended time.Time
}

// over reports whether the reading has ended.
func (s *survey) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// fits reports whether a round can use the reading.
func (s *survey) fits(r *round, now time.Time) bool {
	if s.in != r.parts[0].in || s.over() && now.Sub(s.ended) > surveyFor {
		return false
	}
	return !slices.ContainsFunc(r.parts, func(p *part) bool { return s.rows[p.hub.Key] == nil })
}

// moved reports whether the rows of the round's hubs changed since the reading began.
func (s *survey) moved(r *round) bool {
	return slices.ContainsFunc(r.parts, func(p *part) bool { return !maps.Equal(s.rows[p.hub.Key].wanted, p.rows.wanted) })
}

// result returns the nodes that the reading found, and those of the round's hubs from
// before it.
func (s *survey) result() ([]*plan.Node, error) {
	nodes := slices.Clone(s.nodes)
	for hub, rows := range s.rows {
		nodes = append(nodes, rows.Nodes[hub]...)
	}
	return nodes, s.err
}

// survey returns the nodes of all hubs in the files. If reading them takes long, it returns
// errSurveying, and another round begins when they are read.
func (r *round) survey(ctx context.Context, read func(context.Context) ([]*plan.Node, error)) ([]*plan.Node, error) {
	h := r.parts[0].hubWatch
	wait := time.Duration(0)
	if h.surveying == nil || !h.surveying.fits(r, time.Now()) {
		r.beginSurvey(read)
		wait = surveyWithin
	}
	s := h.surveying
	s.asked = true
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case <-s.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-limit.C:
	}
	if !s.over() {
		if r.unsurveyed = true; wait > 0 {
			h.w.engine.Notef("%s", surveyingNote(h.hub.Key))
		}
		return nil, errSurveying
	}
	if !s.used {
		s.used = true
		h.tellSurvey(s.err)
	}
	return s.result()
}

// beginSurvey reads the rows of all hubs in the background, and wakes the hub then.
func (r *round) beginSurvey(read func(context.Context) ([]*plan.Node, error)) {
	first := r.parts[0]
	first.endSurvey()
	within, stop := context.WithCancel(first.term.ctx)
	s := &survey{in: first.in, rows: map[lynq.HubKey]*hubRows{}, read: read, stop: stop, done: make(chan struct{})}
	for _, p := range r.parts {
		s.rows[p.hub.Key] = p.rows
	}
	first.surveying = s
	first.term.watches.running.Go(func() {
		defer stop()
		s.nodes, s.err = read(within)
		s.ended = time.Now()
		close(s.done)
		first.changes.Wake()
	})
}

// endSurvey forgets the reading of the rows of all hubs, and ends it.
func (h *hubWatch) endSurvey() {
	if h.surveying != nil {
		h.surveying.stop()
		h.surveying = nil
	}
}

// surveyed reports whether the rows of all hubs are read, for a round that waits for them.
func (h *hubWatch) surveyed() bool { return h.surveying != nil && h.surveying.over() }

// settleSurvey forgets a reading that the round used, or that it didn't need as a round of
// all nodes. It begins another one for rows that left since.
func (r *round) settleSurvey() {
	first := r.parts[0]
	s := first.surveying
	switch {
	case s == nil:
	case s.used && s.moved(r):
		r.beginSurvey(s.read)
	case s.used, r.whole && !s.asked:
		first.endSurvey()
	default:
		s.asked = false
	}
}

// tellSurvey logs why the rows of all hubs can't be read, nil if they can.
func (h *hubWatch) tellSurvey(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != h.unknown {
		h.w.engine.Notef("%s", unsurveyedNote(h.hub.Key, err))
	}
	h.unknown = text
	h.unseenRows.Store(err != nil)
}

// tellReadable makes hubs delete what they kept, because the rows of the hub can be read
// again.
func (h *hubWatch) tellReadable() {
	for _, other := range h.w.all() {
		if other.unseenRows.Swap(false) {
			other.changes.NoteAll()
		}
	}
}

// withoutSurvey returns the plans without deletions of a hub until lynqctl knows what the
// other hubs render. Deletions that a guard held before stay held. Other refusals stay in
// the plans.
func (h *hubWatch) withoutSurvey(plans []plan.Plan, record *inventory.Hub) ([]plan.Plan, *inventory.HeldDeletions) {
	p := planOf(plans, h.hub.Key)
	switch {
	case p == nil, len(p.Refusals) > 0 && !p.Holdable():
		return plans, nil
	case len(p.Refusals) > 0:
		return decide.Hold(plans, h.hub.Key, p.Refusals), record.Held
	}
	return decide.Hold(plans, h.hub.Key, decide.UntilRead(h.hub.Key)), record.Held
}
