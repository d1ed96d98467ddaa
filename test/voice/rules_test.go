package voice

import (
	"regexp"
	"strings"
	"unicode"
)

// mostWords limits the words of a sentence. Writers aim at 25.
const mostWords = 30

// broken returns the rules that a sentence breaks.
func broken(sentence string) []string {
	var names []string
	for name, pattern := range map[string]string{
		"headless clause": `(?:^|[:;(] ?)(?i:what|whose|whatever)(?: [a-z]+){1,2} (?:is|are|has|was)\b`,
		"passive":         `\b(?:is|are|was|were) (?:to be|to go|told|said)\b`,
		"but for":         `\bbut for\b`,
		"be it":           `\bbe it\b`,
		"for as because":  `, for (?:it|they|there|that)\b`,
		"is none that":    `\bis none that\b`,
		"is there":        `\b(?:is|are) there (?:twice|already)\b`,
		"belongs into":    `\bbelongs? into\b`,
	} {
		if regexp.MustCompile(pattern).MatchString(sentence) {
			names = append(names, name)
		}
	}
	if words(sentence) > mostWords && !regexp.MustCompile(`^(?:SELECT|FROM|BEGIN) `).MatchString(sentence) {
		names = append(names, "long")
	}
	return names
}

// words counts the words of a sentence.
func words(sentence string) int {
	n := 0
	for _, w := range strings.Fields(sentence) {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

// sentences returns the sentences of a paragraph, each on one line. Items of a list, cells
// of a table and indented lines stand alone.
func sentences(paragraph string) []string {
	var all []string
	for _, part := range parts(paragraph) {
		part = strings.Join(strings.Fields(part), " ")
		end := regexp.MustCompile(`[.!?][)"'*_]* `)
		for {
			at := end.FindStringIndex(part)
			if at == nil {
				break
			}
			all = append(all, part[:at[1]-1])
			part = part[at[1]:]
		}
		if part != "" {
			all = append(all, part)
		}
	}
	return all
}

// parts returns the pieces of a paragraph that no sentence crosses.
func parts(paragraph string) []string {
	var all []string
	item := regexp.MustCompile(`^\s*(?:[-*] |\d+\. |> )|^  |^\t`)
	for line := range strings.SplitSeq(paragraph, "\n") {
		switch {
		case strings.HasPrefix(line, "|"):
			all = append(all, strings.Split(strings.ReplaceAll(line, `\|`, "/"), "|")...)
			all = append(all, "")
		case len(all) == 0 || strings.TrimSpace(line) == "" || item.MatchString(line) && !continues(all[len(all)-1], line):
			all = append(all, item.ReplaceAllString(line, ""))
		default:
			all[len(all)-1] += "\n" + strings.TrimPrefix(strings.TrimSpace(line), "> ")
		}
	}
	return all
}

// continues reports whether an indented line continues the item before it.
func continues(before, line string) bool {
	return strings.HasPrefix(line, "  ") && !regexp.MustCompile(`^\s*(?:[-*] |\d+\. )`).MatchString(line) &&
		before != "" && !strings.HasSuffix(strings.TrimSpace(before), ":") && !regexp.MustCompile(`^ *[#\d]`).MatchString(strings.TrimSpace(line))
}

// plain returns Markdown as people read it: code is one word, and a link is its text.
func plain(text string) string {
	text = regexp.MustCompile("(?s)`+[^`]*`+").ReplaceAllString(text, "X")
	return regexp.MustCompile(`(?s)\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(text, "$1")
}
