package diff

// Report is what an apply would change.
type Report struct {
	// Nodes are those of which something is to be told, in the order of their
	// names, and Total how many there are.
	Nodes []Node
	Total int
	// Refusals are why guards would refuse the apply.
	Refusals []Refusal
}

// Node is a node and those of its objects of which something is to be told.
type Node struct {
	Namespace, Name string
	Hub, Form       string
	// Problem is why nothing of it could be planned, "" where it could.
	Problem string
	Objects []Object
}

// Refusal is why a guard would refuse an apply, and what to do about it.
type Refusal struct{ Guard, Hub, What, Fix string }

// Counts sum a report up.
type Counts struct {
	Nodes    int // that would change
	Objects  int // that would change
	Problems int // nodes and objects that have one
}

// Counts counts.
func (r *Report) Counts() Counts {
	var c Counts
	for i := range r.Nodes {
		n := &r.Nodes[i]
		changes := 0
		for j := range n.Objects {
			o := &n.Objects[j]
			switch {
			case o.Problem != "":
				c.Problems++
			case !o.Skipped && o.Changes():
				changes++
			}
		}
		if n.Problem != "" {
			c.Problems++
		}
		if changes > 0 {
			c.Nodes++
		}
		c.Objects += changes
	}
	return c
}
