package httprows_test

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
)

// api is a server with pages of rows, numbered from 1. Fault may answer a request itself,
// and then returns true. It gets the number of earlier requests for the page.
type api struct {
	pages    map[int]string
	tags     bool // answers have ETags
	fault    func(w http.ResponseWriter, r *http.Request, page, before int) bool
	asked    map[int]*atomic.Int64
	notAgain atomic.Int64 // number of answers with 304
	sent     atomic.Int64 // number of answers with 200
}

// pagesOf returns pages of an API whose field names the next page.
func pagesOf(rows ...[]string) map[int]string {
	pages := map[int]string{}
	for i, page := range rows {
		next := "null"
		if i+1 < len(rows) {
			next = fmt.Sprintf(`"/rows?page=%d"`, i+2)
		}
		pages[i+1] = fmt.Sprintf(`{"items": [%s], "next": %s}`, strings.Join(page, ","), next)
	}
	return pages
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	page = max(page, 1)
	before := int(a.asked[page].Add(1)) - 1
	if a.fault != nil && a.fault(w, r, page, before) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if a.tags {
		tag := fmt.Sprintf("%q", fmt.Sprint(len(a.pages[page]), a.pages[page]))
		w.Header().Set("ETag", strings.ReplaceAll(tag, `\"`, "'"))
		if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
			a.notAgain.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	a.sent.Add(1)
	_, _ = io.WriteString(w, a.pages[page])
}

// serve starts the API on a port of this machine.
func serve(t *testing.T, a *api) endpoint.Connection {
	t.Helper()
	a.asked = map[int]*atomic.Int64{}
	for page := range 20 {
		a.asked[page] = new(atomic.Int64)
	}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	return endpoint.Connection{Type: endpoint.SourceHTTP, HTTP: endpoint.HTTPRows{URL: s.URL + "/rows"}}
}

// read reads all rows, one per line.
func read(t *testing.T, c endpoint.Connection, known *httprows.Answers) ([]string, error) {
	t.Helper()
	rows, err := httprows.Read(t.Context(), c, nil, known)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}()
	text, err := io.ReadAll(io.NewSectionReader(rows, 0, 1<<30))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text)), nil
}

func wantRows(t *testing.T, got []string, err error, want ...string) {
	t.Helper()
	if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("read %q, %v; want %q", got, err, want)
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q\nlacks %q", err, part)
		}
	}
}

var three = [][]string{{`{"id":"a"}`, `{"id":"b"}`}, {`{"id":"c"}`}, {`{"id":"d"}`}}

