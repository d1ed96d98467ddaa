package watchcmd

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// rowReads has the rows of a hub from the last good read, and knows who waits for the next
// read. It is safe for concurrent use.
type rowReads struct {
	asking chan struct{} // has room for one: somebody asked for a read

	mu    sync.Mutex
	rows  *hubRows     // nil before the first good read
	asked []chan error // each gets the result of the next read
	// unread says why the rows can't be read. It is nil if they can.
	unread []inventory.Trouble
}

func newRowReads() *rowReads { return &rowReads{asking: make(chan struct{}, 1)} }

// forget forgets the rows.
func (r *rowReads) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows, r.unread = nil, nil
}

// ask asks for a read that begins from now on. The returned channel gets its result, unless
// the term ends before.
func (r *rowReads) ask() <-chan error {
	result := make(chan error, 1)
	r.mu.Lock()
	r.asked = append(r.asked, result)
	r.mu.Unlock()
	select {
	case r.asking <- struct{}{}:
	default: // the next read is due already
	}
	return result
}

// begin begins a read. The caller passes its result to those who asked for one.
func (r *rowReads) begin() (asked []chan error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.asking:
	default:
	}
	asked, r.asked = r.asked, nil
	return asked
}

// current returns the rows, or nil before the first good read. The caller may change the
// nodes.
func (r *rowReads) current() *hubRows {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		return nil
	}
	rows := *r.rows
	rows.Nodes = maps.Clone(rows.Nodes)
	for hub, nodes := range rows.Nodes {
		own := make([]*plan.Node, len(nodes))
		for i, n := range nodes {
			own[i] = new(*n)
		}
		rows.Nodes[hub] = own
	}
	return &rows
}

// nodes returns the nodes of a hub for callers that don't change them.
func (r *rowReads) nodes(hub lynq.HubKey) []*plan.Node {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		return nil
	}
	return r.rows.Nodes[hub]
}

// any reports whether there was a good read.
func (r *rowReads) any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rows != nil
}

// take replaces the rows by those of a good read. changed reports whether a node changed.
// first reports whether there were no rows before.
func (r *rowReads) take(rows *hubRows) (changed, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.rows
	r.rows = rows
	if before == nil {
		return true, true
	}
	if before.file.Digest == rows.file.Digest {
		rows.file = before.file
	}
	return !maps.Equal(before.wanted, rows.wanted), false
}

// file returns the digest of the file with the rows, or "" for none.
func (r *rowReads) file() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		return ""
	}
	return r.rows.file.Digest
}

// nextExpiry returns when the next row expires. It is zero for never.
func (r *rowReads) nextExpiry() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		return time.Time{}
	}
	return r.rows.NextExpiry
}

// fail notes why the rows can't be read, nil if they can.
func (r *rowReads) fail(why []inventory.Trouble) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread = why
}

// troubles says why the rows can't be read. It is nil if they can.
func (r *rowReads) troubles() []inventory.Trouble {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.unread)
}
