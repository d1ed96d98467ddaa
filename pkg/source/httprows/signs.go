package httprows

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// signs are what the fields and headers of an answer show about rows that it lacks.
type signs struct {
	broken string // it says that the answer failed or is partial
	next   string // it leads to a next page
	link   bool   // next holds a URL or a path
	more   string // it says that rows follow
	cursor string // it may lead to a next page, and is often set on the last one, too
	ended  bool   // some field says that no rows follow
	totals []claim
	counts map[string]map[countKind]int // by the object that has them
}

// claim is a number of rows that an answer names.
type claim struct {
	place string // the field or header
	rows  int
	weak  bool // it may count the rows of one page
}

// countKind is what a number says about pages.
type countKind int

const (
	pageNumber countKind = iota + 1
	pageCount
	pageOffset
	pageSize
)

// field is a value outside the rows, and its place in the answer.
type field struct {
	path  string
	name  string // in the form of plainName
	inner string // the name of the object that has it, in the same form
	near  bool   // that object describes pages, or has the rows
	// failing is set within an object "errors".
	failing bool
	kind    jsontext.Kind
	text    string // of a scalar; "x" for an array with elements
}

// plainName is a name without its writer's style: NextLink, next_link, @odata.nextLink.
func plainName(name string) string {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", "@", "", "$", "", ".", "", " ", "").Replace(name))
	return strings.TrimPrefix(plain, "odata")
}

// meaning is what a name says about pages.
type meaning int

const (
	noMeaning meaning = iota
	leads             // it leads to a next page wherever it is
	leadsNear         // the same in an object that describes pages
	follows           // if true, rows follow
	ends              // if false, rows follow
	mayLead           // it may lead to a next page
	counts            // it counts all rows
	mayCount          // it counts all rows, or those of the page
	fails             // if it isn't empty, the answer failed
	partly            // if true, the answer is partial
	works             // if false, the answer failed
	named             // a word that may say that the answer failed
)

// meanings are the words of the usual conventions: OData, HAL, JSON:API, lists of
// Kubernetes, GraphQL connections, and the APIs of large services.
func meanings() map[meaning]string {
	return map[meaning]string{
		leads: `nextlink nexturl nexturi nexthref nextpath nextpage nextpageurl nextpageuri nextpagelink nextpagehref nextpagetoken nextpagingtoken nextpagecursor nexttoken nextcursor
			nextoffset nextmarker nextkey nextstart nextstartat nextstartindex nextbatch nextbatchurl nextcontinuationtoken nextrecordsurl nextposition nextskip nextpartitionkey nextrowkey
			continuationtoken mscontinuation remainingitemcount`,
		leadsNear: `next continue continuation more`,
		follows:   `hasmore hasmoreitems hasmoreresults hasmorepages hasmorerows hasmoredata hasmorerecords hasnext hasnextpage moreitems moreresults morepages morerows morerecords moreavailable truncated istruncated ismore`,
		ends:      `last islast lastpage islastpage done isdone complete iscomplete finalpage isfinal end isend endoflist`,
		mayLead:   `cursor endcursor pagetoken scrollid lastevaluatedkey lastkey after`,
		counts:    `total totalcount totalitems totalresults totalrecords totalsize totalelements totalrows totalhits totalrecordcount totalitemcount totalrowcount totalresultcount totalnumber totalobjects totalentries totalmatches fullcount numfound`,
		mayCount:  `count recordcount itemcount resultcount rowcount`,
		fails:     `error errors`,
		partly:    `partial ispartial partialresult partialresults partialfailure incomplete isincomplete incompleteresults timedout`,
		works:     `success successful succeeded ok`,
		named:     `status state`,
	}
}

// meaningOf returns what a name says.
func meaningOf(plain string) meaning {
	for m, words := range meanings() {
		if slices.Contains(strings.Fields(words), plain) {
			return m
		}
	}
	return noMeaning
}

// countOf returns what a number with this name says about pages, or 0.
func countOf(plain string) countKind {
	for kind, words := range map[countKind]string{
		pageNumber: "page currentpage pagenumber pageno pageindex number current",
		pageCount:  "pages totalpages pagecount numpages lastpage totalpagecount numberofpages",
		pageOffset: "offset start startat startindex skip from firstresult",
		pageSize:   "limit pagesize perpage itemsperpage resultsperpage maxresults size top",
	} {
		if slices.Contains(strings.Fields(words), plain) {
			return kind
		}
	}
	return 0
}

// describesPages reports whether an object of this name describes pages, as "meta" does.
func describesPages(plain string) bool {
	const words = `links link meta metadata page pages paging pagination pager pageinfo paginginfo paginationinfo paginationmetadata responsemetadata listmetadata searchmetadata cursor
		listinfo resultinfo resultset d data result results response payload body collection hits`
	return slices.Contains(strings.Fields(words), plain)
}

// isTarget reports whether a field of the object "next" leads there.
func isTarget(plain string) bool {
	return slices.Contains(strings.Fields("href url uri link path after cursor token page offset start value id"), plain)
}

