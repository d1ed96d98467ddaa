package lynq

import (
	"strconv"
	"unicode"
)

// VariableRef writes a variable as templates do: .plan, or index . "my-plan" where the
// name is no identifier.
func VariableRef(name string) string {
	if isIdentifier(name) {
		return "." + name
	}
	return "index . " + strconv.Quote(name)
}

// isIdentifier tells whether text/template takes a name after a dot.
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
