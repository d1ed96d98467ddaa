package doctest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Page is a file of the documentation.
type Page struct {
	Path string // below the folder for Read, with slashes
	// Blocks are the page's blocks of code and comments, in order.
	Blocks []Block
	// Paragraphs are the other runs of lines that aren't blank.
	Paragraphs []Paragraph
	text       string
}

// Comment is the language of blocks that are comments.
const Comment = "<!--"

// Block is a block of code, or a comment.
type Block struct {
	Line int    // the number of its first line, which is the fence or has the "<!--"
	Lang string // the first word after the fence
	File string // the name after "file="
	Text string // with a line break at the end, unless it is empty
	size int    // the number of lines, including fences
}

// Paragraph is some lines of prose, or a heading.
type Paragraph struct {
	Line int
	Text string
}

// Read reads the pages of a source tree: README.md first, then the others beside it, and
// those in docs/ and examples/.
func Read(root string) ([]*Page, error) {
	paths, err := pagePaths(os.DirFS(root))
	if err != nil {
		return nil, err
	}
	var pages []*Page
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		page, err := Parse(path, string(text))
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
	}
	return pages, nil
}

func pagePaths(tree fs.FS) ([]string, error) {
	const first = "README.md"
	beside, err := fs.Glob(tree, "*.md")
	if err != nil {
		return nil, err
	}
	paths := append([]string{first}, slices.DeleteFunc(beside, func(path string) bool { return path == first })...)
	for _, dir := range []string{"docs", "examples"} {
		err := fs.WalkDir(tree, dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && path == dir:
				return nil
			case err == nil && !d.IsDir() && strings.HasSuffix(path, ".md"):
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// Parse finds the parts of a page.
func Parse(path, text string) (*Page, error) {
	p := &Page{Path: path, text: text}
	lines := splitLines(text)
	for i := 0; i < len(lines); {
		b, isBlock, err := blockAt(lines, i)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s:%w", path, err)
		case isBlock:
			p.Blocks = append(p.Blocks, b)
			i += b.size
		default:
			p.prose(i+1, lines[i])
			i++
		}
	}
	return p, nil
}

// prose adds a line to the current paragraph, or begins another.
func (p *Page) prose(number int, line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	if n := len(p.Paragraphs); n > 0 && !isHeading(line) {
		last := &p.Paragraphs[n-1]
		if !isHeading(last.Text) && last.Line+strings.Count(last.Text, "\n")+1 == number {
			last.Text += "\n" + line
			return
		}
	}
	p.Paragraphs = append(p.Paragraphs, Paragraph{Line: number, Text: line})
}

func isHeading(line string) bool { return regexp.MustCompile(`^#{1,6} `).MatchString(line) }

// blockAt returns the block that begins at a line. The bool is false if none does.
func blockAt(lines []string, at int) (Block, bool, error) {
	if strings.HasPrefix(lines[at], Comment) {
		return commentAt(lines, at)
	}
	open := regexp.MustCompile("^( *)(```+)([^`]*)$").FindStringSubmatch(lines[at])
	if open == nil {
		return Block{}, false, nil
	}
	indent, fence, info := open[1], open[2], strings.Fields(open[3])
	b := Block{Line: at + 1}
	for i, word := range info {
		name, isFile := strings.CutPrefix(word, "file=")
		switch {
		case isFile:
			b.File = name
		case i == 0:
			b.Lang = word
		default:
			return b, false, fmt.Errorf("%d: %q behind a fence means nothing (it may be file=NAME)", at+1, word)
		}
	}
	for i, line := range lines[at+1:] {
		line = strings.TrimPrefix(line, indent)
		if strings.HasPrefix(line, fence) && strings.Trim(line, "` ") == "" {
			b.size = i + 2
			return b, true, nil
		}
		b.Text += line + "\n"
	}
	return b, false, fmt.Errorf("%d: a block of code that never ends", at+1)
}

// commentAt returns the comment that begins at a line. If its first line says console, it is
// a console block that readers don't see.
func commentAt(lines []string, at int) (Block, bool, error) {
	b := Block{Line: at + 1, Lang: Comment}
	end := slices.IndexFunc(lines[at:], func(line string) bool { return strings.Contains(line, "-->") })
	if end < 0 {
		return b, false, fmt.Errorf("%d: a comment that never ends", at+1)
	}
	b.size = end + 1
	text := strings.Join(lines[at:at+end+1], "\n")
	text, _, _ = strings.Cut(strings.TrimPrefix(text, Comment), "-->")
	b.Text = strings.TrimSpace(text) + "\n"
	if examples, hidden := strings.CutPrefix(b.Text, "console\n"); hidden {
		b.Lang, b.Text = "console", examples
	}
	return b, true, nil
}

// splitLines returns the lines of a text without their ends.
func splitLines(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}
