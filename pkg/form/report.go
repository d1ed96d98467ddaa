package form

import "github.com/lynqctl/lynqctl/pkg/lynq"

// report collects what is wrong, and what is odd, with the inputs.
type report struct {
	problems, warnings lynq.Problems
}
