package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// CutObject splits a problem into the kind and name of its object, and the rest. Kind and
// name are "" if the problem doesn't begin with an object.
func CutObject(problem string) (kind, name, why string) {
	object, why, found := strings.Cut(problem, ": ")
	kind, path, isObject := strings.Cut(object, "/")
	if !found || !isObject || strings.Contains(object, " ") {
		return "", "", problem
	}
	return kind, path[strings.LastIndexByte(path, '/')+1:], why
}

// CauseOf returns the same key for problems of one cause. They differ only in names of nodes
// and objects, and in numbers.
func CauseOf(of lynq.NodeID, problem string) string {
	kind, name, why := CutObject(problem)
	names := []string{of.Name, strings.TrimSuffix(of.Name, "-"+of.Form.Name), name}
	key := []byte(kind + ": ")
	for why != "" {
		w := why[:cmp.Or(len(why)-len(strings.TrimLeftFunc(why, inWord)), 1)]
		why = why[len(w):]
		if slices.ContainsFunc(names, func(n string) bool { return n != "" && (w == n || strings.HasPrefix(w, n+"-")) }) {
			w = "NAME"
		}
		key = appendNumberless(key, w)
	}
	return string(key)
}

// inWord reports whether a character may be part of an object's name.
func inWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || isDigit(r) || strings.ContainsRune("_.-", r)
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// appendNumberless appends a word, with 0 for each number in it.
func appendNumberless(to []byte, word string) []byte {
	number := false
	for i := range len(word) {
		digit := isDigit(rune(word[i]))
		switch {
		case !digit:
			to = append(to, word[i])
		case !number:
			to = append(to, '0')
		}
		number = digit
	}
	return to
}

// Causes identifies the causes of a node's failure, and returns its first problem without
// the object. Without a failure of its own, a node has none.
func (n *NodeResult) Causes() (keys []string, why string) {
	if Severity(n.Outcome) <= Severity(OutcomeInterrupted) {
		return nil, ""
	}
	for i, problem := range n.Problems {
		if keys = append(keys, CauseOf(n.NodeID, problem)); i == 0 {
			_, _, why = CutObject(problem)
		}
	}
	return keys, why
}
