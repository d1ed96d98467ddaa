// Package httprows reads all rows that an API has, page by page over HTTP, into a
// file of JSON lines that no one else sees.
//
// A connection flows in; rows as they were sent flow out, and where each of them
// was. Fewer rows than the API has are an error: an answer that breaks off, a page
// that is missing, and pages that change while they are read. The package sends a
// credential to the scheme, host and port of the hub's URL only, and shows none. It
// interprets no row.
package httprows
