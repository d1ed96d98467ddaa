package apply

// waves tell how far the waves of a node are. The steps of wanted objects come in the
// order of their waves, so that it is enough to know up to which of them all are done.
type waves struct {
	done   int   // all steps before this one have come as far as others wait for
	failed []int // those of them that failed
	purges []int // those that go when their work is done
}

// before tells whether a step has to wait for objects of earlier waves, and gives the
// first of those that failed, nil for none.
func (w *waves) before(n *nodeRun, s *stepRun) (waiting bool, failed *stepRun) {
	for ; w.done < len(n.steps) && n.steps[w.done].Object != nil; w.done++ {
		state, _ := n.dependency(&n.steps[w.done])
		if state == dependencyWaiting {
			break
		}
		if state == dependencyFailed {
			w.failed = append(w.failed, w.done)
		}
	}
	earlier := func(i int) bool {
		return i < len(n.steps) && n.steps[i].Object != nil && n.steps[i].Object.Policy.ApplyOrder < s.Object.Policy.ApplyOrder
	}
	if len(w.failed) > 0 && earlier(w.failed[0]) {
		return earlier(w.done), &n.steps[w.failed[0]]
	}
	unpurged, failed := n.unpurged(s.Object.Policy.ApplyOrder)
	return unpurged || earlier(w.done), failed
}
