package filewatch

import (
	"fmt"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is for how long changes are collected.
const settle = 200 * time.Millisecond

// Places are the files and directories that are watched.
type Places interface {
	// Dirs are directories, by absolute paths without links.
	Dirs() []string
	// Matters tells whether a change of an entry of one of them matters, or of the
	// directory itself.
	Matters(path string) bool
}

// Watcher watches until it is closed.
type Watcher struct {
	events     *fsnotify.Watcher
	look       func() Places
	changed    chan struct{} // has room for one
	end, ended chan struct{}
}

// New watches the places that look gives, and those that it gives after each change. Its
// error says that not all of them can be watched.
func New(look func() Places) (*Watcher, error) {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{events: events, look: look, changed: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{})}
	places, err := w.watch()
	if err != nil {
		_ = events.Close() // nothing is read from it
		return nil, err
	}
	go w.run(places)
	return w, nil
}

// Changed has a value when something changed since one was taken from it.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Close ends it.
func (w *Watcher) Close() {
	close(w.end)
	<-w.ended
	_ = w.events.Close() // nothing is read from it any more
}

// watch watches the places as they are now, and no others. A directory in the place of
// one that was watched is watched as a new one is. The error is the first one of all.
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
			_ = w.events.Remove(dir) // it is gone, perhaps
		}
	}
	return places, first
}

// run tells of changes until the end. What is written while the places are looked at
// again has been written before the change is told.
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
			places, _ = w.watch() // what cannot be watched is seen by those who look
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
