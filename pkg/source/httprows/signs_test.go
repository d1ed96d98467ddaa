package httprows_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// answered returns a function that reads an API whose only answer is this one.
func answered(t *testing.T) func(hub endpoint.HTTPRows, body string, headers ...string) ([]string, error) {
	var body string
	var headers []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Add(headers[i], headers[i+1])
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return func(hub endpoint.HTTPRows, text string, more ...string) ([]string, error) {
		t.Helper()
		body, headers, hub.URL = text, more, s.URL+"/rows"
		return read(t, endpoint.Connection{Type: endpoint.SourceHTTP, HTTP: hub}, nil)
	}
}

// places are objects that describe pages. %s is a member of the object.
func places() map[string]string {
	all := map[string]string{"": `{"items":[{"id":"a"}],%s}`, "data.": `{"data":{"items":[{"id":"a"}],%s}}`, "data.tenants.pageInfo.": `{"data":{"tenants":{"items":[{"id":"a"}],"pageInfo":{%s}}}}`}
	for _, object := range []string{"meta", "metadata", "paging", "pagination", "page", "_links", "links", "response_metadata", "d"} {
		all[object+"."] = `{"` + object + `":{%s},"items":[{"id":"a"}]}`
	}
	return all
}

// misspelt and whole are hubs that read no next page.
func misspelt(place string) (hubs []endpoint.HTTPRows) {
	items := "items"
	if strings.HasPrefix(place, "data.") {
		items = strings.TrimSuffix(strings.TrimSuffix(place, "."), ".pageInfo") + ".items"
	}
	return []endpoint.HTTPRows{{Items: items, Next: "nexxt"}, {Items: items, Whole: true}}
}

// TestSigns has the usual conventions at each place, with values that show more rows, and
// with values that show none.
func TestSigns(t *testing.T) {
	answer := answered(t)
	links := []string{`"/rows?page=2"`, `"https://x/rows"`, `"abc"`, `2`, `true`, `{"href":"/rows?page=2","templated":false}`, `{"after":"abc"}`}
	noLinks := []string{`null`, `""`, `false`, `0`, `-1`, `{}`, `[]`, `{"href":null}`, `"null"`}
	yes, no := []string{`true`, `"true"`}, []string{`false`, `null`, `"false"`, `""`, `0`}
	n := 0
	for _, c := range []struct {
		names       string
		more, whole []string // values that show more rows, and that show none
	}{
		{`next nextLink @odata.nextLink __next next_page nextPage next_page_url nextPageToken next-page-token next_cursor nextCursor nextToken next_token next_url next_uri nextRecordsUrl next_offset continuationToken continue`, links[:4], noLinks},
		{`next next_page`, links[4:], noLinks},
		{`has_more hasMore has_next hasNextPage hasNext has_more_items moreItems more_records is_truncated IsTruncated truncated`, yes, no},
		{`last isLast isLastPage done`, []string{`false`, `"false"`}, []string{`true`, `null`, `1`, `"/rows?page=1"`}},
		{`total totalCount total_count totalItems totalResults totalRecords total_records totalElements totalSize total_rows @odata.count count __count numFound fullCount`, []string{`2`, `"2"`, `100000`}, []string{`1`, `0`, `-1`, `null`, `""`, `"many"`, `[]`}},
		{`cursor endCursor`, []string{`"abc"`, `17`}, []string{`null`, `""`, `{}`}},
		{`pages totalPages total_pages page_count last_page`, []string{`2`, `"3"`}, []string{`1`, `0`, `null`, `[2]`}},
		{`remainingItemCount`, []string{`1`}, []string{`0`, `null`}},
	} {
		t.Run(c.names, func(t *testing.T) {
			for _, name := range strings.Fields(c.names) {
				for place, body := range places() {
					more, whole := c.more, c.whole
					if place != "" && place != "meta." {
						more, whole = more[:1], whole[:1] // the place matters here
					}
					for _, hub := range misspelt(place) {
						for _, value := range more {
							n++
							if got, err := answer(hub, fmt.Sprintf(body, fmt.Sprintf("%q:%s", name, value))); err == nil {
								t.Errorf("%s%s: %s gives %q and no error", place, name, value, got)
							} else if hub.Whole && !strings.Contains(err.Error(), "pages: false") || !strings.Contains(err.Error(), "set next to") {
								t.Errorf("%s%s: %s doesn't say what to do: %v", place, name, value, err)
							}
						}
						for _, value := range whole {
							n++
							if got, err := answer(hub, fmt.Sprintf(body, fmt.Sprintf("%q:%s", name, value))); err != nil || len(got) != 1 {
								t.Errorf("%s%s: %s gives %q, %v", place, name, value, got, err)
							}
						}
					}
				}
			}
		})
	}
	t.Log(n, "answers")
}

