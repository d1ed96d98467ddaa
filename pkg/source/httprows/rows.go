package httprows

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/url"
	"os"
	"sort"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// Rows are all rows of an API as JSON lines in a file. Several users share it, and the
// last one to close it removes it.
type Rows struct {
	*os.File
	name  string // the API's name in messages
	temp  string // path to remove with the file; "" for none
	pages []page

	mu    sync.Mutex
	users int
}

// page is the place of a page's rows in the file, with facts from the answer.
type page struct {
	url  *url.URL
	etag string
	next *url.URL // nil on the last page
	// linked is set if next comes from the answer's header, not from its body.
	linked     bool
	start, end int64
	claims     []claim // numbers of all rows that the last page names
	before     int     // rows on the pages before
	rows       int
}

// Read reads all rows of c. roots are the authorities that it trusts, or nil for those of
// the system. If a has an earlier answer, the API sends only changes.
func Read(ctx context.Context, c endpoint.Connection, roots *x509.CertPool, a *Answers) (*Rows, error) {
	r, err := newReader(c, roots)
	if err != nil {
		return nil, err
	}
	defer r.client.CloseIdleConnections()
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, errTime)
	defer cancel()
	known := a.take(c)
	rows, err := r.all(ctx, known)
	if err := errors.Join(err, known.Close()); err != nil {
		return nil, err
	}
	return rows, a.keep(c, rows)
}

// all reads all pages. If there are several, it reads them twice.
func (r *reader) all(ctx context.Context, known *Rows) (rows *Rows, err error) {
	if rows, err = newRows(r.name); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, rows.Close())
		}
	}()
	buffer, sum := bufio.NewWriterSize(rows, 256<<10), sha256.New()
	first := &pass{reader: r, out: io.MultiWriter(buffer, sum), known: known}
	if err := first.run(ctx); err != nil {
		return nil, err
	}
	if err := buffer.Flush(); err != nil {
		return nil, r.spoolError(err)
	}
	rows.pages = first.pages
	if len(rows.pages) == 1 || r.c.HTTP.Once {
		return rows, nil
	}
	return rows, r.again(ctx, rows, sum)
}

// again reads the pages a second time. Rows that are equal in both readings all existed
// when the first reading ended.
func (r *reader) again(ctx context.Context, rows *Rows, first hash.Hash) error {
	sum := sha256.New()
	second := &pass{reader: r, out: sum, known: rows}
	if err := second.run(ctx); err != nil {
		return err
	}
	if !bytes.Equal(first.Sum(nil), sum.Sum(nil)) {
		return &fault.Error{
			Place: r.name,
			What:  fmt.Sprintf("the rows changed while lynqctl read %d pages: a second reading gave others", len(rows.pages)),
			Fix:   "lynqctl ignores these rows; run again. If some field of each answer differs, have the API leave it out; recheck: false is for pages that are one snapshot",
		}
	}
	return nil
}

// newRows creates an empty file.
func newRows(name string) (*Rows, error) {
	file, err := os.CreateTemp("", "lynqctl-rows-")
	if err != nil {
		return nil, &fault.Error{Place: name, What: "lynqctl can't create a temporary file for it", Fix: "free space, or set TMPDIR", Err: err}
	}
	rows := &Rows{File: file, name: name, temp: file.Name(), users: 1}
	// If the system can remove an open file, a killed process leaves no file behind.
	if os.Remove(rows.temp) == nil {
		rows.temp = ""
	}
	return rows, nil
}

// Name names the API for messages.
func (r *Rows) Name() string { return r.name }

// Place names a row by its number, counted from 1 over all pages.
func (r *Rows) Place(row int) string {
	if len(r.pages) == 1 {
		return fmt.Sprintf("row %d, %s", row, r.name)
	}
	n := sort.Search(len(r.pages), func(i int) bool { return r.pages[i].before >= row })
	if n == 0 {
		return r.name
	}
	return fmt.Sprintf("row %d, %s", row-r.pages[n-1].before, placeOf(n, r.pages[n-1].url))
}

// share adds a user.
func (r *Rows) share() *Rows {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users++
	return r
}

// Close implements io.Closer for one of the users. It does nothing for nil.
func (r *Rows) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users--; r.users > 0 {
		return nil
	}
	err := r.File.Close()
	if r.temp != "" {
		err = errors.Join(err, os.Remove(r.temp))
	}
	return err
}

// page returns the known page for a URL. It returns nil if the page has no tag, because
// then it can't be compared.
func (r *Rows) page(u *url.URL) *page {
	if r == nil {
		return nil
	}
	for i := range r.pages {
		if p := &r.pages[i]; p.etag != "" && p.url.String() == u.String() {
			return p
		}
	}
	return nil
}