// TestForms reads rows in each supported form of answers.
func TestForms(t *testing.T) {
	link := func(value string) func(w http.ResponseWriter, r *http.Request, page, before int) bool {
		return func(w http.ResponseWriter, _ *http.Request, page, _ int) bool {
			if page == 1 {
				w.Header().Set("Link", value)
			}
			return false
		}
	}
	typed := func(kind string) func(w http.ResponseWriter, r *http.Request, page, before int) bool {
		return func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, "{\"id\":\"a\"}\n{\"id\": \"b\"}")
			return true
		}
	}
	two := map[int]string{1: `[{"id":"a"}]`, 2: `[{"id":"b"}]`}
	for name, test := range map[string]struct {
		api  *api
		set  endpoint.HTTPRows
		want []string
	}{
		"array":                  {api: &api{pages: map[int]string{1: " [ {\"id\" : 1.50, \"a\":\n{\"b\" : [1, 2]}} ] \n"}}, want: []string{`{"id":1.50,"a":{"b":[1,2]}}`}},
		"empty array":            {api: &api{pages: map[int]string{1: "[]"}}},
		"mark":                   {api: &api{pages: map[int]string{1: "\xef\xbb\xbf[{\"id\":\"a\"}]"}}, want: []string{`{"id":"a"}`}},
		"pages":                  {api: &api{pages: pagesOf(three...)}, want: []string{`{"id":"a"}`, `{"id":"b"}`, `{"id":"c"}`, `{"id":"d"}`}},
		"empty page":             {api: &api{pages: pagesOf([]string{`{"id":"a"}`}, nil, []string{`{"id":"b"}`})}, want: []string{`{"id":"a"}`, `{"id":"b"}`}},
		"no next":                {api: &api{pages: map[int]string{1: `{"items":[{"id":"a"}],"next":"","page":{"x":[]}}`}}, want: []string{`{"id":"a"}`}},
		"next first":             {api: &api{pages: map[int]string{1: `{"next":"?page=2","items":[{"id":"a"}]}`, 2: `{"items":[{"id":"b"}]}`}}, want: []string{`{"id":"a"}`, `{"id":"b"}`}},
		"next false":             {api: &api{pages: map[int]string{1: `{"items":[{"id":"a"}],"next":false}`}}, want: []string{`{"id":"a"}`}},
		"link in single quotes":  {api: &api{pages: two, fault: link(`<?page=2>; rel='next'`)}, want: []string{`{"id":"a"}`, `{"id":"b"}`}},
		"links in single quotes": {api: &api{pages: two, fault: link(`<?page=1>;title='a, rel=next' ; rel='first', <?page=2> ;; title='b;c'; rel = 'last NEXT';`)}, want: []string{`{"id":"a"}`, `{"id":"b"}`}},
		"link with a comma":      {api: &api{pages: two, fault: link(`<?x=1,2&page=2>; rel=next; title*=UTF-8''a`)}, want: []string{`{"id":"a"}`, `{"id":"b"}`}},
		"fields": {
			api:  &api{pages: map[int]string{1: `{"data":{"rows":[{"id":"a"}],"more":{"cursor":2}},"count":2}`, 2: `{"data":{"rows":[{"id":"b"}],"more":{}},"count":2}`}},
			set:  endpoint.HTTPRows{Items: "data.rows", Next: "data.more.cursor", NextParameter: "page", Total: "count"},
			want: []string{`{"id":"a"}`, `{"id":"b"}`},
		},
		"name with a dot": {api: &api{pages: map[int]string{1: `{"value":[{"id":"a"}],"@odata.nextLink":"/rows?page=2"}`, 2: `{"value":[{"id":"b"}]}`}}, set: endpoint.HTTPRows{Items: "value", Next: "@odata.nextLink"}, want: []string{`{"id":"a"}`, `{"id":"b"}`}},
		"whole":           {api: &api{pages: map[int]string{1: `{"items":[{"id":"a"}]}`}}, set: endpoint.HTTPRows{Whole: true}, want: []string{`{"id":"a"}`}},
		"link":            {api: &api{pages: two, fault: link(`</rows?page=1>; rel="first", </rows?page=2>; title="a, b"; rel="last next"`)}, want: []string{`{"id":"a"}`, `{"id":"b"}`}},
		"link unquoted":   {api: &api{pages: two, fault: link(`<?page=2>;rel=Next`)}, want: []string{`{"id":"a"}`, `{"id":"b"}`}},
		"other links":     {api: &api{pages: two, fault: link(`</rows?page=2>; rel="last", </next>; rel="prev"; title="rel=next"`)}, want: []string{`{"id":"a"}`}},
		"link of object":  {api: &api{pages: map[int]string{1: `{"items":[{"id":"a"}]}`, 2: `{"items":[{"id":"b"}]}`}, fault: link(`</rows?page=2>; rel="next"`)}, want: []string{`{"id":"a"}`, `{"id":"b"}`}},
		"lines":           {api: &api{fault: typed("application/x-ndjson; charset=UTF-8")}, want: []string{`{"id":"a"}`, `{"id":"b"}`}},
		"lines by format": {api: &api{fault: typed("text/plain")}, set: endpoint.HTTPRows{Lines: true}, want: []string{`{"id":"a"}`, `{"id":"b"}`}},
		"gzip": {api: &api{fault: func(w http.ResponseWriter, r *http.Request, _, _ int) bool {
			w.Header().Set("Content-Encoding", r.Header.Get("Accept-Encoding"))
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, `[{"id":"a"}]`)
			_ = z.Close()
			return true
		}}, want: []string{`{"id":"a"}`}},
		"redirect": {api: &api{pages: two, fault: func(w http.ResponseWriter, r *http.Request, _, _ int) bool {
			if r.URL.Path == "/rows" {
				http.Redirect(w, r, "/v2/rows", http.StatusFound)
				return true
			}
			return false
		}}, want: []string{`{"id":"a"}`}},
		"busy": {api: &api{pages: pagesOf(three...), fault: func(w http.ResponseWriter, _ *http.Request, page, before int) bool {
			if page == 2 && before == 0 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
			}
			if page == 3 && before == 0 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return page > 1 && before == 0
		}}, want: []string{`{"id":"a"}`, `{"id":"b"}`, `{"id":"c"}`, `{"id":"d"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, test.api)
			test.set.URL = c.HTTP.URL
			c.HTTP = test.set
			got, err := read(t, c, nil)
			wantRows(t, got, err, test.want...)
		})
	}
}

// raw sends any bytes and closes the connection.
func raw(w http.ResponseWriter, text string) bool {
	conn, out, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = out.WriteString(text)
		_ = out.Flush()
		_ = conn.Close()
	}
	return true
}

// faults returns all ways in which a page may fail.
func faults() map[string]struct {
	do   func(w http.ResponseWriter, r *http.Request) bool
	want string
} {
	text := func(kind, text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, text)
			return true
		}
	}
	status := func(code int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			if code != http.StatusNoContent && code != http.StatusNotModified {
				_, _ = io.WriteString(w, `{"items":[],"next":null}`)
			}
			return true
		}
	}
	bytes := func(text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool { return raw(w, text) }
	}
	const json, head = "application/json", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	return map[string]struct {
		do   func(w http.ResponseWriter, r *http.Request) bool
		want string
	}{
		"closed":            {bytes(""), "no answer"},
		"no HTTP":           {bytes("hello hunter2\r\n\r\n"), "no answer"},
		"short":             {bytes(head + "Content-Length: 100\r\n\r\n" + `{"items":[{"id":"x"}],"next":null}`), "cut off"},
		"short array":       {bytes(head + "Content-Length: 100\r\n\r\n" + `[{"id":"x"}]`), "cut off"},
		"short in a row":    {bytes(head + "Content-Length: 100\r\n\r\n" + `[{"id":"x"},{"id`), "cut off"},
		"chunks cut":        {bytes(head + "Transfer-Encoding: chunked\r\n\r\n14\r\n" + `{"items":[],"next":n` + "\r\n"), "cut off"},
		"last chunk":        {bytes(head + "Transfer-Encoding: chunked\r\n\r\nc\r\n" + `[{"id":"x"}]` + "\r\n"), "cut off"},
		"no end, closed":    {bytes(head + "Connection: close\r\n\r\n" + `{"items":[{"id":"x"}`), "has no end"},
		"lines, closed":     {bytes("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n{\"id\":\"x\"}\n"), "doesn't say where it ends"},
		"gzip cut":          {bytes(head + "Content-Encoding: gzip\r\nContent-Length: 12\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xaa\x56"), "cut off"},
		"brotli":            {bytes(head + "Content-Encoding: br\r\nContent-Length: 2\r\n\r\n[]"), "encoded in a way"},
		"no array's end":    {text(json, `{"items":[{"id":"x"}`), "has no end"},
		"no object's end":   {text(json, `{"items":[{"id":"x"}],"next":null`), "has no end"},
		"text behind":       {text(json, `{"items":[],"next":null}{}`), "after the end"},
		"empty":             {text(json, ""), "the answer is empty"},
		"empty lines":       {text("application/x-ndjson", ""), "the answer is empty"},
		"null":              {text(json, "null"), "neither an array nor an object"},
		"error as answer":   {text(json, `{"error":"hunter2"}`), `shows a failure in its field "error"`},
		"null rows":         {text(json, `{"items":null,"next":null}`), `field "items" is not an array`},
		"rows twice":        {text(json, `{"items":[],"items":[{"id":"x"}]}`), "appears twice"},
		"wrong next":        {text(json, `{"items":[],"next":5}`), "set nextParameter"},
		"next word":         {text(json, `{"items":[],"next":"abc"}`), "no URL and no path"},
		"next itself":       {text(json, `{"items":[],"next":"/rows?page=2"}`), "which was read already"},
		"next elsewhere":    {text(json, `{"items":[],"next":"http://elsewhere.example/rows?token=hunter2"}`), "its next page is elsewhere, at http://elsewhere.example"},
		"next with user":    {text(json, `{"items":[],"next":"//me:hunter2@localhost/rows"}`), "has a user"},
		"more follows":      {text(json, `{"items":[],"next":null,"has_more":true}`), `more rows follow by its field "has_more"`},
		"a row is a text":   {text(json, `{"items":["hunter2"],"next":null}`), "is not an object"},
		"a key twice":       {text(json, `{"items":[{"id":"x","id":"y"}],"next":null}`), `key "id" appears twice`},
		"no JSON":           {text(json, `{"items":[{"id":x}],"next":null}`), "this is not JSON"},
		"no UTF-8":          {text(json, "{\"items\":[{\"id\":\"\xff\"}],\"next\":null}"), "this is not JSON"},
		"UTF-16":            {text(json, "\xff\xfe{\x00"), "UTF-16"},
		"Latin-1":           {text("application/json; charset=ISO-8859-1", `{"items":[],"next":null}`), "not UTF-8"},
		"a page to log in":  {text("text/html; charset=utf-8", "<html>"), "text/html, not JSON"},
		"no content":        {status(http.StatusNoContent), "204"},
		"a part":            {status(http.StatusPartialContent), "206"},
		"never asked":       {status(http.StatusNotModified), "304"},
		"created":           {status(http.StatusCreated), "201"},
		"unknown":           {status(http.StatusUnauthorized), "lynqctl sent no credentials"},
		"forbidden":         {status(http.StatusForbidden), "403"},
		"gone":              {status(http.StatusGone), "410"},
		"broken":            {status(http.StatusInternalServerError), "500"},
		"gateway":           {status(http.StatusBadGateway), "502"},
		"redirect, no link": {status(http.StatusMultipleChoices), "300"},
		"busy for long": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "3600")
			return status(http.StatusServiceUnavailable)(w, nil)
		}, "asks to come back in 1h0m0s (503)"},
		"busy until a day": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", time.Now().Add(24*time.Hour).UTC().Format(http.TimeFormat))
			return status(http.StatusTooManyRequests)(w, nil)
		}, "(429)"},
		"two next pages": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Link", `</a>; rel=next`)
			return text(json, `{"items":[],"next":"/b"}`)(w, nil)
		}, "two next pages"},
		"redirected": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://elsewhere.example/rows?token=hunter2", http.StatusFound)
			return true
		}, "redirects to another place: http://elsewhere.example"},
		"redirected in a ring": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
			return true
		}, "redirects more than 5 times"},
	}
}

