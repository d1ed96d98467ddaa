package registry

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// get wants a chart.
func get(t *testing.T, c *Client, r lynq.ChartRef, want []byte) {
	t.Helper()
	if got, err := c.Chart(t.Context(), r, false); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%s: %d bytes, want %d: %+v", r, len(got), len(want), err)
	}
}

// fails wants an error with a text, and without secrets.
func fails(t *testing.T, c *Client, r lynq.ChartRef, want string) {
	t.Helper()
	got, err := c.Chart(t.Context(), r, false)
	told, ok := errors.AsType[*lynq.ChartError](err)
	if got != nil || !ok || told.Fix == "" || !strings.Contains(told.What+" ("+told.Fix+")", want) {
		t.Fatalf("%d bytes, %+v, want %s", len(got), err, want)
	}
	for _, secret := range []string{password, token, signature, base64.StdEncoding.EncodeToString([]byte(user + ":" + password))} {
		if strings.Contains(told.What+told.Fix, secret) {
			t.Errorf("the error shows %s: %v", secret, told)
		}
	}
}

// configFile writes a file of docker, and returns settings that name it.
func configFile(t *testing.T, text string) Settings {
	t.Helper()
	s := settings(t)
	s.Configs = []string{filepath.Join(t.TempDir(), "none.json"), filepath.Join(t.TempDir(), "config.json")}
	if err := os.WriteFile(s.Configs[1], []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// login returns a file with the credentials for a registry.
func loginFor(key string) string {
	return fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, key, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

// TestChart downloads a chart with a token and from a store. The cache then has it without
// a network, in this process and in another one.
func TestChart(t *testing.T) {
	archive := []byte("the archive")
	for name, open := range map[string]bool{"anonymous": true, "with credentials": false} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.open = open
			ref, given := s.pushChart(string(archive)), settings(t)
			if !open {
				cache := given.CacheDir
				given = configFile(t, loginFor("https://"+strings.TrimPrefix(s.URL, "http://")+"/v1/"))
				given.CacheDir = cache
			}
			c := New(given)
			if got, err := c.Chart(t.Context(), ref, true); err == nil || !strings.Contains(err.Error(), "the cache doesn't have") || s.count("") > 0 {
				t.Errorf("%d bytes, %v, %d requests", len(got), err, s.count(""))
			}
			get(t, c, ref, archive)
			if got, err := c.Chart(t.Context(), ref, true); err != nil || !bytes.Equal(got, archive) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			files, err := os.ReadDir(given.CacheDir)
			if err != nil || len(files) != 2 || s.count("token") != 1 {
				t.Errorf("%v in the cache, %v, %d tokens", files, err, s.count("token"))
			}
			for _, f := range files {
				if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%v, %v", info.Mode(), err)
				}
			}
			s.Close()
			get(t, c, ref, archive)
			get(t, New(Settings{CacheDir: given.CacheDir, Limit: time.Minute}), ref, archive)
		})
	}
}

