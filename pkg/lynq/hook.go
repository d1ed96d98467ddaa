package lynq

import "strings"

// Hook holds what a form says of a resource with runOn: Delete, as far as no row is
// needed to know it. lynqctl compares the record of such a resource with it before it
// runs the hook.
type Hook struct {
	// ID is the id of a resource. With Prefix, it begins the ids of objects of a chart.
	ID, Group, Kind string
	Prefix          bool
	// Namespace is empty where the object is in the namespace of its node.
	Namespace Text
	// Manifest is that of the form without what lynqctl adds, as JSON has it: maps, lists,
	// strings, numbers, booleans and nil. A Text stands for a string that a template makes,
	// a Scalar for a number or a boolean.
	Manifest map[string]any
}

// Text is a string of a form, piece by piece.
type Text []Piece

// Piece is a part of a Text: text that stands in the form, the uid of the row, or, with
// Any, what only the row tells.
type Piece struct {
	Fixed    string
	UID, Any bool
}

// Scalar is a number or a boolean that only the row tells.
type Scalar struct{}

// Fixed is the text where no row changes it.
func (t Text) Fixed() (text string, fixed bool) {
	var b strings.Builder
	for _, p := range t {
		if p.UID || p.Any {
			return "", false
		}
		b.WriteString(p.Fixed)
	}
	return b.String(), true
}

// Matches tells whether some row with this uid may have made this text. Blanks around
// names don't count.
func (t Text) Matches(uid, text string) bool {
	return t.matches(uid, text) || t.matches(strings.TrimSpace(uid), text)
}

func (t Text) matches(uid, text string) bool {
	parts := []string{""} // what stands between gaps
	for _, p := range t {
		switch {
		case p.Any:
			parts = append(parts, "")
		case p.UID:
			parts[len(parts)-1] += uid
		default:
			parts[len(parts)-1] += p.Fixed
		}
	}
	first, rest := parts[0], parts[1:]
	text, found := strings.CutPrefix(text, first)
	if !found || len(rest) == 0 {
		return found && text == ""
	}
	for _, part := range rest[:len(rest)-1] {
		if _, text, found = strings.Cut(text, part); !found {
			return false
		}
	}
	return strings.HasSuffix(text, rest[len(rest)-1])
}