// TestSignsInDetail has single answers. want is part of the error, or "" for none.
func TestSignsInDetail(t *testing.T) {
	answer := answered(t)
	for _, c := range []struct{ name, hub, body, want string }{
		// These show more rows.
		{"the field to set", "nexxt", `{"items":[{"id":"a"}],"@odata.nextLink":"/rows?$skip=1"}`, `field "@odata.nextLink" shows a next page, and lynqctl read none (set next to "@odata.nextLink")`},
		{"a token", "nexxt", `{"items":[{"id":"a"}],"metadata":{"continue":"abc"}}`, `(set next to "metadata.continue", and nextParameter to the URL's parameter that takes its value)`},
		{"HAL", "nexxt", `{"items":[{"id":"a"}],"_links":{"self":{"href":"/rows"},"next":{"href":"/rows?page=2"}}}`, `set next to "_links.next.href"`},
		{"an array of links", "nexxt", `{"items":[{"id":"a"}],"links":[{"rel":"self","href":"/rows"},{"rel":"next","href":"/rows?page=2"}]}`, `field "links[rel=next]"`},
		{"deep", "nexxt", `{"items":[{"id":"a"}],"a":{"b":{"c":{"nextPageToken":"x"}}}}`, `"a.b.c.nextPageToken"`},
		{"pages: false", "false", `{"items":[{"id":"a"}],"next_page":2}`, `remove pages: false; set next to "next_page"`},
		{"next as a number", "false", `{"items":[{"id":"a"}],"next":2}`, `field "next" shows a next page`},
		{"more, with next null", "", `{"items":[{"id":"a"}],"next":null,"has_more":true}`, `more rows follow by its field "has_more"`},
		{"another next, with next null", "", `{"items":[{"id":"a"}],"next":null,"next_cursor":"x"}`, `field "next_cursor"`},
		{"total, with next null", "", `{"items":[{"id":"a"}],"next":null,"total":7}`, `field "total" counts 7 rows, and lynqctl read 1`},
		{"total of a search", "nexxt", `{"items":[{"id":"a"}],"hits":{"total":{"value":7,"relation":"eq"}}}`, `field "hits.total.value" counts 7 rows`},
		{"full page", "nexxt", `{"items":[{"id":"a"}],"offset":0,"limit":1}`, "the page is full with 1 rows"},
		{"page of pages", "nexxt", `{"items":[{"id":"a"}],"meta":{"current_page":1,"last_page":3}}`, "there are 3 pages, and lynqctl read 1"},
		{"from 0", "nexxt", `{"items":[{"id":"a"}],"number":0,"totalPages":2}`, "there are 2 pages"},
		// These don't.
		{"a row's own fields", "nexxt", `{"items":[{"id":"a","next":"x","has_more":true,"total":9,"errors":["x"],"_links":{"next":{"href":"/x"}}}]}`, ""},
		{"another object", "nexxt", `{"items":[{"id":"a"}],"maintenance":{"next":"monday","total":9,"done":false,"cursor":"x","errors":3}}`, ""},
		{"statistics", "nexxt", `{"items":[{"id":"a"}],"stats":{"totalCount":9,"count":9,"pages":4}}`, ""},
		{"a cursor at the end", "nexxt", `{"items":[{"id":"a"}],"pageInfo":{"hasNextPage":false,"endCursor":"x"}}`, ""},
		{"cursors of a page", "paging.next", `{"items":[{"id":"a"}],"paging":{"cursors":{"before":"x","after":"y"}}}`, ""},
		{"a cursor, and all rows", "nexxt", `{"items":[{"id":"a"}],"cursor":"x","total":1}`, ""},
		{"a cursor, and next null", "", `{"items":[{"id":"a"}],"cursor":"x","next":null}`, ""},
		{"count of others, and next null", "", `{"items":[{"id":"a"}],"count":9,"next":null}`, ""},
		{"a named end", "next", `{"items":[{"id":"a"}],"total":9,"pages":3,"next":null}`, ""},
		{"a false has_more", "nexxt", `{"items":[{"id":"a"}],"total":9,"has_more":false}`, ""},
		{"the last page", "nexxt", `{"items":[{"id":"a"}],"page":3,"pages":3}`, ""},
		{"from 0, the only page", "nexxt", `{"items":[{"id":"a"}],"number":0,"totalPages":1,"size":1,"totalElements":1,"last":true}`, ""},
		{"not full", "nexxt", `{"items":[{"id":"a"}],"offset":0,"limit":2}`, ""},
		{"full, and all rows", "nexxt", `{"items":[{"id":"a"}],"offset":0,"limit":1,"total":1}`, ""},
		{"the previous page", "nexxt", `{"items":[{"id":"a"}],"_links":{"prev":{"href":"/x"},"last":{"href":"/x"}}}`, ""},
		{"an array of other links", "nexxt", `{"items":[{"id":"a"}],"links":[{"rel":"self","href":"/rows"},{"rel":"next","href":""}]}`, ""},
		{"a large array", "nexxt", `{"items":[{"id":"a"}],"other":[{"next":"/x","has_more":true,"total":9}]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			hub := endpoint.HTTPRows{Next: c.hub}
			if c.hub == "false" {
				hub = endpoint.HTTPRows{Whole: true}
			}
			got, err := answer(hub, c.body)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%q, error %v\nlacks %q", got, err, c.want)
				}
			} else if err != nil || len(got) != 1 {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestSignsOfFailure refuses answers that say that they failed, or that they are partial.
func TestSignsOfFailure(t *testing.T) {
	answer := answered(t)
	for member, bad := range map[string]bool{
		`"errors":["x"]`: true, `"errors":[{"message":"hunter2"}]`: true, `"error":"hunter2"`: true, `"error":{"code":7}`: true, `"error":true`: true, `"errors":3`: true, `"partial":true`: true, `"partial":"true"`: true,
		`"incomplete_results":true`: true, `"timed_out":true`: true, `"success":false`: true, `"ok":false`: true, `"status":"error"`: true, `"status":"PARTIAL"`: true, `"_shards":{"total":5,"failed":1}`: true, `"meta":{"errors":["x"]}`: true,
		`"errors":[]`: false, `"errors":null`: false, `"errors":{}`: false, `"errors":0`: false, `"error":""`: false, `"error":false`: false, `"error":{"code":0,"message":""}`: false, `"partial":false`: false, `"success":true`: false, `"ok":true`: false,
		`"status":"ok"`: false, `"status":200`: false, `"status":null`: false, `"_shards":{"total":5,"failed":0}`: false, `"report":{"errors":["x"],"success":false}`: false, `"warnings":["x"]`: false,
	} {
		t.Run(member, func(t *testing.T) {
			for _, rows := range []string{"", `{"id":"a"}`} {
				for _, hub := range []endpoint.HTTPRows{{}, {Next: "next"}, {Whole: true}} {
					_, err := answer(hub, `{"items":[`+rows+`],`+member+`,"next":null}`)
					if bad != (err != nil) || bad && (!strings.Contains(err.Error(), "shows a failure in its field") || strings.Contains(err.Error(), "hunter2")) {
						t.Errorf("%s: %v", member, err)
					}
				}
			}
		})
	}
}

// TestSignsInHeaders has arrays, whose headers alone show more rows.
func TestSignsInHeaders(t *testing.T) {
	answer := answered(t)
	for _, c := range []struct {
		headers []string
		want    string
	}{
		{[]string{"X-Total-Count", "2"}, "header X-Total-Count counts 2 rows, and lynqctl read 1"},
		{[]string{"X-Total", "2"}, "header X-Total counts 2 rows"},
		{[]string{"Content-Range", "items 0-0/2"}, "header Content-Range counts 2 rows"},
		{[]string{"X-Next-Page", "2"}, "header X-Next-Page shows a next page"},
		{[]string{"X-Next-Cursor", "abc"}, "header X-Next-Cursor shows a next page"},
		{[]string{"X-Ms-Continuationtoken", "abc"}, "header X-Ms-Continuationtoken shows"},
		{[]string{"X-Has-More", "true"}, "more rows follow by its header X-Has-More"},
		{[]string{"X-Page", "1", "X-Total-Pages", "2"}, "there are 2 pages"},
		{[]string{"X-Pagination", `{"TotalCount":1,"HasNext":true}`}, "more rows follow by its header X-Pagination"},
		{[]string{"X-Pagination", `{"TotalCount":2}`}, "header X-Pagination counts 2 rows"},
		{[]string{"Link", `/rows?page=2; rel="next"`}, "a header Link with the relation next can't be read"},
		{[]string{"Link", `</rows>; rel="first", </rows?page=2; rel=next`}, "a header Link with the relation next can't be read"},
		{[]string{"X-Total-Count", "1", "X-Next-Page", "", "X-Page", "1", "X-Total-Pages", "1", "X-Per-Page", "1"}, ""},
		{[]string{"X-Total-Count", "2", "Link", `</rows>; rel="prev"`}, ""},
		{[]string{"Content-Range", "items 0-0/*", "X-Ratelimit-Limit", "9", "X-Error-Count", "2", "X-Request-Total", "7"}, ""},
		{[]string{"Link", `</rows>; rel="prev"; title="rel=next"`}, ""},
		{[]string{"Link", `</rows>; rel="prev"; title='rel="next"'`}, ""},
	} {
		got, err := answer(endpoint.HTTPRows{}, `[{"id":"a"}]`, c.headers...)
		switch {
		case c.want == "" && (err != nil || !slices.Equal(got, []string{`{"id":"a"}`})):
			t.Errorf("%q: %q, %v", c.headers, got, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %q, %v\nlacks %q", c.headers, got, err, c.want)
		}
	}
}
