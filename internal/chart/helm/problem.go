package helm

import (
	"errors"
	"fmt"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// problem is an error with a place and what to do.
type problem struct{ wire.Problem }

func (p *problem) Error() string { return p.What }

// wrong returns a problem of a file.
func wrong(file, fix, format string, args ...any) error {
	return &problem{wire.Problem{File: file, What: fmt.Sprintf(format, args...), Fix: fix}}
}

// problems lists the problems of an error, which may join several.
func problems(err error) []wire.Problem {
	type joinedError interface {
		error
		Unwrap() []error
	}
	if joined, ok := errors.AsType[joinedError](err); ok {
		var all []wire.Problem
		for _, e := range joined.Unwrap() {
			all = append(all, problems(e)...)
		}
		return all
	}
	if p, ok := errors.AsType[*problem](err); ok {
		return []wire.Problem{p.Problem}
	}
	return []wire.Problem{{What: err.Error()}}
}
