package render

import "github.com/lynqctl/lynqctl/internal/suggest"

// nearest are, by names that no node has had so far, the names that are nearest to them.
type nearest map[string]string

// see takes note of names. Those of all nodes need not be kept for that.
func (n nearest) see(names []string, missing map[string]bool) {
	for wanted := range missing {
		for _, name := range names {
			n.consider(wanted, name)
		}
	}
}

func (n nearest) consider(wanted, name string) {
	candidates := []string{name}
	if best := n[wanted]; best != "" {
		candidates = []string{best, name}
	}
	if near, ok := suggest.Near(wanted, candidates); ok {
		n[wanted] = near
	}
}
