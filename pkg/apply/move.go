package apply

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// move says how a step continues after an attempt. The parts of a nodeRun return moves, and
// only the node executes them.
type move struct {
	kind    moveKind
	outcome report.Outcome // for moveEnds and moveBreaksOff
	message string
	err     error         // for moveFails
	timeout time.Duration // for moveLeaves
	ready   bool          // for moveEnds: the wait for the object is over
}

type moveKind uint8

const (
	moveEnds      moveKind = iota
	moveFails              // the step failed with an error
	moveBreaksOff          // the run ends, and nothing is wrong with the object
	moveAgain              // the step has its turn again, as a new step
	moveLeaves             // the step waits until its object is deleted
	moveGone               // the watch reported that the object is gone
	moveWaits              // the step waits for its next turn, or for its object
)

func endsAs(o report.Outcome, message string) move {
	return move{kind: moveEnds, outcome: o, message: message}
}

func fails(err error) move { return move{kind: moveFails, err: err} }

func leaves(timeout time.Duration) move { return move{kind: moveLeaves, timeout: timeout} }