// TestFaults makes each page fail in each way, in the first and in the second reading. The
// result must never have fewer rows.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := 1
			if name == "next itself" {
				first = 2 // for page 1, this is the usual link to page 2
			}
			for page := first; page <= 3; page++ {
				for at := range 2 {
					c := serve(t, &api{pages: pagesOf(three...), fault: func(w http.ResponseWriter, r *http.Request, p, before int) bool {
						return p == page && before >= at && fault.do(w, r)
					}})
					got, err := read(t, c, nil)
					if err == nil {
						t.Errorf("page %d, reading %d: %q came, and no error", page, at+1, got)
						continue
					}
					wantError(t, err, fault.want)
					if page > 1 && name != "next itself" && !strings.Contains(err.Error(), fmt.Sprintf("page %d, ", page)) {
						t.Errorf("error %q does not name page %d", err, page)
					}
					if strings.Contains(err.Error(), "hunter2") {
						t.Errorf("error %q holds a secret", err)
					}
				}
			}
		})
	}
}

// TestChanged checks that changing rows, or fewer pages in the second reading, are errors.
// Once skips the second reading.
func TestChanged(t *testing.T) {
	for name, change := range map[string]string{
		"a row went":   `{"items":[{"id":"a"}],"next":"/rows?page=2"}`,
		"a row came":   `{"items":[{"id":"0"},{"id":"a"},{"id":"b"}],"next":"/rows?page=2"}`,
		"a value":      `{"items":[{"id":"a"},{"id":"B"}],"next":"/rows?page=2"}`,
		"fewer pages":  `{"items":[{"id":"a"},{"id":"b"}],"next":null}`,
		"a page less":  `{"items":[{"id":"a"},{"id":"b"}],"next":"/rows?page=3"}`,
		"another page": `{"items":[{"id":"a"},{"id":"b"}],"next":"/rows?page=4"}`,
	} {
		for _, tags := range []bool{false, true} {
			t.Run(fmt.Sprint(name, tags), func(t *testing.T) {
				a := &api{pages: pagesOf(three...), tags: tags}
				a.pages[4] = `{"items":[],"next":null}`
				a.fault = func(_ http.ResponseWriter, _ *http.Request, page, before int) bool {
					if page == 3 && before == 0 {
						a.pages[1] = change
					}
					return false
				}
				c := serve(t, a)
				_, err := read(t, c, nil)
				wantError(t, err, "the rows changed while lynqctl read 3 pages")
				a.pages = pagesOf(three...)
				c.HTTP.Once = true
				got, err := read(t, c, nil)
				wantRows(t, got, err, `{"id":"a"}`, `{"id":"b"}`, `{"id":"c"}`, `{"id":"d"}`)
			})
		}
	}
}

