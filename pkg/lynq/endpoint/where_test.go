package endpoint

import (
	"strings"
	"testing"
)

// TestCheckWhere checks which conditions stay inside of their parentheses, in each server's
// way to read quotes.
func TestCheckWhere(t *testing.T) {
	all := []SourceType{SourceMySQL, SourcePostgreSQL, SourceSQLite}
	for _, tt := range []struct {
		sql  string
		in   []SourceType
		want string // "" is good
	}{
		{"archived = 0", all, ""},
		{"deleted_at IS NULL\n  AND (plan = 'it''s' OR plan IN ('a;b', '-- no', '/*', ')'))", all, ""},
		{`"plan" = 'x' OR "a)" > 1 - -1`, all, ""},
		{"`a)` = 1", []SourceType{SourceMySQL, SourceSQLite}, ""},
		{"[a)] = 1", []SourceType{SourceSQLite}, ""},
		{"[a)] = 1", []SourceType{SourceMySQL, SourcePostgreSQL}, "closes a parenthesis"},
		{`plan = 'a\' AND x = 'b)'`, []SourceType{SourcePostgreSQL, SourceSQLite}, ""},
		{`plan = 'a\' AND x = 'b)'`, []SourceType{SourceMySQL}, "closes a parenthesis"},
		{`plan = 'a\') OR (1=1' `, []SourceType{SourceMySQL}, ""},
		{`plan = 'a\') OR (1=1' `, []SourceType{SourcePostgreSQL, SourceSQLite}, "closes a parenthesis"},
		{`plan = 'a\\') OR (1=1`, []SourceType{SourceMySQL}, "closes a parenthesis"},
		{`plan = "a\") OR (1=1"`, []SourceType{SourcePostgreSQL, SourceSQLite}, "closes a parenthesis"},
		{"`a\\` = 1) OR (1=1", []SourceType{SourceMySQL}, "closes a parenthesis"},
		{"data ? 'a' AND id::text <> ''", []SourceType{SourcePostgreSQL}, ""},
		{"data #> '{a}' IS NULL", []SourceType{SourcePostgreSQL}, ""},
		{"type'x' = name'y'", []SourceType{SourcePostgreSQL}, ""},
		{"1=1) OR (1=1", all, "closes a parenthesis"},
		{"1=1 UNION SELECT 1)", all, "closes a parenthesis"},
		{"(1=1", all, "opens a parenthesis"},
		{"1=1; DROP TABLE t", all, "semicolon"},
		{"1=1 -- x", all, "comment"},
		{"1=1 /* x", all, "comment"},
		{"1=1 /*! OR 1 */", all, "comment"},
		{"1=1 # x", []SourceType{SourceMySQL}, "comment"},
		{"plan = 'a", all, "opens a quote"},
		{`plan = 'a\'`, []SourceType{SourceMySQL}, "opens a quote"},
		{`plan = "a`, all, "opens a quote"},
		{"plan = E'a\\') OR (1=1 --'", []SourceType{SourcePostgreSQL}, "escapes"},
		{"plan = e'a'", []SourceType{SourcePostgreSQL}, "escapes"},
		{"plan = $$a$$", all, "has a $"},
		{"plan = 1$a$", all, "has a $"},
		{"plan = ?", []SourceType{SourceMySQL, SourceSQLite}, "has a ?"},
		{"plan = :plan", []SourceType{SourceSQLite}, "has a :"},
		{"plan = @plan", []SourceType{SourceMySQL, SourceSQLite}, "has a @"},
		{" Select 1", all, "is a query"},
		{"selected = 1 OR (SELECT 1)", all, ""},
		{" \n", all, "is empty"},
		{"a = '\x00'", all, "no condition needs"},
		{"a = '\xff'", all, "no condition needs"},
		{strings.Repeat("a", MaxWhere+1), all, "4096 bytes"},
	} {
		t.Run(tt.sql, func(t *testing.T) {
			for _, kind := range tt.in {
				what, fix := CheckWhere(kind, tt.sql)
				if tt.want == "" && what != "" || !strings.Contains(what, tt.want) || (what == "") != (fix == "") {
					t.Errorf("%s: %q: %q (%q), want %q", kind, tt.sql, what, fix, tt.want)
				}
			}
		})
	}
}
