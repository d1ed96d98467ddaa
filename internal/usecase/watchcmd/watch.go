package watchcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/source/address"
	"github.com/lynqctl/lynqctl/pkg/watch"
)

// Options say what Run keeps up to date.
type Options struct {
	Apply applycmd.Options
	// Reload has a value when Run must read the inputs again, even unchanged ones. nil
	// means never.
	Reload <-chan os.Signal
	// Files reports changes of input files at once. Without it, Run checks the files now
	// and then.
	Files Files
	// Observer receives the states of the hubs, nil for none.
	Observer Observer
	// Listen is the address that serves metrics, for the first line of the log. "" means
	// none.
	Listen string
}

// inputsEvery is the interval at which Run checks the input files in any case, because some
// file systems report no changes, such as network ones.
const inputsEvery = 30 * time.Second

// Files reports that files may have changed. look returns the places to watch, and Files
// calls it again after each change, until the caller calls stop. It returns an error if it
// can't watch.
type Files func(look func() files.Places) (changed <-chan struct{}, stop func(), err error)

// Run keeps a cluster up to date with rows and forms until the context ends. Each hub has
// its own goroutine. While this process has the hub's Lease (see lease.Lock), it applies
// changes of rows, objects and records. Run loads changed inputs again. If they are bad,
// the last good ones count. In a mode that writes nothing, it applies once in that mode.
func Run(ctx context.Context, e *session.Engine, o *Options) error {
	if slices.Contains(o.Apply.Inputs.Paths, "-") {
		return session.BadUsage(errors.New("-f -: standard input cannot be read again when it changes; give watch files or directories"))
	}
	if o.Apply.Mode != session.ModeRun {
		return applycmd.Run(ctx, e, &o.Apply)
	}
	client, warnings, err := e.Connect(&o.Apply.Access)
	if err != nil {
		return err
	}
	e = remembering(e)
	w := &watching{engine: e, o: o, client: client, warnings: warnings}
	in, _, err := w.load(ctx, "", o.Apply.Limits.AllowEmpty)
	if err != nil {
		return applycmd.SuggestRights(&o.Apply, err)
	}
	e.Meter().Inputs(true)
	w.engine.Notef("%s", startedNote(e.Version, o.Apply.Inputs.Paths, in.facts, o.Listen))
	var hubs keptHubs
	defer hubs.wait()
	for in != nil {
		if len(in.Hubs) == 0 {
			w.engine.Notef("%s", noInputs)
		}
		o.observer().Keeps(watchedHubs(in.Hubs))
		hubs.change(ctx, w, in)
		in = w.follow(ctx, in)
	}
	return session.Fail(context.Cause(ctx))
}

// remembering returns an engine that reads an input file again only after it changed.
func remembering(e *session.Engine) *session.Engine {
	if e.Memory != nil {
		return e
	}
	own := *e
	own.Memory = &form.Memory{}
	return &own
}

// watching is one run of Run.
type watching struct {
	engine   *session.Engine
	o        *Options
	client   *kube.Client
	warnings *session.ServerWarnings
	files    <-chan struct{} // has a value when files may have changed, nil for never
	// unwatched is the last warning about files that can't be watched.
	unwatched string
	good      *form.Good // the inputs that count, nil before the first ones

	mu     sync.Mutex
	hubs   []*hubWatch  // the current hubs, in the order of their keys
	beside *form.Inputs // the inputs that name further files, nil before the first load
}

// watchInputs are the current inputs, with the source of each hub. See sources.
type watchInputs struct {
	*applycmd.Loaded
	urls    []string
	facts   inputFacts
	reading watch.Reading
	forced  bool // a person asked to read everything again
	// kept says which hubs keep their last good inputs. It is nil if all inputs are good.
	kept *keptInputs
}

// noInputs says what a watch does without a form.
const noInputs = "the inputs have no form: lynqctl watch has nothing to do until a file brings one, and keeps all objects"

// load loads the inputs once nobody writes them. known is the digest of the current inputs,
// and digest the one of the loaded inputs. Inputs without a form are an error, unless empty
// is true.
func (w *watching) load(ctx context.Context, known string, empty bool) (in *watchInputs, digest string, err error) {
	o := w.o.Apply
	o.Inputs.AllowEmpty = empty
	o.Inputs.Capabilities.Ask = func(ctx context.Context) (string, []string, error) { return w.client.Capabilities(ctx, true) }
	for {
		digest, err := still(ctx, known, w.digest)
		if err != nil {
			return nil, "", session.Fail(err)
		}
		in := &watchInputs{reading: watch.NewReading(digest, time.Now())}
		var good *form.Good
		if in.Loaded, err = applycmd.Load(ctx, w.engine, &o, w.client, nil); err != nil {
			// The user may repair them in files that only the bad inputs name.
			broken, _ := w.engine.Memory.LoadAny(load.Builder(ctx, w.engine, &load.InputOptions{}), o.Inputs.Paths, o.Inputs.Recursive, nil)
			w.keepBeside(broken)
			in.Loaded, in.kept, good, err = w.loadAround(ctx, o, err)
		} else {
			w.keepBeside(in.Inputs.Inputs)
			good = form.NewGood(in.Inputs.Inputs, o.Inputs.Paths, o.Inputs.Recursive)
		}
		if err == nil {
			in.urls, err = w.sources(in.Hubs)
		}
		switch {
		case ctx.Err() == nil && w.digest() != digest: // someone changed them during the load
		case err != nil:
			return nil, digest, err
		default:
			in.facts, w.good = w.facts(in.Hubs), good
			return in, digest, nil
		}
	}
}

