package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// entry is an entry of an archive.
type entry struct {
	name, text string
	kind       byte
}

// packed returns an archive.
func packed(t testing.TB, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o600}
		if e.kind == 0 {
			header.Typeflag, header.Size = tar.TypeReg, int64(len(e.text))
		} else if e.kind != tar.TypeDir {
			header.Linkname = e.text
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if e.kind == 0 {
			if _, err := w.Write([]byte(e.text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	about = entry{name: "app/Chart.yaml", text: "apiVersion: v2\nname: app\nversion: 1.0.0\n"}
	sub   = entry{name: "sub/Chart.yaml", text: "apiVersion: v2\nname: sub\nversion: 1.0.0\n"}
)

// templateEntry is a template with one object.
func templateEntry(name string) entry {
	return entry{name: name, text: "kind: ConfigMap\nmetadata: {name: {{ .Chart.Name }}-{{ .Values.size }}}\n"}
}

// TestArchive renders a chart in an archive, with archives of subcharts in it.
func TestArchive(t *testing.T) {
	inner := packed(t, sub, templateEntry("sub/templates/y.yaml"), entry{name: "sub/values.yaml", text: "size: 2"})
	outer := packed(t, about, templateEntry("app/templates/x.yaml"), entry{name: "app/charts", kind: tar.TypeDir},
		entry{name: "app/charts/sub-1.0.0.tgz", text: inner}, entry{name: "app/charts/_old.tgz", text: "not read"})
	c := New()
	o := opening(t, c, wire.Open{Dir: write(t, map[string]string{"charts/app.tgz": outer}), Path: "charts/app.tgz"})
	if len(o.Files) != 1 || o.Files[0] != "charts/app.tgz" {
		t.Errorf("files %v", o.Files)
	}
	r, problems := c.Render(t.Context(), wire.Render{Chart: o.Chart, ReleaseName: "a", Namespace: "b", Values: json.RawMessage(`{"size":1}`)})
	if len(problems) > 0 || len(r.Objects) != 2 {
		t.Fatalf("%v, %v", r, problems)
	}
	want := map[string]string{
		"charts/app.tgz!templates/x.yaml":                      "app-1",
		"charts/app.tgz!charts/sub-1.0.0.tgz!templates/y.yaml": "sub-2",
	}
	for _, object := range r.Objects {
		if name := want[object.File]; name == "" || !strings.Contains(object.Text, name) {
			t.Errorf("%+v, want %v", object, want)
		}
	}
}

// TestBadArchives wants a problem for archives that could do harm, or are damaged.
func TestBadArchives(t *testing.T) {
	good := packed(t, about, templateEntry("app/templates/x.yaml"))
	zeros := strings.Repeat("\x00", 1<<20)
	bomb := []entry{about}
	for i := range 101 {
		bomb = append(bomb, entry{name: fmt.Sprintf("app/%d", i), text: zeros})
	}
	many := []entry{about}
	for i := range maxFiles {
		many = append(many, entry{name: fmt.Sprintf("app/%d", i)})
	}
	nested := packed(t, bomb[:60]...)
	for want, archive := range map[string]string{
		`"app/../../x" leads out`:         packed(t, about, entry{name: "app/../../x"}),
		`"../x" leads out`:                packed(t, about, entry{name: "../x"}),
		`"/etc/x" leads out`:              packed(t, about, entry{name: "/etc/x"}),
		`"app\\..\\..\\x" leads out`:      packed(t, about, entry{name: `app\..\..\x`}),
		`"app/l" is a link`:               packed(t, about, entry{name: "app/l", text: "/etc/passwd", kind: tar.TypeSymlink}),
		`"app/h" is a link`:               packed(t, about, entry{name: "app/h", text: "app/Chart.yaml", kind: tar.TypeLink}),
		`"app/f" is a link or a device`:   packed(t, about, entry{name: "app/f", kind: tar.TypeFifo}),
		`"app/Chart.yaml" is in it twice`: packed(t, about, about),
		`"app/./x" is in it twice`:        packed(t, about, entry{name: "app/x"}, entry{name: "app/./x"}),
		"illegally":                       packed(t, about, entry{name: "app/c:/x"}),
		"outside the base":                packed(t, entry{name: "Chart.yaml", text: about.text}),
		"no files in chart archive":       packed(t),
		"isn't compressed":                "no archive",
		"it is damaged":                   good[:len(good)-20],
		"more than 100 MiB":               packed(t, bomb...),
		"a file has more than 16 MiB":     packed(t, about, entry{name: "app/large", text: strings.Repeat(zeros, 17)}),
		"more than 10000 files":           packed(t, many...),
		"the files have more than 100":    packed(t, about, entry{name: "app/charts/a.tgz", text: nested}, entry{name: "app/charts/b.tgz", text: nested}),
		"no chart":                        packed(t, entry{name: "app/values.yaml", text: "a: 1"}),
		"more than 32 deep":               deep(t, maxDepth+2),
	} {
		t.Run(want, func(t *testing.T) {
			_, problems := New().Open(t.Context(), wire.Open{Dir: write(t, map[string]string{"app.tgz": archive}), Path: "app.tgz"})
			if len(problems) != 1 || !strings.Contains(problems[0].What, want) || !strings.HasPrefix(problems[0].File, "app.tgz") || problems[0].Fix == "" {
				t.Errorf("%+v, want %s", problems, want)
			}
		})
	}
}

// deep returns an archive with n archives within one another.
func deep(t *testing.T, n int) string {
	archive := packed(t, about)
	for range n {
		archive = packed(t, about, entry{name: "app/charts/app.tgz", text: archive})
	}
	return archive
}

// TestDamagedArchives wants an answer, and no panic, for each archive that is cut or changed.
func TestDamagedArchives(t *testing.T) {
	good := packed(t, about, templateEntry("app/templates/x.yaml"), entry{name: "app/charts/s.tgz", text: packed(t, sub, templateEntry("sub/templates/y.yaml"))})
	random := rand.New(rand.NewPCG(1, 2))
	bad := 0
	open := func(archive string) {
		file := write(t, map[string]string{"app.tgz": archive})
		o, problems := New().Open(t.Context(), wire.Open{Dir: file, Path: "app.tgz"})
		if (o == nil) != (len(problems) > 0) {
			t.Fatalf("%v, %v", o, problems)
		}
		if o == nil {
			bad++
		}
	}
	for n := range len(good) {
		open(good[:n])
	}
	if bad < len(good)*9/10 {
		t.Errorf("only %d of %d cut archives are bad", bad, len(good))
	}
	for range 300 {
		changed := []byte(good)
		for range 1 + random.IntN(3) {
			changed[random.IntN(len(changed))] ^= byte(1 + random.IntN(255))
		}
		open(string(changed))
		// Changes before compression pass its checksum.
		plain, _ := gzip.NewReader(strings.NewReader(good))
		var inner bytes.Buffer
		if _, err := inner.ReadFrom(plain); err != nil {
			t.Fatal(err)
		}
		inner.Bytes()[random.IntN(inner.Len())] ^= byte(1 + random.IntN(255))
		var again bytes.Buffer
		w := gzip.NewWriter(&again)
		if _, err := w.Write(inner.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		open(again.String())
	}
}
