package limits

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxDelete limits the nodes of a hub that a run may delete: by their number, or by a percentage.
type MaxDelete struct {
	Nodes   int
	Percent int // counts unless it is 0
}

// DefaultMaxDelete is a quarter of the nodes.
func DefaultMaxDelete() MaxDelete { return MaxDelete{Percent: 25} }

// DefaultMaxRowChange is half of the nodes. A broken export changes more, and people seldom do.
func DefaultMaxRowChange() MaxDelete { return MaxDelete{Percent: 50} }

// ParseMaxDelete reads "10" or "25%".
func ParseMaxDelete(s string) (MaxDelete, error) {
	number, percent := strings.CutSuffix(s, "%")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || percent && n > 100 {
		return MaxDelete{}, fmt.Errorf("%q is neither a number of nodes nor a percentage such as 25%%", s)
	}
	if percent {
		if n == 0 {
			return MaxDelete{}, nil
		}
		return MaxDelete{Percent: n}, nil
	}
	return MaxDelete{Nodes: n}, nil
}

// String returns the limit in the format of the command line.
func (m MaxDelete) String() string {
	if m.Percent != 0 {
		return strconv.Itoa(m.Percent) + "%"
	}
	return strconv.Itoa(m.Nodes)
}

// Of returns the number of nodes that a run may delete. For a percentage, it is at least one.
func (m MaxDelete) Of(nodes int) int {
	if m.Percent != 0 {
		return max(1, nodes*m.Percent/100)
	}
	return m.Nodes
}
