package httprows

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// maxPages limits the pages of an API.
const maxPages = 10_000

// pass is one reading of all pages.
type pass struct {
	*reader
	out   io.Writer // takes each row as a line
	known *Rows     // rows of an earlier pass; may be nil

	pages      []page
	rows       int
	start, end int64 // the page's place in the file
	bytes      int64 // of all answers
	totals     []int // as the answers name them
}

// run reads page after page.
func (p *pass) run(ctx context.Context) error {
	seen := map[string]int{}
	for next := p.base; next != nil; {
		n := len(p.pages) + 1
		switch before := seen[next.String()]; {
		case before > 0:
			return &fault.Error{Place: placeOf(n-1, p.pages[n-2].url), What: fmt.Sprintf("its next page is page %d, which was read already", before), Fix: "correct the API: its last page leads to none"}
		case n > maxPages:
			return &fault.Error{Place: p.name, What: fmt.Sprintf("there are more than %d pages", maxPages), Fix: "have the API send larger pages"}
		}
		seen[next.String()] = n
		pg, err := p.page(ctx, n, next)
		if err != nil {
			return err
		}
		pg.start, pg.end = p.start, p.end
		p.start = p.end
		p.pages = append(p.pages, *pg)
		next = pg.next
	}
	for _, c := range p.pages[len(p.pages)-1].claims {
		if c.rows > p.rows {
			return p.fewer(c)
		}
	}
	for _, total := range p.totals {
		if total != p.rows {
			return &fault.Error{Place: p.name, What: fmt.Sprintf("%s has %d rows by its field %q, and its pages have %d", p.name, total, p.c.HTTP.Total, p.rows), Fix: "lynqctl ignores these rows; run again, and check which rows the field counts"}
		}
	}
	return nil
}

// fewer returns the error for an answer that names more rows than its pages have.
func (p *pass) fewer(c claim) error {
	fix := "set next to the field that leads to the next page, or total to the field that counts these rows"
	if p.c.HTTP.Whole {
		fix = "remove pages: false, and " + fix
	}
	return &fault.Error{Place: p.name, What: fmt.Sprintf("%s counts %d rows, and lynqctl read %d", quotedPlace(c.place), c.rows, p.rows), Fix: fix}
}

// page reads one page.
func (p *pass) page(ctx context.Context, n int, u *url.URL) (*page, error) {
	known, place := p.known.page(u), placeOf(n, u)
	tag := ""
	if known != nil {
		tag = known.etag
	}
	resp, err := p.get(ctx, place, u, tag)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusNotModified {
		_ = resp.Body.Close() // the answer has no body
		again, err := p.reuse(place, known, resp)
		if again != nil || err != nil {
			return again, err
		}
		if resp, err = p.get(ctx, place, u, ""); err != nil {
			return nil, err
		}
	}
	a := &answer{pass: p, number: n, place: place}
	pg, err := a.take(ctx, resp)
	_ = resp.Body.Close() // already read completely
	if err != nil {
		return nil, err
	}
	pg.url, pg.etag, pg.before, pg.rows = u, resp.Header.Get("ETag"), p.rows, a.rows
	p.rows += a.rows
	return pg, nil
}

// reuse returns the known page for an unchanged answer. It returns nil if the answer
// doesn't say whether another page follows now.
func (p *pass) reuse(place string, known *page, resp *http.Response) (*page, error) {
	if tag := resp.Header.Get("ETag"); weak(tag) != weak(known.etag) && tag != "" {
		return nil, &fault.Error{Place: place, What: "the server says that nothing changed, with another ETag", Fix: "run again, and check the server and its caches"}
	}
	again := &page{url: known.url, etag: known.etag, next: known.next, linked: known.linked, claims: known.claims, before: p.rows, rows: known.rows}
	if links := resp.Header.Values("Link"); known.linked && len(links) > 0 {
		next, err := p.linked(place, resp.Request.URL, links)
		if err != nil {
			return nil, err
		}
		again.next = next
	} else if known.linked && known.next == nil && !p.c.HTTP.Whole {
		return nil, nil //nolint:nilnil // nil is a result here
	}
	section := io.NewSectionReader(p.known, known.start, known.end-known.start)
	if _, err := io.Copy(p.out, section); err != nil {
		return nil, p.spoolError(err)
	}
	p.end += known.end - known.start
	p.rows += again.rows
	return again, nil
}

// spoolError returns the error for a failed write to the temporary file.
func (r *reader) spoolError(err error) error {
	return &fault.Error{Place: r.name, What: "lynqctl can't keep its rows in a temporary file", Fix: "free space, or set TMPDIR", Err: err}
}

// placeOf names a page.
func placeOf(n int, u *url.URL) string {
	if n == 1 {
		return endpoint.ShownURL(u)
	}
	return fmt.Sprintf("page %d, %s", n, endpoint.ShownURL(u))
}
