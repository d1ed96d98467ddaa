// Package source streams a hub's rows from MySQL and PostgreSQL servers, SQLite files,
// CSV, JSON, NDJSON and YAML files, and HTTP APIs.
//
// It takes a connection and column names. It returns records of text in byte order of the
// uid column, from one consistent snapshot. An incomplete result is an error. The package
// never writes to a source and never puts a password into an error. It doesn't interpret
// values, so it doesn't know active or duplicate rows.
package source
