package source

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// TestSaid checks that messages omit quoted values of rows and local ports, and keep names.
func TestSaid(t *testing.T) {
	other := errors.New("no server's")
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&pgconn.PgError{Code: "22P02", Message: `invalid input syntax for type integer: "s"3"`, Detail: "Token s3", Where: "s3"}, `invalid input syntax for type integer: ... (SQLSTATE 22P02)`},
		{&pgconn.PgError{Code: "22003", Message: `value "s3" is out of range for type integer`}, `value ... is out of range for type integer (SQLSTATE 22003)`},
		{&pgconn.PgError{Code: "22P02", Message: `ungültige Eingabesyntax für Typ integer: »s3«`}, `ungültige Eingabesyntax für Typ integer: ... (SQLSTATE 22P02)`},
		{&pgconn.PgError{Code: "22012", Message: `division by zero`}, `division by zero (SQLSTATE 22012)`},
		{&pgconn.PgError{Code: "XX000", Message: `it's s3`}, `it... (SQLSTATE XX000)`},
		{&pgconn.PgError{Code: "P0001", Message: `s3 is bad`}, `an error that the database raises itself, whose text may hold values of rows: it is in the server's log (SQLSTATE P0001)`},
		{&pgconn.PgError{Code: "42703", Message: `column "plan" does not exist`}, `column "plan" does not exist (SQLSTATE 42703)`},
		{&pgconn.PgError{Code: "5", Message: `"s3"`}, `... (SQLSTATE 5)`},
		{&mysql.MySQLError{Number: 1292, SQLState: [5]byte([]byte("22007")), Message: `Truncated incorrect DOUBLE value: 's3'`}, `Error 1292 (22007): Truncated incorrect DOUBLE value: ...`},
		{&mysql.MySQLError{Number: 1105, SQLState: [5]byte([]byte("HY000")), Message: `XPATH syntax error: '~s3'`}, `Error 1105 (HY000): XPATH syntax error: ...`},
		{&mysql.MySQLError{Number: errViewInvalid, SQLState: [5]byte([]byte("HY000")), Message: `View 'crm.v' is invalid`}, `Error 1356 (HY000): View 'crm.v' is invalid`},
		{&mysql.MySQLError{Number: 1644, SQLState: [5]byte([]byte("45000")), Message: `s3`}, `Error 1644 (45000): an error that the database raises itself, whose text may hold values of rows: it is in the server's log`},
		{other, "no server's"},
		{fmt.Errorf("receive: %w", &net.OpError{Op: "read", Net: "tcp", Source: here, Addr: here, Err: errors.New("connection reset by peer")}), "connection reset by peer"},
		{&net.OpError{Op: "dial", Net: "tcp", Addr: here, Err: errors.New("refused")}, "dial tcp 127.0.0.1:4711: refused"},
	} {
		if got := said(c.err).Error(); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

// TestReaders checks that each type of source can be read, and that each one with SQL hides
// the values of rows that its server quotes.
func TestReaders(t *testing.T) {
	all := readers()
	if len(all) != len(endpoint.Kinds()) {
		t.Errorf("%d readers for the types %v", len(all), endpoint.Types())
	}
	for _, k := range endpoint.Kinds() {
		if r := all[k.Type]; r.open == nil || (r.said != nil) != (k.SQL != nil) {
			t.Errorf("%s: readers lack a part of it", k.Type)
		}
	}
}

// TestErrorIsOneLine checks that each message is one line.
func TestErrorIsOneLine(t *testing.T) {
	e := &Error{Place: "mysql://h/db", What: "the server refuses user \"u\": no\r\nerror: forged", Err: errors.New("\n::add-mask::x\n"), Fix: "check"}
	if want := `mysql://h/db: the server refuses user "u": no; error: forged:; ::add-mask::x; (check)`; e.Error() != want {
		t.Errorf("%q", e.Error())
	}
}
