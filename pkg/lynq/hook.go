package lynq

import "strings"

// Hook is a resource with runOn: Delete, as far as the form alone says it. lynqctl compares a
// recorded hook with it before it runs the hook.
type Hook struct {
	// ID is the id of a resource. With Prefix, it begins the ids of objects of a chart.
	ID, Group, Kind string
	Prefix          bool
	// Namespace is empty if the object is in the namespace of its node.
	Namespace Text
	// Manifest is that of the form, without the parts that lynqctl adds: maps, lists, strings,
	// numbers, booleans and nil. A Text stands for a string that a template renders, and a
	// Scalar for a number or a boolean.
	Manifest map[string]any
}

// Text is a string of a form in pieces.
type Text []Piece

// Piece is a part of a Text: text of the form, the uid of the row, or with Any, any text of
// the row.
type Piece struct {
	Fixed    string
	UID, Any bool
}

// Scalar is a number or a boolean that comes from the row.
type Scalar struct{}

// Fixed returns the text if no row changes it.
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

// Matches reports whether some row with this uid may have made this text. Blanks around
// names don't count.
func (t Text) Matches(uid, text string) bool {
	return t.matches(uid, text) || t.matches(strings.TrimSpace(uid), text)
}

func (t Text) matches(uid, text string) bool {
	parts := []string{""} // the texts between gaps
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
