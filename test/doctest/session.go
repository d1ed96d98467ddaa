package doctest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Session is a group of examples that share a folder.
type Session struct {
	Page    *Page
	Line    int
	Cluster bool
	Folder  string // the session copies this folder of the source tree; "" copies nothing, "." the whole tree
	Blocks  []Block
}

// Name identifies sessions: diff.md:12.
func (s *Session) Name() string { return fmt.Sprintf("%s:%d", path.Base(s.Page.Path), s.Line) }

// Mentions reports whether any of the session's blocks contains a text.
func (s *Session) Mentions(text string) bool {
	return slices.ContainsFunc(s.Blocks, func(b Block) bool { return strings.Contains(b.Text, text) })
}

// Sessions returns the sessions of a page. An example outside of a session is an error,
// because nothing would run it.
func (p *Page) Sessions() ([]*Session, error) {
	var sessions []*Session
	for _, b := range p.Blocks {
		s, err := p.session(b)
		if err != nil {
			return nil, err
		}
		if s != nil {
			sessions = append(sessions, s)
			continue
		}
		isBefore := b.Lang == Comment && strings.HasPrefix(b.Text, "before\n")
		if b.Lang != "console" && b.File == "" && !isBefore {
			continue
		}
		if len(sessions) == 0 {
			return nil, fmt.Errorf("%s:%d: this belongs to no session (begin one above it: <!-- session: local -->; or let the block be sh, which is not run)", p.Path, b.Line)
		}
		last := sessions[len(sessions)-1]
		last.Blocks = append(last.Blocks, b)
	}
	return sessions, nil
}

// session returns the session that a comment begins, or nil.
func (p *Page) session(b Block) (*Session, error) {
	rest, isSession := strings.CutPrefix(b.Text, "session:")
	if b.Lang != Comment || !isSession {
		return nil, nil
	}
	s := &Session{Page: p, Line: b.Line}
	words := strings.Fields(rest)
	if len(words) == 3 && words[1] == "in" {
		s.Folder = words[2]
		words = words[:1]
	}
	if len(words) != 1 || words[0] != "local" && words[0] != "cluster" {
		return nil, fmt.Errorf("%s:%d: a session is local or cluster, and may be in a folder: <!-- session: cluster in examples/shop -->", p.Path, b.Line)
	}
	s.Cluster = words[0] == "cluster"
	return s, nil
}

// tellCode is the command that prints the exit code of the one before.
const tellCode = "echo $?"

// Example is a command of a block, with its expected output.
type Example struct {
	Line    int // of the page
	Command string
	Want    string
}

// Examples returns the examples of a console block.
func (b Block) Examples() ([]Example, error) {
	var examples []Example
	for i, line := range splitLines(b.Text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			examples = append(examples, Example{Line: b.Line + 1 + i, Command: command})
			continue
		}
		if len(examples) == 0 {
			return nil, fmt.Errorf("%d: an example begins with a command behind \"$ \"", b.Line+1+i)
		}
		last := &examples[len(examples)-1]
		if more, ok := strings.CutPrefix(line, "> "); ok && last.Want == "" {
			last.Command += "\n" + more
			continue
		}
		last.Want += line + "\n"
	}
	return examples, nil
}

// Rewrite returns the text of a block with other outputs. got has one for each example. A
// blank line separates an output from the next command.
func (b Block) Rewrite(examples []Example, got []string) string {
	var text strings.Builder
	for i, e := range examples {
		if i > 0 && got[i-1] != "" && e.Command != tellCode {
			text.WriteString("\n")
		}
		text.WriteString("$ " + strings.ReplaceAll(e.Command, "\n", "\n> ") + "\n" + got[i])
	}
	return text.String()
}

// Replace replaces the texts of blocks in a page. texts has them by the lines of the
// blocks.
func Replace(page string, blocks []Block, texts map[int]string) string {
	lines := splitLines(page)
	for i := len(blocks) - 1; i >= 0; i-- {
		b := blocks[i]
		text, ok := texts[b.Line]
		if !ok {
			continue
		}
		rest := append(splitLines(text), lines[b.Line+b.size-2:]...)
		lines = append(lines[:b.Line:b.Line], rest...)
	}
	return strings.Join(lines, "\n") + "\n"
}
