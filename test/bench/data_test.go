package bench_test

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/bench/floor"
)

// sizes returns the numbers of rows to measure.
func sizes() []int { return []int{1_000, 10_000, 100_000} }

// usualMost limits the rows for the usual way. Its time per row stays the same, and 100 000
// rows would take a minute each time.
const usualMost = 10_000

// tenant returns the i-th row. No value needs quotes in YAML, because the floor can't
// quote.
func tenant(i int) floor.Row {
	pick := func(n int, of ...string) string { return of[n%len(of)] }
	return floor.Row{
		fmt.Sprintf("tenant-%06d", i),
		"1",
		pick(i, "gold", "silver", "free"),
		pick(i, "1", "2", "3", "5", "8"),
		fmt.Sprintf("https://t%d.example.com", i),
		pick(i/7, "eu-west-1", "eu-north-1", "us-east-2"),
		fmt.Sprintf("registry.example.com/app:v1.%d", i%50),
		pick(i, "standard", "fast"),
		fmt.Sprintf("db-%d.internal", i%7),
		pick(i, "", "info", "debug", ""),
		fmt.Sprintf("%dGi", i%20+1),
	}
}

func tenants(n int) []floor.Row {
	rows := make([]floor.Row, n)
	for i := range rows {
		rows[i] = tenant(i)
	}
	return rows
}

// writeRows writes rows to a csv or sqlite file, and returns its path.
func writeRows(tb testing.TB, kind string, rows []floor.Row) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "tenants."+kind)
	write := map[string]func(string, []floor.Row) error{"csv": writeCSV, "sqlite": writeSQLite}[kind]
	if err := write(path, rows); err != nil {
		tb.Fatal(err)
	}
	return path
}

func writeCSV(path string, rows []floor.Row) error {
	records := [][]string{floor.Columns()}
	for i := range rows {
		records = append(records, rows[i][:])
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(records); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

func writeSQLite(path string, rows []floor.Row) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	return errors.Join(fill(db, rows), db.Close())
}

func fill(db *sql.DB, rows []floor.Row) error {
	columns := floor.Columns()
	table := "CREATE TABLE tenants (" + strings.Join(columns, " TEXT, ") + " TEXT, PRIMARY KEY (id))"
	if _, err := db.Exec(table); err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	insert, err := tx.Prepare("INSERT INTO tenants VALUES (?" + strings.Repeat(", ?", len(columns)-1) + ")")
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }() // the transaction ends it anyway
	values := make([]any, len(columns))
	for _, r := range rows {
		for i, v := range r {
			values[i] = v
		}
		if _, err := insert.Exec(values...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
