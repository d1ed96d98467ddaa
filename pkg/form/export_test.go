package form

import "github.com/lynqctl/lynqctl/pkg/lynq"

// Parse is the reading of a YAML or JSON stream to Values.
func Parse(file string, data []byte) ([]*Value, lynq.Problems) {
	var rep report
	documents, _ := parse(&rep, file, data)
	return documents, rep.problems
}

// Plain is a Value as encoding/json has it.
func (v *Value) Plain() any { return v.plain() }

// Cases are the spellings of a word.
func Cases(word string) []string { return cases(word) }
