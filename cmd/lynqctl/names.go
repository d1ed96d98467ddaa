package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/suggest"
)

// typedName is what an argument names as kubectl does: TYPE/NAME.
type typedName struct{ what, name string }

// typedNames reads arguments that all are TYPE/NAME. The name of a hub or form may have
// a slash of its own.
func typedNames(args, types []string) ([]typedName, error) {
	names := make([]typedName, 0, len(args))
	for _, arg := range args {
		what, name, found := strings.Cut(arg, "/")
		switch {
		case !found || name == "":
			return nil, fmt.Errorf("%q is no TYPE/NAME, where TYPE is one of %s", arg, strings.Join(types, ", "))
		case !slices.Contains(types, what):
			return nil, fmt.Errorf("%q: there is no type %q (%s)", arg, what, suggest.Fix(what, types))
		}
		names = append(names, typedName{what, name})
	}
	return names, nil
}
