package kinds

import (
	_ "embed"
	"strings"
)

// served has a line for each kind: Kind.group, plural, scope. TestBuiltInKinds in
// internal/kube compares it with a real API server.
//
//go:embed kinds.txt
var served string

// Served returns the kinds that Kubernetes serves and lists, in the version that lynqctl is
// built with. Each line has the kind with its group, the plural, and the scope.
func Served() string { return served }

// Serves reports whether ServedNames has a name.
func Serves(name string) bool {
	return strings.HasPrefix(served, name+" ") || strings.Contains(served, "\n"+name+" ")
}

// ServedNames returns the kinds of Served with their groups, such as Deployment.apps. A kind
// of the core group has none.
func ServedNames() []string {
	var names []string
	for line := range strings.Lines(served) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	return names
}
