package draft_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// table makes a table from lines. The first line has the columns, with * after a primary
// key, + after another key, and # after bytes.
func table(lines ...string) draft.Table {
	var t draft.Table
	for _, name := range strings.Split(lines[0], "|") {
		bare := strings.TrimRight(name, "*+#")
		marks := name[len(bare):]
		t.Columns = append(t.Columns, draft.Column{
			Name: bare, Primary: strings.Contains(marks, "*"), Unique: strings.Contains(marks, "+"), Binary: strings.Contains(marks, "#"),
		})
	}
	for _, line := range lines[1:] {
		for i, v := range strings.Split(line, "|") {
			t.Columns[i].Values = append(t.Columns[i].Values, v)
		}
	}
	return t
}

func TestDecideColumns(t *testing.T) {
	for _, c := range []struct {
		name                string
		table               draft.Table
		choice              draft.Choice
		uid, activate, fail string
	}{
		{"usual names", table("id|active|plan", "acme|1|gold", "globex|no|basic"), draft.Choice{}, "id", "active", ""},
		{"a slug makes better names than a number", table("id*|slug+|active", "1|acme|1", "2|globex|0"), draft.Choice{}, "slug", "active", ""},
		{"what only happens to be distinct is no key", table("id*|slug|active", "1|acme|1", "2|globex|0"), draft.Choice{}, "id", "active", ""},
		{"words that are a primary key", table("code*|slug+|active", "a|x|1", "b|y|0"), draft.Choice{}, "code", "active", ""},
		{"a value twice identifies nothing", table("tenant|id|active", "acme|1|1", "acme|2|1"), draft.Choice{}, "id", "active", ""},
		{"nor does none", table("tenant|id|active", "acme|1|1", "|2|1"), draft.Choice{}, "id", "active", ""},
		{"rows that are not active may repeat one", table("tenant|active", "acme|0", "acme|1", "|no", "acme|"), draft.Choice{}, "tenant", "active", ""},
		{"repeated where it is not active, and chosen", table("tenant|on", "acme|f", "acme|t"), draft.Choice{UID: "tenant", Activate: "on"}, "tenant", "on", ""},
		{"active twice", table("tenant|active", "acme|1", "acme|yes"), draft.Choice{UID: "tenant"}, "", "", `column "tenant" identifies no row: it has an empty value in active rows, or one twice`},
		{"a key with an unusual name", table("active|firm+", "1|acme", "0|globex"), draft.Choice{}, "firm", "active", ""},
		{"the first column, where nothing else", table("firm|email|active", "acme|a@x|1", "globex|b@x|0"), draft.Choice{}, "firm", "active", ""},
		{"names in other styles", table("Tenant ID|isActive", "acme|true", "globex|false"), draft.Choice{}, "Tenant ID", "isActive", ""},
		{"no rows yet", table("id*|enabled"), draft.Choice{}, "id", "enabled", ""},
		{"rows that words make inactive may repeat one", table("tenant|status", "acme|closed", "acme|live"), draft.Choice{}, "tenant", "status", ""},
		{"a status that says yes and no", table("id|status", "acme|on", "globex|off"), draft.Choice{}, "id", "status", ""},
		{"active before status", table("id|status|active", "acme|paid|1", "globex|late|0"), draft.Choice{}, "id", "active", ""},
		{"chosen", table("id|active|firm|paying", "1|1|acme|0", "2|0|globex|1"), draft.Choice{UID: "firm", Activate: "paying"}, "firm", "paying", ""},

		{"titles change, and numbers don't", table("id|name|is_active", "1|Acme Inc.|t", "2|Bolt|t"), draft.Choice{}, "id", "is_active", ""},
		{"a name of one word changes, too", table("name|id|is_active", "acme|1|t", "bolt|2|t"), draft.Choice{}, "id", "is_active", ""},
		{"an id in another system", table("id*|stripe_customer_id+|is_active", "1|cus_a|t", "2|cus_b|t"), draft.Choice{}, "id", "is_active", ""},
		{"a flag without values", table("id|is_active|status", "acme||active", "bolt||closed"), draft.Choice{}, "id", "status", ""},
		{"a display name that is a key", table("display_name*|id|is_active", "acme|1|t", "bolt|2|t"), draft.Choice{}, "id", "is_active", ""},
		{"nothing but a name", table("plan|name|is_active", "gold|acme|t", "gold|bolt|t"), draft.Choice{}, "name", "is_active", ""},

		{"no uid", table("plan|active", "gold|1", "gold|1"), draft.Choice{}, "", "", "no column identifies the rows: none is a key, or has a usual name and no value twice (name it with --uid; there are: plan, active)"},
		{"a token is no uid", table("api_token*|active", "x|1"), draft.Choice{}, "", "", "no column identifies the rows"},
		{"no columns", draft.Table{}, draft.Choice{}, "", "", "there are no rows, and so no columns (run init again when the first row exists)"},
		{"an object is no uid", table("id|active", `{"a": 1}|1`, `[2]|1`), draft.Choice{}, "", "", "no column identifies the rows"},
		{"bytes are no uid", table("id*#|active", "x|1"), draft.Choice{}, "", "", "no column identifies the rows"},
		{"no activation", table("id|plan", "acme|gold"), draft.Choice{}, "id", "", ""},
		{"perhaps one", table("id|paying|beta", "acme|1|0"), draft.Choice{}, "id", "", ""},
		{"every row", table("id|active", "acme|1"), draft.Choice{EveryRow: true}, "id", "", ""},
		{"true means inactive", table("id|is_archived", "acme|0", "bolt|1"), draft.Choice{}, "id", "is_archived", ""},
		{"active before deleted", table("id|deleted|active", "acme|0|1", "bolt|1|1"), draft.Choice{}, "id", "active", ""},
		{"ended rows may repeat a uid", table("slug|deleted_at", "acme|2026-01-01", "acme|"), draft.Choice{}, "slug", "", ""},
		{"a status of words, and an end", table("id|status|deleted_at", "acme|paid|"), draft.Choice{}, "id", "", ""},
		{"a status of words", table("id|status", "acme|suspended"), draft.Choice{}, "", "", `column "status" has other values than 1 true yes t on, and 0 false no f off or nothing (name another column with --activate, or pass --activate none if every row is active, or write a hub with activeValues and inactiveValues, and run init with -f HUB)`},
		{"chosen in another case", table("id|active", "acme|1"), draft.Choice{UID: "ID"}, "id", "active", ""},
		{"chosen, and not there", table("id|active", "acme|1"), draft.Choice{UID: "idd"}, "", "", `there is no column "idd" to be the uid (available: id, active)`},
		{"chosen, and not distinct", table("id|active|plan", "a|1|gold", "b|1|gold"), draft.Choice{UID: "plan"}, "", "", `column "plan" identifies no row`},
		{"chosen, and neither yes nor no", table("id|plan", "a|gold"), draft.Choice{Activate: "plan"}, "", "", `column "plan" has other values than`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := draft.Decide(c.table, c.choice)
			if c.fail != "" {
				var wrong *draft.Error
				if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.fail) {
					t.Errorf("got error %v, want %s", err, c.fail)
				}
				return
			}
			if err != nil || d.UID != c.uid || d.Activate != c.activate {
				t.Errorf("got %+v, error %v, want uid %s, activate %s", d, err, c.uid, c.activate)
			}
		})
	}
}

