// Package markdown writes comments on pull requests.
//
// Texts flow in, Markdown flows out. The package escapes the texts, so that no reader
// interprets them as Markdown or HTML. It sends nothing.
package markdown

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// MaxLength limits the bytes of a comment, and so its characters. GitHub accepts comments
// of 65 536 characters, and GitLab longer ones.
const MaxLength = 60_000

// Comment is a comment that is being written.
type Comment struct{ strings.Builder }

// Lines writes lines up to a total length of the comment. Then it writes rest with the
// number of lines that it left out, and their name.
func (c *Comment) Lines(lines []string, most int, rest, what string) {
	for i, l := range lines {
		if c.Len()+len(l) > most {
			fmt.Fprintf(&c.Builder, rest, phrase.Count(len(lines)-i, what))
			return
		}
		c.WriteString(l)
	}
}

// Text escapes a text, so that it contains no Markdown and no HTML.
func Text(s string) string {
	s = Printable(strings.Join(strings.Fields(s), " "))
	return strings.NewReplacer(
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
		"@", "&#64;", "#", "&#35;", "~", `\~`, "\\", `\\`,
	).Replace(s)
}

// Code shows a text unchanged, in a fence that is longer than any in it.
func Code(s string) string {
	s = Printable(strings.Join(strings.Fields(s), " "))
	fence := fence("`", s)
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// Cell works like Code, for a cell of a table.
func Cell(s string) string { return strings.ReplaceAll(Code(s), "|", `\|`) }

// Fence returns a fence for a block that the text can't end.
func Fence(text string) string { return fence("```", text) }

func fence(shortest, text string) string {
	for strings.Contains(text, shortest) {
		shortest += "`"
	}
	return shortest
}

// Printable replaces unprintable characters, and those that change the direction of
// writing.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