// shows reports whether a value isn't empty: a text, a number above 0, or true.
func (f *field) shows() bool {
	switch f.kind {
	case jsontext.KindNumber:
		n, err := strconv.ParseFloat(f.text, 64)
		return err == nil && n > 0
	case jsontext.KindFalse, jsontext.KindNull:
		return false
	}
	return !slices.Contains([]string{"", "false", "null", "none", "0", "-1", "[]", "{}"}, strings.ToLower(strings.TrimSpace(f.text)))
}

// affirms and denies report whether a value is true or false, in JSON or as a word.
func (f *field) affirms() bool {
	return f.kind == jsontext.KindTrue || slices.Contains([]string{"true", "1", "yes"}, strings.ToLower(f.text))
}

func (f *field) denies() bool {
	return f.kind == jsontext.KindFalse || slices.Contains([]string{"false", "0", "no"}, strings.ToLower(f.text))
}

// note keeps what a field shows.
func (s *signs) note(f field) {
	s.fail(f, f.failing && f.shows())
	if number, err := strconv.Atoi(f.text); err == nil && f.near {
		if kind := countOf(f.name); kind != 0 {
			s.count(f.path, kind, number)
		}
	}
	about := meaningOf(f.inner)
	if inner := about == leads || f.inner == "next"; inner && isTarget(f.name) {
		s.lead(f)
		return
	}
	if f.inner == "total" && slices.Contains([]string{"value", "count"}, f.name) {
		f.name = "total" // {"total": {"value": 5}}
	}
	m := meaningOf(f.name)
	if f.near || m == leads || m == follows {
		s.keep(m, f)
	}
}

// keep keeps what a field of this meaning shows.
func (s *signs) keep(m meaning, f field) {
	switch m {
	case leads, leadsNear:
		s.lead(f)
	case follows:
		if s.ended = s.ended || f.denies(); f.affirms() {
			s.more = f.path
		}
	case ends:
		if f.kind == jsontext.KindNumber {
			return // the number of the last page
		}
		if s.ended = s.ended || f.affirms(); f.denies() {
			s.more = f.path
		}
	case mayLead:
		if f.shows() && f.kind != jsontext.KindTrue {
			s.cursor = f.path
		}
	case counts, mayCount:
		if n, err := strconv.Atoi(f.text); err == nil {
			s.totals = append(s.totals, claim{f.path, n, m == mayCount})
		}
	case fails:
		s.fail(f, f.shows())
	case partly:
		s.fail(f, f.affirms())
	case works:
		s.fail(f, f.kind == jsontext.KindFalse)
	case named:
		s.fail(f, slices.Contains(strings.Fields("error fail failed failure partial incomplete"), strings.ToLower(f.text)))
	}
}

// lead keeps a field that leads to a next page.
func (s *signs) lead(f field) {
	switch {
	case !f.shows():
	case f.kind == jsontext.KindTrue:
		s.more = f.path
	default:
		s.next, s.link = f.path, strings.Contains(f.text, "://") || strings.HasPrefix(f.text, "/") || strings.HasPrefix(f.text, "?")
	}
}

func (s *signs) fail(f field, failed bool) {
	if failed {
		s.broken = f.path
	}
}

func (s *signs) count(path string, kind countKind, n int) {
	object := path[:max(strings.LastIndexByte(path, '.'), 0)]
	if s.counts == nil {
		s.counts = map[string]map[countKind]int{}
	}
	if s.counts[object] == nil {
		s.counts[object] = map[countKind]int{}
	}
	s.counts[object][kind] = n
}

// maxDepth limits how deep fields outside the rows are read.
const maxDepth = 6

// scan reads a value outside the rows, and keeps its signs.
func (a *answer) scan(f field, depth int) (err error) {
	f.kind = a.d.PeekKind()
	switch {
	case depth > maxDepth:
		return a.d.SkipValue()
	case f.kind == jsontext.KindBeginObject:
		return a.scanObject(f, depth)
	case f.kind == jsontext.KindBeginArray:
		f.text, err = a.scanArray(f)
	default:
		var value jsontext.Value
		if value, err = a.d.ReadValue(); err != nil {
			return err
		}
		f.text = string(value)
		if f.kind == jsontext.KindString {
			var text []byte
			text, err = jsontext.AppendUnquote(nil, value)
			f.text = string(text)
		}
	}
	if err == nil {
		a.signs.note(f)
	}
	return err
}

// scanObject reads the fields of an object.
func (a *answer) scanObject(f field, depth int) error {
	if _, err := a.d.ReadToken(); err != nil {
		return err
	}
	near := describesPages(f.name) || f.near && f.name == "total" || strings.HasPrefix(a.itemsField(), f.path+".")
	failing := f.failing || f.near && meaningOf(f.name) == fails
	for a.d.PeekKind() != jsontext.KindEndObject {
		token, err := a.d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		inner := field{path: f.path + "." + name, name: plainName(name), inner: f.name, near: near, failing: failing}
		if f.name == "shards" && inner.name == "failed" {
			inner.name, inner.near = "errors", true // Elasticsearch counts failed parts
		}
		if err := a.scan(inner, depth+1); err != nil {
			return err
		}
	}
	_, err := a.d.ReadToken()
	return err
}