// TestSplitElsewhere checks that the size of pages doesn't matter.
func TestSplitElsewhere(t *testing.T) {
	a := &api{pages: pagesOf(three...)}
	a.fault = func(_ http.ResponseWriter, _ *http.Request, page, before int) bool {
		if page == 1 && before == 1 {
			a.pages = pagesOf([]string{`{"id":"a"}`}, []string{`{"id":"b"}`, `{"id":"c"}`, `{"id":"d"}`})
		}
		return false
	}
	got, err := read(t, serve(t, a), nil)
	wantRows(t, got, err, `{"id":"a"}`, `{"id":"b"}`, `{"id":"c"}`, `{"id":"d"}`)
}

// TestTags checks that the server doesn't send unchanged answers again, in the second
// reading and in the next run.
func TestTags(t *testing.T) {
	a := &api{pages: pagesOf(three...), tags: true}
	c, known := serve(t, a), new(httprows.Answers)
	defer func() { _ = known.Close() }()
	all := []string{`{"id":"a"}`, `{"id":"b"}`, `{"id":"c"}`, `{"id":"d"}`}
	got, err := read(t, c, known)
	wantRows(t, got, err, all...)
	got, err = read(t, c, known)
	wantRows(t, got, err, all...)
	if a.sent.Load() != 3 || a.notAgain.Load() != 9 {
		t.Errorf("%d answers were sent, and %d were not; want 3 and 9", a.sent.Load(), a.notAgain.Load())
	}
	a.pages[2] = strings.ReplaceAll(a.pages[2], `"c"`, `"C"`)
	for range 2 {
		got, err = read(t, c, known)
		wantRows(t, got, err, `{"id":"a"}`, `{"id":"b"}`, `{"id":"C"}`, `{"id":"d"}`)
	}
	if a.sent.Load() != 4 {
		t.Errorf("%d answers were sent; want 4", a.sent.Load())
	}
	a.pages[3] = `{"items":[]`
	_, err = read(t, c, known)
	wantError(t, err, "page 3", "has no end")
	a.pages = pagesOf(three...)
	got, err = read(t, c, known)
	wantRows(t, got, err, all...)
	c.HTTP.Items = "rows"
	_, err = read(t, c, known)
	wantError(t, err, `no field "rows"`)
}

