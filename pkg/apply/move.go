package apply

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// move is how a step goes on after something was tried. It is what the parts of a node's
// run give back; the node alone carries it out.
type move struct {
	kind    moveKind
	outcome report.Outcome // of moveEnds and moveBreaksOff
	message string
	err     error         // of moveFails
	timeout time.Duration // of moveLeaves
	ready   bool          // of moveEnds: the wait for the object is over
}

type moveKind uint8

const (
	moveEnds      moveKind = iota
	moveFails              // with an error
	moveBreaksOff          // the run ends; nothing is wrong with its object
	moveAgain              // its turn begins again, as what it has become
	moveLeaves             // it is waited for until its object is gone
	moveGone               // its object is gone, as far as the watch can see
	moveWaits              // for its next turn, or for its object
)

func endsAs(o report.Outcome, message string) move {
	return move{kind: moveEnds, outcome: o, message: message}
}

func fails(err error) move { return move{kind: moveFails, err: err} }

func leaves(timeout time.Duration) move { return move{kind: moveLeaves, timeout: timeout} }
