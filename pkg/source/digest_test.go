package source_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source"
)

func TestFileDigest(t *testing.T) {
	rows := file(t, "rows.csv", "id\n1\n")
	first := source.FileDigest(rows)
	if first == "" || first != source.FileDigest(rows) {
		t.Errorf("two readings of one file differ: %q", first)
	}
	if err := os.WriteFile(rows.Path, []byte("id\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if second := source.FileDigest(rows); second == "" || second == first {
		t.Errorf("another text has the digest %q, as the first one: %q", second, first)
	}
	for name, c := range map[string]endpoint.Connection{
		"missing":    {Type: endpoint.SourceCSV, Path: filepath.Join(t.TempDir(), "absent.csv")},
		"directory":  {Type: endpoint.SourceJSON, Path: t.TempDir()},
		"a database": {Type: endpoint.SourceSQLite, Path: rows.Path},
		"a server":   {Type: endpoint.SourceMySQL, Host: "127.0.0.1"},
		"stdin":      {Type: endpoint.SourceCSV, Path: "-"},
	} {
		t.Run(name, func(t *testing.T) {
			if digest := source.FileDigest(c); digest != "" {
				t.Errorf("digest %q, want none", digest)
			}
		})
	}
}