// scanArray reads an array. It returns "x" if the array has elements. The elements of an
// array of links may have the relation next.
func (a *answer) scanArray(f field) (text string, err error) {
	if _, err := a.d.ReadToken(); err != nil {
		return "", err
	}
	for a.d.PeekKind() != jsontext.KindEndArray {
		text = "x"
		if f.name != "links" && f.name != "link" {
			if err := a.d.SkipValue(); err != nil {
				return "", err
			}
			continue
		}
		value, err := a.d.ReadValue()
		if err != nil {
			return "", err
		}
		var link struct{ Rel, Href, URL string }
		if json.Unmarshal(value, &link) == nil && strings.EqualFold(link.Rel, "next") && link.Href+link.URL != "" {
			a.signs.next, a.signs.link = f.path+"[rel=next]", true
		}
	}
	_, err = a.d.ReadToken()
	return text, err
}

// noteHeaders keeps what headers show, such as X-Total-Count and X-Next-Page.
func (s *signs) noteHeaders(headers http.Header) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		text := strings.TrimSpace(headers.Get(name))
		plain := strings.ToLower(name)
		for _, prefix := range []string{"x-", "ms-", "pagination-", "paging-"} {
			plain = strings.TrimPrefix(plain, prefix)
		}
		f := field{path: "header " + name, name: plainName(plain), near: true, kind: jsontext.KindString, text: text}
		if name == "Content-Range" {
			_, f.text, _ = strings.Cut(text, "/")
			f.name = "total"
		}
		if strings.HasPrefix(text, "{") { // X-Pagination has an object
			var object map[string]json.RawMessage
			if json.Unmarshal([]byte(text), &object) == nil {
				for _, key := range slices.Sorted(maps.Keys(object)) {
					f.name, f.text = plainName(key), strings.Trim(string(object[key]), `"`)
					s.note(f)
				}
			}
			continue
		}
		if m := meaningOf(f.name); m != fails && m != named && m != works {
			s.note(f)
		}
	}
}

// incomplete returns an error if the last page shows that rows are missing. explicit means
// that the hub names the field that ends the pages, or that the server linked to others.
func (a *answer) incomplete(explicit bool) error {
	s := &a.signs
	explicit = explicit || s.ended
	sure := explicit || a.hasNext || a.number > 1 // some field said that this is the last page
	for _, t := range s.totals {
		if t.rows == a.pass.rows+a.rows && !t.weak {
			sure = true
		}
	}
	switch {
	case s.next != "":
		return a.missed(quotedPlace(s.next)+" shows a next page, and lynqctl read none", a.nextFix(s.next, s.link))
	case s.more != "":
		return a.missed(fmt.Sprintf("more rows follow by its %s, and nothing leads to them", quotedPlace(s.more)), a.fieldsFix("next"))
	case s.cursor != "" && !sure:
		return a.missed(quotedPlace(s.cursor)+" may lead to a next page, and lynqctl read none", a.nextFix(s.cursor, false))
	case explicit:
		return nil
	}
	for _, object := range slices.Sorted(maps.Keys(s.counts)) {
		counts := s.counts[object]
		pages, number := counts[pageCount], counts[pageNumber]
		if pages > a.number && pages > number {
			return a.missed(fmt.Sprintf("the answer says that there are %d pages, and lynqctl read %d", pages, a.number), a.fieldsFix("next"))
		}
		_, hasOffset := counts[pageOffset]
		_, hasNumber := counts[pageNumber]
		if size := counts[pageSize]; size > 0 && a.rows >= size && (hasOffset || hasNumber) && !sure {
			return a.missed(fmt.Sprintf("the page is full with %d rows, and nothing says whether more follow", a.rows), "raise the size of a page in url so that all rows fit, or "+a.fieldsFix("next"))
		}
	}
	return nil
}

// claims returns the numbers of rows that the last page names and that count.
func (a *answer) claims(explicit bool) []claim {
	if explicit || a.signs.ended || a.c.HTTP.Total != "" {
		return nil
	}
	return slices.DeleteFunc(a.signs.totals, func(t claim) bool { return t.weak && (a.hasNext || a.number > 1) })
}

// missed returns the error for rows that a sign shows.
func (a *answer) missed(what, fix string) error {
	if a.c.HTTP.Whole {
		fix = "remove pages: false; " + fix
	}
	return &fault.Error{Place: a.place, What: what, Fix: fix}
}

// nextFix says how to follow a field.
func (a *answer) nextFix(path string, link bool) string {
	switch {
	case strings.HasPrefix(path, "header "), strings.HasSuffix(path, "]"):
		return "have the API send a header Link, or raise the size of a page in url so that all rows fit"
	case link:
		return fmt.Sprintf("set next to %q", path)
	}
	return fmt.Sprintf("set next to %q, and nextParameter to the URL's parameter that takes its value", path)
}

// quotedPlace names a field or a header.
func quotedPlace(path string) string {
	if strings.HasPrefix(path, "header ") {
		return path
	}
	return fmt.Sprintf("field %q", path)
}
