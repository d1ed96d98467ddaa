package recordings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/test/doctest"
)

// Recording is a terminal with commands and their outputs, or a comment on a pull request
// that a command printed.
type Recording struct {
	Name     string
	Examples []doctest.Example
	comment  []part // of a comment, nil for a terminal
}

// Of returns the recordings of pages.
func Of(pages []*doctest.Page) ([]Recording, error) {
	var all []Recording
	for _, p := range pages {
		for i, b := range p.Blocks {
			kind, rest, _ := strings.Cut(b.Text, " ")
			if b.Lang != doctest.Comment || kind != "recording" && kind != "comment" {
				continue
			}
			name, commands, _ := strings.Cut(strings.TrimSuffix(rest, "\n"), "\n")
			r, err := record(name, strings.Split(commands, "\n"), p.Blocks[i+1:])
			if err == nil && kind == "comment" {
				r.comment, err = parts(r.Examples[0].Want)
			}
			if err != nil {
				return nil, fmt.Errorf("%s:%d: recording %s: %w", p.Path, b.Line, name, err)
			}
			if slices.ContainsFunc(all, func(other Recording) bool { return other.Name == name }) {
				return nil, fmt.Errorf("%s:%d: recording %s: another recording has this name (choose a new one)", p.Path, b.Line, name)
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// record takes commands from the first console block. It refuses a command whose output the
// page omits.
func record(name string, commands []string, blocks []doctest.Block) (Recording, error) {
	r := Recording{Name: name}
	at := slices.IndexFunc(blocks, func(b doctest.Block) bool { return b.Lang == "console" })
	if at < 0 {
		return r, fmt.Errorf("no console block comes after it (put it above the block with %q)", commands[0])
	}
	examples, err := blocks[at].Examples()
	if err != nil {
		return r, err
	}
	for _, command := range commands {
		i := slices.IndexFunc(examples, func(e doctest.Example) bool { return e.Command == command && strings.Trim(e.Want, "\n") != "..." })
		if i < 0 {
			return r, fmt.Errorf("the block at line %d has no command %q (write it as it stands there)", blocks[at].Line, command)
		}
		r.Examples = append(r.Examples, examples[i])
	}
	return r, nil
}
