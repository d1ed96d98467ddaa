package source_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source"
	"github.com/lynqctl/lynqctl/test/dbtest"
)

func describe(t *testing.T, c endpoint.Connection, stdin string) ([]source.Column, error) {
	t.Helper()
	src, err := source.Open(t.Context(), c, strings.NewReader(stdin), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeSource(t, src)
	return src.Describe(t.Context())
}

func TestDescribeFiles(t *testing.T) {
	for _, c := range []struct {
		kind        endpoint.SourceType
		text, names string
		err         string
	}{
		{endpoint.SourceCSV, "\ufeffid,\"the name\",,active\na,b,,1\n", "id|the name|active", ""},
		{endpoint.SourceCSV, "", "", "the file is empty"},
		{endpoint.SourceCSV, "id,active\ra,1\r", "", "ends with CR and without LF"},
		{endpoint.SourceCSV, "i\x00d\x00,\x00a\x00", "", "looks like UTF-16"},
		{endpoint.SourceCSV, "a,\"b\n", "", "is not CSV"},
		{endpoint.SourceJSON, `[{"id": 1}, {"plan": {"x": 1}, "id": 2}]`, "id|plan", ""},
		{endpoint.SourceJSON, "{\"id\": 1}\n{\"a\": null}\n", "id|a", ""},
		{endpoint.SourceJSON, `[{"id": 1}, 2]`, "", "the row is a number"},
		{endpoint.SourceJSON, `[{"id": 1}`, "", "has no end"},
		{endpoint.SourceJSON, "- id: 1\n- {id: 2, plan: x}\n", "id|plan", ""},
		{endpoint.SourceJSON, "- id: 1\n- x\n", "", "not a mapping"},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			columns, err := describe(t, endpoint.Connection{Type: c.kind, Path: "-"}, c.text)
			if c.err != "" {
				wantError(t, err, c.err)
				return
			}
			var names []string
			for _, column := range columns {
				names = append(names, column.Name)
				if column.Key != source.NoKey || column.Binary {
					t.Errorf("%q: a file says nothing of %+v", c.text, column)
				}
			}
			if got := strings.Join(names, "|"); err != nil || got != c.names {
				t.Errorf("%q: got %s, error %v, want %s", c.text, got, err, c.names)
			}
		})
	}
}

// described returns a table with all kinds of keys, and its expected description.
func described(bytes string) (statement string, want []source.Column) {
	return "CREATE TABLE described (n int, tenant varchar(20) NOT NULL, id int NOT NULL PRIMARY KEY, a int, b int, logo " + bytes + ", UNIQUE (tenant), UNIQUE (a, b))",
		[]source.Column{{Name: "n"}, {Name: "tenant", Key: source.UniqueKey}, {Name: "id", Key: source.PrimaryKey}, {Name: "a"}, {Name: "b"}, {Name: "logo", Binary: true}}
}

func TestDescribeSQLite(t *testing.T) {
	create, want := described("BLOB")
	path, _ := sqliteFile(t, create, "CREATE TABLE several (a, b, c, PRIMARY KEY (a, b))",
		"CREATE UNIQUE INDEX part ON several (c) WHERE a > 1", "CREATE UNIQUE INDEX expression ON several (lower(c))", "CREATE VIEW v AS SELECT id FROM described")
	for table, want := range map[string][]source.Column{"described": want, "several": {{Name: "a"}, {Name: "b"}, {Name: "c"}}, "v": {{Name: "id"}}} {
		t.Run(table, func(t *testing.T) {
			got, err := describe(t, sqlite(path, table), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", table, diff)
			}
		})
	}
	_, err := describe(t, sqlite(path, "describd"), "")
	wantError(t, err, `did you mean "described"`)
}

func TestDescribeServers(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		create, want := described(map[endpoint.SourceType]string{endpoint.SourceMySQL: "LONGBLOB", endpoint.SourcePostgreSQL: "bytea"}[s.Type])
		s.Exec(t, "DROP VIEW IF EXISTS described_view", "DROP TABLE IF EXISTS several", "DROP TABLE IF EXISTS described", create,
			"CREATE TABLE several (a int, b int, c varchar(9), PRIMARY KEY (a, b))", "CREATE VIEW described_view AS SELECT id FROM described")
		for table, want := range map[string][]source.Column{
			"described": want, schemaOf(s) + ".several": {{Name: "a"}, {Name: "b"}, {Name: "c"}}, "described_view": {{Name: "id"}},
		} {
			got, err := describe(t, s.Connection(table), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", table, diff)
			}
		}
		_, err := describe(t, s.Connection("describd"), "")
		wantError(t, err, `table "describd" does not exist`)
	})
}
