package ui

import (
	"cmp"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// wait is an object that isn't ready yet.
type wait struct {
	node   lynq.NodeKey
	object lynq.Ref
	since  time.Time
	why    string
}

// line returns the wait as text, without its node.
func (w wait) line(now time.Time) string {
	return objectName(w.object) + "  " + age(now.Sub(w.since)) + "  " + tty.Safe(w.why)
}

// waits are the objects that a run waits for. They are grouped by node, so that a finished
// node removes its own at once.
type waits struct {
	byNode map[lynq.NodeKey]map[lynq.Ref]wait
	n      int
}

// observe notes an event, which must have a time.
func (w *waits) observe(e *report.Event) {
	switch e.Type {
	case report.EventWait:
		w.add(wait{node: e.Key(), object: e.Object, since: e.Time, why: e.Message})
	case report.EventReady, report.EventObject:
		w.remove(e.Key(), e.Object)
	case report.EventNode:
		w.n -= len(w.byNode[e.Key()])
		delete(w.byNode, e.Key())
	}
}

func (w *waits) add(one wait) {
	objects := w.byNode[one.node]
	if objects == nil {
		objects = map[lynq.Ref]wait{}
		if w.byNode == nil {
			w.byNode = map[lynq.NodeKey]map[lynq.Ref]wait{}
		}
		w.byNode[one.node] = objects
	}
	if before, waited := objects[one.object]; waited {
		one.since = before.since
	} else {
		w.n++
	}
	objects[one.object] = one
}

func (w *waits) remove(node lynq.NodeKey, object lynq.Ref) {
	if _, waited := w.byNode[node][object]; waited {
		delete(w.byNode[node], object)
		w.n--
	}
}

// longest returns the n oldest waits, the oldest first.
func (w *waits) longest(n int) []wait {
	top := make([]wait, 0, n+1)
	for _, objects := range w.byNode {
		for _, one := range objects {
			at, _ := slices.BinarySearchFunc(top, one, compareWaits)
			if at == n {
				continue
			}
			top = slices.Insert(top, at, one)
			top = top[:min(len(top), n)]
		}
	}
	return top
}

func compareWaits(a, b wait) int {
	return cmp.Or(
		a.since.Compare(b.since),
		compareNodes(a.node, b.node),
		cmp.Compare(a.object.String(), b.object.String()),
		cmp.Compare(a.object.Group, b.object.Group),
	)
}

func compareNodes(a, b lynq.NodeKey) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
