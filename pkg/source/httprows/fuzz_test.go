package httprows_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
)

// FuzzAnswer checks any answer of an API. lynqctl must read the same rows as another
// reader, or none.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		`[]`, `[{"id":"a"},{"id":"b"}]`, `{"items":[{"id":"a"}],"next":null}`, `{"next":"","items":[{"a":{"items":[1]}}]}`,
		`{"items":[{}]`, `{"items":[{"id":"a"}],"next":"/rows?page=2"}`, "\xef\xbb\xbf[{}]", `[{"a":1e999}]`, `{"items":[],"next":null,"has_more":true}`, "{}\n{}", ``,
	} {
		f.Add([]byte(text))
	}
	var answer atomic.Pointer[[]byte]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(*answer.Load())
	}))
	f.Cleanup(server.Close)
	c := endpoint.Connection{Type: endpoint.SourceHTTP, HTTP: endpoint.HTTPRows{URL: server.URL, Once: true}}
	f.Fuzz(func(t *testing.T, text []byte) {
		answer.Store(&text)
		rows, err := httprows.Read(t.Context(), c, nil, nil)
		if err != nil {
			return
		}
		defer func() { _ = rows.Close() }()
		got, err := io.ReadAll(io.NewSectionReader(rows, 0, 1<<30))
		if err != nil {
			t.Fatal(err)
		}
		var list []json.RawMessage
		var object map[string]json.RawMessage
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		if json.Unmarshal(text, &list) != nil {
			if err := json.Unmarshal(text, &object); err != nil {
				t.Fatalf("%q was read, and is no JSON: %v", text, err)
			}
			if err := json.Unmarshal(object["items"], &list); err != nil {
				t.Fatalf("%q was read, and has no items: %v", text, err)
			}
		}
		if n := bytes.Count(got, []byte("\n")); n != len(list) {
			t.Fatalf("%q: %d rows were read of %d: %q", text, n, len(list), got)
		}
	})
}
