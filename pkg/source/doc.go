// Package source streams a hub's rows from where they are kept: MySQL and
// PostgreSQL servers, SQLite files, CSV, JSON, NDJSON and YAML files, and APIs that answer over HTTP.
//
// A connection and the names of columns flow in; records of text flow out, in
// byte order of the uid column, from one consistent snapshot. A result that
// breaks off is an error, never a shorter result. The package never writes to
// a source, never interprets a value (what is active, what is a duplicate), and
// never lets a password into an error.
package source
