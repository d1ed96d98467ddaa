package limits

import (
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Guard names what keeps a run from doing harm.
type Guard string

// Refusal says why a guard refuses a plan, and what to do about it.
type Refusal struct {
	Guard Guard
	Hub   lynq.HubKey // none where it is not about one
	Path  string      // the file of a tree, "" where it is not about one
	What  string
	Fix   string
}
