package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source"
)

// The benchmarks read this many rows of this many columns.
const benchRows, benchColumns = 10_000, 12

func benchNames() []string {
	names := make([]string, benchColumns)
	for i := range names {
		names[i] = fmt.Sprintf("column%d", i)
	}
	return names
}

// benchTexts returns rows, either in uid order or shuffled.
func benchTexts(shuffled bool) [][]string {
	rows := make([][]string, benchRows)
	for i := range rows {
		n := i
		if shuffled {
			n = i * 7919 % benchRows
		}
		for j := range benchColumns {
			rows[i] = append(rows[i], fmt.Sprintf("tenant-%05d-%d", n, j))
		}
	}
	return rows
}

func BenchmarkCSV(b *testing.B) {
	for _, shuffled := range []bool{false, true} {
		b.Run(map[bool]string{false: "ordered", true: "shuffled"}[shuffled], func(b *testing.B) {
			var content strings.Builder
			content.WriteString(strings.Join(benchNames(), ",") + "\n")
			for _, row := range benchTexts(shuffled) {
				content.WriteString(strings.Join(row, ",") + "\n")
			}
			bench(b, file(b, "rows.csv", content.String()))
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	names := benchNames()
	var content strings.Builder
	for _, row := range benchTexts(false) {
		for j, text := range row {
			fmt.Fprintf(&content, "%c%q:%q", "{,"[min(j, 1)], names[j], text)
		}
		content.WriteString("}\n")
	}
	bench(b, file(b, "rows.json", content.String()))
}

func BenchmarkSQLite(b *testing.B) {
	path, db := sqliteFile(b, "CREATE TABLE rows ("+strings.Join(benchNames(), " TEXT, ")+" TEXT)")
	tx, err := db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	for _, row := range benchTexts(true) {
		if _, err := tx.Exec("INSERT INTO rows VALUES ('" + strings.Join(row, "', '") + "')"); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	bench(b, sqlite(path, "rows"))
}

func bench(b *testing.B, c endpoint.Connection) {
	q := source.Query{Columns: benchNames(), UID: "column0"}
	b.ReportAllocs()
	for b.Loop() {
		src, err := source.Open(b.Context(), c, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		count := 0
		for _, err := range src.Records(b.Context(), q) {
			if err != nil {
				b.Fatal(err)
			}
			count++
		}
		if err := src.Close(); err != nil {
			b.Fatal(err)
		}
		if count != benchRows {
			b.Fatalf("%d rows, want %d", count, benchRows)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}
