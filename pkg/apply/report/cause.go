package report

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Problem returns what is wrong in one text, with the object.
func (d *Details) Problem() string {
	if d.Object == (lynq.Ref{}) {
		return d.Message
	}
	return d.Object.String() + ": " + d.Message
}

// Why returns what is wrong, without the object or the row.
func (d *Details) Why() string {
	_, _, why := d.about()
	return why
}

// about returns the kind and the name of the object, or "", and what is wrong with it. Records,
// and errors of whole nodes, have the object in their text.
func (d *Details) about() (kind, name, why string) {
	switch {
	case d.Object != (lynq.Ref{}):
		return d.Object.Kind, d.Object.Name, d.Message
	case d.Shared != "":
		return "", "", d.Shared
	}
	object, why, found := strings.Cut(d.Message, ": ")
	kind, path, isObject := strings.Cut(object, "/")
	if !found || !isObject || strings.Contains(object, " ") {
		return "", "", d.Message
	}
	return kind, path[strings.LastIndexByte(path, '/')+1:], why
}

// FailureOf returns the problem of a node that failed as a whole.
func FailureOf(err error) Details {
	d := Details{Message: err.Error()}
	if unrendered := (*plan.RenderError)(nil); errors.As(err, &unrendered) {
		d.Shared = unrendered.Shared
	}
	return d
}

// ProblemTexts returns problems as texts.
func ProblemTexts(problems []Details) []string {
	var texts []string
	for i := range problems {
		texts = append(texts, problems[i].Problem())
	}
	return texts
}

// ProblemsIn returns a problem for each line of a text.
func ProblemsIn(text string) []Details {
	var problems []Details
	for line := range strings.Lines(strings.TrimSpace(text)) {
		problems = append(problems, Details{Message: strings.TrimSuffix(line, "\n")})
	}
	return problems
}

// CauseOf returns the same key for problems of one cause. They differ only in names of nodes
// and objects, and in numbers.
func CauseOf(of lynq.NodeID, problem *Details) string {
	kind, name, why := problem.about()
	var names []string // a name may be a word of the message
	if problem.Shared == "" {
		names = []string{of.Name, strings.TrimSuffix(of.Name, "-"+of.Form.Name), name}
	}
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
	for i := range n.Problems {
		if keys = append(keys, CauseOf(n.NodeID, &n.Problems[i])); i == 0 {
			why = n.Problems[i].Why()
		}
	}
	return keys, why
}
