package watchcmd

import (
	"context"
	"sync"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// hubInputs are what the files say of a hub. Nobody changes them. Only rounds note more
// readings of the files.
type hubInputs struct {
	*applycmd.Loaded
	// files is the reading from which the inputs came.
	files watch.Reading
	// partial is set if files with errors may hide objects that other hubs render.
	partial bool
	// invalid says why the hub keeps older inputs. It is nil without a problem.
	invalid []inventory.Trouble
}

// latestInputs has the latest inputs of a hub. A round uses those that it began with. It is
// safe for concurrent use.
type latestInputs struct {
	mu sync.Mutex
	in *hubInputs
	// endRound ends the current round if it deletes. It is nil without such a round.
	endRound context.CancelCauseFunc
}

func newLatestInputs(in *hubInputs) *latestInputs { return &latestInputs{in: in} }

// get returns the latest inputs.
func (l *latestInputs) get() *hubInputs {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.in
}

// change replaces the inputs, and returns the earlier ones. It ends a round that deletes,
// because other hubs may now render an object that the round would delete.
func (l *latestInputs) change(in *hubInputs) (before *hubInputs) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, l.in = l.in, in
	if l.endRound != nil {
		l.endRound(errInputsChanged)
	}
	return before
}

// deletes notes that a round begins to delete by some inputs, and how to end it. It returns
// false if other inputs came.
func (l *latestInputs) deletes(by *hubInputs, end context.CancelCauseFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.in != by {
		return false
	}
	l.endRound = end
	return true
}

// ended notes that no round deletes any more.
func (l *latestInputs) ended() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endRound = nil
}
