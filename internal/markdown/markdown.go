// Package markdown writes comments on pull requests: Markdown in which no text
// that comes from elsewhere is read as Markdown or HTML.
package markdown

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// MaxLength is how many bytes, and so characters, a comment has at most. GitHub
// takes comments of 65 536 characters, GitLab of more.
const MaxLength = 60_000

// Comment is a comment in the making.
type Comment struct{ strings.Builder }

// Lines writes lines up to a length of the comment, and then how many are left:
// their number with what they are is put into rest.
func (c *Comment) Lines(lines []string, most int, rest, what string) {
	for i, l := range lines {
		if c.Len()+len(l) > most {
			fmt.Fprintf(&c.Builder, rest, phrase.Count(len(lines)-i, what))
			return
		}
		c.WriteString(l)
	}
}

// Text is text that no Markdown and no HTML is read in.
func Text(s string) string {
	s = Printable(strings.Join(strings.Fields(s), " "))
	return strings.NewReplacer(
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
		"@", "&#64;", "#", "&#35;", "~", `\~`, "\\", `\\`,
	).Replace(s)
}

// Code shows text as it is: in a fence that is longer than any in it.
func Code(s string) string {
	s = Printable(strings.Join(strings.Fields(s), " "))
	fence := fence("`", s)
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// Cell is code in a table.
func Cell(s string) string { return strings.ReplaceAll(Code(s), "|", `\|`) }

// Fence is a fence for a block that the text cannot end.
func Fence(text string) string { return fence("```", text) }

func fence(shortest, text string) string {
	for strings.Contains(text, shortest) {
		shortest += "`"
	}
	return shortest
}

// Printable replaces what does not print, or turns the direction of writing.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