// TestDecideActivity wants words about activity in the hub's lists.
func TestDecideActivity(t *testing.T) {
	rows := table("slug*|status|active", "acme|active|x y", "bolt|Disabled|x y", "coil|trial|x y", "dyne||x y", "echo|1|x y", "flux|active|x y")
	d, err := draft.Decide(rows, draft.Choice{Activate: "status"})
	if err != nil {
		t.Fatal(err)
	}
	want := lynq.Activity{Active: []string{"1", "active"}, Inactive: []string{"", "Disabled"}}
	if diff := cmp.Diff(want, d.Activity); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"trial"}, d.Unclear); diff != "" {
		t.Error(diff)
	}
	hub := d.Hub(draft.Names{Name: "firms"}, endpoint.Connection{Type: endpoint.SourceCSV, Path: "firms.csv"}, false)
	for _, line := range []string{`activeValues: ["1", active]`, `inactiveValues: ["", Disabled]`, "# Add to one of the lists: [trial]."} {
		t.Run(line, func(t *testing.T) {
			if !strings.Contains(hub, line) {
				t.Errorf("the hub has no line %s:\n%s", line, hub)
			}
		})
	}
	given := draft.Choice{UID: "slug", Activate: "status", Activity: lynq.Activity{Active: []string{"trial"}}, Mappings: []draft.Mapping{}}
	if d, err := draft.Decide(rows, given); err != nil || len(d.Activity.Active) != 1 {
		t.Errorf("the lists of a hub are not taken: %+v, error %v", d, err)
	}
	for name, values := range map[string]string{"no word": "it's", "a sentence": strings.Repeat("x", 31), "a control character": "a\x1b[2J"} {
		t.Run(name, func(t *testing.T) {
			if _, err := draft.Decide(table("id|status", "acme|active", "bolt|"+values), draft.Choice{}); err == nil || strings.Contains(err.Error(), values) {
				t.Errorf("error %v", err)
			}
		})
	}
	many := []string{"id|status"}
	for i := range 13 {
		many = append(many, strconv.Itoa(i)+"|s"+strconv.Itoa(i))
	}
	if _, err := draft.Decide(table(many...), draft.Choice{}); err == nil || !strings.Contains(err.Error(), "activeValues") {
		t.Errorf("a column of 13 words: error %v", err)
	}
}

