package plan

import "github.com/lynqctl/lynqctl/pkg/inventory"

// SuspendedError means that a person suspended a node, so lynqctl leaves it alone.
type SuspendedError struct{ inventory.Suspension }

// Error implements error.
func (e *SuspendedError) Error() string { return e.String() }
