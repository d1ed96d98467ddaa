package cmdflags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// TypedName is an argument of the form TYPE/NAME, as kubectl has it.
type TypedName struct{ What, Name string }

// TypeOf returns the type for a word that kubectl would accept. The word may be a singular
// or plural, or the name of the operator's resource: nodes, LynqNode.
func TypeOf(word string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(word), "lynq"), "s")
}

// TypedNames parses arguments of the form TYPE/NAME. The name of a hub or form may contain
// a slash.
func TypedNames(args, types []string) ([]TypedName, error) {
	names := make([]TypedName, 0, len(args))
	for _, arg := range args {
		word, name, found := strings.Cut(arg, "/")
		what := TypeOf(word)
		switch {
		case !found || name == "":
			return nil, fmt.Errorf("%q isn't TYPE/NAME, where TYPE is one of %s", arg, strings.Join(types, ", "))
		case !slices.Contains(types, what):
			return nil, fmt.Errorf("%q: there is no type %q (%s)", arg, word, suggest.Fix(word, types))
		}
		names = append(names, TypedName{what, name})
	}
	return names, nil
}

// OneType parses arguments of the form TYPE/NAME that all have the same type.
func OneType(args, types []string) (what string, names []string, err error) {
	typed, err := TypedNames(args, types)
	if err != nil {
		return "", nil, err
	}
	for _, t := range typed {
		if t.What != typed[0].What {
			return "", nil, fmt.Errorf("%s/%s and %s/%s have different types (run the command once for each type)", typed[0].What, typed[0].Name, t.What, t.Name)
		}
		names = append(names, t.Name)
	}
	return typed[0].What, names, nil
}

// NodeNames parses arguments that name nodes, as NAME or node/NAME.
func NodeNames(args []string) ([]string, error) {
	names := make([]string, len(args))
	for i, arg := range args {
		names[i] = arg
		if word, name, typed := strings.Cut(arg, "/"); typed && TypeOf(word) == "node" {
			names[i] = name
		}
		if names[i] == "" || strings.Contains(names[i], "/") {
			return nil, fmt.Errorf("%q is not the name of a node (write NODE or node/NODE, and pass its namespace with -n)", arg)
		}
	}
	return names, nil
}
