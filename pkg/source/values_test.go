package source_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// TestFilesKeepValues reads files whose errors could quote a value of a row.
func TestFilesKeepValues(t *testing.T) {
	const value = "hunter2xyzSECRET"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"no header.csv": "a,1,x," + value + "\nb,1,x,other\n",
		"twice.csv":     "a,1," + value + "," + value + "\n",
		"anchor.yaml":   "- id: a\n  act: 1\n  pw: *" + value + "\n",
		"tag.yaml":      "- id: a\n  act: 1\n  pw: [!!int " + value + "]\n",
		"syntax.json":   `[{"id":"a","act":1,"pw":` + value + `}]`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c := endpoint.Connection{Type: endpoint.SourceJSON, Path: path}
			if strings.HasSuffix(name, "csv") {
				c.Type = endpoint.SourceCSV
			}
			if _, err := read(t, c, "id", "act", "pw"); err == nil || strings.Contains(err.Error(), value[:8]) {
				t.Errorf("%v", err)
			}
		})
	}
	path := filepath.Join(dir, "rows.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("CREATE TABLE t(id, pw); INSERT INTO t VALUES ('a', '" + value + "'); CREATE VIEW v AS SELECT id, json_extract('{}', pw) AS plan FROM t"); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, endpoint.Connection{Type: endpoint.SourceSQLite, Path: path, Table: "v"}, "id", "plan"); err == nil || strings.Contains(err.Error(), value[:8]) {
		t.Error(err)
	}
}
