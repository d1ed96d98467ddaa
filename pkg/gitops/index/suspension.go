package index

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Suspension says that a person keeps lynqctl off the files of a node. Each has a line of its
// own, so that a merge which changes the node's files keeps it.
type Suspension struct {
	Node lynq.NodeKey
	inventory.Suspension
}

// suspensionLine is the line of a Suspension. Without a path and a hub, a lynqctl that
// doesn't know it refuses the index.
type suspensionLine struct {
	Suspended inventory.Suspension `json:"suspended"`
	Namespace string               `json:"namespace,omitempty"`
	Node      string               `json:"node"`
}

// appendLine writes the suspension's line of the index.
func (s *Suspension) appendLine(b []byte) []byte {
	line := suspensionLine{s.Suspension, s.Node.Namespace, s.Node.Name}
	line.Suspended.Since, line.Suspended.Until = s.Since.UTC(), s.Until.UTC()
	text, _ := json.Marshal(line) // its texts always encode, and decoding refuses other times
	return append(append(b, text...), '\n')
}

// suspension returns the suspension of a line.
func (l *line) suspension() (Suspension, error) {
	switch {
	case l.Node == "":
		return Suspension{}, errors.New("it suspends no node (restore the file from Git)")
	case !encodable(l.Suspended.Since) || !encodable(l.Suspended.Until):
		return Suspension{}, errors.New("it has a time beyond the year 9999 (restore the file from Git)")
	}
	s := Suspension{lynq.NodeKey{Namespace: l.Namespace, Name: l.Node}, l.Suspended.Shown()}
	s.Since, s.Until = s.Since.UTC(), s.Until.UTC()
	return s, nil
}

// encodable reports whether JSON can have a time.
func encodable(t time.Time) bool { return t.UTC().Year() >= 0 && t.UTC().Year() <= 9999 }

// sortSuspended sorts suspensions, and joins those of one node. A merge may keep those of both
// sides, and then the one that ends later counts.
func sortSuspended(all []Suspension) []Suspension {
	slices.SortFunc(all, func(a, b Suspension) int {
		return cmp.Or(
			strings.Compare(a.Node.Namespace, b.Node.Namespace), strings.Compare(a.Node.Name, b.Node.Name),
			compareEnds(&b.Suspension, &a.Suspension), b.Since.Compare(a.Since), strings.Compare(a.String(), b.String()),
		)
	})
	return slices.CompactFunc(all, func(a, b Suspension) bool { return a.Node == b.Node })
}

// compareEnds compares when suspensions end. One without an end is the last.
func compareEnds(a, b *inventory.Suspension) int {
	switch forever := a.Until.IsZero(); {
	case forever == b.Until.IsZero():
		return a.Until.Compare(b.Until)
	case forever:
		return 1
	}
	return -1
}

// Suspend returns the index with another suspension of a node, or with none for nil.
func (x *Index) Suspend(node lynq.NodeKey, s *inventory.Suspension) *Index {
	next := *x
	next.Suspended = slices.DeleteFunc(slices.Clone(x.Suspended), func(o Suspension) bool { return o.Node == node })
	if s != nil {
		next.Suspended = sortSuspended(append(next.Suspended, Suspension{node, *s}))
	}
	return &next
}
