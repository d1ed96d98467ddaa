package e2e_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// tenantsAPI has rows on two pages. It may cut the second one.
type tenantsAPI struct {
	mu          sync.Mutex
	pages       [2]string
	cut         bool
	sent, again int // answers 200, and 304
}

func (a *tenantsAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer t0ken" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	text := a.pages[0]
	if r.URL.Query().Get("page") == "2" {
		text = a.pages[1]
		if a.cut {
			text = text[:len(text)-3]
		}
	}
	tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(text))))
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		a.again++
		w.WriteHeader(http.StatusNotModified)
		return
	}
	a.sent++
	_, _ = w.Write([]byte(text))
}

// has gives the API other rows.
func (a *tenantsAPI) has(rows map[string]string, cut bool) {
	var pages [2][]string
	for i, uid := range slices.Sorted(maps.Keys(rows)) {
		pages[i%2] = append(pages[i%2], fmt.Sprintf(`{"id": %q, "active": true, "plan": %q}`, uid, rows[uid]))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pages[0] = `{"items": [` + strings.Join(pages[0], ",") + `], "next": "/tenants?page=2"}`
	a.pages[1] = `{"items": [` + strings.Join(pages[1], ",") + `], "next": null}`
	a.cut = cut
}

func (a *tenantsAPI) counts() (sent, again int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sent, a.again
}

// TestWatchAPI wants a watch to follow the rows of an API, which sends unchanged pages only
// once. The watch must keep all nodes while a page is cut.
func TestWatchAPI(t *testing.T) {
	t.Parallel()
	api := &tenantsAPI{}
	server := httptest.NewServer(api)
	defer server.Close()
	inputs := strings.Replace(shopInputs, "{type: csv, csv: {path: rows.csv}}",
		fmt.Sprintf("{type: http, syncInterval: 1s, http: {url: %q, tokenFrom: {file: token}}}", server.URL+"/tenants"), 1)
	s := newShopIn(t, cluster.Env(t), inputs, 4, faultproxy.Options{})
	s.write(t, "token", "t0ken\n")
	api.has(s.rows, false)
	w := s.watch(t)
	s.follows(t)

	// The API sends the two pages once, and then answers 304.
	before, asked := api.counts()
	eventually(t, func() []string {
		if _, now := api.counts(); now >= asked+8 {
			return nil
		}
		return []string{"the API isn't asked again"}
	})
	if sent, _ := api.counts(); sent != before {
		t.Errorf("%d answers were sent that did not change", sent-before)
	}

	s.rows["t001"] = "paid"
	api.has(s.rows, false)
	s.follows(t)

	// Rows missing from a cut page aren't gone.
	objects, nodes := s.desired(t)
	few := maps.Clone(s.rows)
	delete(few, "t003")
	api.has(few, true)
	w.said(t, "the last good rows count until they can")
	s.becomes(t, objects, nodes)
	delete(s.rows, "t003")
	api.has(s.rows, false)
	w.said(t, "its rows can be read again")
	s.follows(t)
}
