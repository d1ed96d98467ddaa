package lynq

// Stage counts the nodes of a form that a rollout changes together: the next Rows of them, or
// the next Percent of all. Both are 0 if a template chooses them.
type Stage struct {
	Rows, Percent int
	// Pause is set if the next stage waits until a person continues.
	Pause bool
}
