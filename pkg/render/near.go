package render

import "github.com/lynqctl/lynqctl/pkg/lynq/suggest"

// nearest maps each missing name to the most similar existing name.
type nearest map[string]string

// see compares names with the missing ones, so that the run needn't store the names of all
// nodes.
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
