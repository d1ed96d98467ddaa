package watchcmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// jitter is the spread of reads of the source, as a fraction of their interval.
const jitter = 0.1

// hubRows holds the rows of a hub from the last read.
type hubRows struct {
	applycmd.Rendering
	// file is the reading of the rows' file. Only rounds use it.
	file *watch.Reading
	// wanted has a digest of each node.
	wanted map[lynq.NodeKey]string
}

// keepReading reads the rows every syncInterval until the context ends. It starts a round
// if a node changed. While reading fails, the earlier rows count.
func (h *hubWatch) keepReading(ctx context.Context, r session.Run) {
	reader := *r.Engine
	notes := &news{View: reader.View}
	reader.View, r.Engine = notes, &reader
	failures, unread := 0, ""
	var told chan<- error // receives the result of a read that someone asked for
	for {
		notes.begin()
		wait := time.Duration(float64(h.hub.Hub.SyncInterval) * (1 + jitter*(2*rand.Float64()-1))) //nolint:gosec // it spreads load
		err := h.slowly(tellEvery, func() error { return h.read(ctx, &r) })
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failures++
			wait = min(wait, watch.Pause(failures))
			if text := session.Text(err); text != unread {
				unread = text
				line := fmt.Sprintf("its rows can't be read, and %s until they can: %s", h.meanwhile(), text)
				h.w.engine.Notef("warning: hub %s: %s", h.hub.Key, line)
				if failures == 1 {
					h.unreadable(line)
				}
			}
		case failures > 0:
			failures, unread = 0, ""
			h.w.engine.Notef("hub %s: its rows can be read again", h.hub.Key)
			h.unreadable("")
			h.tellReadable()
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
		case <-h.checkRequested:
			next.Stop()
		case <-next.C:
		}
	}
}

// recordMatters is watch.RecordMatters. If a person asks to check the hub, it also has the
// rows read.
func (h *hubWatch) recordMatters(before *watch.Fingerprint, now watch.Fingerprint) bool {
	if now.Asks(before) {
		select {
		case h.checkRequested <- struct{}{}:
		default: // the next read is due already
		}
	}
	return watch.RecordMatters(before, now)
}

// slowly reads the rows. It logs a reading that takes longer than a limit, because the
// source may be slow or silent.
func (h *hubWatch) slowly(limit time.Duration, read func() error) error {
	slow := time.AfterFunc(limit, func() { h.w.engine.Notef("%s", slowNote(h.hub.Key, limit, h.meanwhile())) })
	defer slow.Stop()
	return read()
}

// soonest is the shortest time between two reads of rows, however soon rows expire.
const soonest = time.Second

// untilExpiry returns the time until the next read of the rows. This is at most the time
// until the next row expires.
func (h *hubWatch) untilExpiry(wait time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rows == nil || h.rows.NextExpiry.IsZero() {
		return wait
	}
	return min(wait, max(h.rows.NextExpiry.Sub(h.w.engine.Now()), soonest))
}

// news is a View that shows a note once, even if several reads in a row have it.
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

// meanwhile says what lynqctl does while the rows can't be read. Rows from an earlier term
// don't count, because another run may have seen newer ones.
func (h *hubWatch) meanwhile() string {
	if h.current() == nil {
		return "nothing is done"
	}
	return "the last good rows count"
}

// read reads the rows. For a file, it waits until nobody writes it.
func (h *hubWatch) read(ctx context.Context, r *session.Run) error {
	var rows *applycmd.Rendered
	digest, err := readStill(ctx, h.readFile(), h.rowFile, func() error {
		if err := h.checkPipe(); err != nil {
			return err
		}
		in := h.inputs()
		j := &applycmd.Job{Run: *r, Options: &h.o, Inputs: in.Inputs, Hubs: in.Hubs}
		read, err := j.Render(ctx)
		rows = read
		return err
	})
	if err == nil {
		h.take(rows.Rendering, digest)
	}
	return err
}

// take makes rows the current ones. digest is the digest of their file.
func (h *hubWatch) take(r applycmd.Rendering, digest string) {
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
		h.wakeJoiners()
	}
}

// current returns what rows and forms want now, or nil before the first read. The caller
// may change the nodes.
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

// digestOf returns a digest of everything that a node wants.
func digestOf(n *plan.Node) string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %v %q %q %d\n", n.UID, n.Failed, n.Extra, n.NotIncluded, n.Expires.Unix()) // a hash never fails
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
