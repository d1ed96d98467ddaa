package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// Error says why a source can't be read, and how to fix that.
type Error = fault.Error

// MissingColumnsError names all queried columns that the source lacks.
type MissingColumnsError struct {
	Place   string   // the file, or the table and its connection
	Missing []string // in the query's order
	Have    []string // in the source's order
	Fix     string   // another possible cause; may be empty
}

// Error names the missing columns, existing ones, and likely mistakes.
func (e *MissingColumnsError) Error() string {
	var fixes []string
	shown := e.shown()
	for _, name := range e.Missing {
		if fix := e.near(name, shown); fix != "" {
			fixes = append(fixes, fix)
		}
	}
	have := "it has no columns"
	switch more := len(e.Have) - len(shown); {
	case len(shown) > 0 && more > 0:
		have = fmt.Sprintf("it has %s and %d more", quoteList(shown), more)
	case len(shown) > 0:
		have = "it has " + quoteList(shown)
	case more > 0:
		have = fmt.Sprintf("it has %d, whose names do not look like those of columns", more)
	}
	switch {
	case e.Fix != "" && len(e.Have) == 0:
		have = e.Fix
	case e.Fix != "":
		have += "; " + e.Fix
	}
	return fmt.Sprintf("%s: no column %s (%s)", e.Place, quoteList(e.Missing), strings.Join(append(fixes, have), " "))
}

// near names the column that the user probably meant, or returns "". It says which
// character people can't see, because editors don't show it.
func (e *MissingColumnsError) near(name string, shown []string) string {
	near, ok := suggest.Near(name, shown)
	if i := slices.IndexFunc(shown, func(h string) bool { return visible(h) == visible(name) }); i >= 0 {
		near, ok = shown[i], true
	}
	if !ok {
		return ""
	}
	for _, c := range near + name {
		if invisible(c) {
			return fmt.Sprintf("did you mean %q instead of %q? one has the invisible character %U;", near, name, c)
		}
	}
	return fmt.Sprintf("did you mean %q instead of %q?", near, name)
}

// invisible reports whether people can't see a character, such as a no-break space or a
// byte order mark.
func invisible(c rune) bool { return c >= utf8.RuneSelf && !unicode.IsPrint(c) }

// visible returns the part of a name that people see.
func visible(name string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if invisible(c) {
			return -1
		}
		return c
	}, name))
}

// shown returns the columns that a message may name. If the user named a wrong file, its
// first line may be secret, and lynqctl reads it as a header.
func (e *MissingColumnsError) shown() []string {
	const most = 20
	var shown []string
	for _, name := range e.Have {
		if looksLikeColumn(visible(name)) && len(shown) < most {
			shown = append(shown, name)
		}
	}
	return shown
}

// looksLikeColumn reports whether a text may be a column's name. Such a name is short, and
// has only letters, digits and connecting characters.
func looksLikeColumn(name string) bool {
	const longest = 32
	return name != "" && len(name) <= longest && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-. ", r)
	})
}

// quoteList joins names for a message.
func quoteList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = phrase.Quote(name)
	}
	return strings.Join(quoted, ", ")
}

// checkColumns finds each queried column in have, using same to compare. One error names
// all missing columns.
func checkColumns(place string, q Query, have []string, same func(a, b string) bool) ([]int, error) {
	found := make([]int, len(q.Columns))
	var missing []string
	for i, name := range q.Columns {
		// An exact match goes before one that differs in case.
		found[i] = slices.Index(have, name)
		if found[i] < 0 {
			found[i] = slices.IndexFunc(have, func(h string) bool { return same(h, name) })
		}
		if found[i] < 0 {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		return nil, &MissingColumnsError{Place: place, Missing: missing, Have: have}
	}
	return found, nil
}

// sameName compares names byte by byte.
func sameName(a, b string) bool { return a == b }

// uidIndex finds the uid among a query's columns.
func uidIndex(q Query) (int, error) {
	if i := slices.Index(q.Columns, q.UID); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("the query's columns do not have the uid column %q", q.UID)
}

// missingTable returns the error for a table that doesn't exist or that the user didn't
// name. asked is the user's name for the table, and table is its name without a schema.
// elsewhere are tables of that name in other schemas.
func missingTable(place, asked, table string, exist []string, elsewhere ...string) error {
	e := &Error{Place: place, What: fmt.Sprintf("table %q does not exist", asked)}
	if asked == "" {
		e.What = "no table is named"
	}
	switch near, ok := suggest.Near(table, exist); {
	case len(elsewhere) > 0:
		e.Fix = fmt.Sprintf("did you mean %q? a table in another schema needs SCHEMA.TABLE", elsewhere[0])
	case len(exist) == 0:
		e.Fix = "this user can see no tables there"
	case asked == "":
		e.Fix = "set table to one of these, or in a URL add ?table=TABLE: " + strings.Join(exist[:min(len(exist), 100)], ", ")
	case ok:
		e.Fix = fmt.Sprintf("did you mean %q? %s", near, suggest.List(exist))
	default:
		e.Fix = suggest.List(exist)
	}
	return e
}

// brokeOff returns the error for an incomplete result.
func brokeOff(ctx context.Context, place string, rows int, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return &Error{Place: place, What: fmt.Sprintf("lynqctl stopped reading after %d rows", rows), Err: cause}
	}
	return &Error{
		Place: place,
		What:  fmt.Sprintf("the server ended the result after %d rows", rows),
		Fix:   "lynqctl ignores these rows; run again when the server and the network work",
		Err:   err,
	}
}

// checkCount returns an error if the rows read differ from the table's count in the same
// snapshot. place names the table.
func checkCount(place string, read, counted int) error {
	if read == counted {
		return nil
	}
	return &Error{
		Place: place,
		What:  fmt.Sprintf("%d rows were read, but COUNT(*) in the same snapshot is %d", read, counted),
		Fix:   "look for result limits on the server and on proxies, and for views that change between queries; then run again",
	}
}

// badText returns the error for a value that isn't UTF-8.
func badText(place, column, fix string) error {
	return &Error{Place: place, What: fmt.Sprintf("column %q holds bytes that are not UTF-8 text", column), Fix: fix}
}

// These are the fixes for values that aren't UTF-8.
const (
	fixTableText = "store text there, or read a view that encodes it, as hexadecimal or base64"
	fixFileText  = "save the file as UTF-8"
)

// outOfOrder returns the error for a server that doesn't sort by bytes, because callers
// rely on the order.
func outOfOrder(place, column string) error {
	return &Error{
		Place: place,
		What:  fmt.Sprintf("the server did not return column %q in byte order", column),
		Fix:   "uids longer than the server's sort length are a likely reason; use shorter ones",
	}
}

// isDone reports whether ctx has ended, or whether err comes from an ended context.
func isDone(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, context.Canceled)
}
