package source_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source"
)

// TestLongRow checks that an endless row ends the reading before it fills the memory.
func TestLongRow(t *testing.T) {
	const mebibyte = 1 << 20
	long := strings.Repeat("x", 20*mebibyte)
	const open = ": the row has more than 16 MiB (look for a quote or bracket that is not closed)"
	const large = ": the row has more than 16 MiB (store large values elsewhere)"
	for _, c := range []struct{ name, content, want string }{
		{"long.csv", "id,v\na,1\n\"b\nb\",2\nc,\"" + long, ":5" + open},
		{"header.csv", "id," + long, ":1" + open},
		{"edge.csv", "id,v\na," + long[:16*mebibyte+10] + "\n", ":2" + large},
		{"long.ndjson", "{\"id\": \"a\"}\n\n{\"id\": \"b\", \"v\": \"" + long, ":3" + open},
		{"long.json", "[{\"id\": \"a\"},\n{\"id\": \"b\", \"v\": [\"" + long, ":2" + open},
		{"long.yaml", "- id: a\n- id: b\n  v: " + strings.Repeat(long, 4), ": it can't be read: it has more than 64 MiB (write long lists as JSON, one object a line)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := file(t, c.name, c.content)
			_, err := read(t, in, "id", "v")
			if err == nil || err.Error() != in.Path+c.want {
				t.Errorf("%.300v", err)
			}
		})
	}
	for _, name := range []string{"many.csv", "many.ndjson"} {
		t.Run(name, func(t *testing.T) {
			content := "id,v\n"
			for i := range 5 {
				if value := long[:5*mebibyte]; strings.HasSuffix(name, ".csv") {
					content += fmt.Sprintf("%d,%s\n", i, value)
				} else {
					content = strings.TrimPrefix(content, "id,v\n") + fmt.Sprintf("{\"id\": %d, \"v\": %q}\n", i, value)
				}
			}
			if rows, err := read(t, file(t, name, content), "id", "v"); err != nil || len(rows) != 5 {
				t.Errorf("%s: %d rows, %v", name, len(rows), err)
			}
		})
	}
}

// TestLongRowDescribed checks the same for Describe.
func TestLongRowDescribed(t *testing.T) {
	long := strings.Repeat("x", 20<<20)
	for name, content := range map[string]string{"a.csv": "id," + long, "a.ndjson": "{\"id\": \"" + long} {
		t.Run(name, func(t *testing.T) {
			src, err := source.Open(t.Context(), file(t, name, content), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer closeSource(t, src)
			if _, err := src.Describe(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
				t.Errorf("%.300v", err)
			}
		})
	}
}

// TestDevice refuses devices, because they have no end.
func TestDevice(t *testing.T) {
	for _, kind := range []endpoint.SourceType{endpoint.SourceCSV, endpoint.SourceJSON, endpoint.SourceSQLite} {
		_, err := read(t, endpoint.Connection{Type: kind, Path: os.DevNull, Table: "t"}, "id")
		wantError(t, err, os.DevNull+": it is a device or a socket, and no file (set path to a file or a pipe, or to - for standard input)")
	}
	_, err := read(t, endpoint.Connection{Type: endpoint.SourceMySQL, Host: "127.0.0.1", TLS: endpoint.TLSVerifyFull, CAFile: os.DevNull}, "id")
	wantError(t, err, os.DevNull+": it is a device or a socket")
}

// TestLongMessage checks that long messages of a server are shortened.
func TestLongMessage(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	err := &source.Error{Place: "mysql://db:3306/crm", What: "the server reports an error", Err: errors.New(long)}
	if got := err.Error(); len(got) > 5000 || !strings.Contains(got, "… (1044480 more bytes)") {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
}
