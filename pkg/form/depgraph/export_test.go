package depgraph

// Reduce leaves out the dependencies that follow from others.
func Reduce(needs [][]int, conditional func(int) bool) [][]int { return reduce(needs, conditional) }
