package source_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/test/dbtest"
)

// eachTable runs a test on a table of each database.
func eachTable(t *testing.T, test func(t *testing.T, c endpoint.Connection)) {
	statements := []string{
		"CREATE TABLE chosen (id varchar(20), plan varchar(20), archived int)",
		"INSERT INTO chosen VALUES ('c', 'it''s', 0), ('a', 'gold', 0), ('b', 'gold', 1), ('d', NULL, NULL)",
	}
	eachServer(t, func(t *testing.T, s *dbtest.Server, _ func(string) string) {
		s.Exec(t, append([]string{"DROP TABLE IF EXISTS chosen"}, statements...)...)
		test(t, s.Connection("chosen"))
	})
	t.Run("sqlite", func(t *testing.T) {
		path, _ := sqliteFile(t, statements...)
		test(t, sqlite(path, "chosen"))
	})
}

// TestWhere reads the rows of a condition, whose count the source compares.
func TestWhere(t *testing.T) {
	eachTable(t, func(t *testing.T, c endpoint.Connection) {
		for where, want := range map[string][]string{
			"archived = 0":                   {"a|gold", "c|it's"},
			"plan = 'it''s' OR archived = 1": {"b|gold", "c|it's"},
			"archived IS NULL\n":             {"d|" + null},
			"chosen.archived = 2":            nil,
			"EXISTS (SELECT 1 FROM chosen o WHERE o.id > chosen.id AND o.plan = chosen.plan)": {"a|gold"},
		} {
			c.Where = endpoint.Where{SQL: where, At: "hub.yaml:9"}
			rows, err := read(t, c, "id", "plan")
			if err != nil {
				t.Errorf("%s: %v", where, err)
			}
			if got := values(rows); len(got)+len(want) > 0 && !cmp.Equal(got, want) {
				t.Errorf("%s: %q, want %q", where, got, want)
			}
		}
	})
}

// TestWhereRefused checks that the server refuses a condition before a row is read, and that
// the error names the hub's line and the server's reason.
func TestWhereRefused(t *testing.T) {
	eachTable(t, func(t *testing.T, c endpoint.Connection) {
		for where, reason := range map[string]string{
			"archved = 0":               "archved",
			`"archved" = 0`:             "archved",
			"archived = 0 UNION SELECT": "",
			"archived = 0 LIMIT 1":      "",
			"archived =":                "",
			"nofunction(id) = 1":        "",
		} {
			if c.Type == endpoint.SourceMySQL && strings.HasPrefix(where, `"`) {
				continue // a text
			}
			c.Where = endpoint.Where{SQL: where, At: "hub.yaml:9"}
			rows, err := read(t, c, "id")
			if len(rows) > 0 {
				t.Errorf("%s: rows %v", where, rows)
			}
			wantError(t, err, "hub.yaml:9: ", "table chosen", "doesn't take where: ", reason)
		}
	})
}
