// Package httprows reads all rows of an HTTP API, page by page, into a private file of
// JSON lines.
//
// It takes a connection, and returns the rows as the API sent them, with their places. An
// incomplete result is an error. This covers a broken answer, a missing page, and pages
// that change during the reading. The package sends a credential only to the scheme, host
// and port of the hub's URL, and never prints it. It doesn't interpret rows.
package httprows
