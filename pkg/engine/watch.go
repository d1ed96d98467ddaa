package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/source"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// WatchOptions say what is kept as rows and forms say.
type WatchOptions struct {
	ApplyOptions
	// Reload has a value when the inputs are to be read again, changed or not; nil for
	// never.
	Reload <-chan os.Signal
	// Files has the inputs looked at as soon as they change; without it they are looked at
	// now and then.
	Files WatchFiles
	// Observer is told how the hubs are; nil for none.
	Observer WatchObserver
}

// inputsEvery is how often the files of the inputs are looked at, whatever is told of
// them: not all file systems tell of changes, such as those on a network.
const inputsEvery = 30 * time.Second

// WatchFiles tells when files may have changed in the places that look gives, which it
// asks again after each change, until stop is called. The error says that it cannot.
type WatchFiles func(look func() form.Places) (changed <-chan struct{}, stop func(), err error)

// Watch keeps a cluster as rows and forms say, until the context ends. Each hub is on its
// own: while it is our turn (see lease.Lock), it is applied when its rows, its objects
// or its records change. Inputs that change are loaded again; where they are bad, the last
// good ones stay. In a mode that writes nothing, it is one Apply in that mode.
func (e *Engine) Watch(ctx context.Context, o *WatchOptions) error {
	if slices.Contains(o.Paths, "-") {
		return BadUsage(errors.New("-f -: standard input cannot be read again when it changes; give watch files or directories"))
	}
	if o.Mode != ModeRun {
		return e.Apply(ctx, &o.ApplyOptions)
	}
	client, warnings, err := e.connect(&o.Access)
	if err != nil {
		return err
	}
	w := &watching{Engine: e, o: o, client: client, warnings: warnings}
	defer w.watchFiles()()
	in, _, err := w.load(ctx, "")
	if err != nil {
		return suggestRights(&o.ApplyOptions, err)
	}
	e.metrics().Inputs(true)
	for in != nil {
		o.observer().Kept(hubKeys(in.Hubs))
		in = w.follow(ctx, in)
	}
	return Fail(context.Cause(ctx))
}

// watching is one run of Watch.
type watching struct {
	*Engine
	o        *WatchOptions
	client   *kube.Client
	warnings *serverWarnings
	files    <-chan struct{} // has a value when files may have changed; nil for never
}

// watchInputs are inputs that count, with where each hub's rows are: see sources.
type watchInputs struct {
	*applyInputs
	urls    []string
	reading watch.Reading
}

// load loads the inputs when they keep still. known is the digest of those that count
// already, and digest the one of those that it loaded.
func (w *watching) load(ctx context.Context, known string) (in *watchInputs, digest string, err error) {
	for {
		digest, err := still(ctx, known, w.digest)
		if err != nil {
			return nil, "", Fail(err)
		}
		in := &watchInputs{reading: watch.NewReading(digest, time.Now())}
		if in.applyInputs, err = w.loadApply(ctx, &w.o.ApplyOptions, w.client, nil); err == nil {
			in.urls, err = w.sources(in.Hubs)
		}
		switch {
		case ctx.Err() == nil && w.digest() != digest: // they changed while they were loaded
		case err != nil:
			return nil, digest, err
		default:
			return in, digest, nil
		}
	}
}

// sources finds out where each hub's rows are, as --source has it, "" for what the hub
// says. Rows on standard input are refused: they can be read once.
func (w *watching) sources(hubs []HubPrograms) ([]string, error) {
	urls, err := rowSource{override: w.o.Sources}.overrides(hubs)
	if err != nil {
		return nil, BadUsage(err)
	}
	for i, h := range hubs {
		from := h.Hub.Source
		if urls[i] != "" {
			if from, err = source.ParseURL(urls[i], from); err != nil {
				return nil, BadUsage(fmt.Errorf("--source: %w", err))
			}
		}
		if from.Path == "-" {
			return nil, BadUsage(fmt.Errorf("hub %q: its rows are on standard input, which cannot be read again (give watch a file or a server)", h.Hub.Name))
		}
	}
	return urls, nil
}

// digest is that of the inputs, "" where they cannot be read.
func (w *watching) digest() string {
	inputs, err := form.Digest(w.o.Paths, w.o.Recursive)
	if err != nil {
		return ""
	}
	tombstones, err := form.Digest(w.o.Tombstones.Paths, true)
	if err != nil {
		return ""
	}
	return inputs + tombstones
}

// watchFiles has the inputs looked at when they change, until stop is called.
func (w *watching) watchFiles() (stop func()) {
	if w.o.Files == nil {
		return func() {}
	}
	changed, stop, err := w.o.Files(func() form.Places {
		places := form.NewPlaces(w.o.Paths, w.o.Recursive)
		places.Add(w.o.Tombstones.Paths, true)
		return places
	})
	if err != nil {
		w.notef("warning: changes of the inputs are seen every %s only: %v", inputsEvery, err)
		return func() {}
	}
	w.files = changed
	return stop
}

// follow keeps the hubs of some inputs until there are others, which it gives, or until
// the context ends: then it gives nil.
func (w *watching) follow(ctx context.Context, in *watchInputs) (next *watchInputs) {
	hubs, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var running sync.WaitGroup
	defer running.Wait()
	for i := range in.Hubs {
		running.Go(func() { newHubWatch(w, in, i).run(hubs) })
	}
	look := time.NewTicker(inputsEvery)
	defer look.Stop()
	digest := in.reading.Digest
	bad := digest // of inputs that are bad, or else of those that are kept
	for {
		forced := false
		select {
		case <-ctx.Done():
			return nil
		case <-w.o.Reload:
			forced = true
		case <-w.files:
		case <-look.C:
		}
		var err error
		now := w.digest()
		if forced || now != digest && now != bad {
			next, now, err = w.load(ctx, digest)
		}
		if now == digest && bad != digest {
			bad = digest
			w.metrics().Inputs(true)
			w.notef("the inputs are what they were again")
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case !forced && (now == digest || now == bad):
		case err != nil:
			bad = now
			w.metrics().Inputs(false)
			w.notef("warning: the inputs changed, and the last good ones stay: %v", err)
		default:
			w.metrics().Inputs(true)
			w.notef("the inputs changed: going on with %s", lynq.Count(len(next.Hubs), "hub"))
			stop(errInputsChanged)
			return next
		}
	}
}

// Why a round ends before it is done. What has begun is finished and recorded.
var (
	errInputsChanged = errors.New("the inputs changed")
	errYielded       = errors.New("another run waits for the hub")
	errNewChanges    = errors.New("there is something new to do")
)

// cutShort tells whether a round was ended for one of these reasons.
func cutShort(err error) bool {
	return errors.Is(err, errInputsChanged) || errors.Is(err, errYielded) || errors.Is(err, errNewChanges)
}
