package address_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/address"
)

func TestParse(t *testing.T) {
	base := endpoint.Connection{
		Type: endpoint.SourceMySQL, Host: "primary", Port: 3307, Username: "app", Password: "kept",
		Database: "crm", TLS: endpoint.TLSVerifyFull, CAFile: "ca.pem", Table: "nodes",
	}
	for raw, want := range map[string]endpoint.Connection{
		"mysql://replica": {Type: endpoint.SourceMySQL, Host: "replica", Port: 3306, Username: "app", Password: "kept",
			Database: "crm", TLS: endpoint.TLSVerifyFull, CAFile: "ca.pem", Table: "nodes"},
		"mysql://u:p%40%2Fss@replica:33/db?table=s.t&tls=require": {Type: endpoint.SourceMySQL, Host: "replica", Port: 33, Username: "u", Password: "p@/ss",
			Database: "db", TLS: endpoint.TLSRequire, Table: "s.t"},
		"mysql://replica/?tls=verify-full&ca=x%20y.pem": {Type: endpoint.SourceMySQL, Host: "replica", Port: 3306, Username: "app", Password: "kept",
			Database: "crm", TLS: endpoint.TLSVerifyFull, CAFile: "x y.pem", Table: "nodes"},
		"mysql://replica?ca=other.pem": {Type: endpoint.SourceMySQL, Host: "replica", Port: 3306, Username: "app", Password: "kept",
			Database: "crm", TLS: endpoint.TLSVerifyFull, CAFile: "other.pem", Table: "nodes"},
		"postgres://h/db":               {Type: endpoint.SourcePostgreSQL, Host: "h", Port: 5432, Database: "db", Table: "nodes"},
		"postgresql://u:@[::1]:6/d%2Fb": {Type: endpoint.SourcePostgreSQL, Host: "::1", Port: 6, Username: "u", Database: "d/b", Table: "nodes"},
		"postgres://h/db?sslmode=verify-full&sslrootcert=ca2.pem&sslcert=c.pem&sslkey=k.pem": {Type: endpoint.SourcePostgreSQL, Host: "h", Port: 5432,
			Database: "db", TLS: endpoint.TLSVerifyFull, CAFile: "ca2.pem", CertFile: "c.pem", KeyFile: "k.pem", Table: "nodes"},
		"mysql://h?tls=skip-verify":       {Type: endpoint.SourceMySQL, Host: "h", Port: 3306, Username: "app", Password: "kept", Database: "crm", TLS: endpoint.TLSRequire, Table: "nodes"},
		"mysql:///?host=/run/mysqld.sock": {Type: endpoint.SourceMySQL, Host: "/run/mysqld.sock", Port: 3306, Username: "app", Password: "kept", Database: "crm", Table: "nodes"},
		"postgres:///db?host=%40x":        {Type: endpoint.SourcePostgreSQL, Host: "@x", Port: 5432, Database: "db", Table: "nodes"},
		"sqlite:a b.db?table=t%26":        {Type: endpoint.SourceSQLite, Path: "a b.db", Table: "t&"},
		"sqlite:///var/a.db":              {Type: endpoint.SourceSQLite, Path: "/var/a.db", Table: "nodes"},
		"rows.SQLite3?table=x":            {Type: endpoint.SourceSQLite, Path: "rows.SQLite3", Table: "x"},
		"a/b.db":                          {Type: endpoint.SourceSQLite, Path: "a/b.db", Table: "nodes"},
		"yaml:a.txt":                      {Type: endpoint.SourceJSON, Path: "a.txt", Table: "nodes"},
		"csv:-":                           {Type: endpoint.SourceCSV, Path: "-", Table: "nodes"},
		"json:-":                          {Type: endpoint.SourceJSON, Path: "-", Table: "nodes"},
		"csv:what?.txt":                   {Type: endpoint.SourceCSV, Path: "what?.txt", Table: "nodes"},
		"rows.csv":                        {Type: endpoint.SourceCSV, Path: "rows.csv", Table: "nodes"},
		"c:rows.yml":                      {Type: endpoint.SourceJSON, Path: "c:rows.yml", Table: "nodes"},
		"https://crm.example/rows.csv":    {Type: endpoint.SourceHTTP, HTTP: endpoint.HTTPRows{URL: "https://crm.example/rows.csv"}, Table: "nodes"},
		"http://[::1]:8080/?page=1":       {Type: endpoint.SourceHTTP, HTTP: endpoint.HTTPRows{URL: "http://[::1]:8080/?page=1"}, Table: "nodes"},
		"rows.ndjson":                     {Type: endpoint.SourceJSON, Path: "rows.ndjson", Table: "nodes"},
	} {
		t.Run(raw, func(t *testing.T) {
			got, err := address.Parse(raw, base)
			if err != nil {
				t.Errorf("%s: %v", raw, err)
			}
			if diff := cmp.Diff(want, got, cmp.Transformer("reveal", func(s endpoint.Secret) string { return string(s) })); diff != "" {
				t.Errorf("%s: %s", raw, diff)
			}
		})
	}
}

