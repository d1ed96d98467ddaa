package form

import (
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// report collects what is wrong, and what is odd, with the inputs.
type report struct {
	problems, warnings lynq.Problems
}

// parse gets the documents of a YAML or JSON stream, and reports what is wrong with it.
// Complete is false where some of it could not be read.
func parse(rep *report, file string, data []byte) (documents []*document.Value, complete bool) {
	s := document.Parse(file, data)
	rep.problems, rep.warnings = append(rep.problems, s.Problems...), append(rep.warnings, s.Warnings...)
	return s.Documents, !s.Broken
}
