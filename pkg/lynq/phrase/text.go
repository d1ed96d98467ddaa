package phrase

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Count is a number with its noun: "1 node", "2 nodes", "2 inventories".
func Count[N ~int | ~int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if y, ends := strings.CutSuffix(noun, "y"); ends {
		noun = y + "ie"
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun + "s"
}

// maxNamed is how many names a message shows.
const maxNamed = 3

// Some names the first three of several things, and counts the others: "a, b, c and 2 more".
func Some(names []string) string {
	named := strings.Join(names[:min(maxNamed, len(names))], ", ")
	if more := len(names) - maxNamed; more > 0 {
		named += " and " + strconv.Itoa(more) + " more"
	}
	return named
}

// maxShown is how many bytes of a value a message shows.
const maxShown = 4 << 10

// Shown is a text as messages show it: of a long one the beginning, and how long the
// rest is.
func Shown(s string) string {
	head, rest := shown(s)
	return head + rest
}

// Quote is Shown in quotes, as %q has it.
func Quote(s string) string {
	head, rest := shown(s)
	return strconv.Quote(head) + rest
}

// shown parts a text behind the last character that is shown, and says how long the
// rest is.
func shown(s string) (head, rest string) {
	if len(s) <= maxShown {
		return s, ""
	}
	end := maxShown
	for end > maxShown-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end], "… (" + strconv.Itoa(len(s)-end) + " more bytes)"
}

// JSON is compact JSON that people can read: <, > and & are themselves.
func JSON(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