// TestParseOfAPI checks that a new URL of an API keeps the API's settings and credentials.
func TestParseOfAPI(t *testing.T) {
	base := endpoint.Connection{Type: endpoint.SourceHTTP, TLS: endpoint.TLSDisable, Username: "me", HTTP: endpoint.HTTPRows{URL: "http://crm.shop.svc/rows", Items: "rows", Auth: endpoint.BasicAuth}}
	want := base
	want.HTTP.URL = "http://127.0.0.2/rows"
	if got, err := address.Parse(want.HTTP.URL, base); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	want.HTTP.URL, want.TLS = "https://crm.example/rows", ""
	if got, err := address.Parse(want.HTTP.URL, base); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestParseKeepsWhere checks that the hub's condition counts for the rows of another URL.
func TestParseKeepsWhere(t *testing.T) {
	where := endpoint.Where{SQL: "archived = 0", At: "hub.yaml:9"}
	base := endpoint.Connection{Type: endpoint.SourceMySQL, Table: "tenants", Where: where}
	for _, raw := range []string{"mysql://h/db", "mysql://h/db?table=other", "postgres://h/db", "sqlite:a.db", "csv:a.csv", "a.json", "https://crm.example/"} {
		t.Run(raw, func(t *testing.T) {
			if c, err := address.Parse(raw, base); err != nil || c.Where != where {
				t.Errorf("%s: %+v, %v", raw, c.Where, err)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                            "it is no URL",
		"-":                                           "csv:-",
		"rows.txt":                                    "it is no URL",
		"https://me:hunter2@host/":                    "has a user or a password",
		"https://host/?token=hunter2":                 "looks like a secret",
		"http://host/hunter2":                         "begins with http://",
		"app:hunter2@host/db":                         "it is no URL",
		"mariadb://app:hunter2@host/db":               "also for MariaDB",
		"mysql:host":                                  "//HOST",
		"mysql:///db":                                 "no host",
		"mysql://app:hunter2@host:x/db":               "can't be parsed",
		"mysql://app:hunter2@host:0/db":               "port",
		"mysql://app:hunter2@host/a/b":                "more than a database",
		"mysql://app:hunter2/x@host/db":               "%2F",
		"mysql://app:1/hunter2@host/db":               "%2F",
		"mysql://app:1?hunter2@host/db":               "%2F",
		"mysql://app:1#hunter2@host/db":               "%23",
		"mysql://app:12#hunter2":                      "%23",
		"mysql://app:hunter2%zz@host/db":              "%25",
		"mysql://h/db?tables=x":                       `"tables" is not known (allowed: table, tls, ca, cert, key, host)`,
		"mysql://h/db?sslmode=require":                `"sslmode" is not known`,
		"postgres://h/db?sslmode=verify-ca":           "use verify-full",
		"postgres://h/db?sslmode=allow":               "is unknown",
		"postgres://h/db?sslmode=disable&tls=disable": "mean the same",
		"postgres://h/db?sslkey=k":                    "key needs cert",
		"postgres://h/db?host=/run":                   "host= is for a Unix socket",
		"postgres:///db?host=h":                       "host= is for a Unix socket",
		"mysql://h/db?tls=on":                         "verify-full",
		"mysql://h/db?table=a&table=b":                "twice",
		"mysql://h/db?table=%zz":                      "can't parse",
		"mysql://h/db?tls=require&ca=x":               "verify-full",
		"sqlite:x.db?where=a%3D1":                     "a URL can't have where",
		"postgres://h/db?where=hunter2":               "a URL can't have where",
		"sqlite:x.db?mode=rw":                         `"mode" is not known (allowed: table)`,
		"sqlite:?table=t":                             "no path",
		"csv:":                                        "no path",
	} {
		t.Run(raw, func(t *testing.T) {
			_, err := address.Parse(raw, endpoint.Connection{})
			if err == nil {
				t.Errorf("%s: no error", raw)
				return
			}
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: error %q, want one that says %q and no password", raw, err, want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("hunter2hunter2", "host/db?table=t")
	f.Add("a/b?c#d@e:f%", "h:1/db")
	f.Fuzz(func(t *testing.T, password, rest string) {
		// This prefix is unique, because an escaped or quoted part of the URL may look
		// like a password.
		password = "hunter2-Zq" + password
		if strings.Contains(rest, "Zq") {
			return
		}
		c, err := address.Parse("mysql://user:"+password+"@"+rest, endpoint.Connection{})
		if err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("error %q tells the password", err)
		}
		for _, printed := range []string{c.Host, c.Database, c.Table, c.Username, c.CAFile} {
			if strings.Contains(printed, password) {
				t.Errorf("%#v has the password where it is printed", c)
			}
		}
	})
}

// TestKinds checks that each scheme and extension of a type of source leads to it alone, and
// that nothing shows the password of a URL.
func TestKinds(t *testing.T) {
	const password = "hunter2"
	hides := func(raw string, c endpoint.Connection, err error) {
		t.Helper()
		if text := fmt.Sprintf("%+v %v", c, err); strings.Contains(text, password) {
			t.Errorf("%s shows the password: %s", raw, text)
		}
	}
	for _, k := range endpoint.Kinds() {
		var raws []string
		for _, scheme := range k.Schemes {
			switch k.Block {
			case endpoint.ServerBlock:
				raw := scheme + "://u:" + password + "@h/db?table=t"
				c, err := address.Parse(raw, endpoint.Connection{})
				if err != nil || c.Type != k.Type || c.Port != k.Port || c.Password != password {
					t.Errorf("%s: %+v, error %v", raw, c, err)
				}
				hides(raw, c, err)
				c, err = address.Parse(raw+"&zzz="+password+"@", endpoint.Connection{})
				if hides(raw, c, err); err == nil {
					t.Errorf("Parse accepts %s with an unknown parameter", raw)
				}
			case endpoint.HTTPBlock:
				raw := scheme + "://u:" + password + "@h/rows"
				c, err := address.Parse(raw, endpoint.Connection{})
				if hides(raw, c, err); err == nil {
					t.Errorf("Parse accepts %s", raw)
				}
				raws = append(raws, scheme+"://127.0.0.1/rows")
			default:
				raws = append(raws, scheme+":PATH")
			}
		}
		for _, extension := range k.Extensions {
			raws = append(raws, "PATH"+extension)
		}
		for _, raw := range raws {
			if c, err := address.Parse(raw, endpoint.Connection{}); err != nil || c.Type != k.Type {
				t.Errorf("%s: type %q, error %v, want %s", raw, c.Type, err, k.Type)
			}
		}
	}
}
