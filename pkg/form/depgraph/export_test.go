package depgraph

// Reduce removes redundant dependencies.
func Reduce(needs [][]int, conditional func(int) bool) [][]int { return reduce(needs, conditional) }