// TestDecideEnds checks the columns with times from which a row counts as inactive.
func TestDecideEnds(t *testing.T) {
	for _, c := range []struct {
		name    string
		table   draft.Table
		expires string
		others  []string
	}{
		{"deleted", table("id|deleted_at", "acme|", "bolt|2026-01-01 00:00:00"), "deleted_at", nil},
		{"in other styles", table("id|deletedAt", "acme|"), "deletedAt", nil},
		{"archived", table("id|archived_on", "acme|2026-01-01"), "archived_on", nil},
		{"discarded", table("id|discarded_at", "acme|"), "discarded_at", nil},
		{"suspended", table("id|suspended_at", "acme|"), "suspended_at", nil},
		{"deleted before expired", table("id|valid_until|deleted_at", "acme|2027-01-01|"), "deleted_at", []string{"valid_until"}},
		{"made and changed", table("id|created_at|updated_at|deleted_by", "acme|2026-01-01|2026-01-01|"), "", nil},
		{"one word, as PostgreSQL makes it", table("id|deletedat", "acme|", "bolt|2026-01-01"), "deletedat", nil},
		{"the time first", table("id|date_deleted", "acme|2026-01-01"), "date_deleted", nil},
		{"in UTC", table("id|deleted_at_utc", "acme|2026-01-01"), "deleted_at_utc", nil},
		{"a time without such a word", table("id|deleted", "acme|", "bolt|2026-01-01 00:00:00"), "deleted", nil},
		{"deleted before archived", table("id|archived_at|deleted_at", "acme||", "bolt||2026-01-01"), "deleted_at", []string{"archived_at"}},
		{"no times, and an activation", table("id|active|deleted_at", "acme|1|0", "bolt|0|1735689600"), "", []string{"deleted_at"}},
		{"active and deleted", table("id|is_active|is_deleted", "acme|1|0", "bolt|1|1"), "", []string{"is_deleted"}},
		{"active and a status", table("id|active|status", "acme|1|active", "bolt|1|suspended"), "", []string{"status"}},
		{"an address has a state", table("id|active|state", "acme|1|CA"), "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := draft.Decide(c.table, draft.Choice{})
			if err != nil {
				t.Fatalf("%v", err)
			}
			if d.Expires != c.expires || !slices.Equal(d.Others, c.others) {
				t.Errorf("expires %q, ends %v", d.Expires, d.Others)
			}
		})
	}
}

