package httprows

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// answer reads the rows of one page.
type answer struct {
	*pass
	number int
	place  string

	body  *body
	limit *fault.RowLimit
	d     *jsontext.Decoder
	rows  int
	line  []byte

	items, object bool     // the answer had rows, or an object around them
	names         []string // fields of that object
	lists         []string // fields of it with an array
	next          string
	hasNext       bool // the object has the field, even if empty
	signs         signs
}

// take reads an answer completely.
func (a *answer) take(ctx context.Context, resp *http.Response) (*page, error) {
	lines, err := a.lines(resp)
	if err != nil {
		return nil, err
	}
	a.body = &body{Reader: resp.Body, pass: a.pass}
	buffered := bufio.NewReader(a.body)
	head, err := buffered.Peek(3)
	switch {
	case bytes.Equal(head, []byte("\xef\xbb\xbf")):
		_, err = buffered.Discard(len(head))
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil, &fault.Error{Place: a.place, What: "the answer is UTF-16", Fix: "have the API answer in UTF-8"}
	}
	if err == nil || errors.Is(err, io.EOF) {
		a.limit = &fault.RowLimit{Reader: buffered}
		a.d = jsontext.NewDecoder(a.limit)
		err = a.read(lines)
	}
	if err != nil {
		return nil, a.broken(ctx, err)
	}
	return a.page(resp)
}

// lines reports whether each line is a row. It refuses content types that can't have rows.
func (a *answer) lines(resp *http.Response) (bool, error) {
	kind, parameters, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	lines := a.c.HTTP.Lines || err == nil && slices.Contains([]string{"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/json-lines"}, kind)
	chunked := slices.Contains(resp.TransferEncoding, "chunked")
	switch encoding, charset := resp.Header.Get("Content-Encoding"), parameters["charset"]; {
	case err == nil && (kind == "text/html" || strings.HasSuffix(kind, "xml") || kind == "text/csv"):
		return false, &fault.Error{Place: a.place, What: fmt.Sprintf("the answer is %s, not JSON", kind), Fix: "check url; a page in place of rows may be a login"}
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		return false, &fault.Error{Place: a.place, What: "the answer is encoded in a way that lynqctl can't read", Fix: "have the API send gzip, or as it is"}
	case charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii"):
		return false, &fault.Error{Place: a.place, What: "the answer is not UTF-8, but " + phrase.Quote(charset), Fix: "have the API answer in UTF-8"}
	case lines && resp.ProtoMajor < 2 && resp.ContentLength < 0 && !chunked && !resp.Uncompressed:
		return false, &fault.Error{Place: a.place, What: "the answer doesn't say where it ends, so a cut one looks whole", Fix: "have the API send a Content-Length, or a JSON array"}
	}
	return lines, nil
}

// read reads lines, an array, or an object around it.
func (a *answer) read(lines bool) error {
	kind := a.d.PeekKind()
	switch {
	case lines:
		for {
			if err := a.row(); errors.Is(err, io.EOF) && a.rows > 0 && a.body.err == nil {
				return nil
			} else if err != nil {
				return err
			}
		}
	case kind == jsontext.KindBeginArray:
		if err := a.array(); err != nil {
			return err
		}
	case kind == jsontext.KindBeginObject:
		a.object = true
		if err := a.around(""); err != nil {
			return err
		}
	default:
		if _, err := a.d.ReadValue(); err != nil {
			return err
		}
		return &fault.Error{Place: a.place, What: "the answer is neither an array nor an object", Fix: `an answer is [{...}], or {"items": [{...}], "next": URL}`}
	}
	if _, err := a.d.ReadValue(); err == nil {
		return &fault.Error{Place: a.place, What: "there is text after the end of the answer", Fix: "put all rows into one array; where each line is a row, set format: lines"}
	} else if !errors.Is(err, io.EOF) || a.body.err != nil {
		return err
	}
	return nil
}

// array reads rows.
func (a *answer) array() error {
	a.items = true
	if _, err := a.d.ReadToken(); err != nil {
		return err
	}
	for {
		a.limit.Row = a.d.InputOffset()
		if a.d.PeekKind() == jsontext.KindEndArray {
			_, err := a.d.ReadToken()
			return err
		}
		if err := a.row(); err != nil {
			return err
		}
	}
}

// row reads a row and writes it as a line.
func (a *answer) row() error {
	a.limit.Row = a.d.InputOffset()
	kind := a.d.PeekKind()
	value, err := a.d.ReadValue()
	if err != nil {
		return err
	}
	if kind != jsontext.KindBeginObject {
		return &fault.Error{Place: a.placeOf(a.rows + 1), What: "the row is not an object", Fix: `write it as {"column": "value"}`}
	}
	if a.line, err = jsontext.AppendFormat(a.line[:0], value, jsontext.PreserveRawStrings(true)); err != nil {
		return err
	}
	if len(a.line) > fault.MaxRow {
		return fault.ErrLongRow
	}
	a.line = append(a.line, '\n')
	if _, err := a.out.Write(a.line); err != nil {
		return a.spoolError(err)
	}
	a.rows++
	a.end += int64(len(a.line))
	return nil
}

