package schedule

import "context"

// Slots limits how many nodes work at once.
type Slots chan struct{}

// NewSlots returns n slots, and at least one.
func NewSlots(n int) Slots { return make(Slots, max(1, n)) }

// Take takes a slot. It returns false if the context ended.
func (s Slots) Take(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case s <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Retake takes a slot again that a node gave back while it waited.
func (s Slots) Retake() { s <- struct{}{} }

// Give returns a slot.
func (s Slots) Give() { <-s }
