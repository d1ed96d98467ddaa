package limits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// ChangeKind says how a run treats a node that a cluster or a Git tree has, as the guard
// of --max-delete counts nodes.
type ChangeKind uint8

// The kinds of changes. All but the first count against --max-delete.
const (
	NodeStays     ChangeKind = iota // the node keeps its objects, or loses some without data
	NodeLeaves                      // no active row makes the node
	NodeMoves                       // the row makes the node in another namespace
	NodeEmptied                     // the form makes no object for the row
	NodeNarrowed                    // includeWhen, or a row's values for a chart, take objects from the node
	NodeLosesData                   // a rename or a dropped resource takes an object that holds data
	changeKinds
)

// Object is an object that a node has before a run, and may lose.
type Object struct {
	lynq.Ref
	// ID is that of the object's resource, or "" if the row makes the resource's object under
	// another name.
	ID string
	// Template is the digest of the form's template at the last write of the object, or "" if
	// nobody recorded it.
	Template string
	// Retained is set if a policy keeps the object when its node no longer wants it.
	Retained bool
	// Data is set if the deletion of the object loses data.
	Data bool
}

// NodeChange has the objects of a node before a run, and the run's change to the node.
type NodeChange struct {
	// Before may leave out objects that exist after the run.
	Before []Object
	// Leaves is set if the run deletes the node. To is the namespace in which the row has its
	// node from now on, "" if no row wants it.
	Leaves bool
	To     string
	// Objects is the number of objects that the row renders.
	Objects int
	// Exists reports whether an object exists after the run, in any node.
	Exists func(lynq.Ref) bool
	// NotIncluded are resources of the form that the row doesn't get, see lynq.Drops.
	NotIncluded []string
}

// Lost returns the objects that the run deletes.
func (c *NodeChange) Lost() []Object {
	return slices.DeleteFunc(slices.Clone(c.Before), func(h Object) bool { return h.Retained || c.Exists(h.Ref) })
}

// Kind returns how the limits count the change.
func (c *NodeChange) Kind() ChangeKind {
	switch {
	case c.Leaves && c.To != "":
		return NodeMoves
	case c.Leaves:
		return NodeLeaves
	}
	lost := c.Lost()
	switch {
	case len(lost) == 0:
		return NodeStays
	case c.Objects == 0:
		return NodeEmptied
	case slices.ContainsFunc(lost, func(h Object) bool { return lynq.Drops(c.NotIncluded, h.ID, h.Template) }):
		return NodeNarrowed
	case slices.ContainsFunc(lost, func(h Object) bool { return h.Data }):
		return NodeLosesData
	}
	return NodeStays
}

// Count counts the nodes of a hub, and those that a run deletes or from which it deletes objects.
// The zero value has counted none.
type Count struct {
	Nodes int // of the hub before the run
	// Earlier is the number of nodes deleted within Window before this run, which count, too.
	// Of is the number of nodes before those deletions, 0 for Nodes.
	Earlier, Of int
	Window      time.Duration
	// Named are the nodes that Going counts, as far as a refusal may name them.
	Named []string

	kinds [changeKinds]int
	data  *lynq.Ref // the first object with data that a remaining node loses
	from  string    // the namespace from which the first moving node comes
}

// Add counts a node with its namespace before the run.
func (t *Count) Add(namespace string, c *NodeChange) {
	t.Nodes++
	kind := c.Kind()
	t.kinds[kind]++
	switch kind {
	case NodeStays, NodeLeaves:
		return
	case NodeMoves:
		if t.from == "" {
			t.from = namespace
		}
		return
	}
	lost := c.Lost()
	if i := slices.IndexFunc(lost, func(h Object) bool { return h.Data }); i >= 0 && t.data == nil {
		t.data = &lost[i].Ref
	}
}

// Going counts the nodes that --max-delete counts.
func (t *Count) Going() int { return t.Nodes - t.kinds[NodeStays] }

// Refusal says that more nodes go than the limit allows, and what to do. flag is the value of
// --max-delete.
func (t *Count) Refusal(may int, flag string) (what, fix string) {
	verb := "be deleted"
	if t.kinds[NodeEmptied]+t.kinds[NodeNarrowed]+t.kinds[NodeLosesData] > 0 {
		verb = "be deleted or lose objects"
	}
	what = fmt.Sprintf("%d of %d nodes would %s%s, the limit is %d (--max-delete=%s)%s", t.Going(), cmp.Or(t.Of, t.Nodes), verb, t.named(), may, flag, t.why())
	return what, t.check() + "; " + t.Anyway()
}

// named names some of the nodes that leave.
func (t *Count) named() string {
	if len(t.Named) == 0 {
		return ""
	}
	return " (" + phrase.Some(t.Named) + ")"
}

// Anyway says how a person lets the run delete the nodes.
func (t *Count) Anyway() string {
	return fmt.Sprintf("to do this anyway, pass --max-delete=%d", t.Going()+t.Earlier)
}

// why returns the causes, "" if nodes only lose their rows.
func (t *Count) why() string {
	var causes []string
	add := func(kind ChangeKind, cause string) {
		if n := t.kinds[kind]; n > 0 {
			causes = append(causes, fmt.Sprintf("%d "+cause, n))
		}
	}
	switch t.Earlier {
	case 0:
	case 1:
		causes = append(causes, fmt.Sprintf("1 other was deleted within %s", t.Window))
	default:
		causes = append(causes, fmt.Sprintf("%d others were deleted within %s", t.Earlier, t.Window))
	}
	add(NodeMoves, "move from namespace "+t.from+" to another")
	add(NodeEmptied, "get no object from their forms")
	add(NodeNarrowed, "lose objects through includeWhen or values of a chart")
	add(NodeLosesData, "lose data through a rename or a dropped resource")
	if t.data != nil {
		causes = append(causes, "the data of "+t.data.Full()+" would be lost")
	}
	if len(causes) == 0 {
		return ""
	}
	return ": " + strings.Join(causes, ", ")
}

// check says what a person checks first.
func (t *Count) check() string {
	switch going := t.Going(); {
	case t.kinds[NodeMoves] > 0:
		return "check the namespace, -n " + t.from + " keeps those nodes"
	case t.kinds[NodeLeaves] == going:
		return "check the rows"
	case t.kinds[NodeEmptied] == going:
		return "check the forms"
	}
	return "check the rows and the forms"
}