// TestTagsOfLinks checks pages with an ETag but without a Link. An ETag doesn't cover
// headers, so such a page may have a Link now.
func TestTagsOfLinks(t *testing.T) {
	for name, keeps := range map[string]bool{"304 with Link": true, "304 without": false} {
		t.Run(name, func(t *testing.T) {
			a := &api{pages: map[int]string{1: `[{"id":"a"}]`, 2: `[{"id":"b"}]`}, tags: true}
			link := ""
			a.fault = func(w http.ResponseWriter, r *http.Request, page, _ int) bool {
				if link != "" && page == 1 && (keeps || r.Header.Get("If-None-Match") == "") {
					w.Header().Set("Link", link)
				}
				return false
			}
			c, known := serve(t, a), new(httprows.Answers)
			defer func() { _ = known.Close() }()
			got, err := read(t, c, known)
			wantRows(t, got, err, `{"id":"a"}`)
			link = `</rows?page=2>; rel="next"`
			for range 2 {
				got, err = read(t, c, known)
				wantRows(t, got, err, `{"id":"a"}`, `{"id":"b"}`)
			}
			link = `</rows?page=2>; rel="last"`
			if keeps {
				got, err = read(t, c, known)
				wantRows(t, got, err, `{"id":"a"}`)
			}
		})
	}
	// With a single page, no page follows, and lynqctl reads it once.
	a := &api{pages: map[int]string{1: `[{"id":"a"}]`}, tags: true}
	c, known := serve(t, a), new(httprows.Answers)
	c.HTTP.Whole = true
	for range 3 {
		got, err := read(t, c, known)
		wantRows(t, got, err, `{"id":"a"}`)
	}
	if a.sent.Load() != 1 {
		t.Errorf("%d answers were sent; want 1", a.sent.Load())
	}
	if err := known.Close(); err != nil {
		t.Error(err)
	}
}