// TestDecidePerhapsEnds names the columns with times in some rows, unless something else shows
// which rows are active.
func TestDecidePerhapsEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		table draft.Table
		want  []string
	}{
		{"a name in another language", table("id|gelöscht_am|made", "acme||2026-01-01", "bolt|2026-01-01|2026-01-01"), []string{"gelöscht_am"}},
		{"an end", table("id|gelöscht_am|deleted_at", "acme||", "bolt|2026-01-01|2026-01-01"), nil},
		{"an activation", table("id|gelöscht_am|active", "acme||1", "bolt|2026-01-01|0"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := draft.Decide(c.table, draft.Choice{})
			if err != nil || !slices.Equal(d.PerhapsExpires, c.want) {
				t.Errorf("%+v, error %v", d, err)
				return
			}
			hub := d.Hub(draft.Names{Name: "h"}, endpoint.Connection{Type: endpoint.SourceCSV, Path: "x.csv"}, false)
			if strings.Contains(hub, "add expires with its name") != (c.want != nil) {
				t.Errorf("the hub is\n%s", hub)
			}
		})
	}
}

// TestDecideInverted checks that a column such as "archived" makes rows with no active.
func TestDecideInverted(t *testing.T) {
	for _, name := range []string{"archived", "is_deleted", "Suspended", "disabled"} {
		t.Run(name, func(t *testing.T) {
			d, err := draft.Decide(table("slug*|"+name, "acme|false", "bolt|true", "coil|False"), draft.Choice{Activate: name})
			if err != nil {
				t.Fatal(err)
			}
			for value, want := range map[string]bool{"false": true, "False": true, "0": true, "true": false, "1": false} {
				if got, err := d.Activity.Of(value); err != nil || got != want {
					t.Errorf("%s: %s means active: %v, error %v", name, value, got, err)
				}
			}
		})
	}
}

// TestDecideFlags checks what the names of columns say about their words for yes and no.
// The hub also knows the word that no row has yet.
func TestDecideFlags(t *testing.T) {
	for _, c := range []struct{ name, value, active, inactive string }{
		{"deleted", "Y", "N", "Y"}, {"deleted", "N", "N", "Y"}, {"is_deleted", "T", "F", "T"}, {"isdeleted", "true", "false", "true"},
		{"deleted_flag", "N", "N", "Y"}, {"is_del", "0", "0", "1"}, {"Tenant Archived", "No", "No", "Yes"}, {"banned", "", "", "1"},
		{"not_active", "0", "0", "1"}, {"not_deleted", "1", "1", "0"}, {"isactive", "t", "t", "f"}, {"active_yn", "Y", "Y", "N"},
		{"account_status", "Y", "Y", "N"}, {"Aktiv", "ja", "ja", "nein"}, {"aktiv", "FALSCH", "WAHR", "FALSCH"}, {"actif", "Faux", "Vrai", "Faux"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := draft.Decide(table("id|"+c.name, "acme|"+c.value), draft.Choice{})
			if err != nil || d.Activate != c.name {
				t.Errorf("%+v, error %v", d, err)
				return
			}
			for value, want := range map[string]bool{c.active: true, c.inactive: false} {
				if got, err := d.Activity.Of(value); err != nil || got != want {
					t.Errorf("%q means active: %v, error %v", value, got, err)
				}
			}
		})
	}
	for _, name := range []string{"deleted_by", "closed_tickets", "newsletter", "activated_at", "customer_state", "sync_status"} {
		t.Run(name, func(t *testing.T) {
			value := map[bool]string{true: "closed", false: "1"}[name == "sync_status" || name == "customer_state"]
			d, err := draft.Decide(table("id|"+name, "acme|"+value), draft.Choice{})
			if err != nil || d.Activate != "" || !slices.Equal(d.Perhaps, []string{name}) {
				t.Errorf("%s: %+v, error %v", name, d, err)
			}
		})
	}
}

