package lynq

import (
	"strconv"
	"unicode"
)

// VariableRef returns a variable as templates write it: .plan, or index . "my-plan" if the name
// is no identifier.
func VariableRef(name string) string {
	if isIdentifier(name) {
		return "." + name
	}
	return "index . " + strconv.Quote(name)
}

// isIdentifier reports whether text/template accepts a name after a dot.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != ""
}

// PredefinedVariables returns the variables that every template has.
func PredefinedVariables() []string {
	return []string{"uid", "activate", "hubId", "templateRef", "namespace"}
}
