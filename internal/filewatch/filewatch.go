package filewatch

import (
	"fmt"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is the time for which a Watcher collects changes.
const settle = 200 * time.Millisecond

// Places are the files and directories to watch.
type Places interface {
	// Dirs returns directories, by absolute paths without links.
	Dirs() []string
	// Matters reports whether a change matters of a directory's entry, or of the directory
	// itself.
	Matters(path string) bool
}

// Watcher watches until Close.
type Watcher struct {
	events     *fsnotify.Watcher
	look       func() Places
	changed    chan struct{} // has room for one
	end, ended chan struct{}
}

// New watches the places that look returns, and asks look again after each change. It
// returns an error if it can't watch all of them.
func New(look func() Places) (*Watcher, error) {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{events: events, look: look, changed: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{})}
	places, err := w.watch()
	if err != nil {
		_ = events.Close() // nobody reads from it
		return nil, err
	}
	go w.run(places)
	return w, nil
}

// Changed has a value if something changed since the last receive.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Close ends the watch.
func (w *Watcher) Close() {
	close(w.end)
	<-w.ended
	_ = w.events.Close() // nobody reads from it any more
}

// watch watches exactly the current places. If another directory replaced a watched one, it
// watches the new one. It returns the first error.
func (w *Watcher) watch() (Places, error) {
	places := w.look()
	dirs := places.Dirs()
	var first error
	for _, dir := range dirs {
		if err := w.events.Add(dir); err != nil && first == nil {
			first = fmt.Errorf("watch %s: %w", dir, err)
		}
	}
	for _, dir := range w.events.WatchList() {
		if !slices.Contains(dirs, dir) {
			_ = w.events.Remove(dir) // it may be gone
		}
	}
	return places, first
}

// run reports changes until the end. It looks at the places again before it reports a
// change, so that it misses no write meanwhile.
func (w *Watcher) run(places Places) {
	defer close(w.ended)
	var settled <-chan time.Time
	for {
		matters := false
		select {
		case <-w.end:
			return
		case e := <-w.events.Events:
			matters = e.Op != fsnotify.Chmod && places.Matters(e.Name)
		case <-w.events.Errors:
			matters = true // events were lost
		case <-settled:
			settled = nil
			places, _ = w.watch() // the caller's own checks find changes in unwatched places
			select {
			case w.changed <- struct{}{}:
			default:
			}
		}
		if matters && settled == nil {
			settled = time.After(settle)
		}
	}
}
