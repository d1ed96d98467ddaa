package decide

import "github.com/lynqctl/lynqctl/pkg/lynq"

// Situation is how the object of a Scene is found.
type Situation = situation

// Ours is that of an object as its node's last run left it.
const Ours = ours

// Situations are all of them.
func Situations() []Situation { return situations() }

// Scene is an input in one of the situations.
func Scene(at Situation, p lynq.Policy) *Input { return scene(at, p) }
