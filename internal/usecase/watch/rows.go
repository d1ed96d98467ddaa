package watch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/apply"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// jitter is by how much reads of the source are spread, as a part of their interval.
const jitter = 0.1

// hubRows are the rows of a hub as they were read last.
type hubRows struct {
	apply.Rendering
	// file is how the file was read that they come from; only rounds use it.
	file *watch.Reading
	// wanted is a digest of what each node wants.
	wanted map[lynq.NodeKey]string
}

// keepReading reads the rows every syncInterval, until the context ends, and has a round
// begin where a node wants something else. While that fails, what they said before counts.
func (h *hubWatch) keepReading(ctx context.Context, r session.Run) {
	reader := *r.Engine
	notes := &news{View: reader.View}
	reader.View, r.Engine = notes, &reader
	failures, unread := 0, ""
	var told chan<- error // who asked for the read
	for {
		notes.begin()
		wait := time.Duration(float64(h.hub.Hub.SyncInterval) * (1 + jitter*(2*rand.Float64()-1))) //nolint:gosec // it spreads load
		err := h.read(ctx, &r)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failures++
			wait = min(wait, watch.Pause(failures))
			if text := err.Error(); text != unread {
				unread = text
				line := fmt.Sprintf("its rows can't be read, and %s until they can: %v", h.meanwhile(), err)
				h.w.engine.Notef("warning: hub %s: %s", h.hub.Key, line)
				if failures == 1 {
					h.unreadable(line)
				}
			}
		case failures > 0:
			failures, unread = 0, ""
			h.w.engine.Notef("hub %s: its rows can be read again", h.hub.Key)
			h.unreadable("")
		}
		if told != nil {
			told <- err
			told = nil
		}
		next := time.NewTimer(h.untilExpiry(wait))
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case told = <-h.readNow:
			next.Stop()
		case <-next.C:
		}
	}
}

// soonest is how close together two reads of rows are, however soon rows expire.
const soonest = time.Second

// untilExpiry is how long to wait until the rows are read again: no longer than until the
// next of those that count expires.
func (h *hubWatch) untilExpiry(wait time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rows == nil || h.rows.NextExpiry.IsZero() {
		return wait
	}
	return min(wait, max(h.rows.NextExpiry.Sub(h.w.engine.Now()), soonest))
}

// news is a View that shows a note of one read after the other once, as long as each of
// them has it.
type news struct {
	session.View
	before, said map[string]bool
}

// begin begins another read.
func (n *news) begin() { n.before, n.said = n.said, map[string]bool{} }

// Note implements View.
func (n *news) Note(line string) {
	if !n.before[line] {
		n.View.Note(line)
	}
	n.said[line] = true
}

// meanwhile is what is done while the rows cannot be read. Those of an earlier term do not
// count: the run that had the hub since may have seen newer ones.
func (h *hubWatch) meanwhile() string {
	if h.current() == nil {
		return "nothing is done"
	}
	return "the last good rows count"
}

// read reads the rows: those of a file when it keeps still.
func (h *hubWatch) read(ctx context.Context, r *session.Run) error {
	for {
		digest, err := still(ctx, h.readFile(), h.rowFile)
		if err != nil {
			return err
		}
		in := h.inputs()
		j := &apply.Job{Run: *r, Options: &h.o, Inputs: in.Inputs, Hubs: in.Hubs}
		_, err = j.Rendered(ctx)
		switch {
		case ctx.Err() == nil && h.rowFile() != digest: // it changed while it was read
		case err != nil:
			return err
		default:
			h.take(j.Rendering, digest)
			return nil
		}
	}
}

// take has rows count from now on. digest is that of their file.
func (h *hubWatch) take(r apply.Rendering, digest string) {
	rows := &hubRows{Rendering: r, wanted: map[lynq.NodeKey]string{}}
	for _, n := range r.Nodes[h.hub.Key] {
		rows.wanted[n.Key()] = digestOf(n)
	}
	h.mu.Lock()
	if rows.file = new(watch.NewReading(digest, time.Now())); h.rows != nil && h.rows.file.Digest == digest {
		rows.file = h.rows.file
	}
	first := h.rows == nil
	changed := first || !maps.Equal(h.rows.wanted, rows.wanted)
	h.rows = rows
	h.mu.Unlock()
	if changed {
		h.changes.Wake()
	}
	if first {
		h.tellBorrowers()
	}
}

// current is what rows and forms want now, nil where no row was read yet. The nodes can
// be changed.
func (h *hubWatch) current() *hubRows {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rows == nil {
		return nil
	}
	rows := *h.rows
	nodes := make([]*plan.Node, len(rows.Nodes[h.hub.Key]))
	for i, n := range rows.Nodes[h.hub.Key] {
		nodes[i] = new(*n)
	}
	rows.Nodes = map[lynq.HubKey][]*plan.Node{h.hub.Key: nodes}
	return &rows
}

// digestOf is a digest of all that a node wants.
func digestOf(n *plan.Node) string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %v %q %q %d\n", n.UID, n.Failed, n.Extra, n.NotIncluded, n.Expires.Unix()) // a hash takes all
	for _, objects := range [][]plan.Object{n.Objects, n.Hooks} {
		for i := range objects {
			o := &objects[i]
			_, _ = fmt.Fprintf(sum, "%s %q %q %t\n", o.Ref, o.ID, o.Digest, o.Exclusion != nil)
		}
	}
	for i := range n.Tombstones {
		_, _ = fmt.Fprintln(sum, n.Tombstones[i].Digest())
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