// TestDecideUnclear wants an error for columns that say which rows are active in a way that
// init doesn't understand, and names what it assumed.
func TestDecideUnclear(t *testing.T) {
	for _, rows := range []draft.Table{
		table("id|deleted_at", "acme|0", "bolt|1735689600"), table("id|deleted_at", "acme|0000-00-00 00:00:00"),
		table("id|deletedAt", "acme|31.12.2025"), table("id|expires_at", "acme|1735689600"),
		table("id|deleted", "acme|maybe", "bolt|no"), table("id|archived", "acme|7"), table("id|disabled#", "acme|"),
	} {
		t.Run(string(rows.Type), func(t *testing.T) {
			d, err := draft.Decide(rows, draft.Choice{})
			if wrong, ok := errors.AsType[*draft.Error](err); !ok || !strings.HasPrefix(wrong.What, "can't tell which rows are active: column ") {
				t.Errorf("%v: %+v, error %v", rows.Columns, d, err)
			}
			if _, err := draft.Decide(rows, draft.Choice{EveryRow: true}); err != nil {
				t.Error(err)
			}
		})
	}
	for kind, fix := range map[endpoint.SourceType]string{endpoint.SourceCSV: "store times there)", endpoint.SourceSQLite: "write a hub with where, and run init with -f HUB)"} {
		t.Run(string(kind), func(t *testing.T) {
			rows := table("id|deleted_at", "acme|0")
			rows.Type = kind
			if _, err := draft.Decide(rows, draft.Choice{}); err == nil || !strings.HasSuffix(err.Error(), fix) {
				t.Errorf("%s: %v", kind, err)
			}
		})
	}
	for assumed, rows := range map[string]draft.Table{
		"yes means inactive": table("id|deleted", "acme|0"),
		"1 means active and": table("id|status", "acme|0"),
		"words are sorted":   table("id|status", "acme|active"),
	} {
		t.Run(assumed, func(t *testing.T) {
			d, err := draft.Decide(rows, draft.Choice{})
			if err != nil || !strings.Contains(d.Assumption, assumed) {
				t.Errorf("%s: %+v, error %v", assumed, d, err)
				return
			}
			if hub := d.Hub(draft.Names{Name: "h"}, endpoint.Connection{Type: endpoint.SourceCSV, Path: "x.csv"}, false); !strings.Contains(hub, "# Assumption: "+d.Assumption) {
				t.Errorf("the hub doesn't say it:\n%s", hub)
			}
		})
	}
}