// TestWrongTag refuses a 304 answer whose tag differs from the request's.
func TestWrongTag(t *testing.T) {
	a := &api{pages: pagesOf(three...), tags: true}
	a.fault = func(w http.ResponseWriter, r *http.Request, _, _ int) bool {
		if r.Header.Get("If-None-Match") == "" {
			return false
		}
		w.Header().Set("ETag", `"other"`)
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	_, err := read(t, serve(t, a), nil)
	wantError(t, err, "with another ETag")
}

// TestBounds checks the limits of size, time, pages and rows. It also checks that the end
// of the caller's context appears as such.
func TestBounds(t *testing.T) {
	endless := &api{fault: func(w http.ResponseWriter, r *http.Request, _, _ int) bool {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		_, _ = fmt.Fprintf(w, `{"items":[],"next":"?n=%d"}`, n+1)
		return true
	}}
	_, err := read(t, serve(t, endless), nil)
	wantError(t, err, "more than 10000 pages")

	large := &api{fault: func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
		z := gzip.NewWriter(w)
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(z, "["+strings.Repeat(`{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},`, 100_000))
		_ = z.Close()
		return true
	}}
	c := serve(t, large)
	c.HTTP.MaxBytes = 1 << 20
	_, err = read(t, c, nil)
	wantError(t, err, "the answers have more than 1048576 bytes", "maxSize")

	row := &api{pages: map[int]string{1: `[{"id":"` + strings.Repeat("a", 17<<20) + `"}]`}}
	_, err = read(t, serve(t, row), nil)
	wantError(t, err, "the row has more than 16 MiB")

	for name, do := range map[string]func(w http.ResponseWriter, r *http.Request){
		"no header": func(http.ResponseWriter, *http.Request) {},
		"no body": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `[{"id":"a"}`)
			_ = http.NewResponseController(w).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			slow := &api{fault: func(w http.ResponseWriter, r *http.Request, _, _ int) bool {
				do(w, r)
				<-r.Context().Done()
				return true
			}}
			c := serve(t, slow)
			c.HTTP.Timeout = 100 * time.Millisecond
			_, err := read(t, c, nil)
			wantError(t, err, "did not all come within 100ms")
			ctx, cancel := context.WithCancelCause(t.Context())
			stop := time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("enough")) })
			defer stop.Stop()
			c.HTTP.Timeout = 0
			_, err = httprows.Read(ctx, c, nil, nil)
			wantError(t, err, "lynqctl stopped reading", "enough")
		})
	}
}

