package source_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source"
)

// FuzzCSV compares the reader with encoding/csv. Both must return the same rows, except for
// CR LF in quotes, which encoding/csv turns into LF. The reader may refuse more, but not
// less.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"id,name\nb,2\na,1\n", "\xef\xbb\xbfid\r\n\"x\ny\"\r\n\r\na", "a,,\n1,2,3\n1,2,3", "id\n\"", "a,b\n1\n", "a\n\"x\r\n\r\"\r\n", "id\n\xff\n", "id,n\na,\"\"\"x\"\"\"\nA,\r", "\xff\xfe"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))))
		plain, plainErr := r.ReadAll()
		columns := []string{"none"}
		if len(plain) > 0 {
			columns = plain[0]
		}
		if slices.Contains(columns, "") {
			columns = columns[:1] // two columns can't both be unnamed
		}
		got, err := fuzzRead(t, endpoint.Connection{Type: endpoint.SourceCSV, Path: "-"}, content, columns)
		if err != nil {
			return
		}
		if plainErr != nil {
			t.Fatalf("rows %q where a plain reading has %v", got, plainErr)
		}
		want := plain[1:]
		for i := range want {
			want[i] = want[i][:len(columns)]
		}
		for _, row := range got {
			for i, value := range row {
				row[i] = strings.ReplaceAll(value, "\r\n", "\n")
			}
		}
		compareRows(t, got, want)
	})
}

// FuzzJSON does the same for JSON.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`[{"id":"b","n":1.50},{"id":"a","n":[1,{"x":null}]}]`, "{\"id\":1}\n{\"id\":\"\\ud83d\\ude00\"}{\"id\":true,\"\\u0069\":null}", `[{"a":{"x":"}]\\\""}}]`, `[]`, `[{"id":"\ud83d"}]`, "[{\"a\":\"\xff\"}]", `[1]`, `{"a":1,"a":2}`, `{"a":1e400}`, `[[],]`, ` [ { } ] `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		plain, plainErr := plainJSON(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")))
		names := map[string]bool{}
		for _, object := range plain {
			for name := range object {
				names[name] = true
			}
		}
		columns := slices.Sorted(maps.Keys(names))
		if len(columns) == 0 {
			columns = []string{"none"}
		}
		c := file(t, "rows.json", string(content))
		got, err := fuzzRead(t, c, nil, columns)
		if err != nil {
			return
		}
		if plainErr != nil {
			t.Fatalf("rows %q where a plain reading has %v", got, plainErr)
		}
		want := make([][]string, len(plain))
		for i, object := range plain {
			for _, name := range columns {
				want[i] = append(want[i], plainText(t, object[name]))
			}
		}
		compareRows(t, got, want)
	})
}

// plainJSON reads an array of objects, or a sequence of objects.
func plainJSON(content []byte) ([]map[string]any, error) {
	var rows []map[string]any
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	if bytes.HasPrefix(bytes.TrimLeft(content, " \t\r\n"), []byte("[")) {
		err := d.Decode(&rows)
		if _, more := d.Token(); err == nil && more != io.EOF {
			err = fmt.Errorf("more after the array")
		}
		return rows, err
	}
	for {
		var object map[string]any
		switch err := d.Decode(&object); err {
		case nil:
			rows = append(rows, object)
		case io.EOF:
			return rows, nil
		default:
			return rows, err
		}
	}
}

// plainText returns a value's text with sorted keys in inner objects.
func plainText(t *testing.T, value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fuzzRead reads all rows, and checks general properties of records.
func fuzzRead(t *testing.T, c endpoint.Connection, stdin []byte, columns []string) ([][]string, error) {
	src, err := source.Open(t.Context(), c, bytes.NewReader(stdin), nil)
	if err != nil {
		return nil, err
	}
	defer closeSource(t, src)
	var rows [][]string
	for rec, err := range src.Records(t.Context(), source.Query{Columns: columns, UID: columns[0]}) {
		if err != nil {
			return nil, err
		}
		for i, value := range rec.Values {
			if !utf8.ValidString(value) || (rec.Null[i] && value != "") {
				t.Fatalf("value %q, NULL %v", value, rec.Null[i])
			}
		}
		if len(rows) > 0 && rec.Values[0] < rows[len(rows)-1][0] {
			t.Fatalf("%q comes after %q", rec.Values, rows[len(rows)-1])
		}
		rows = append(rows, slices.Clone(rec.Values))
	}
	return rows, nil
}

// compareRows compares rows in any order. It skips values that look like inner JSON,
// because their text may differ.
func compareRows(t *testing.T, got, want [][]string) {
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for _, rows := range [][][]string{got, want} {
		for _, row := range rows {
			for i, value := range row {
				if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
					row[i] = value[:1]
				}
			}
		}
		slices.SortFunc(rows, slices.Compare)
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("rows %q, want %q", got, want)
	}
}
