package doctest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Place is the environment of a session.
type Place struct {
	Root  string                 // of the source tree; RunAll sets it
	Dir   string                 // an empty folder
	Env   []string               // for the commands, in addition to this process's
	Names map[string]string      // names in pages, and the session's names instead
	Noise func(line string) bool // lines that others on the cluster cause; nil means none

	home string // the first Dir, which stays the home of commands that run in the source tree
}

// Ran is an example with its output.
type Ran struct {
	Example
	Block Block
	Got   string
	// Failed says why the example failed whatever its output, or "".
	Failed string
}

// Run runs a session. It returns an error if the session can't continue.
func (s *Session) Run(ctx context.Context, p Place) ([]Ran, error) {
	p.home = p.Dir
	switch s.Folder {
	case "":
	case ".":
		p.Dir = p.Root
	default:
		if err := p.copyFolder(s.Folder); err != nil {
			return nil, err
		}
	}
	var ran []Ran
	for _, b := range s.Blocks {
		var err error
		switch {
		case b.Lang == Comment:
			err = p.before(ctx, b)
		case b.File != "":
			err = p.file(ctx, b)
		default:
			var more []Ran
			more, err = p.examples(ctx, b)
			ran = append(ran, more...)
		}
		if err != nil {
			return ran, fmt.Errorf("%s:%d: %w", s.Page.Path, b.Line, err)
		}
	}
	return ran, nil
}

// file writes the file of a block. If it is a recipe for a CI system, file also runs it.
func (p Place) file(ctx context.Context, b Block) error {
	err := p.write(b.File, b.Text)
	if err == nil && isRecipe(b.File) {
		err = p.recipe(ctx, b.File, b.Text)
	}
	return err
}

// examples runs the examples of a block.
func (p Place) examples(ctx context.Context, b Block) ([]Ran, error) {
	examples, err := b.Examples()
	if err != nil {
		return nil, err
	}
	var ran []Ran
	code := 0
	for i, e := range examples {
		r := Ran{Example: e, Block: b}
		r.Got, code, err = p.shell(ctx, "(exit "+strconv.Itoa(code)+")\n"+e.Command)
		if err != nil {
			return ran, err
		}
		if told := i+1 < len(examples) && examples[i+1].Command == tellCode; code != 0 && !told {
			r.Failed = fmt.Sprintf("exit code %d, and no \"$ echo $?\" after it", code)
		}
		ran = append(ran, r)
	}
	return ran, nil
}

// before runs commands that readers don't see.
func (p Place) before(ctx context.Context, b Block) error {
	script := strings.TrimPrefix(b.Text, "before\n")
	said, code, err := p.shell(ctx, "set -e\n"+script)
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d of\n%s\n%s", code, script, said)
	}
	return err
}

// shell runs commands, and returns their output and exit code.
func (p Place) shell(ctx context.Context, script string) (said string, code int, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", p.real(script))
	cmd.Dir = p.Dir
	cmd.Env = slices.Concat(os.Environ(), []string{"HOME=" + p.home, "TZ=UTC", "LC_ALL=C", "USER=me"}, recipeEnv(p.Dir), p.Env)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		code, err = exit.ExitCode(), nil
	}
	return p.shown(string(out)), code, err
}

// real replaces the names of pages by the session's names.
func (p Place) real(text string) string {
	for shown, real := range p.Names {
		text = replaceWord(text, shown, real)
	}
	return text
}

// shown replaces the session's names in an output by those of pages.
func (p Place) shown(text string) string {
	text = strings.ReplaceAll(text, p.Dir+string(filepath.Separator), "")
	for shown, real := range p.Names {
		text = replaceWord(text, real, shown)
	}
	if p.Noise == nil {
		return text
	}
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !p.Noise(line) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// replaceWord replaces whole words.
func replaceWord(text, old, now string) string {
	return regexp.MustCompile(`\b`+regexp.QuoteMeta(old)+`\b`).ReplaceAllLiteralString(text, now)
}

// write writes a file of the session.
func (p Place) write(name, text string) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("file %q is not in the folder of the session", name)
	}
	name = filepath.Join(p.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(p.real(text)), 0o644)
}

// copyFolder copies a folder of the source tree.
func (p Place) copyFolder(folder string) error {
	from := filepath.Join(p.Root, filepath.FromSlash(folder))
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return p.write(filepath.ToSlash(name), string(content))
	})
}