// TestTotal checks that lynqctl compares the API's total with the number of rows.
func TestTotal(t *testing.T) {
	a := &api{pages: map[int]string{1: `{"items":[{"id":"a"}],"next":null,"total":2}`}}
	c := serve(t, a)
	c.HTTP.Total = "total"
	_, err := read(t, c, nil)
	wantError(t, err, `2 rows by its field "total", and its pages have 1`)
	c.HTTP.Total = "count"
	_, err = read(t, c, nil)
	wantError(t, err, `no field "count"`)
	a.pages[1] = `{"items":[{"id":"a"}],"next":null,"count":"1"}`
	_, err = read(t, c, nil)
	wantError(t, err, `field "count" is not a whole number`)
}

// TestUnclear refuses an object that doesn't say whether another page follows.
func TestUnclear(t *testing.T) {
	a := &api{pages: map[int]string{1: `{"items":[{"id":"a"}],"next_page":"/rows?page=2"}`}}
	c := serve(t, a)
	_, err := read(t, c, nil)
	wantError(t, err, `field "next_page" shows a next page, and lynqctl read none (set next to "next_page")`)
	a.pages[1] = `{"items":[{"id":"a"}],"other":1}`
	_, err = read(t, c, nil)
	wantError(t, err, `no field "next" and no header Link`, `the answer has "items", "other"`, "pages: false")
	a.pages[1] = `{"items":[{"id":"a"}],"next":"/rows?page=2"}`
	c.HTTP.Whole = true
	_, err = read(t, c, nil)
	wantError(t, err, `field "next" shows a next page`, "remove pages: false; set next to \"next\"")
}

// TestPlaces checks that messages name a row's page, but no secret of its URL.
func TestPlaces(t *testing.T) {
	c := serve(t, &api{pages: pagesOf(three...)})
	c.HTTP.URL += "?filter=x-hunter2&page=1"
	rows, err := httprows.Read(t.Context(), c, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	base, _, _ := strings.Cut(c.HTTP.URL, "?")
	for row, want := range map[int]string{
		1: "row 1, " + base + "?filter=" + redact.Hidden + "&page=1",
		2: "row 2, " + base + "?filter=" + redact.Hidden + "&page=1",
		3: "row 1, page 2, " + base + "?page=2",
		4: "row 1, page 3, " + base + "?page=3",
	} {
		if got := rows.Place(row); got != want {
			t.Errorf("row %d is at %q, want %q", row, got, want)
		}
	}
}

// TestCredentials checks that each credential is sent only to its own origin, and that no
// message has it.
func TestCredentials(t *testing.T) {
	var sent []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server was asked, with %q", r.Header)
	}))
	defer other.Close()
	a := &api{pages: pagesOf(three...), fault: func(w http.ResponseWriter, r *http.Request, page, _ int) bool {
		sent = append(sent, r.Header.Get("Authorization"))
		switch r.URL.Query().Get("do") {
		case "redirect":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return true
		case "refuse":
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		if page == 3 && r.URL.Query().Get("do") == "" {
			_, _ = io.WriteString(w, `{"items":[],"next":"`+other.URL+`"}`)
			return true
		}
		return false
	}}
	c := serve(t, a)
	base := c.HTTP.URL
	for auth, want := range map[endpoint.HTTPAuth]string{endpoint.BearerAuth: "Bearer hunter2", endpoint.BasicAuth: "Basic bWU6aHVudGVyMg=="} {
		t.Run(string(auth), func(t *testing.T) {
			c.HTTP.Auth, c.Username, c.Password = auth, "me", "hunter2"
			for do, part := range map[string]string{"": "its next page is elsewhere", "?do=redirect": "redirects to another place", "?do=refuse": "401"} {
				sent = nil
				c.HTTP.URL = base + do
				_, err := read(t, c, nil)
				wantError(t, err, part)
				if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "bWU6") {
					t.Errorf("error %q holds a secret", err)
				}
				for _, header := range sent {
					if header != want {
						t.Errorf("sent %q, want %q", header, want)
					}
				}
			}
		})
	}
	c.HTTP.URL, c.Password = base, "hunter2\n"
	_, err := read(t, c, nil)
	wantError(t, err, "control character")
	for url, part := range map[string]string{
		"http://me:hunter2@localhost/": "has a user or a password", "http://crm.example/": "begins with http://",
		"https://crm.example/?token=hunter2": "looks like a secret", "file:///etc/passwd": "no URL of HTTP",
	} {
		t.Run(url, func(t *testing.T) {
			c.HTTP.URL = url
			_, err := read(t, c, nil)
			wantError(t, err, part)
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %q holds a secret", err)
			}
		})
	}
}