// TestPoisoned wants a chart again whose file in the cache another program changed, and an
// error if it can't be downloaded.
func TestPoisoned(t *testing.T) {
	archive := []byte("the archive")
	s := newServer(t)
	s.open = true
	ref, given := s.pushChart(string(archive)), settings(t)
	c := New(given)
	get(t, c, ref, archive)
	files, err := filepath.Glob(filepath.Join(given.CacheDir, "sha256-*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for i, poison := range []func(name string) error{
		func(name string) error { return os.WriteFile(name, []byte("another archive"), 0o600) },
		func(name string) error { return os.Truncate(name, 3) },
		func(name string) error { return os.WriteFile(name, nil, 0o600) },
		func(name string) error {
			return os.Rename(name, name+".moved")
		},
		func(name string) error {
			return os.Symlink(name+".moved", name)
		},
	} {
		for _, name := range files {
			if i == 4 {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
			if err := poison(name); err != nil {
				t.Fatal(err)
			}
			before := len(s.requests)
			get(t, c, ref, archive)
			if len(s.requests) == before {
				t.Errorf("poison %d of %s: no download", i, name)
			}
		}
	}
	if err := os.WriteFile(files[0], []byte("another archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Close()
	fails(t, c, ref, "can't reach "+ref.Registry+": ")
}

// TestNoCache wants a chart although the cache can't be written, and only one download of a
// process.
func TestNoCache(t *testing.T) {
	s := newServer(t)
	s.open = true
	ref, given := s.pushChart("the archive"), settings(t)
	file := filepath.Join(given.CacheDir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", filepath.Join(file, "charts")} {
		t.Run(dir, func(t *testing.T) {
			given.CacheDir = dir
			c, before := New(given), s.count("manifests")
			get(t, c, ref, []byte("the archive"))
			if s.count("manifests") == before {
				t.Errorf("%q: no download", dir)
			}
			before = s.count("")
			get(t, c, ref, []byte("the archive"))
			if s.count("") != before {
				t.Errorf("%q: a second download", dir)
			}
		})
	}
}

// TestUnfinished wants files of killed processes to go, and those that another process writes
// to stay.
func TestUnfinished(t *testing.T) {
	s := newServer(t)
	s.open = true
	ref, given := s.pushChart("the archive"), settings(t)
	killed, writing := filepath.Join(given.CacheDir, "new-1"), filepath.Join(given.CacheDir, "new-2")
	for _, name := range []string{killed, writing} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
	yesterday := time.Now().AddDate(0, 0, -1)
	if err := os.Chtimes(killed, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	get(t, New(given), ref, []byte("the archive"))
	if _, err := os.Stat(killed); !os.IsNotExist(err) {
		t.Errorf("%s: %v", killed, err)
	}
	if _, err := os.Stat(writing); err != nil {
		t.Error(err)
	}
}

// TestTogether has many clients of one cache ask at once, as several processes do.
func TestTogether(t *testing.T) {
	archive := bytes.Repeat([]byte("the archive"), 10_000)
	s := newServer(t)
	s.open = true
	ref, given := s.pushChart(string(archive)), settings(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			c := New(given)
			for range 3 {
				if got, err := c.Chart(t.Context(), ref, false); err != nil || !bytes.Equal(got, archive) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			}
		})
	}
	all.Wait()
	files, err := os.ReadDir(given.CacheDir)
	if err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
}

// TestFaults wants an error that helps for each wrong answer.
func TestFaults(t *testing.T) {
	other := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"schemaVersion":2}`)) }
	for name, c := range map[string]struct {
		kind   string
		answer http.HandlerFunc
		want   string
	}{
		"another manifest": {"manifests", other, "sent other bytes than the digest sha256:"},
		"another archive":  {"blobs", other, "sent other bytes than the digest sha256:"},
		"truncated": {"blobs", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "11")
			_, _ = w.Write([]byte("the"))
		}, "ended the answer too early (run lynqctl again later"},
		"too much": {"manifests", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, maxManifest+1))
		}, "sent too much: it has more than 4 MiB"},
		"forbidden":     {"manifests", status(http.StatusForbidden), "answers 403 Forbidden to the credentials in "},
		"unauthorized":  {"manifests", status(http.StatusUnauthorized), "answers 401 Unauthorized to the credentials in "},
		"no blob":       {"blobs", status(http.StatusNotFound), "answers 404 Not Found, so it has no chart with this digest"},
		"failure":       {"blobs", status(http.StatusInternalServerError), "answers 500 Internal Server Error (run lynqctl again later, or run helm pull"},
		"too often":     {"manifests", status(http.StatusTooManyRequests), "answers 429 Too Many Requests"},
		"token refused": {"token", status(http.StatusForbidden), "answers 403 Forbidden to the credentials in "},
		"no token":      {"token", other, "names a service for tokens that lynqctl can't use"},
		"endless":       {"manifests", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, "more than 5 redirects"},
		"redirect": {"blobs", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/x?signature="+signature, http.StatusFound)
		}, "192.0.2.1 wants a connection without TLS"},
		"no address": {"blobs", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://[::1?signature="+signature)
			w.WriteHeader(http.StatusFound)
		}, "failed to parse Location header …"},
		"no HTTP": {"blobs", func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = fmt.Fprintf(connection, "%s\r\n\r\n", password)
				_ = connection.Close()
			}
		}, "malformed HTTP response …"},
		"strange scheme": {"blobs", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "wants a connection without TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answers[c.kind] = c.answer
			ref := s.pushChart("the archive")
			fails(t, New(configFile(t, loginFor(ref.Registry))), ref, c.want)
		})
	}
}

// TestPassing wants failures that pass to be no failures.
func TestPassing(t *testing.T) {
	s := newServer(t)
	ref := s.pushChart("the archive")
	s.open = true
	var failed sync.Once
	s.answers["token"] = func(w http.ResponseWriter, _ *http.Request) {
		code := 0
		failed.Do(func() { code = http.StatusBadGateway })
		if code > 0 {
			w.WriteHeader(code)
			return
		}
		_, _ = fmt.Fprintf(w, `{"token":%q}`, token)
	}
	get(t, New(settings(t)), ref, []byte("the archive"))
}

// TestArtifacts wants an error for whatever is no chart.
func TestArtifacts(t *testing.T) {
	const layers = `"layers":[{`
	for name, c := range map[string]struct{ old, now, want string }{
		"index":     {`"schemaVersion":2,`, `"manifests":[{},{}],`, "the digest names an index of 2 manifests, and no chart (use the digest that helm pull"},
		"empty":     {typeManifest, typeIndex, "the digest names an index of 0 manifests"},
		"image":     {typeHelmConfig, "application/vnd.oci.image.config.v1+json", `Found "application/vnd.oci.image.config.v1+json", and a chart has application/vnd.cncf.helm.config`},
		"artifact":  {`"config":`, `"artifactType":"application/x","other":`, `Found "application/x"`},
		"nothing":   {`"mediaType":`, `"type":`, `Found "nothing known"`},
		"list":      {layers, `"layers":1,"other":[{`, "isn't the manifest of a chart"},
		"layer":     {typeChart, "text/plain", `has 0 layers of type application/vnd.cncf.helm.chart.content.v1.tar+gzip, and a chart has one. Found "text/plain"`},
		"no layer":  {layers, `"other":[{`, "Found no layer"},
		"two":       {layers, layers + `"mediaType":"` + typeChart + `"},{`, "has 2 layers"},
		"digest":    {digestOf([]byte("the archive")), "sha256:../../x", "no digest of SHA-256"},
		"size":      {`"size":11`, `"size":3`, "the chart has 11 bytes, and its manifest says 3"},
		"too large": {`"size":11`, `"size":67108865`, "more than 64 MiB"},
		"negative":  {`"size":11`, `"size":-1`, "more than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.open = true
			fails(t, New(settings(t)), s.pushChart("the archive", c.old, c.now), c.want)
		})
	}
}

// TestSilent wants an error from a registry that answers never.
func TestSilent(t *testing.T) {
	s := newServer(t)
	s.open = true
	s.answers["manifests"] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	given := settings(t)
	given.Limit = 50 * time.Millisecond
	ref := s.pushChart("the archive")
	fails(t, New(given), ref, ref.Registry+" doesn't answer in time (check the address, the network and the proxy)")
}