// TestFormChecksum wants the checksum that restarts the application to cover exactly the
// row's values that the application gets.
func TestFormChecksum(t *testing.T) {
	d, err := draft.Decide(table("id|active|plan|größe|replicas|token", "acme|1|gold|x|2|y"), draft.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	text := d.Form(draft.Names{Name: "web"}, "crm")
	for _, want := range []string{
		`annotations: {checksum/settings: "{{ list .plan .größe | toJson | sha256sum }}"}`,
		`plan: "{{ .plan }}"`, `gr__e: "{{ .gr\u00f6\u00dfe }}"`, `replicas: "{{ .replicas | int }}"`,
	} {
		t.Run(want, func(t *testing.T) {
			want = strings.ReplaceAll(want, `\u00f6\u00df`, "öß")
			if !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		})
	}
	d, err = draft.Decide(table("id|on", "acme|1"), draft.Choice{UID: "id", Activate: "on", Mappings: []draft.Mapping{{Variable: "my-plan", Column: "p"}, {Variable: "2fa", Column: "f"}}})
	if err != nil {
		t.Fatal(err)
	}
	text = d.Form(draft.Names{Name: "web"}, "crm")
	for _, want := range []string{
		`checksum/settings: '{{ list (index . "my-plan") (index . "2fa") | toJson | sha256sum }}'`,
		`my_plan: '{{ index . "my-plan" }}'`, `"_2fa": '{{ index . "2fa" }}'`,
	} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		})
	}
	d, err = draft.Decide(table("id|active|replicas", "acme|1|2"), draft.Choice{})
	if err != nil || strings.Contains(d.Form(draft.Names{Name: "web"}, "crm"), "checksum") {
		t.Errorf("a checksum of nothing: %+v, error %v", d, err)
	}
}