// TestTLS checks that lynqctl verifies the server, and can send a client certificate.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `[{"id":"%d"}]`, len(r.TLS.PeerCertificates))
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.Config.ErrorLog = nil
	s.StartTLS()
	defer s.Close()
	c := endpoint.Connection{Type: endpoint.SourceHTTP, HTTP: endpoint.HTTPRows{URL: s.URL}}
	_, err := read(t, c, nil)
	wantError(t, err, "certificate can't be verified", "caFile")

	transport, ok := s.Client().Transport.(*http.Transport)
	if !ok {
		t.Fatalf("transport %T", s.Client().Transport)
	}
	roots := transport.TLSClientConfig.RootCAs
	for certificates, certificate := range []endpoint.Secret{"", pair(t, s)} {
		t.Run(string(certificate), func(t *testing.T) {
			c.Certificate = certificate
			rows, err := httprows.Read(t.Context(), c, roots, nil)
			if err != nil {
				t.Fatal(err)
			}
			line := make([]byte, 10)
			if _, err := rows.ReadAt(line, 0); err != nil || string(line) != fmt.Sprintf(`{"id":"%d"}`, certificates)[:10] {
				t.Errorf("read %q, %v; want %d certificates", line, err, certificates)
			}
			if err := rows.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	c.Certificate = "hunter2"
	_, err = read(t, c, nil)
	wantError(t, err, "client certificate can't be used")

	plain := serve(t, &api{pages: pagesOf(three...)})
	plain.HTTP.URL = strings.Replace(plain.HTTP.URL, "http://", "https://", 1)
	_, err = read(t, plain, nil)
	wantError(t, err, "doesn't support TLS")
}

// pair returns a client certificate with its key.
func pair(t *testing.T, s *httptest.Server) endpoint.Secret {
	t.Helper()
	own := s.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]})
	return endpoint.Secret(text) + endpoint.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
}

// TestUnreachable checks errors of the connection.
func TestUnreachable(t *testing.T) {
	c := serve(t, &api{})
	s := httptest.NewServer(nil)
	s.Close()
	c.HTTP.URL = s.URL
	_, err := read(t, c, nil)
	wantError(t, err, "the server can't be reached", "refused")
	c.HTTP.URL = "https://nowhere.invalid/rows"
	_, err = read(t, c, nil)
	wantError(t, err, `host "nowhere.invalid" can't be found`)
}

// TestNothingStays checks that no temporary file remains.
func TestNothingStays(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	a := &api{pages: pagesOf(three...), tags: true}
	c, known := serve(t, a), new(httprows.Answers)
	for range 3 {
		if _, err := read(t, c, known); err != nil {
			t.Fatal(err)
		}
	}
	a.pages[2] = "["
	if _, err := read(t, c, known); err == nil {
		t.Error("no error")
	}
	if err := known.Close(); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	_, err = read(t, c, nil)
	wantError(t, err, "temporary file")
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

// TestWarning warns about a secret in clear text.
func TestWarning(t *testing.T) {
	c := endpoint.Connection{Type: endpoint.SourceHTTP, TLS: endpoint.TLSDisable, Password: "hunter2", HTTP: endpoint.HTTPRows{URL: "http://crm.shop.svc/rows", Auth: endpoint.BearerAuth}}
	if got := httprows.Warning(c); !strings.Contains(got, "in clear text") || strings.Contains(got, "hunter2") {
		t.Errorf("warning %q", got)
	}
	for _, url := range []string{"http://127.0.0.1/rows", "https://crm.example/rows"} {
		t.Run(url, func(t *testing.T) {
			if c.HTTP.URL = url; httprows.Warning(c) != "" {
				t.Errorf("%s: warning %q", url, httprows.Warning(c))
			}
		})
	}
}
