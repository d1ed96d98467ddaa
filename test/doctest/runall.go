package doctest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// atOnce limits the parallel sessions. Most of them wait for a cluster most of the time.
const atOnce = 6

// RunAll runs the examples of pages below a folder. Each session runs in the place that
// place returns, if any. With update, it writes differing outputs into the pages.
func RunAll(t *testing.T, root string, pages []*Page, update bool, place func(*Session) (Place, bool)) {
	t.Helper()
	var slots errgroup.Group
	slots.SetLimit(atOnce)
	var running []*run
	for _, p := range pages {
		sessions, err := p.Sessions()
		if err != nil {
			t.Error(err)
		}
		for _, s := range sessions {
			where, wanted := place(s)
			if !wanted {
				continue
			}
			where.Root = root
			r := &run{Session: s, done: make(chan struct{})}
			running = append(running, r)
			slots.Go(func() error {
				defer close(r.done)
				r.ran, r.err = s.Run(t.Context(), where)
				return nil // the session's test reports it
			})
		}
	}
	texts := map[*Page]map[int]string{}
	for _, r := range running {
		<-r.done
		t.Run(r.Name(), func(t *testing.T) { r.check(t, update) })
		if update {
			texts[r.Page] = r.texts(texts[r.Page])
		}
	}
	for p, changed := range texts {
		p.rewrite(t, root, changed)
	}
}

// run is a finished session.
type run struct {
	*Session
	ran  []Ran
	err  error
	done chan struct{}
}

// check fails a test if an output differs from the page, unless update will write it into
// the page.
func (r *run) check(t *testing.T, update bool) {
	t.Helper()
	if r.err != nil {
		t.Errorf("the session cannot go on: %v", r.err)
	}
	for _, e := range r.ran {
		if e.Failed != "" {
			t.Errorf("%s:%d: $ %s\n%s%s", r.Page.Path, e.Line, e.Command, e.Got, e.Failed)
		}
		if !update && !Alike(e.Want, e.Got) {
			t.Errorf("%s:%d: $ %s\nprints something else (-page +now; -update writes it into the page):\n%s", r.Page.Path, e.Line, e.Command, cmp.Diff(e.Want, e.Got))
		}
	}
}

// texts adds new texts for blocks with other outputs, by the lines of the blocks.
func (r *run) texts(all map[int]string) map[int]string {
	if all == nil {
		all = map[int]string{}
	}
	for _, e := range r.ran {
		if !Alike(e.Want, e.Got) {
			all[e.Block.Line] = newText(r.ran, e.Block)
		}
	}
	return all
}

// newText returns the text of a block with the new outputs. It keeps outputs that are
// alike.
func newText(ran []Ran, block Block) string {
	var examples []Example
	var got []string
	for _, r := range ran {
		if r.Block.Line != block.Line {
			continue
		}
		text := r.Got
		if Alike(r.Want, r.Got) {
			text = r.Want
		}
		examples = append(examples, r.Example)
		got = append(got, trimmed(text))
	}
	return block.Rewrite(examples, got)
}

// rewrite writes new texts into the page's file.
func (p *Page) rewrite(t *testing.T, root string, texts map[int]string) {
	t.Helper()
	if len(texts) == 0 {
		return
	}
	name := filepath.Join(root, filepath.FromSlash(p.Path))
	if old, err := os.ReadFile(name); err != nil || string(old) != p.text {
		t.Errorf("%s was changed meanwhile, and stays as it is: run this again (%v)", p.Path, err)
		return
	}
	if err := os.WriteFile(name, []byte(Replace(p.text, p.Blocks, texts)), 0o644); err != nil {
		t.Error(err)
	}
}
