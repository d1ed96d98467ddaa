package watchcmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	var failing readFailures
	for {
		asked := h.reads.begin()
		notes.begin()
		err := h.slowly(tellEvery, func() error { return h.read(ctx, &r) })
		if ctx.Err() != nil {
			return
		}
		h.tellRead(err, &failing)
		for _, result := range asked {
			result <- err
		}
		wait := time.Duration(float64(h.hub.Hub.SyncInterval) * (1 + jitter*(2*rand.Float64()-1))) //nolint:gosec // it spreads load
		if failing.count > 0 {
			wait = min(wait, watch.Pause(failing.count))
		}
		next := time.NewTimer(h.untilExpiry(wait))
		select {
		case <-ctx.Done():
		case <-h.reads.asking:
		case <-next.C:
		}
		next.Stop()
	}
}

// readFailures are the reads in a row that failed.
type readFailures struct {
	count int
	text  string // of the last failure
}

// tellRead tells the log and the hub record how a read ended, if an earlier one ended
// otherwise.
func (h *hubWatch) tellRead(err error, failing *readFailures) {
	switch {
	case err != nil:
		failing.count++
		text := session.Text(err)
		if text == failing.text {
			return
		}
		failing.text = text
		line := fmt.Sprintf("its rows can't be read, and %s until they can: %s", h.meanwhile(), text)
		h.w.engine.Notef("warning: hub %s: %s", h.hub.Key, line)
		if failing.count == 1 {
			h.unreadable(line)
		}
	case failing.count > 0:
		*failing = readFailures{}
		h.w.engine.Notef("hub %s: its rows can be read again", h.hub.Key)
		h.unreadable("")
		h.tellReadable()
	}
}

// recordMatters is watch.RecordMatters. If a person asks to check the hub, it also has the
// rows read.
func (h *hubWatch) recordMatters(before *watch.Fingerprint, now watch.Fingerprint) bool {
	if now.Asks(before) {
		h.reads.ask()
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
	next := h.reads.nextExpiry()
	if next.IsZero() {
		return wait
	}
	return min(wait, max(next.Sub(h.w.engine.Now()), soonest))
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
	if !h.reads.any() {
		return "nothing is done"
	}
	return "the last good rows count"
}

// read reads the rows. For a file, it waits until nobody writes it.
func (h *hubWatch) read(ctx context.Context, r *session.Run) error {
	var rows *applycmd.Rendered
	digest, err := readStill(ctx, h.reads.file(), h.rowFile, func() error {
		if err := h.checkPipe(); err != nil {
			return err
		}
		in := h.inputs.get()
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
	rows := &hubRows{Rendering: r, file: new(watch.NewReading(digest, time.Now())), wanted: map[lynq.NodeKey]string{}}
	for _, n := range r.Nodes[h.hub.Key] {
		rows.wanted[n.Key()] = digestOf(n)
	}
	changed, first := h.reads.take(rows)
	if changed {
		h.changes.Wake()
	}
	if first {
		h.wakeJoiners()
	}
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
