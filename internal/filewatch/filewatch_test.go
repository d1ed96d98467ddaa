package filewatch_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/filewatch"
	"github.com/lynqctl/lynqctl/pkg/form/files"
)

// dir is a real directory, watched for the files that form.Load reads.
type dir struct {
	t         *testing.T
	root      string
	path      string // of the inputs
	recursive bool
	w         *filewatch.Watcher
}

func (d *dir) at(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

func (d *dir) ok(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *dir) mkdir(name string) { d.t.Helper(); d.ok(os.Mkdir(d.at(name), 0o755)) }

func (d *dir) write(name, text string) {
	d.t.Helper()
	d.ok(os.WriteFile(d.at(name), []byte(text), 0o644))
}

func (d *dir) move(from, to string) { d.t.Helper(); d.ok(os.Rename(d.at(from), d.at(to))) }

// link makes a relative link, like kubelets.
func (d *dir) link(target, name string) { d.t.Helper(); d.ok(os.Symlink(target, d.at(name))) }

func (d *dir) digest() string {
	digest, _ := files.Digest([]string{d.path}, d.recursive) // an unreadable file has no digest
	return digest
}

// seen waits until a reader that reads after each report has the current inputs.
func (d *dir) seen() {
	d.t.Helper()
	want := d.digest()
	for {
		select {
		case <-d.w.Changed():
			if d.digest() == want {
				return
			}
		case <-time.After(3 * time.Minute):
			d.t.Fatal("a change was not told")
		}
	}
}

// TestWatcher wants a report of every kind of change.
func TestWatcher(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		path      string
		recursive bool
		setup     func(*dir)
		changes   func(*dir)
	}{
		"a file is written": {path: "in", changes: func(d *dir) { d.write("in/a.yaml", "b"); d.seen() }},
		"a file alone":      {path: "in/a.yaml", changes: func(d *dir) { d.write("in/a.yaml", "b"); d.seen() }},
		"a file comes and goes": {path: "in", changes: func(d *dir) {
			d.write("in/b.yaml", "b")
			d.seen()
			d.ok(os.Remove(d.at("in/b.yaml")))
			d.seen()
		}},
		"an editor renames": {path: "in/a.yaml", changes: func(d *dir) {
			for _, text := range []string{"b", "c"} {
				d.write("in/.a.yaml.swp", text)
				d.move("in/.a.yaml.swp", "in/a.yaml")
				d.seen()
			}
		}},
		"an editor keeps the old file": {path: "in/a.yaml", changes: func(d *dir) {
			for _, text := range []string{"b", "c"} {
				d.move("in/a.yaml", "in/a.yaml~")
				d.write("in/a.yaml", text)
				d.seen()
			}
		}},
		"directories appear": {path: "in", recursive: true, changes: func(d *dir) {
			d.mkdir("in/sub")
			d.mkdir("in/sub/deep")
			d.write("in/sub/deep/b.yaml", "b")
			d.seen()
			d.write("in/sub/deep/b.yaml", "c")
			d.seen()
			d.ok(os.RemoveAll(d.at("in/sub")))
			d.seen()
		}},
		"the directory is replaced": {path: "in", changes: func(d *dir) {
			d.move("in", "old")
			d.mkdir("in")
			d.write("in/b.yaml", "b")
			d.seen()
			d.write("in/b.yaml", "c")
			d.seen()
		}},
		"a ConfigMap's volume": {path: "volume", setup: volume, changes: func(d *dir) {
			for _, version := range []string{"..v2", "..v3"} {
				d.publish(version)
				d.seen()
			}
		}},
		"a file of a ConfigMap's volume": {path: "volume/a.yaml", setup: volume, changes: func(d *dir) {
			d.publish("..v2")
			d.seen()
			d.publish("..v3")
			d.seen()
		}},
		"a link to a directory": {path: "current/in", setup: func(d *dir) { d.link(".", "current") }, changes: func(d *dir) {
			d.mkdir("next")
			d.mkdir("next/in")
			d.write("next/in/a.yaml", "b")
			d.link("next", "new")
			d.move("new", "current")
			d.seen()
			d.write("next/in/a.yaml", "c")
			d.seen()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &dir{t: t, root: t.TempDir(), recursive: test.recursive}
			d.path = d.at(test.path)
			d.mkdir("in")
			d.write("in/a.yaml", "a")
			if test.setup != nil {
				test.setup(d)
			}
			w, err := filewatch.New(func() filewatch.Places { return files.NewPlaces([]string{d.path}, d.recursive) })
			d.ok(err)
			defer w.Close()
			d.w = w
			test.changes(d)
		})
	}
}

// volume is a directory like a ConfigMap in a pod.
func volume(d *dir) {
	d.mkdir("volume")
	d.publish("..v1")
	d.link("..data/a.yaml", "volume/a.yaml")
}

// publish changes the volume to another version, like a kubelet: with one rename, after
// which it deletes the old version.
func (d *dir) publish(version string) {
	d.t.Helper()
	old, _ := os.Readlink(d.at("volume/..data")) // the first time, it doesn't exist
	d.mkdir("volume/" + version)
	d.write("volume/"+version+"/a.yaml", version)
	d.link(version, "volume/..data_tmp")
	d.move("volume/..data_tmp", "volume/..data")
	if old != "" {
		d.ok(os.RemoveAll(d.at("volume/" + old)))
	}
}

// none are places that can't be watched.
type none struct{}

func (none) Dirs() []string      { return []string{"/there/is/no/such/directory"} }
func (none) Matters(string) bool { return false }

func TestWatcherCannot(t *testing.T) {
	t.Parallel()
	if _, err := filewatch.New(func() filewatch.Places { return none{} }); err == nil {
		t.Error("that a directory cannot be watched is no error")
	}
}
