package floor

import (
	"bufio"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"

	_ "modernc.org/sqlite" // the driver that lynqctl also uses
)

// Run renders a file of rows to w. kind is csv, with the columns in the order of Columns,
// or sqlite, with a table tenants.
func Run(kind, path string, w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var err error
	switch kind {
	case "csv":
		err = runCSV(path, out)
	case "sqlite":
		err = runSQLite(path, out)
	default:
		err = fmt.Errorf("kind %q is neither csv nor sqlite", kind)
	}
	return errors.Join(err, out.Flush())
}

func runCSV(path string, w io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r := csv.NewReader(bufio.NewReaderSize(f, 64<<10))
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil { // the header
		return err
	}
	var b []byte
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row := Row(fields)
		if b, err = write(w, b, &row); err != nil {
			return err
		}
	}
}

func runSQLite(path string, w io.Writer) error {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Query("SELECT id, active, plan, replicas, url, region, image, tier, dbhost, loglevel, storage FROM tenants ORDER BY id")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var row Row
	var into [len(row)]any
	for i := range row {
		into[i] = &row[i]
	}
	var b []byte
	for rows.Next() {
		if err := rows.Scan(into[:]...); err != nil {
			return err
		}
		if b, err = write(w, b, &row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// write writes an active row's objects. It reuses b.
func write(w io.Writer, b []byte, r *Row) ([]byte, error) {
	if r[active] != "1" {
		return b, nil
	}
	b = Append(b[:0], r)
	_, err := w.Write(b)
	return b, err
}
