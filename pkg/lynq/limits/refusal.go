package limits

import (
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Guard names a rule that refuses runs.
type Guard string

// Refusal says why a guard refuses a plan, and what to do about it.
type Refusal struct {
	Guard Guard
	Hub   lynq.HubKey // zero if it isn't about a hub
	Path  string      // the file of a tree, "" if it isn't about one
	What  string
	Fix   string
}
