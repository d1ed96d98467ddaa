package form

import (
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// report collects problems and warnings about the inputs.
type report struct {
	problems, warnings lynq.Problems
}

// parse returns the documents of a YAML or JSON stream, and reports problems. complete is
// false if it couldn't read everything.
func parse(rep *report, file string, data []byte) (documents []*document.Value, complete bool) {
	s := document.Parse(file, data)
	rep.problems, rep.warnings = append(rep.problems, s.Problems...), append(rep.warnings, s.Warnings...)
	return s.Documents, !s.Broken
}