// around reads the object around the rows. It descends into an inner object if fields of
// the hub lead there.
func (a *answer) around(within string) error {
	if _, err := a.d.ReadToken(); err != nil {
		return err
	}
	for a.d.PeekKind() != jsontext.KindEndObject {
		a.limit.Row = a.d.InputOffset()
		token, err := a.d.ReadToken()
		if err != nil {
			return err
		}
		if err := a.member(within, token.String()); err != nil {
			return err
		}
	}
	_, err := a.d.ReadToken()
	return err
}

// member reads the value of a field.
func (a *answer) member(within, name string) error {
	if within == "" {
		a.names = append(a.names, name)
		if a.d.PeekKind() == jsontext.KindBeginArray {
			a.lists = append(a.lists, name)
		}
	}
	path, kind := within+name, a.d.PeekKind()
	leads := slices.ContainsFunc([]string{a.itemsField(), a.nextField(), a.c.HTTP.Total}, func(field string) bool { return strings.HasPrefix(field, path+".") })
	switch {
	case path == a.itemsField():
		if a.items || kind != jsontext.KindBeginArray {
			return a.wrongField(path, "an array, once")
		}
		return a.array()
	case path == a.nextField() && !a.c.HTTP.Whole:
		return a.nextValue(path)
	case path == a.c.HTTP.Total:
		return a.total(path)
	case leads && kind == jsontext.KindBeginObject:
		return a.around(path + ".")
	}
	inner := strings.TrimSuffix(within, ".")
	if path == a.nextField() {
		name = "next"
	}
	return a.scan(field{path: path, name: plainName(name), inner: plainName(inner[strings.LastIndexByte(inner, '.')+1:]), near: true}, 1)
}

// nextValue reads the link to the next page. Null, false and an empty text mean that this is
// the last page.
func (a *answer) nextValue(path string) error {
	value, err := a.d.ReadValue()
	if err != nil {
		return err
	}
	switch kind := value.Kind(); {
	case a.hasNext:
		return a.wrongField(path, "there once")
	case kind == jsontext.KindNull, kind == jsontext.KindFalse:
	case kind == jsontext.KindString:
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return err
		}
		a.next = string(text)
	case kind == jsontext.KindNumber && a.c.HTTP.NextParameter != "":
		a.next = string(value)
	case kind == jsontext.KindNumber:
		e := a.wrongField(path, "a text or null")
		e.Fix = "set nextParameter to the URL's parameter that takes the value"
		return e
	default:
		return a.wrongField(path, "a text or null")
	}
	a.hasNext = true
	return nil
}

// total reads the number of rows of all pages.
func (a *answer) total(path string) error {
	value, err := a.d.ReadValue()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(value))
	if err != nil {
		return a.wrongField(path, "a whole number")
	}
	a.totals = append(a.totals, n)
	return nil
}

func (a *answer) wrongField(path, want string) *fault.Error {
	return &fault.Error{Place: a.place, What: fmt.Sprintf("field %q is not %s", path, want), Fix: "set items, next and total to the fields that the API has"}
}

func (r *reader) itemsField() string { return cmp.Or(r.c.HTTP.Items, "items") }
func (r *reader) nextField() string  { return cmp.Or(r.c.HTTP.Next, "next") }

// page returns the facts about this page and the next one.
func (a *answer) page(resp *http.Response) (*page, error) {
	links := resp.Header.Values("Link")
	next, err := a.linked(a.place, resp.Request.URL, links)
	if err != nil {
		return nil, err
	}
	pg := &page{next: next, linked: next != nil || !a.hasNext && a.c.HTTP.Next == ""}
	if a.next != "" {
		field, err := a.fieldNext(a.place, resp.Request.URL, a.next)
		if err != nil {
			return nil, err
		}
		if next != nil && next.String() != field.String() {
			return nil, twoNext(a.place)
		}
		pg.next, pg.linked = field, false
	}
	a.signs.noteHeaders(resp.Header)
	if err := a.ends(pg.next, links); err != nil || pg.next != nil {
		return pg, err
	}
	explicit := len(links) > 0 || a.hasNext && a.c.HTTP.Next != ""
	pg.claims = a.claims(explicit)
	return pg, a.incomplete(explicit)
}

