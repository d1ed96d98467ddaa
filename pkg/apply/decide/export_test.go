package decide

import "github.com/lynqctl/lynqctl/pkg/lynq"

// Situation is the state of a Scene's object.
type Situation = situation

// Ours is the situation of an object as its node's last run left it.
const Ours = ours

// Situations returns all situations.
func Situations() []Situation { return situations() }

// Scene returns an input in one of the situations.
func Scene(at Situation, p lynq.Policy) *Input { return scene(at, p) }