func TestDecideMappings(t *testing.T) {
	rows := table("id|active|plan|db_password|url|namespace|2fa|my col|my-col|logo#|hook|dsnish|compass",
		"acme|1|gold|x|https://acme.example|shop|0|a|b||https://u:p@hook.example|x|north")
	d, err := draft.Decide(rows, draft.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	want := &draft.Draft{
		UID: "id", Activate: "active",
		Mappings: []draft.Mapping{
			{Variable: "plan", Column: "plan"}, {Variable: "url", Column: "url"}, {Variable: "row_namespace", Column: "namespace"},
			{Variable: "_2fa", Column: "2fa"}, {Variable: "my_col", Column: "my col"}, {Variable: "my_col_2", Column: "my-col"},
			{Variable: "dsnish", Column: "dsnish"}, {Variable: "compass", Column: "compass"},
		},
		Secrets: []string{"db_password", "hook"}, Bytes: []string{"logo"},
	}
	if diff := cmp.Diff(want, d, cmpopts.IgnoreUnexported(draft.Draft{})); diff != "" {
		t.Error(diff)
	}
}

// TestDecideSecrets wants columns that look like secrets, by name or values, to be left
// out.
func TestDecideSecrets(t *testing.T) {
	for _, name := range []string{"password", "PassWord", "db_pwd", "apiKey", "API_KEY", "access_token", "client-secret", "ssh_key", "dsn", "SALT", "password_hash", "connectionString", "webhook_url"} {
		t.Run(name, func(t *testing.T) {
			d, err := draft.Decide(table("id|active|"+name, "acme|1|x"), draft.Choice{})
			if err != nil || !cmp.Equal(d.Secrets, []string{name}) || len(d.Mappings) > 0 {
				t.Errorf("%s: got %+v, error %v", name, d, err)
			}
		})
	}
	for _, value := range []string{"-----BEGIN RSA PRIVATE KEY-----", "$2b$12$abc", "postgres://u:p@db/x", "ghp_abc", "eyJhbGciOi"} {
		t.Run(value, func(t *testing.T) {
			d, err := draft.Decide(table("id|active|x", "acme|1|"+value), draft.Choice{})
			if err != nil || len(d.Secrets) != 1 {
				t.Errorf("%s: got %+v, error %v", value, d, err)
			}
			if text := d.Hub(draft.Names{Name: "h"}, endpoint.Connection{Type: endpoint.SourceCSV, Path: "x.csv"}, false) + d.Form(draft.Names{Name: "web"}, "h"); strings.Contains(text, value) {
				t.Errorf("%s is in what was made:\n%s", value, text)
			}
		})
	}
	for _, name := range []string{"plan", "compass", "passengers", "pinned", "url", "keyboard", "hashtag"} {
		t.Run(name, func(t *testing.T) {
			d, err := draft.Decide(table("id|active|"+name, "acme|1|https://x.example/a:b@c"), draft.Choice{})
			if err != nil || len(d.Secrets) > 0 {
				t.Errorf("%s: got %+v, error %v", name, d, err)
			}
		})
	}
}

// TestDecideGiven wants a form for an existing hub to leave out its secrets.
func TestDecideGiven(t *testing.T) {
	d, err := draft.Decide(table("id|on|p|token", "acme|1|gold|x"), draft.Choice{UID: "id", Activate: "on", Mappings: []draft.Mapping{{Variable: "plan", Column: "p"}, {Variable: "t", Column: "token"}, {Variable: "secret", Column: "p"}}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []draft.Mapping{{Variable: "plan", Column: "p"}}; !cmp.Equal(d.Mappings, want) {
		t.Errorf("got mappings %v, want %v", d.Mappings, want)
	}
	text := d.Form(draft.Names{Name: "web", Namespace: "shops"}, "crm")
	if strings.Contains(text, ".t ") || !strings.Contains(text, "# Not used: token, which looks like a secret") {
		t.Errorf("the form is\n%s", text)
	}
}

// TestWrite wants package form to read the written files, whatever names they contain.
func TestWrite(t *testing.T) {
	odd := []string{"on", "1e3", "a: b", "it's", `quo"te`, `back\slash`, "# x", "ünï\u0085", "a\nb", "{{ .x }}", "~", "- x", "yes", ".5"}
	for _, c := range []struct {
		from endpoint.Connection
		rows draft.Table
	}{
		{endpoint.Connection{Type: endpoint.SourceCSV, Path: "../my tenants.csv"}, table("id|active|replicas|"+strings.Join(odd, "|"), "acme|1|2"+strings.Repeat("|x", len(odd)))},
		{endpoint.Connection{Type: endpoint.SourceSQLite, Path: "a.db", Table: "it's"}, table("id|active", "1|1", "2|1")},
		{endpoint.Connection{Type: endpoint.SourceMySQL, Host: "db", Port: 3306, Username: "r", Database: "d", Table: "t", TLS: endpoint.TLSVerifyFull, CAFile: "ca.pem", Password: "hunter2"}, table("id|active", "Ac Me|1")},
		{endpoint.Connection{Type: endpoint.SourcePostgreSQL, Host: "::1", Port: 5432, Username: "r", Database: "d", Table: "s.t"}, table("id|active|replicas", "acme|1|many")},
	} {
		d, err := draft.Decide(c.rows, draft.Choice{})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		hub, text := d.Hub(draft.Names{Name: "crm", Namespace: "shops"}, c.from, c.from.Password != ""), d.Form(draft.Names{Name: "web", Namespace: "shops"}, "crm")
		for name, text := range map[string]string{"hub.yaml": hub, "form.yaml": text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		inputs, err := form.Load([]string{dir}, false, nil)
		if err != nil {
			t.Errorf("%v\n%s%s", err, hub, text)
			continue
		}
		got := map[string]string{}
		for _, m := range inputs.Hubs[0].Mappings {
			got[m.Variable] = m.Column
		}
		want := map[string]string{"uid": d.UID, "activate": d.Activate}
		for _, m := range d.Mappings {
			want[m.Variable] = m.Column
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("mappings: %s\n%s", diff, hub)
		}
		read, wanted := inputs.Hubs[0].Source, c.from
		wanted.Password = ""
		for _, path := range []*string{&wanted.Path, &wanted.CAFile} {
			if *path != "" {
				*path = filepath.Join(dir, *path)
			}
		}
		if read != wanted {
			t.Errorf("got connection %+v, want %+v", read, wanted)
		}
		if strings.Contains(hub, "hunter2") {
			t.Errorf("the password is in the hub:\n%s", hub)
		}
		if (inputs.Hubs[0].Password.Env != "") != (c.from.Password != "") {
			t.Errorf("passwordFrom is %+v", inputs.Hubs[0].Password)
		}
	}
}