// ends refuses an answer whose facts about the next page are missing or contradict each
// other.
func (a *answer) ends(next *url.URL, links []string) error {
	switch h := a.c.HTTP; {
	case a.signs.broken != "":
		return &fault.Error{Place: a.place, What: "the answer shows a failure in its " + quotedPlace(a.signs.broken) + ", so rows may be missing", Fix: "lynqctl ignores these rows; see the server's log"}
	case a.object && !a.items:
		return &ShapeError{Fault: &fault.Error{Place: a.place, What: fmt.Sprintf("the answer has no field %q", a.itemsField()), Fix: a.fieldsFix("items")}, Lists: a.lists}
	case h.Total != "" && len(a.totals) == 0:
		return &fault.Error{Place: a.place, What: fmt.Sprintf("the answer has no field %q", h.Total), Fix: a.fieldsFix("total")}
	case h.Whole && next != nil:
		return &fault.Error{Place: a.place, What: "the answer has a next page, and the hub says that there is none", Fix: "remove pages: false"}
	case a.object && a.number == 1 && next == nil && !h.Whole && !a.hasNext && h.Next == "" && len(links) == 0 && a.signs.next == "" && a.signs.more == "":
		return &ShapeError{Fault: &fault.Error{Place: a.place, What: `the answer has no field "next" and no header Link, so nothing says whether more rows follow`, Fix: a.fieldsFix("next") + "; if the API has no pages, set pages: false"}, Ended: a.signs.ended}
	}
	return nil
}

// ShapeError says that an answer has other fields than the hub names.
type ShapeError struct {
	Fault *fault.Error // the text for people
	// Lists are the fields with arrays, if the answer lacks its field with rows.
	Lists []string
	// Ended is set if the answer lacks its field with the next page, and another field says
	// that no rows follow.
	Ended bool
}

// Error implements error.
func (e *ShapeError) Error() string { return e.Fault.Error() }

// Unwrap returns the error for people.
func (e *ShapeError) Unwrap() error { return e.Fault }

// fieldsFix says how to name a field.
func (a *answer) fieldsFix(field string) string {
	fix := "set " + field + " to the field that the API has"
	if len(a.names) > 0 {
		quoted := make([]string, 0, len(a.names))
		for _, name := range a.names[:min(len(a.names), 20)] {
			quoted = append(quoted, phrase.Quote(name))
		}
		fix += " (the answer has " + strings.Join(quoted, ", ") + ")"
	}
	if field == "items" {
		fix += "; where each line is a row, set format: lines"
	}
	return fix
}

// placeOf names a row of the page.
func (a *answer) placeOf(row int) string { return fmt.Sprintf("row %d, %s", row, a.place) }

// broken explains why an answer can't be read completely.
func (a *answer) broken(ctx context.Context, err error) error {
	said, isSaid := errors.AsType[*fault.Error](err)
	wrong, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	row := a.placeOf(a.rows + 1)
	switch {
	case isSaid:
		return said
	case ctx.Err() != nil:
		return a.stopped(ctx, row)
	case errors.Is(a.body.err, errSize):
		return &fault.Error{Place: row, What: fmt.Sprintf("the answers have more than %d bytes", a.most), Fix: "lynqctl ignores these rows; raise maxSize"}
	case a.body.err != nil:
		return &fault.Error{Place: row, What: "the answer was cut off here", Fix: "lynqctl ignores these rows; run again when the server and the network work", Err: a.cause()}
	case errors.Is(err, fault.ErrLongRow):
		return fault.LongRow(row, "have the API leave large values out")
	case errors.Is(err, io.EOF) && a.rows == 0 && a.d.InputOffset() == 0:
		return &fault.Error{Place: a.place, What: "the answer is empty", Fix: "an API without rows answers []"}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &fault.Error{Place: row, What: "the JSON of the answer has no end", Fix: "lynqctl ignores these rows; run again, and see the server's log"}
	case isSyntax && errors.Is(wrong, jsontext.ErrDuplicateName):
		return &fault.Error{Place: row, What: fmt.Sprintf("key %s appears twice in one object", phrase.Quote(wrong.JSONPointer.LastToken())), Fix: "remove one"}
	case isSyntax:
		return &fault.Error{Place: row, What: fmt.Sprintf("this is not JSON, at byte %d of the answer", wrong.ByteOffset), Fix: "correct the API", Err: wrong.Err}
	}
	return &fault.Error{Place: row, What: "the answer can't be read", Err: err}
}

// cause returns the reason why a body ended early.
func (a *answer) cause() error {
	if errors.Is(a.body.err, io.ErrUnexpectedEOF) {
		return io.ErrUnexpectedEOF
	}
	text, _, _ := strings.Cut(a.body.err.Error(), `"`)
	return errors.New(strings.TrimSpace(text))
}
