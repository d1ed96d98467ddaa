package source_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source"
	"github.com/lynqctl/lynqctl/test/dbtest"
)

// servers start when a test asks for them, and TestMain stops them.
var servers dbtest.Servers

func TestMain(m *testing.M) {
	code := m.Run()
	if err := servers.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// null is how tests write NULL.
const null = "<NULL>"

// row has a record's values, with null for NULL, and its line.
type row struct {
	Line   int
	Values []string
}

// read reads these columns of c, ordered by the first.
func read(t *testing.T, c endpoint.Connection, columns ...string) ([]row, error) {
	t.Helper()
	return readFrom(t, c, "", columns...)
}

func readFrom(t *testing.T, c endpoint.Connection, stdin string, columns ...string) ([]row, error) {
	t.Helper()
	// The test's own context has ended when cleanups read.
	ctx := context.WithoutCancel(t.Context())
	src, err := source.Open(ctx, c, strings.NewReader(stdin), nil)
	if err != nil {
		return nil, err
	}
	defer closeSource(t, src)
	return records(ctx, src, columns...)
}

func closeSource(t *testing.T, src source.Source) {
	t.Helper()
	if err := src.Close(); err != nil {
		t.Error(err)
	}
}

func records(ctx context.Context, src source.Source, columns ...string) ([]row, error) {
	var rows []row
	for rec, err := range src.Records(ctx, source.Query{Columns: columns, UID: columns[0]}) {
		if err != nil {
			return rows, err
		}
		r := row{Line: rec.Line}
		for i, value := range rec.Values {
			if rec.Null[i] {
				value += null
			}
			r.Values = append(r.Values, value)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// values returns each row's values, joined by |.
func values(rows []row) []string {
	joined := make([]string, len(rows))
	for i, r := range rows {
		joined[i] = strings.Join(r.Values, "|")
	}
	return joined
}

// wantError checks that err has all parts, and no secret.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	for _, secret := range []string{"pa:ss", "w#rd", "hunter2"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("error %q tells the password", err)
		}
	}
}
