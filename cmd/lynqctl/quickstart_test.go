package main

import (
	"database/sql"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver
)

// TestQuickstartDatabase wants tenants.db to contain exactly what tenants.sql says.
func TestQuickstartDatabase(t *testing.T) {
	const folder = "../../examples/quickstart/"
	statements, err := os.ReadFile(folder + "tenants.sql")
	if err != nil {
		t.Fatal(err)
	}
	made := openSQLite(t, ":memory:")
	if _, err := made.Exec(string(statements)); err != nil {
		t.Fatal(err)
	}
	kept := openSQLite(t, "file:"+folder+"tenants.db?mode=ro")
	for _, query := range []string{
		"SELECT type, name, sql FROM sqlite_schema ORDER BY name",
		"SELECT id, active, plan, replicas, url, motd FROM tenants ORDER BY id",
	} {
		t.Run(query, func(t *testing.T) {
			want := all(t, made, query)
			if len(want) == 0 {
				t.Errorf("%s: tenants.sql makes nothing", query)
			}
			if diff := cmp.Diff(want, all(t, kept, query)); diff != "" {
				t.Errorf("%s: tenants.db is not what tenants.sql makes: %s", query, diff)
			}
		})
	}
}

// openSQLite opens a database, and closes it at the end of the test.
func openSQLite(t *testing.T, name string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1) // each connection to :memory: has its own database
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// all returns the result of a query.
func all(t *testing.T, db *sql.DB, query string) [][]any {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // Err has reported errors
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var result [][]any
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		result = append(result, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return result
}
