package changeset

import "fmt"

// NoGroupError refuses the number of a group that a change set doesn't have.
type NoGroupError struct{ Group, Last int }

// Error implements error.
func (e *NoGroupError) Error() string {
	return fmt.Sprintf("--expand=%d: the last group is %d", e.Group, e.Last)
}