// sources returns the source of each hub from --source, "" for the hub's own. It refuses
// rows on standard input, because nobody can read those twice.
func (w *watching) sources(hubs []load.HubPrograms) ([]string, error) {
	if len(hubs) == 0 {
		return nil, nil // the hubs that --source names may come back
	}
	urls, err := load.RowSource{Override: w.o.Apply.Sources}.Overrides(hubs)
	if err != nil {
		return nil, session.BadUsage(err)
	}
	for i, h := range hubs {
		from := h.Hub.Source
		if urls[i] != "" {
			if from, err = address.Parse(urls[i], from); err != nil {
				return nil, session.BadUsage(fmt.Errorf("--source: %w", err))
			}
		}
		if from.Path == "-" {
			return nil, session.BadUsage(fmt.Errorf("hub %q: its rows are on standard input, which cannot be read again (give watch a file or a server)", h.Hub.Name))
		}
	}
	return urls, nil
}

// digest returns the digest of the inputs, or "" if they can't be read.
func (w *watching) digest() string {
	inputs, err := files.Digest(w.o.Apply.Inputs.Paths, w.o.Apply.Inputs.Recursive)
	if err != nil {
		return ""
	}
	tombstones, err := files.Digest(w.o.Apply.Tombstones.Paths, true)
	if err != nil {
		return ""
	}
	// A missing file is an error of the next load, so its digest may be that of no file.
	named, _ := w.filesBeside()
	beside, _ := files.Digest(named, false)
	return inputs + tombstones + beside
}

// keepBeside remembers the inputs that name further files, which are inputs too.
func (w *watching) keepBeside(in *form.Inputs) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beside = in
}

// filesBeside returns the files that the inputs name, and the directories that may get more.
func (w *watching) filesBeside() (paths, dirs []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.beside == nil {
		return nil, nil
	}
	return w.beside.Beside()
}

// watchFiles reports changes of the input files until the caller calls stop. The places are
// those of the inputs that were loaded last.
func (w *watching) watchFiles() (stop func()) {
	w.files = nil
	if w.o.Files == nil {
		return func() {}
	}
	changed, stop, err := w.o.Files(func() files.Places {
		places := files.NewPlaces(w.o.Apply.Inputs.Paths, w.o.Apply.Inputs.Recursive)
		places.Add(w.o.Apply.Tombstones.Paths, true)
		paths, dirs := w.filesBeside()
		places.Add(paths, false)
		places.Add(dirs, false)
		return places
	})
	if err != nil {
		if warning := err.Error(); warning != w.unwatched {
			w.unwatched = warning
			w.engine.Notef("warning: watch sees changes of your files only every %s: %v", inputsEvery, err)
		}
		return func() {}
	}
	w.files = changed
	return stop
}

// sinceLoad returns a channel that has a value, because files may have changed between their
// load and the watch for changes.
func sinceLoad() <-chan struct{} {
	since := make(chan struct{}, 1)
	since <- struct{}{}
	return since
}

// follow waits for other inputs and returns them. It returns nil when the context ends.
func (w *watching) follow(ctx context.Context, in *watchInputs) (next *watchInputs) {
	look := time.NewTicker(inputsEvery)
	defer look.Stop()
	digest := in.reading.Digest
	bad := digest // of bad inputs, or else of the current ones
	stop := w.watchFiles()
	defer func() { stop() }()
	since := sinceLoad()
	silent := "" // why the cluster doesn't answer
	for {
		forced := false
		select {
		case <-ctx.Done():
			return nil
		case <-w.o.Reload:
			forced = true
			w.client.Renew()
		case <-w.files:
		case <-since:
		case <-look.C:
		}
		var err error
		now := w.digest()
		if forced || now != digest && now != bad {
			if next, now, err = w.load(ctx, digest, true); err != nil { // the bad inputs may name other files
				stop()
				stop, since = w.watchFiles(), sinceLoad()
			}
		}
		if now == digest && bad != digest {
			bad = digest
			w.engine.Meter().Inputs(true)
			w.engine.Notef("your files are as before again")
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case !forced && (now == digest || now == bad):
		case isUnanswered(err): // the files may be good, so the next look loads them again
			silent = w.tellUnanswered(err, silent)
		case err != nil:
			bad, silent = now, ""
			w.engine.Meter().Inputs(false)
			w.engine.Notef("warning: your files changed and have errors, so watch uses the last good ones: %v", err)
		default:
			w.engine.Meter().Inputs(next.kept == nil)
			w.engine.Notef("%s", inputsNote(in.facts, next.facts))
			if next.kept != nil {
				w.engine.Notef("warning: %s", next.kept)
			}
			next.forced = forced
			return next
		}
	}
}

// tellUnanswered warns that the cluster doesn't answer, unless told is the same warning. It
// returns what was told.
func (w *watching) tellUnanswered(err error, told string) string {
	if text := err.Error(); text != told {
		w.engine.Meter().Inputs(false)
		w.engine.Notef("warning: your files changed, and watch uses the earlier ones until the cluster answers: %v", err)
	}
	return err.Error()
}

// isUnanswered reports whether a load failed because the cluster doesn't answer.
func isUnanswered(err error) bool {
	var silent *load.UnansweredError
	return errors.As(err, &silent)
}

// Reasons to end a round early. The round finishes and records what it began.
var (
	errInputsChanged = errors.New("the inputs changed")
	errYielded       = errors.New("another run waits for the hub")
	errNewChanges    = errors.New("there is something new to do")
	errTimer         = errors.New("something else is due")
	errJoinedHub     = errors.New("another hub of the round has something else to do")
)

// cutShort reports whether a round ended early for one of these reasons.
func cutShort(err error) bool {
	return errors.Is(err, errInputsChanged) || errors.Is(err, errYielded) || errors.Is(err, errNewChanges) || errors.Is(err, errTimer) || errors.Is(err, errJoinedHub)
}
