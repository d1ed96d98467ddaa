package source_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source"
)

// file writes content to a new file, and returns a connection to it.
func file(t testing.TB, name, content string) endpoint.Connection {
	t.Helper()
	c := endpoint.Connection{Type: endpoint.SourceJSON, Path: filepath.Join(t.TempDir(), name)}
	if filepath.Ext(name) == ".csv" {
		c.Type = endpoint.SourceCSV
	}
	if err := os.WriteFile(c.Path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFileSettings reads files whose rows stand within an object, or between other
// separators than commas. Complete finds both settings.
func TestFileSettings(t *testing.T) {
	want := []string{"a|1", "b|2"}
	for _, c := range []struct {
		name, content string
		settings      endpoint.FileRows
	}{
		{"a.csv", "\xef\xbb\xbfid;name\r\n\"b\";2\r\na;1\r\n", endpoint.FileRows{Separator: ";"}},
		{"a.csv", "id\tname\na\t1\nb\t2\n", endpoint.FileRows{Separator: "\t"}},
		{"a.csv", "id|name\na|1\nb|2\n", endpoint.FileRows{Separator: "|"}},
		{"a.csv", "id,name\na,1\nb,2\n", endpoint.FileRows{}},
		{"a.json", `{"total": 2, "users": [{"id": "b", "name": 2}, {"id": "a", "name": 1}], "tags": ["x"]}`, endpoint.FileRows{Items: "users"}},
		{"a.json", `{"data": {"x": {}, "users": [{"id": "a", "name": 1}, {"id": "b", "name": 2}]}, "z": [1]}`, endpoint.FileRows{Items: "data.users"}},
		{"a.json", `{"id": "a", "name": 1, "list": [{}]} {"id": "b", "name": 2}`, endpoint.FileRows{}},
		{"a.yaml", "users:\n- {id: b, name: 2}\n- {id: a, name: 1}\n", endpoint.FileRows{Items: "users"}},
		{"a.yaml", "data:\n  users: &u\n  - {id: b, name: 2}\n  - {id: a, name: 1}\n", endpoint.FileRows{Items: "data.users"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := file(t, c.name, c.content)
			complete, err := source.Complete(t.Context(), conn)
			if err != nil || complete.File != c.settings {
				t.Errorf("%s: found %+v, error %v, want %+v", c.content, complete.File, err, c.settings)
			}
			conn.File = c.settings
			got, err := read(t, conn, "id", "name")
			if err != nil || !cmp.Equal(values(got), want) {
				t.Errorf("%s: got %q, error %v", c.content, values(got), err)
			}
		})
	}
	for name, content := range map[string]string{"a.json": `{"data": {"users": [{"a": 1}]}, "groups": [{"a": 1}]}`, "a.yaml": "data: {users: [{a: 1}]}\ngroups: [{a: 1}]\n"} {
		_, err := source.Complete(t.Context(), file(t, name, content))
		wantError(t, err, "the file has several lists of rows: data.users, groups")
	}
	for content, part := range map[string]string{
		`{"user": [{"id": 1}]}`:              `did you mean "user"?`,
		`[{"id": 1}]`:                        `no list of rows at "users"`,
		`{"users": {}}`:                      `no list of rows at "users"`,
		`{"users": [{"id": "a", "name": 1}]`: "has no end",
		`{"users": [], "users": []}`:         `key "users" appears twice`,
		`{"users": []} {}`:                   "a.json:1",
	} {
		conn := file(t, "a.json", content)
		conn.File.Items = "users"
		_, err := read(t, conn, "id", "name")
		wantError(t, err, part)
	}
}

func TestFiles(t *testing.T) {
	for _, c := range []struct {
		name, file, content string
		want                []row
	}{
		{"ordered", "a.csv", "id,name,plan\na,1,x\nb,2,x\n", []row{{2, []string{"a", "1"}}, {3, []string{"b", "2"}}}},
		{"unordered with duplicates", "a.csv", "name,id\n1,b\n2,a\n3,b\n4,\n5,a", []row{{5, []string{"", "4"}}, {3, []string{"a", "2"}}, {6, []string{"a", "5"}}, {2, []string{"b", "1"}}, {4, []string{"b", "3"}}}},
		{"mark, CRLF and blank lines", "a.csv", "\xef\xbb\xbfid,name\r\n\r\nb,2\r\n\r\na,1", []row{{5, []string{"a", "1"}}, {3, []string{"b", "2"}}}},
		{"quoted", "a.csv", "id,name\n\"b\",\"two\nlines\"\n\"a\"\"\",\"x, y\"\nc,\n", []row{{4, []string{`a"`, "x, y"}}, {2, []string{"b", "two\nlines"}}, {5, []string{"c", ""}}}},
		{"CR LF in quotes", "a.csv", "id,name\r\nb,\"x\r\ny\"\r\na,\"\r\n\r\n\"\"\r\n\r\"\r\n", []row{{4, []string{"a", "\r\n\r\n\"\r\n\r"}}, {2, []string{"b", "x\r\ny"}}}},
		{"CR LF in quotes, in order", "a.csv", "id,name\na,\"x\r\ny\"\nb,\"x\ny\"\r\nc,\"\r\"", []row{{2, []string{"a", "x\r\ny"}}, {4, []string{"b", "x\ny"}}, {6, []string{"c", "\r"}}}},
		{"values as written", "a.csv", "id,name\n\" 007 \",\ta\u00a0\n\u00a0b,\"\u200b\"\n", []row{{2, []string{" 007 ", "\ta\u00a0"}}, {3, []string{"\u00a0b", "\u200b"}}}},
		{"byte order", "a.csv", "id,name\n10,\n9,\nä,\nZ,\na,\n😀,\n\uffee,\n", []row{{2, []string{"10", ""}}, {3, []string{"9", ""}}, {5, []string{"Z", ""}}, {6, []string{"a", ""}}, {4, []string{"ä", ""}}, {8, []string{"\uffee", ""}}, {7, []string{"😀", ""}}}},
		{"header only", "a.csv", "id,name\n", nil},
		{"header only, with CR", "a.csv", "id,name\r", nil},
		{"CR in a value", "a.csv", "id,name,\"x\ry\"\na,\"1\r2\",\r\nb,1\r2,\n", []row{{2, []string{"a", "1\r2"}}, {3, []string{"b", "1\r2"}}}},
		{"spare columns", "a.csv", "id,,name,\nx,1,y,2\n", []row{{2, []string{"x", "y"}}}},
		{"array", "a.json", "[\n{\"id\": \"b\", \"name\": 1.50},\n\n {\"name\":\"x\", \"id\": \"a\"}]\n", []row{{4, []string{"a", "x"}}, {2, []string{"b", "1.50"}}}},
		{"empty array", "a.json", " [ ] ", nil},
		{"lines", "a.ndjson", "{\"id\": \"a\", \"name\": null}\n\n{\"id\": \"b\"}\n{\"id\": \"c\", \"name\": \"\"}", []row{{1, []string{"a", null}}, {3, []string{"b", null}}, {4, []string{"c", ""}}}},
		{"concatenated", "a.json", "\xef\xbb\xbf{\"id\":\"b\",\"name\":true}{\"id\":\"a\",\n\"name\":false} {\"name\":[1, {\"z\": \"}]\\\"\", \"a\": -1.0e+2 } ], \"id\":12345678901234567890123}", []row{{2, []string{"12345678901234567890123", `[1,{"z":"}]\"","a":-1.0e+2}]`}}, {1, []string{"a", "false"}}, {1, []string{"b", "true"}}}},
		{"escapes", "a.json", `[{"\u0069d": "\ud83d\ude00\u00e4\n\t\"\\\/\b\f\r", "name": "\u0000"}]`, []row{{1, []string{"😀ä\n\t\"\\/\b\f\r", "\x00"}}}},
		{"null uid", "a.json", `[{"id": "", "name": 1}, {"id": null, "name": 2}, {"name": 3}]`, []row{{1, []string{"", "1"}}, {1, []string{null, "2"}}, {1, []string{null, "3"}}}},
		{"yaml", "a.yaml", "# rows\n- id: b\n  name: 0123\n- {id: a, name: ~}\n- id: c\n  name: |\n    two\n    lines\n- id: d\n  name: on\n- id: e\n  name: 1.50\n- id: f\n- id: 0x1F\n  name: 'null'\n- id: g\n  name: 2024-01-01\n- id: h\n  name:\n",
			[]row{{14, []string{"0x1F", "null"}}, {4, []string{"a", null}}, {2, []string{"b", "0123"}}, {5, []string{"c", "two\nlines\n"}}, {9, []string{"d", "on"}}, {11, []string{"e", "1.50"}}, {13, []string{"f", null}}, {16, []string{"g", "2024-01-01"}}, {18, []string{"h", null}}}},
		{"yaml anchors", "a.yml", "- &base\n  id: a\n  name: {z: [1, <], b: &x x}\n- <<: *base\n  id: b\n- id: c\n  name: *x\n- <<: [{name: first}, *base]\n  id: d\n",
			[]row{{1, []string{"a", `{"z":[1,"<"],"b":"x"}`}}, {4, []string{"b", `{"z":[1,"<"],"b":"x"}`}}, {6, []string{"c", "x"}}, {8, []string{"d", "first"}}}},
		{"yaml merged into itself", "a.yaml", "- &a\n  <<: [*a, *a]\n  id: 1\n  name: 2\n", []row{{1, []string{"1", "2"}}}},
		{"yaml by content", "rows", "\n- id: x\n  name: y\n", []row{{2, []string{"x", "y"}}}},
		{"json by content", "rows", "\n{\"id\": \"x\", \"name\": \"y\"}", []row{{2, []string{"x", "y"}}}},
		{"empty yaml list", "a.yaml", "[]\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := file(t, c.file, c.content)
			got, err := read(t, conn, "id", "name")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if filepath.Ext(c.file) == ".yaml" || filepath.Ext(c.file) == ".yml" {
				return // standard input has no extension, and [] is JSON there
			}
			conn.Path = "-"
			if got, err = readFrom(t, conn, c.content, "id", "name"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("from standard input: %s", diff)
			}
		})
	}
}

// TestYAMLScalars compares values of YAML, alone and in a list, with their texts. Each text
// in a list is a number as written, or a JSON text with the same characters.
func TestYAMLScalars(t *testing.T) {
	for _, c := range []struct{ yaml, alone, inner string }{
		{"1.10", "1.10", "1.10"},
		{"100", "100", "100"},
		{"-0", "-0", "-0"},
		{"0.0", "0.0", "0.0"},
		{"1e3", "1e3", "1e3"},
		{"1E+400", "1E+400", "1E+400"},
		{"12e03", "12e03", "12e03"},
		{"123456789012345678901234567890", "123456789012345678901234567890", "123456789012345678901234567890"},
		{"18446744073709551616", "18446744073709551616", "18446744073709551616"},
		{"0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"},
		{"2024-01-01", "2024-01-01", `"2024-01-01"`},
		{"2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00", `"2001-12-14t21:59:43.10-05:00"`},
		{"2024-01-01 12:00:00", "2024-01-01 12:00:00", `"2024-01-01 12:00:00"`},
		{"007", "007", `"007"`},
		{"0o17", "0o17", `"0o17"`},
		{"0x1F", "0x1F", `"0x1F"`},
		{"0b11", "0b11", `"0b11"`},
		{"1_000", "1_000", `"1_000"`},
		{"+1", "+1", `"+1"`},
		{".5", ".5", `".5"`},
		{"5.", "5.", `"5."`},
		{"12:30:45", "12:30:45", `"12:30:45"`},
		{".inf", ".inf", `".inf"`},
		{"-.Inf", "-.Inf", `"-.Inf"`},
		{".NaN", ".NaN", `".NaN"`},
		{"yes", "yes", `"yes"`},
		{"No", "No", `"No"`},
		{"on", "on", `"on"`},
		{"y", "y", `"y"`},
		{"true", "true", "true"},
		{"True", "True", "true"},
		{"FALSE", "FALSE", "false"},
		{"~", null, "null"},
		{"null", null, "null"},
		{"Null", null, "null"},
		{"''", "", `""`},
		{"'1.10'", "1.10", `"1.10"`},
		{`"true"`, "true", `"true"`},
		{`"a\tb\u00e4\"<"`, "a\tbä\"<", `"a\tbä\"<"`},
		{"!!str 1.10", "1.10", `"1.10"`},
		{`!!int "12"`, "12", "12"},
		{"!!float 1", "1", "1"},
		{"!!timestamp 2024-01-01", "2024-01-01", `"2024-01-01"`},
		{"&x 1.50", "1.50", "1.50"},
		{"{b: 1.0, a: {<<: {c: 2, d: 3.0}, c: 1}}", `{"b":1.0,"a":{"c":1,"d":3.0}}`, `{"b":1.0,"a":{"c":1,"d":3.0}}`},
		{"!!seq [!!map {a: 1.0}]", `[{"a":1.0}]`, `[{"a":1.0}]`},
	} {
		t.Run(c.yaml, func(t *testing.T) {
			rows, err := read(t, file(t, "a.yaml", "- id: 1\n  alone: "+c.yaml+"\n  list:\n  - "+c.yaml+"\n"), "id", "alone", "list")
			if err != nil {
				t.Errorf("%s: %v", c.yaml, err)
			} else if got, want := values(rows)[0], "1|"+c.alone+"|["+c.inner+"]"; got != want {
				t.Errorf("%s: %s, want %s", c.yaml, got, want)
			}
		})
	}
}

func TestFileErrors(t *testing.T) {
	for _, c := range []struct {
		name, file, content string
		want                []string
	}{
		{"empty", "a.csv", "", []string{"a.csv: the file is empty", "name the columns"}},
		{"only a mark", "a.csv", "\xef\xbb\xbf", []string{"empty"}},
		{"UTF-16", "a.csv", "\xff\xfei\x00d\x00", []string{"UTF-16", "save it as UTF-8"}},
		{"UTF-16, high bytes first", "a.csv", "\xfe\xff\x00i\x00d", []string{"a.csv: the file is UTF-16 (save it as UTF-8)"}},
		{"UTF-16 without a mark", "a.csv", "i\x00d\x00,\x00n\x00", []string{"a.csv: the file looks like UTF-16 (save it as UTF-8)"}},
		{"UTF-16 without a mark, high bytes first", "a.json", "\x00[\x00{", []string{"a.json: the file looks like UTF-16"}},
		{"UTF-32", "a.csv", "\xff\xfe\x00\x00i\x00\x00\x00", []string{"a.csv: the file is UTF-32 (save it as UTF-8)"}},
		{"lines of CR", "a.csv", "id,name\ra,1\rb,2\r", []string{"a.csv:1: the line ends with CR and without LF (end each line with LF or CRLF, for example: tr '\\r' '\\n' < OLD.csv > NEW.csv)"}},
		{"a mark and lines of CR", "a.csv", "\xef\xbb\xbf\"id\",\"na\rme\"\ra,1", []string{"a.csv:1: the line ends with CR and without LF"}},
		{"some lines of CR", "a.csv", "id,name\na,1\rb,2\n", []string{"a.csv:2: the row has 3 values and a CR without LF, the header 2 columns (end each line with LF"}},
		{"NUL in the header", "a.csv", "id,na\x00me\na,1\n", []string{"a.csv:1: the line has a NUL byte, so the file isn't text (save it as UTF-8 text"}},
		{"NUL in a value", "a.csv", "id,name\nb,1\na,\x00\n", []string{"a.csv:3: the line has a NUL byte"}},
		{"NULs at the end", "a.csv", "id,name\na,1\n\x00\x00\x00", []string{"a.csv:3: the line has a NUL byte"}},
		{"NULs in a column that nobody reads", "a.csv", "id,name,x\na,1,\n" + strings.Repeat("b,2,\n", 100_000) + "c,3,\x00\n", []string{"a.csv:100003: the line has a NUL byte"}},
		{"ragged", "a.csv", "id,name\na,1\n\nb\n", []string{"a.csv:4: the row has 1 values, the header 2 columns"}},
		{"too long", "a.csv", "id,name\na,1,2\n", []string{"a.csv:2: the row has 3 values"}},
		{"open quote", "a.csv", "id,name\na,\"1\nb,2\n", []string{"the row that begins in line 2 is not CSV", "closing quote"}},
		{"bare quote", "a.csv", "id,name\na,x\"y\n", []string{"a.csv:2: the row is not CSV", "double"}},
		{"broken header", "a.csv", "id,\"na\"me\n", []string{"a.csv:1:"}},
		{"header twice", "a.csv", "id,name,id\n", []string{`a.csv:1: column "id" appears twice`}},
		{"missing column", "a.csv", "id,namme\n", []string{`a.csv:1: no column "name" (did you mean "namme" instead of "name"? it has "id", "namme")`}},
		{"a no-break space after a name", "a.csv", "id,name\u00a0\n", []string{`a.csv:1: no column "name" (did you mean "name\u00a0" instead of "name"? one has the invisible character U+00A0; it has "id", "name\u00a0")`}},
		{"invisible characters in a short name", "a.csv", "\u200bid,name\n", []string{`no column "id" (did you mean "\u200bid" instead of "id"? one has the invisible character U+200B;`}},
		{"a second byte order mark", "a.csv", "\ufeff\ufeffid,name\n", []string{`did you mean "\ufeffid" instead of "id"? one has the invisible character U+FEFF;`}},
		{"a soft hyphen", "a.csv", "id,na\u00adme\n", []string{`"na\u00adme" instead of "name"`, "U+00AD"}},
		{"a blank before a name", "a.csv", "name, id\n", []string{`did you mean " id" instead of "id"? it has "name", " id"`}},
		{"a no-break space in a key", "a.json", `[{"id\u00a0": 1, "name": 2}]`, []string{`did you mean "id\u00a0" instead of "id"? one has the invisible character U+00A0;`}},
		{"semicolons", "a.csv", "id;name\na;b\n", []string{`"id", "name"`, "its first line separates by semicolons", `set separator: ";"`}},
		{"no list of rows", "a.json", `{"users": [{"id": 1, "name": 1}]}`, []string{`no column "id", "name"`}},
		{"not text", "a.csv", "id,name\nb,x\na,\xff\n", []string{`a.csv:3: column "name" holds bytes that are not UTF-8`, "save the file as UTF-8"}},
		{"split character", "a.csv", "id,name\n\xc3,\xa4\n", []string{`a.csv:2: column "id"`}},
		{"empty", "a.json", " \n", []string{"a.json: the file is empty", "[]"}},
		{"not JSON", "a.json", "[\n{\"id\": 1, \"name\": 1},\n{\"id\": x}\n]", []string{`a.json:3: column "id" is not JSON`, "invalid character 'x'"}},
		{"not NDJSON", "a.ndjson", "{\"id\": 1, \"name\": 1}\n\nid: 1\n", []string{"a.ndjson:3: this is not JSON"}},
		{"no comma", "a.json", "[{\"id\": 1, \"name\": 1}\n{\"id\": 2}]", []string{"a.json:2", "this is not JSON", "expecting ',' or ']'"}},
		{"cut array", "a.json", "[{\"id\": 1, \"name\": 1},\n{\"id\": 2}\n", []string{"a.json:", "has no end", "cut off"}},
		{"cut object", "a.json", "[{\"id\": 1, \"name\": 1},\n{\"id\": 2", []string{"a.json:2: the JSON that begins here has no end"}},
		{"cut line", "a.ndjson", "{\"id\": 1, \"name\": 1}\n{\"id\"", []string{"a.ndjson:2: the JSON that begins here has no end"}},
		{"after the array", "a.json", "[{\"id\": 1, \"name\": 1}]\n{}", []string{"a.json:2: there is text after the end of the array"}},
		{"rubbish after the array", "a.json", "[]\n}", []string{"a.json:2: this is not JSON"}},
		{"no object", "a.json", "[1]", []string{"a.json:1: the row is a number, not an object"}},
		{"null row", "a.json", "[{\"id\":1,\"name\":2},\nnull]", []string{"a.json:2: the row is null"}},
		{"array row", "a.json", "[[]]", []string{"an array"}},
		{"text row", "a.json", `["x"]`, []string{"a string"}},
		{"boolean row", "a.json", `[true]`, []string{"a boolean"}},
		{"key twice", "a.json", "[{\"id\": 1,\n\"name\": 1,\n \"id\": 2}]", []string{`a.json:3: key "id" appears twice`}},
		{"inner key twice", "a.json", "[{\"id\": 1,\n\"name\": [{\"a\": {\"x\": 1,\n\"x\": 2}}]}]", []string{`a.json:3: key "x" appears twice`}},
		{"half a pair", "a.json", `[{"id": "\ud83d", "name": 1}]`, []string{"a.json:1", "surrogate"}},
		{"half a pair in a value", "a.json", `[{"id": "1", "name": "\ud83dx\u0041"}]`, []string{"a.json:1", "surrogate"}},
		{"half a pair in a key", "a.json", `[{"\ud83d": 1}]`, []string{"a.json:1", "surrogate"}},
		{"half a pair in an inner key", "a.json", `[{"x": {"\ude00": 1}}]`, []string{"a.json:1", "surrogate"}},
		{"not text", "a.json", "[{\"id\": \"a\", \"name\": \"\xff\"}]", []string{`a.json:1: column "name" is not JSON`, "invalid UTF-8"}},
		{"missing everywhere", "a.json", "[{\"id\": 1, \"x\": 2}, {\"y\": 1}]", []string{`a.json: no column "name"`, `it has "id", "x", "y"`}},
		{"no list", "a.yaml", "id: 1\n", []string{"a.yaml:1: this is not a list"}},
		{"only a comment", "a.yaml", "# nothing\n", []string{"a.yaml:1: this is not a list"}},
		{"two documents", "a.yaml", "- {id: 1, name: 1}\n---\n- {id: 2}\n", []string{"a.yaml:2: the file has a second document"}},
		{"broken second document", "a.yaml", "- {id: 1, name: 1}\n---\n- {id: 2\n", []string{"a.yaml:", "not YAML"}},
		{"not YAML", "a.yaml", "- id: 1\n- [\n", []string{"a.yaml:", "this is not YAML"}},
		{"yaml rows", "a.yaml", "- id: 1\n  name: 2\n  id: 3\n- 5\n- {[a]: b}\n- {id: 1, name: {1: x}}\n", []string{`a.yaml:3: key "id" appears twice`, "a.yaml:4: the row is not a mapping", "a.yaml:5: a key is not a text", "a.yaml:6: a key is not a text"}},
		{"yaml missing", "a.yaml", "- id: 1\n", []string{`a.yaml: no column "name"`, `it has "id"`}},
		{"yaml not text", "a.yaml", "- id: 1\n- id: \xff\n", []string{"a.yaml:2: this is not YAML", "UTF-8"}},
		{"yaml control character", "a.yaml", "- id: 1\n  name: \"\x01\"\n", []string{"a.yaml:2: this is not YAML", "control characters"}},
		{"yaml unknown anchor", "a.yaml", "- id: 1 # *hunter2\n  name: &b x\n- {id: 2, name: *hunter2}\n", []string{"a.yaml:3: this is not YAML: an alias has no anchor (quote a value that begins with *)"}},
		{"yaml keys of an object", "a.yaml", "- id: 1\n  name:\n    8080: x\n    true: x\n    ~: x\n    2024-01-01: x\n    [a]: x\n    1.5: x\n    yes: x\n", []string{"a.yaml:3: a key is not a text (write the key in quotes)",
			"a.yaml:4: a key", "a.yaml:5: a key", "a.yaml:6: a key", "a.yaml:7: a key", "a.yaml:8: a key"}},
		{"yaml null key", "a.yaml", "- id: 1\n  ~: 2\n", []string{"a.yaml:2: a key is not a text"}},
		{"yaml inner key twice", "a.yaml", "- id: 1\n  name: [{a: 1,\n    a: 2}]\n", []string{`a.yaml:3: key "a" appears twice in one object`}},
		{"yaml tags", "a.yaml", "- id: !!binary aGk=\n  name: !custom x\n- id: !!int x\n  name:\n    a: !!set {x}\n    b: !!bool 3\n    c: !!map [x]\n", []string{"a.yaml:1: lynqctl doesn't read values with this YAML tag",
			"a.yaml:2: lynqctl", "a.yaml:3: lynqctl", "a.yaml:5: lynqctl", "a.yaml:6: lynqctl", "a.yaml:7: lynqctl"}},
		{"yaml merges no mapping", "a.yaml", "- id: 1\n  name: {<<: x}\n", []string{"a.yaml:2: the row is not a mapping", "<< takes mappings only"}},
		{"yaml alias bomb", "a.yaml", "- id: 1\n  a: &a [x,x,x,x,x,x,x,x,x,x]\n  b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n  c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n  d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n  e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n" +
			"  f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n  g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\n  name: [*g,*g,*g,*g,*g,*g,*g,*g,*g,*g]\n", []string{"a.yaml:1: the row has more than 16 MiB"}},
		{"yaml value in itself", "a.yaml", "- id: 1\n  name: &a [*a]\n", []string{"a.yaml:2: the value contains itself"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(t, file(t, c.file, c.content), "id", "name")
			wantError(t, err, c.want...)
		})
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, kind := range []endpoint.SourceType{endpoint.SourceCSV, endpoint.SourceJSON, endpoint.SourceSQLite} {
		t.Run(string(kind), func(t *testing.T) {
			_, err := read(t, endpoint.Connection{Type: kind, Path: dir, Table: "t"}, "id")
			wantError(t, err, dir+": it is a directory")
			missing := filepath.Join(dir, "missing")
			_, err = read(t, endpoint.Connection{Type: kind, Path: missing, Table: "t"}, "id")
			wantError(t, err, missing+": no such file")
			if _, err := os.Stat(missing); err == nil {
				t.Errorf("%s made a file", kind)
			}
			_, err = read(t, endpoint.Connection{Type: kind, Table: "t"}, "id")
			wantError(t, err, "no path")
		})
	}
	_, err := read(t, endpoint.Connection{Type: "oracle"}, "id")
	wantError(t, err, `"oracle" is unknown`, "mysql, postgresql, sqlite, csv, json, or http")
	_, err = source.Open(t.Context(), endpoint.Connection{Type: endpoint.SourceCSV, Path: "-"}, nil, nil)
	wantError(t, err, "standard input")
	if os.Geteuid() != 0 {
		c := file(t, "a.csv", "id\n")
		if err := os.Chmod(c.Path, 0); err != nil {
			t.Fatal(err)
		}
		_, err = read(t, c, "id")
		wantError(t, err, "may not be read")
	}
}

func TestQueryWithoutUID(t *testing.T) {
	src, err := source.Open(t.Context(), file(t, "a.csv", "id\n"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeSource(t, src)
	for _, err := range src.Records(t.Context(), source.Query{Columns: []string{"id"}, UID: "other"}) {
		wantError(t, err, `"other"`)
	}
}

// stuck is a standard input to which nobody writes.
type stuck struct{ read, end chan struct{} }

func (s stuck) Read([]byte) (int, error) {
	close(s.read)
	<-s.end
	return 0, errors.New("ended")
}

func TestStdinIsCancelled(t *testing.T) {
	in := stuck{make(chan struct{}), make(chan struct{})}
	defer close(in.end)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-in.read; cancel() }()
	if _, err := source.Open(ctx, endpoint.Connection{Type: endpoint.SourceCSV, Path: "-"}, in, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the cancellation", err)
	}
}

// many returns a file with n rows in descending order, so that the second reading jumps
// back and forth.
func many(t *testing.T, name string, n int) endpoint.Connection {
	var content strings.Builder
	if filepath.Ext(name) == ".csv" {
		content.WriteString("id,name\n")
	}
	for i := n; i > 0; i-- {
		switch filepath.Ext(name) {
		case ".csv":
			fmt.Fprintf(&content, "t%06d,%d\n", i, i)
		case ".json":
			fmt.Fprintf(&content, "{\"id\":\"t%06d\",\"name\":%d}\n", i, i)
		default:
			fmt.Fprintf(&content, "- {id: t%06d, name: %d}\n", i, i)
		}
	}
	return file(t, name, content.String())
}

func TestFileIsCancelled(t *testing.T) {
	for _, name := range []string{"a.csv", "a.json", "a.yaml"} {
		src, err := source.Open(t.Context(), many(t, name, 2000), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer closeSource(t, src)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		count := 0
		var last error
		for _, err := range src.Records(ctx, source.Query{Columns: []string{"id"}, UID: "id"}) {
			last = err
			count++
			cancel()
		}
		if !errors.Is(last, context.Canceled) || count > 1000 {
			t.Errorf("%s: the reading ended with %v after %d rows", name, last, count)
		}
		if _, err := records(ctx, src, "id"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a reading with an ended context: %v", name, err)
		}
	}
}

func TestFileReadAgain(t *testing.T) {
	for _, name := range []string{"a.csv", "a.json", "a.yaml"} {
		src, err := source.Open(t.Context(), many(t, name, 500), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer closeSource(t, src)
		if got := src.Place(7); !strings.HasSuffix(got, name+":7") {
			t.Errorf("Place is %q", got)
		}
		for range src.Records(t.Context(), source.Query{Columns: []string{"id"}, UID: "id"}) {
			break
		}
		rows, err := records(t.Context(), src, "id", "name")
		if err != nil || len(rows) != 500 {
			t.Fatalf("%s: %d rows, error %v", name, len(rows), err)
		}
		for i, r := range rows {
			if want := fmt.Sprintf("t%06d", i+1); r.Values[0] != want || r.Values[1] != fmt.Sprint(i+1) {
				t.Fatalf("%s: row %d is %q", name, i, r.Values)
			}
		}
	}
}

func TestFileChanges(t *testing.T) {
	for name, change := range map[string]func(string) error{
		"grows": func(path string) error {
			return rewrite(path, func(b []byte) []byte { return append(b, b[len(b)/2:]...) })
		},
		"shrinks": func(path string) error { return os.Truncate(path, 100) },
		"other bytes": func(path string) error {
			return rewrite(path, func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "t00", "u00")) })
		},
		"no longer well formed": func(path string) error {
			return rewrite(path, func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "\n", "\"")) })
		},
	} {
		for _, kind := range []string{"a.csv", "a.json"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				c := many(t, kind, 20000)
				src, err := source.Open(t.Context(), c, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer closeSource(t, src)
				count := 0
				var last error
				for _, err := range src.Records(t.Context(), source.Query{Columns: []string{"id"}, UID: "id"}) {
					if last = err; count == 0 {
						if err := change(c.Path); err != nil {
							t.Fatal(err)
						}
					}
					count++
				}
				wantError(t, last, c.Path, "changed while lynqctl read it")
			})
		}
	}
}

// rewrite changes a file's content in place.
func rewrite(path string, change func([]byte) []byte) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, change(content), 0o600)
}
